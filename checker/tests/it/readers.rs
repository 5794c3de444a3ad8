//! Two tasks that share one open file, in every interleaving.

use crate::scenarios::{Small, explored};
use indexmap::IndexSet;
use mm_checker::node::{expand, initial};
use mm_model::env::Event;
use mm_model::ids::FileId;
use mm_model::machine::Fuse;
use mm_model::property::PROPERTIES;
use mm_model::scenario::{FilePolicy, Op, Pick, Scenario, VmFlags, Where};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

const FILE: FileId = FileId(0);
const READ: Op = Op::Read { file: FILE, pos: Where::At(Pick::just(0)), count: Pick::just(4096) };
const FAULT: Op =
    Op::Fault { file: FILE, index: Where::At(Pick::just(1)), vm_flags: VmFlags::empty() };

/// A reader and a task that faults, in a memcg that has room for `max` pages.
fn pair(design: &str, max: u64) -> Small {
    Small::job(max).preset(design).file(2).once("reader", &[READ]).once("mapper", &[FAULT])
}

/// The properties a scenario breaks, and its states with and without fusing; both find the same.
fn broken(scenario: &Scenario) -> (Vec<&'static str>, u64, u64) {
    let [plain, fused] = [Fuse::No, Fuse::OwnLocal].map(|fuse| explored(scenario, fuse).0);
    assert_eq!(plain.violated, fused.violated);
    assert!(plain.stopped.is_none() && fused.stopped.is_none());
    let broken = fused.violated.positions().map(|at| PROPERTIES[at].name).collect();
    (broken, plain.states, fused.states)
}

#[test]
fn a_reader_and_a_fault_break_nothing_with_and_without_room() {
    for design in ["linux-7.3", "linux-6.12", "linux-6.1", "readahead-batch-reclaim"] {
        for max in [1, 2] {
            let (broken, plain, fused) = broken(&pair(design, max).build());
            assert!(broken.is_empty(), "{design}, {max} pages: {broken:?}");
            assert!(plain > fused, "{design}, {max} pages: {plain} states, {fused} fused");
        }
    }
}

#[test]
fn looking_at_each_field_shows_more() {
    let (broken_together, _, together) = broken(&pair("linux-7.3", 2).build());
    let (broken_by_field, _, by_field) = broken(&pair("linux-7.3", 2).field_steps().build());
    assert!(by_field > together, "{together} states, by field {by_field}");
    assert!(broken_together.is_empty() && broken_by_field.is_empty());
}

#[test]
fn failing_allocations_leak_no_charge() {
    let policy = FilePolicy {
        folio_alloc_fails: true,
        tree_nodes: true,
        node_alloc_fails: true,
        ..FilePolicy::default()
    };
    for design in ["linux-7.3", "linux-6.1", "readahead-batch-reclaim"] {
        let (broken, ..) = broken(&pair(design, 2).file_policy(policy).build());
        assert!(broken.is_empty(), "{design}: {broken:?}");
    }
}

/// The wraps of unsigned arithmetic that some interleaving reaches.
fn wraps(scenario: &Scenario) -> BTreeSet<&'static str> {
    let mut nodes = IndexSet::from([initial(scenario).0]);
    let mut wraps = BTreeSet::new();
    let mut next = 0;
    while let Some(node) = nodes.get_index(next).cloned() {
        next += 1;
        let _ = expand(scenario, &Fuse::OwnLocal.into(), &node, |edge, to| {
            let wrapped = edge.events.iter().filter_map(|event| match event {
                Event::Wrapped(wrap) => Some(<&str>::from(wrap)),
                Event::Returned(..)
                | Event::Begin(..)
                | Event::End(..)
                | Event::AboveMax(..)
                | Event::Requested(_)
                | Event::Fulfilled(..)
                | Event::Reclaimed(..)
                | Event::Unused(..)
                | Event::Restarted(_)
                | Event::Signalled(_)
                | Event::Turned(..)
                | Event::ReadAhead(_) => None,
            });
            wraps.extend(wrapped);
            nodes.insert(to);
            ControlFlow::Continue(())
        });
    }
    wraps
}

#[test]
fn folios_left_unread_wrap_the_window_size_of_a_shared_file_before_7_3() {
    let policy = FilePolicy { fs_leaves: true, ..FilePolicy::default() };
    let found = ["linux-6.1", "linux-6.12", "linux-7.3"].map(|design| {
        let found = wraps(&pair(design, 2).file_policy(policy).build());
        found.into_iter().collect::<Vec<_>>()
    });
    // Shrunk by another reader, a window of 6.12 can be shorter than what lies behind its mark.
    assert_eq!(found, [vec!["window-size"], vec!["mark-position", "window-size"], vec![]]);
}

#[test]
fn a_reader_beyond_the_end_goes_round_alone_and_ends_each_time() {
    let beyond =
        Op::Read { file: FILE, pos: Where::At(Pick::just(4 * 4096)), count: Pick::just(4096) };
    let alone = Small::job(1).file(2).forever("reader", &[beyond]);
    let (broken, plain, fused) = broken(&alone.build());
    assert!(broken.is_empty(), "{broken:?}");
    assert!(fused <= plain, "{plain} states, {fused} fused");
}
