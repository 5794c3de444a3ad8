//! What an engine stores and expands: a state, packed, with the properties its transition broke.
//!
//! Every engine expands nodes through [`expand`], so they can differ in how they search and in
//! nothing else.

use crate::symmetry::Symmetry;
use crate::verdict::Choice;
use mm_model::choose::Choose;
use mm_model::env::Event;
use mm_model::ids::ActorId;
use mm_model::machine::Fuse;
use mm_model::property::{PROPERTIES, Transition};
use mm_model::scenario::Scenario;
use mm_model::state::State;
use std::cell::Cell;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A set of properties, by position in [`PROPERTIES`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PropertySet(u32);

impl PropertySet {
    /// Whether the property at that position is in the set.
    pub const fn contains(self, property: usize) -> bool {
        self.0 & (1 << property) != 0
    }

    /// The properties of either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The properties of this set that are not in the other.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The set as bits, to be shared between threads.
    pub(crate) const fn bits(self) -> u32 {
        self.0
    }

    /// The set of those bits.
    pub(crate) const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// The positions of its properties.
    pub fn positions(self) -> impl Iterator<Item = usize> {
        (0..PROPERTIES.len()).filter(move |at| self.contains(*at))
    }

    pub(crate) fn select(select: impl Fn(usize) -> bool) -> Self {
        (0..PROPERTIES.len())
            .filter(|at| select(*at))
            .fold(Self(0), |set, at| Self(set.0 | (1 << at)))
    }
}

/// A state in few bytes, and what was broken on the way into it. Equal nodes are equal states.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Node {
    packed: Box<[u8]>,
    /// Properties the transition into this node violated; it is part of the node, so that an
    /// engine that judges nodes only can find them.
    pub violated: PropertySet,
}

/// What a search leaves out without losing an answer.
#[derive(Clone, Debug)]
pub struct Reduction {
    /// Whether local steps are fused.
    pub fuse: Fuse,
    /// Which tasks stand for one another. Then only safety can be asked: from one state to the
    /// next a task may have become another.
    pub symmetry: Option<Arc<Symmetry>>,
}

impl From<Fuse> for Reduction {
    fn from(fuse: Fuse) -> Self {
        Self { fuse, symmetry: None }
    }
}

/// A transition, as an engine sees it.
pub struct Edge<'a> {
    /// Who steps.
    pub actor: ActorId,
    /// What the world answers.
    pub answers: &'a Choose,
    /// What happens.
    pub events: &'a [Event],
    /// Properties that said something about it.
    pub applied: PropertySet,
}

impl Node {
    pub(crate) fn new(state: &State, violated: PropertySet) -> Self {
        // One buffer for all: a node then costs the one allocation that it keeps.
        thread_local!(static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) });
        BUFFER.with(|cell| {
            let mut buffer = cell.take();
            buffer.clear();
            let buffer = postcard::to_extend(state, buffer).expect("plain data packs");
            let packed = buffer.as_slice().into();
            cell.set(buffer);
            Self { packed, violated }
        })
    }

    /// Writes the whole of it behind what is there.
    pub(crate) fn pack(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(&self.packed);
        write_violated(self.violated, into);
    }

    /// The node of which the whole was written.
    ///
    /// # Panics
    /// If it is none.
    pub(crate) fn unpack(packed: &[u8]) -> Self {
        let state = &packed[..packed.len() - VIOLATED_BYTES];
        Self { packed: state.into(), violated: violated_in(packed) }
    }

    /// The state.
    ///
    /// # Panics
    /// Never: only states are packed.
    pub fn state(&self) -> State {
        postcard::from_bytes(&self.packed).expect("a packed state unpacks")
    }

    /// Bytes it takes beside its own fields.
    pub fn bytes(&self) -> usize {
        self.packed.len()
    }
}

/// The state itself, which its bytes don't show. What was broken on the way into it is left out:
/// the Explorer marks states it has shown before by this text.
impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.state().fmt(f)
    }
}

/// The node to start from, and the properties that apply to it.
pub fn initial(scenario: &Scenario) -> (Node, PropertySet) {
    let state = scenario.initial();
    let (applied, violated) = judge(&Transition { scenario, from: None, to: &state, events: &[] });
    (Node::new(&state, violated), applied)
}

