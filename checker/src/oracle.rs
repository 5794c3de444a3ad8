//! Progress, costs and ratios on small random graphs, against answers found by trying everything.
//!
//! What an endless run takes again and again is a strongly connected set of edges, and any such set
//! is what some run takes. So progress is decided here by looking at every set of edges there is,
//! and costs and ratios at every simple path and cycle: slow, and nothing to get wrong.

use crate::cost::{Bound, Rational, for_tests};
use crate::graph::{Edge, Hop, Shape, position};
use crate::label::{Label, Mark, OperationSet};
use crate::liveness::Fairness;
use crate::liveness::lasso::{Lasso, lasso};
use crate::liveness::one_cpu;
use mm_model::env::Operation;
use mm_model::ids::ActorId;

const CHARGE: Operation = Operation::Charge;
const GRAPHS: u64 = 10_000;
const MANY_CPUS: [Fairness; 3] = [Fairness::None, Fairness::Weak, Fairness::Strong];

/// Numbers that look random and are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, below: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) as u32 % below
    }

    fn small(&mut self, below: u8) -> u8 {
        u8::try_from(self.below(u32::from(below))).expect("it is below a small number")
    }

    fn one_in(&mut self, chance: u32) -> bool {
        self.below(chance) == 0
    }
}

/// An edge, with what the trying of everything needs to know of it.
#[derive(Clone, Debug)]
struct Arrow {
    from: u32,
    to: u32,
    hop: Hop,
    label: Label,
}

struct Graph {
    shape: Shape,
    actors: u8,
    open: Vec<Vec<bool>>,
    arrows: Vec<Arrow>,
}

/// The marks of a transition of an actor that has a charge open before or not, and after or not.
fn marks(random: &mut Random, before: bool, after: bool) -> Vec<Mark> {
    let mut kinds = match (before, after) {
        (true, true) if random.one_in(3) => vec![Mark::End(CHARGE), Mark::Begin(CHARGE)],
        (false, false) if random.one_in(3) => vec![Mark::Begin(CHARGE), Mark::End(CHARGE)],
        (true, false) => vec![Mark::End(CHARGE)],
        (false, true) => vec![Mark::Begin(CHARGE)],
        (true, true) | (false, false) => Vec::new(),
    };
    for at in (0..=kinds.len()).rev() {
        if random.one_in(3) {
            kinds.insert(at, Mark::Cost(0, 1 + u64::from(random.below(3))));
        }
    }
    kinds
}

fn graph(random: &mut Random, nodes_most: u32, edges_most: u32) -> Graph {
    let nodes = 1 + random.below(nodes_most);
    let actors = 1 + random.small(3);
    let others = random.one_in(2);
    let open: Vec<Vec<bool>> = (0..nodes)
        .map(|_| (0..actors).map(|at| (at == 0 || others) && !random.one_in(3)).collect())
        .collect();
    let mut drawn: Vec<(u32, u32, Label)> = Vec::new();
    for _ in 0..random.below(edges_most + 1) {
        let (from, to) = (random.below(nodes), random.below(nodes));
        let actor = random.small(actors);
        let [before, after] = [from, to].map(|node| &open[node as usize]);
        let mine = usize::from(actor);
        let others_stay = (0..before.len()).all(|at| at == mine || before[at] == after[at]);
        if others_stay {
            let marks = marks(random, before[mine], after[mine]);
            drawn.push((from, to, Label::new(ActorId(actor), &marks)));
        }
    }
    drawn.sort_by_key(|(from, ..)| *from);
    let mut shape = Shape::new(usize::from(actors));
    let mut arrows = Vec::new();
    for node in 0..nodes {
        let kinds = open[node as usize]
            .iter()
            .map(|open| if *open { OperationSet::EMPTY.with(CHARGE) } else { OperationSet::EMPTY });
        shape.begin(&kinds.collect::<Vec<_>>());
        shape.push_parent(None);
        let own = drawn.iter().filter(|(from, ..)| *from == node);
        for (ordinal, (from, to, label)) in (0..).zip(own) {
            shape.push_edge(*to, label);
            let hop = Hop { from: *from, ordinal, to: *to };
            arrows.push(Arrow { from: *from, to: *to, hop, label: label.clone() });
        }
    }
    Graph { shape, actors, open, arrows }
}

impl Graph {
    fn enabled(&self, node: u32, actor: u8) -> bool {
        self.arrows.iter().any(|arrow| arrow.from == node && arrow.label.actor.0 == actor)
    }

