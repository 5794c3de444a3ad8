//! The claim that tasks stepping on shared memory reach what tasks sending messages reach, on a
//! charge protocol small enough for both: a memcg that owns its counter, and two tasks that ask
//! it for pages and wait for the reply. Nothing is reclaimed.

use crate::scenarios::{Small, charge, explored, uncharge};
use mm_model::actor::At;
use mm_model::actor::task::Task;
use mm_model::machine::Fuse;
use mm_model::state::State;
use stateright::actor::{Actor, ActorModel, Id, Network, Out, model_timeout};
use stateright::{Checker, Expectation, Model, StateRecorder};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

const MAX: u8 = 2;
const MEMCG: usize = 2;

/// A program of charges (of one page) and uncharges, repeated for ever.
const PROGRAMS: [&[Entry]; 2] = [
    &[Entry::Charge, Entry::Charge, Entry::Uncharge(2)],
    &[Entry::Charge, Entry::Uncharge(1), Entry::Charge, Entry::Charge, Entry::Uncharge(3)],
];

#[derive(Clone, Copy)]
enum Entry {
    Charge,
    Uncharge(u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Message {
    TryCharge,
    Charged,
    Refused,
    Uncharge(u8),
    Uncharged,
}

#[derive(Clone)]
enum Role {
    Task(&'static [Entry]),
    Memcg,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Local {
    Task { at: u8, held: u8 },
    Memcg { usage: u8 },
}

impl Actor for Role {
    type Msg = Message;
    type State = Local;
    type Timer = ();
    type Random = ();
    type Storage = ();

    fn on_start(&self, _: Id, _: &Option<()>, out: &mut Out<Self>) -> Local {
        match self {
            Self::Task(_) => {
                // The timer is user space: it lasts as long as it likes.
                out.set_timer((), model_timeout());
                Local::Task { at: 0, held: 0 }
            }
            Self::Memcg => Local::Memcg { usage: 0 },
        }
    }

    fn on_timeout(&self, _: Id, local: &mut Cow<Local>, (): &(), out: &mut Out<Self>) {
        let (Self::Task(program), Local::Task { at, held }) = (self, local.to_mut()) else {
            unreachable!("only tasks set timers")
        };
        match program[usize::from(*at)] {
            Entry::Charge => out.send(Id::from(MEMCG), Message::TryCharge),
            Entry::Uncharge(_) if *held == 0 => {
                *at = next(program, *at);
                out.set_timer((), model_timeout());
            }
            Entry::Uncharge(pages) => {
                let pages = pages.min(*held);
                *held -= pages;
                out.send(Id::from(MEMCG), Message::Uncharge(pages));
            }
        }
    }

    fn on_msg(&self, _: Id, local: &mut Cow<Local>, from: Id, msg: Message, out: &mut Out<Self>) {
        match (local.to_mut(), msg) {
            (Local::Memcg { usage }, Message::TryCharge) => {
                let charged = *usage < MAX;
                *usage += u8::from(charged);
                out.send(from, if charged { Message::Charged } else { Message::Refused });
            }
            (Local::Memcg { usage }, Message::Uncharge(pages)) => {
                *usage -= pages;
                out.send(from, Message::Uncharged);
            }
            (
                Local::Task { at, held },
                Message::Charged | Message::Refused | Message::Uncharged,
            ) => {
                let Self::Task(program) = self else { unreachable!("a task has a program") };
                *held += u8::from(msg == Message::Charged);
                *at = next(program, *at);
                out.set_timer((), model_timeout());
            }
            (Local::Memcg { .. } | Local::Task { .. }, _) => unreachable!("no such message"),
        }
    }
}

fn next(program: &[Entry], at: u8) -> u8 {
    (at + 1) % u8::try_from(program.len()).expect("it is short")
}

/// What both ways of modelling have: usage, and (position, pages held) of each task, while all
/// tasks are in user space.
type Seen = BTreeSet<(u64, Vec<(u8, u64)>)>;

fn by_messages() -> Seen {
    let (recorder, states) = StateRecorder::new_with_accessor();
    let roles = PROGRAMS.map(Role::Task).into_iter().chain([Role::Memcg]);
    ActorModel::<Role>::new((), ())
        .actors(roles)
        .init_network(Network::new_unordered_nonduplicating([]))
        .property(Expectation::Always, "every reachable state is visited", |_, _| true)
        .checker()
        .visitor(recorder)
        .spawn_bfs()
        .join();
    let project = |locals: &[Arc<Local>]| {
        let mut usage = 0;
        let mut tasks = Vec::new();
        for local in locals {
            match **local {
                Local::Task { at, held } => tasks.push((at, u64::from(held))),
                Local::Memcg { usage: now } => usage = u64::from(now),
            }
        }
        (usage, tasks)
    };
    let states = states();
    let quiet = states.iter().filter(|state| state.network.len() == 0);
    quiet.map(|state| project(&state.actor_states)).collect()
}

fn by_shared_memory() -> Seen {
    let entry = |entry: &Entry| match entry {
        Entry::Charge => charge(1, "nonblocking"),
        Entry::Uncharge(pages) => uncharge(u64::from(*pages)),
    };
    let [a, b] = PROGRAMS.map(|program| program.iter().map(entry).collect::<Vec<_>>());
    let scenario = Small::job(u64::from(MAX)).forever("A", &a).forever("B", &b).build();
    let (_, graph) = explored(&scenario, Fuse::No);
    let project = |state: &State| {
        let tasks = state.actors.iter().map(|actor| match actor.at {
            At::Task(Task::User(at)) => Some((at, actor.current.held.0)),
            At::Task(Task::Kernel(..) | Task::ReturnToUser(..) | Task::Exited)
            | At::DrainWorker(_)
            | At::Device
            | At::Kswapd(_) => None,
        });
        Some((state.world.memcgs[0].memory.usage.0, tasks.collect::<Option<Vec<_>>>()?))
    };
    (0..graph.shape().len()).filter_map(|at| project(&graph.node(at).state())).collect()
}

#[test]
fn shared_memory_reaches_exactly_what_messages_reach() {
    let (messages, shared) = (by_messages(), by_shared_memory());
    assert_eq!(messages, shared);
    assert!(shared.len() > 10, "there is something to compare");
    assert!(shared.iter().any(|(usage, _)| *usage == u64::from(MAX)), "the limit is reached");
}