/// What a packed node needs for its set of properties.
const VIOLATED_BYTES: usize = size_of::<u32>();

fn write_violated(violated: PropertySet, into: &mut Vec<u8>) {
    into.extend_from_slice(&violated.0.to_le_bytes());
}

/// Packs a node in place of what is there.
///
/// # Panics
/// Never: states are plain data.
pub(crate) fn pack(state: &State, violated: PropertySet, into: &mut Vec<u8>) {
    let mut buffer = std::mem::take(into);
    buffer.clear();
    *into = postcard::to_extend(state, buffer).expect("plain data packs");
    write_violated(violated, into);
}

/// The state of a packed node.
///
/// # Panics
/// If it is none.
pub(crate) fn unpack(packed: &[u8]) -> State {
    let state = &packed[..packed.len() - VIOLATED_BYTES];
    postcard::from_bytes(state).expect("a packed state unpacks")
}

/// What was broken on the way into a packed node.
///
/// # Panics
/// If it is none.
pub(crate) fn violated_in(packed: &[u8]) -> PropertySet {
    let violated = &packed[packed.len() - VIOLATED_BYTES..];
    PropertySet(u32::from_le_bytes(violated.try_into().expect("it has that length")))
}

/// Calls `found` for every transition out of `node`, in a fixed order, until it breaks.
pub fn expand(
    scenario: &Scenario,
    reduction: &Reduction,
    node: &Node,
    mut found: impl FnMut(&Edge<'_>, Node) -> ControlFlow<()>,
) -> ControlFlow<()> {
    successors(scenario, reduction, &node.state(), |edge, violated, to| {
        found(edge, Node::new(to, violated))
    })
}

/// As [`expand`], with the states themselves.
pub(crate) fn successors(
    scenario: &Scenario,
    Reduction { fuse, symmetry }: &Reduction,
    from: &State,
    mut found: impl FnMut(&Edge<'_>, PropertySet, &State) -> ControlFlow<()>,
) -> ControlFlow<()> {
    scenario.successors(from, *fuse, |actor, answers, to| {
        let events = answers.events();
        let (applied, violated) =
            judge(&Transition { scenario, from: Some((from, actor)), to: &to, events });
        let edge = Edge { actor, answers, events, applied };
        match symmetry {
            Some(symmetry) => found(&edge, violated, &symmetry.representative(&to)),
            None => found(&edge, violated, &to),
        }
    })
}

/// The transition at position `ordinal` of those out of `node`, in the order of [`expand`]: who
/// keeps positions need not keep answers.
///
/// # Panics
/// If there are fewer.
pub fn transition(
    scenario: &Scenario,
    reduction: &Reduction,
    node: &Node,
    ordinal: u32,
) -> (Choice, Node) {
    let mut left = ordinal;
    let mut taken = None;
    let _ = expand(scenario, reduction, node, |edge, to| {
        let Some(fewer) = left.checked_sub(1) else {
            let choice = Choice { actor: edge.actor, answers: edge.answers.answers().collect() };
            taken = Some((choice, to));
            return ControlFlow::Break(());
        };
        left = fewer;
        ControlFlow::Continue(())
    });
    taken.expect("the node has that many transitions")
}

/// The position and the end of the transition that a choice makes; nothing if it makes none.
pub fn follow(
    scenario: &Scenario,
    reduction: &Reduction,
    node: &Node,
    choice: &Choice,
) -> Option<(usize, Node)> {
    let (mut ordinal, mut taken) = (0, None);
    let _ = expand(scenario, reduction, node, |edge, to| {
        if edge.actor == choice.actor && edge.answers.answers().eq(choice.answers.iter().copied()) {
            taken = Some((ordinal, to));
            return ControlFlow::Break(());
        }
        ordinal += 1;
        ControlFlow::Continue(())
    });
    taken
}

/// The properties that apply to a transition, and those among them that it violates.
pub fn judge(transition: &Transition<'_>) -> (PropertySet, PropertySet) {
    let applied = PropertySet::select(|at| (PROPERTIES[at].applies)(transition));
    let violated =
        PropertySet::select(|at| applied.contains(at) && !(PROPERTIES[at].holds)(transition));
    (applied, violated)
}