    /// Whether a run that takes these edges again and again, and no others, is fair.
    fn fair(&self, set: &[&Arrow], fairness: Fairness) -> bool {
        (0..self.actors).all(|actor| {
            let steps = set.iter().any(|arrow| arrow.label.actor.0 == actor);
            let mut enabled = set.iter().map(|arrow| self.enabled(arrow.from, actor));
            match fairness {
                Fairness::None => true,
                Fairness::Weak => steps || enabled.any(|enabled| !enabled),
                Fairness::Strong | Fairness::RunToYield => steps || !enabled.any(|enabled| enabled),
            }
        })
    }

    /// Whether some strongly connected set of the edges admitted, with one as it must be, is fair.
    fn some_set(
        &self,
        admitted: impl Fn(&Arrow) -> bool,
        must: impl Fn(&Arrow) -> bool,
        fairness: Fairness,
    ) -> bool {
        let admitted: Vec<&Arrow> = self.arrows.iter().filter(|arrow| admitted(arrow)).collect();
        (1_u32..1 << admitted.len()).any(|set| {
            let chosen = |at: &usize| set & (1 << at) != 0;
            let set: Vec<&Arrow> =
                (0..admitted.len()).filter(chosen).map(|at| admitted[at]).collect();
            strongly_connected(&set) && set.iter().any(|a| must(a)) && self.fair(&set, fairness)
        })
    }

    fn check_lasso(
        &self,
        found: &Lasso,
        fairness: Fairness,
        keep: &impl Fn(&Arrow) -> bool,
        must: &impl Fn(&Arrow) -> bool,
    ) {
        let arrow = |hop: &Hop| self.arrows.iter().find(|arrow| arrow.hop == *hop);
        let cycle: Vec<&Arrow> = found.cycle.iter().filter_map(arrow).collect();
        assert_eq!(cycle.len(), found.cycle.len(), "each hop is an edge");
        assert!(cycle.windows(2).all(|pair| pair[0].to == pair[1].from));
        assert_eq!((cycle[0].from, cycle[cycle.len() - 1].to), (found.entry, found.entry));
        assert!(cycle.iter().all(|arrow| keep(arrow)) && cycle.iter().any(|arrow| must(arrow)));
        assert!(self.fair(&cycle, fairness), "the cycle is fair in itself");
    }
}

/// Whether one can go along these edges from each of them to each.
fn strongly_connected(set: &[&Arrow]) -> bool {
    let nodes = set.iter().fold(0_u64, |nodes, arrow| nodes | 1 << arrow.from | 1 << arrow.to);
    let spread = |ends: &dyn Fn(&Arrow) -> (u32, u32)| {
        let mut seen = 1_u64 << set[0].from;
        loop {
            let before = seen;
            for arrow in set {
                let (from, to) = ends(arrow);
                if seen & (1 << from) != 0 {
                    seen |= 1 << to;
                }
            }
            if seen == before {
                return seen;
            }
        }
    };
    spread(&|arrow| (arrow.from, arrow.to)) == nodes
        && spread(&|arrow| (arrow.to, arrow.from)) == nodes
}

/// Whether a charge stays open along an edge: one of an actor, or of anybody.
fn stays(graph: &Graph, arrow: &Arrow, actor: Option<u8>) -> bool {
    let open = |node: u32| match actor {
        Some(actor) => graph.open[node as usize][usize::from(actor)],
        None => graph.open[node as usize].contains(&true),
    };
    let mine = actor.is_none_or(|actor| arrow.label.actor.0 == actor);
    open(arrow.from) && open(arrow.to) && !(mine && arrow.label.ends(CHARGE))
}

fn arrow_of(graph: &Graph, hop: Hop) -> &Arrow {
    graph.arrows.iter().find(|arrow| arrow.hop == hop).expect("every hop is an arrow")
}

#[test]
fn progress_is_what_every_set_of_edges_says() {
    let mut random = Random(1);
    let mut violated = [0; 3];
    for _ in 0..GRAPHS {
        let graph = graph(&mut random, 6, 12);
        for (fairness, violated) in MANY_CPUS.into_iter().zip(&mut violated) {
            for actor in [Some(0), None] {
                let keep = |arrow: &Arrow| stays(&graph, arrow, actor);
                let expected = graph.some_set(keep, |_| true, fairness);
                let admits = |from: u32, edge: &Edge| {
                    let mut hops = graph.shape.hops(from);
                    let found = hops.find(|(_, other)| std::ptr::eq(*other, edge));
                    keep(arrow_of(&graph, found.expect("it is an edge of the node").0))
                };
                let found = lasso(&graph.shape, admits, fairness, |_, _| true);
                assert_eq!(found.is_some(), expected, "{fairness}: {:?}", graph.arrows);
                if let Some(found) = found {
                    graph.check_lasso(&found, fairness, &keep, &|_| true);
                    *violated += 1;
                }
            }
        }
    }
    let [none, weak, strong] = violated;
    assert!(none > weak && weak > strong && strong > 1000, "{violated:?}");
}

#[test]
fn run_to_yield_is_what_every_set_of_edges_of_one_cpu_says() {
    let mut random = Random(2);
    let (mut compared, mut violated) = (0, 0);
    while compared < GRAPHS {
        let whole = graph(&mut random, 4, 8);
        let Some(restricted) = restrict(&whole) else { continue };
        compared += 1;
        let keep = |arrow: &Arrow| stays(&restricted, arrow, Some(0));
        let expected = restricted.some_set(keep, |_| true, Fairness::Strong);
        let found = one_cpu(&whole.shape, CHARGE, ActorId(0));
        assert_eq!(found.is_some(), expected, "{:?}", whole.arrows);
        for hop in found.iter().flatten() {
            assert!(whole.arrows.iter().any(|arrow| arrow.hop == *hop), "each hop is an edge");
        }
        violated += u64::from(expected);
    }
    assert!(violated > GRAPHS / 20, "{violated}");
}

/// The graph of one CPU, whose nodes also say who is running; only what can be reached from the
/// first node. Nothing if it has too many edges to try every set.
fn restrict(whole: &Graph) -> Option<Graph> {
    let mut places = vec![(0_u32, None::<u8>)];
    let mut arrows: Vec<Arrow> = Vec::new();
    let mut at = 0;
    while let Some((node, running)) = places.get(at).copied() {
        let mine = |arrow: &&Arrow| {
            arrow.from == node && running.is_none_or(|running| running == arrow.label.actor.0)
        };
        for arrow in whole.arrows.iter().filter(mine) {
            let actor = arrow.label.actor.0;
            let ended = arrow.label.marks.contains(&Mark::End(CHARGE));
            let next = if ended || !whole.enabled(arrow.to, actor) { None } else { Some(actor) };
            let place = (arrow.to, next);
            let to = places.iter().position(|seen| *seen == place).unwrap_or_else(|| {
                places.push(place);
                places.len() - 1
            });
            arrows.push(Arrow { from: position(at), to: position(to), ..arrow.clone() });
        }
        at += 1;
    }
    let open = places.iter().map(|(node, _)| whole.open[*node as usize].clone()).collect();
    let shape = Shape::new(usize::from(whole.actors));
    (arrows.len() <= 12).then_some(Graph { shape, actors: whole.actors, open, arrows })
}

/// Calls `found` with every simple path of edges admitted that begins at a node, also the empty
/// one, and says whether it came back to where it began.
fn simple_paths<'a>(
    graph: &'a Graph,
    start: u32,
    admitted: &impl Fn(&Arrow) -> bool,
    path: &mut Vec<&'a Arrow>,
    found: &mut impl FnMut(&[&'a Arrow], bool),
) {
    let at = path.last().map_or(start, |arrow| arrow.to);
    if !path.is_empty() && at == start {
        found(path, true);
        return;
    }
    found(path, false);
    for arrow in graph.arrows.iter().filter(|arrow| arrow.from == at && admitted(arrow)) {
        let seen = arrow.to != start && path.iter().any(|before| before.to == arrow.to);
        if !seen {
            path.push(arrow);
            simple_paths(graph, start, admitted, path, found);
            path.pop();
        }
    }
}

/// The largest cost of a charge of the first actor, by every simple path and cycle.
fn most(graph: &Graph) -> Option<Bound<u64>> {
    let mine = |arrow: &Arrow| arrow.label.actor.0 == 0;
    let open = |node: u32| graph.open[node as usize][0];
    let share = |arrow: &Arrow| {
        if mine(arrow) {
            arrow.label.share(CHARGE, 0, open(arrow.from))
        } else {
            crate::label::Share::default()
        }
    };
    let admitted = |arrow: &Arrow| open(arrow.from) && !share(arrow).ends;
    let nodes = 0..graph.shape.len();
    let mut unbounded = false;
    for start in nodes.clone() {
        simple_paths(graph, start, &admitted, &mut Vec::new(), &mut |path, closed| {
            unbounded |= closed && path.iter().any(|arrow| share(arrow).head > 0);
        });
    }
    if unbounded {
        return Some(Bound::Unbounded);
    }
    let mut most = None;
    for arrow in &graph.arrows {
        most = most.max(share(arrow).inner);
        let Some(tail) = share(arrow).tail else { continue };
        simple_paths(graph, arrow.to, &admitted, &mut Vec::new(), &mut |path, _| {
            let at = path.last().map_or(arrow.to, |last| last.to);
            let so_far = tail + path.iter().map(|arrow| share(arrow).head).sum::<u64>();
            let ends = graph.arrows.iter().filter(|arrow| arrow.from == at && share(arrow).ends);
            let last = ends.map(|arrow| share(arrow).head).max().unwrap_or(0);
            most = most.max(Some(so_far + last));
        });
    }
    most.map(Bound::Most)
}

#[test]
fn the_worst_cost_is_what_every_path_and_cycle_says() {
    let mut random = Random(3);
    let (mut bounded, mut unbounded, mut starving) = (0, 0, 0);
    for _ in 0..GRAPHS {
        let graph = graph(&mut random, 6, 12);
        let found = for_tests::worst(&graph.shape, ActorId(0), CHARGE);
        let expected = most(&graph);
        assert_eq!(found.as_ref().map(|found| found.0), expected, "{:?}", graph.arrows);
        let Some((bound, fairness, path)) = found else { continue };
        match bound {
            Bound::Most(most) => {
                assert_eq!(cost_of_last(&graph, &path), most, "{:?}", graph.arrows);
                bounded += u32::from(most > 0);
            }
            Bound::Unbounded => {
                let keep = |arrow: &Arrow| stays(&graph, arrow, Some(0));
                let adds = |a: &Arrow| a.label.actor.0 == 0 && a.label.total(0) > 0;
                let strongest = [Fairness::Strong, Fairness::Weak, Fairness::None].into_iter();
                let expected = strongest.into_iter().find(|it| graph.some_set(keep, adds, *it));
                assert_eq!(fairness, expected);
                unbounded += 1;
                starving += u32::from(fairness == Some(Fairness::None));
            }
        }
    }
    assert!(bounded > 500 && unbounded > 500 && starving > 50, "{bounded} {unbounded} {starving}");
}

/// The largest cost of an operation of the first actor on a path that begins with one.
fn cost_of_last(graph: &Graph, path: &[Hop]) -> u64 {
    let (mut running, mut most) = (None, 0);
    for hop in path {
        let arrow = graph.arrows.iter().find(|arrow| arrow.hop == *hop);
        let label = &arrow.expect("each hop is an edge").label;
        if label.actor.0 != 0 {
            continue;
        }
        for mark in &label.marks {
            match (mark, &mut running) {
                (Mark::Begin(_), _) => running = Some(0),
                (Mark::End(_), _) => running = None,
                (Mark::Cost(_, amount), Some(cost)) => *cost += amount,
                (Mark::Cost(..), None) => {}
            }
            most = most.max(running.unwrap_or(0));
        }
    }
    most
}

/// The largest ratio of cost to charges that end, by every simple cycle.
fn most_each(graph: &Graph) -> Option<Bound<Rational>> {
    let mut most = None;
    for start in 0..graph.shape.len() {
        simple_paths(graph, start, &|_| true, &mut Vec::new(), &mut |path, closed| {
            let sum = |of: &dyn Fn(&Label) -> u64| path.iter().map(|arrow| of(&arrow.label)).sum();
            let (cost, ended): (u64, u64) = (sum(&|l| l.total(0)), sum(&|l| l.count_ended(CHARGE)));
            if closed && (cost > 0 || ended > 0) {
                let ratio = Rational::new(cost, ended).map_or(Bound::Unbounded, Bound::Most);
                most = most.max(Some(ratio));
            }
        });
    }
    most
}

#[test]
fn the_largest_ratio_is_what_every_cycle_says() {
    let mut random = Random(4);
    let (mut fractions, mut unbounded) = (0, 0);
    for _ in 0..GRAPHS {
        let graph = graph(&mut random, 6, 12);
        let found = for_tests::ratio(&graph.shape, CHARGE);
        assert_eq!(found, most_each(&graph), "{:?}", graph.arrows);
        match found {
            Some(Bound::Most(ratio)) => fractions += u32::from(ratio > Rational::ZERO),
            Some(Bound::Unbounded) => unbounded += 1,
            None => {}
        }
    }
    assert!(fractions > 500 && unbounded > 500, "{fractions} {unbounded}");
}
