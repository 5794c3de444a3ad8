//! Pages that are only counted, and those of a ring, against the same pages where they lie in a file.

use crate::support;
use mm_checker::check::check;
use mm_checker::claim::Claim;
use mm_checker::engine::Quiet;
use mm_checker::spec::parse;

/// Constants as small as they get.
const KERNEL: &str = "[kernel]\nswap_cluster_max = 1\nmemcg_charge_batch = 1\n\
                      max_reclaim_retries = 1\nmmap_lotsamiss = 0\n";

/// What a task does, page by page: an operation at a page, and the pages one after the other.
struct Program<'a> {
    op: &'a str,
    places: &'a [&'a str],
}

/// A spec of one task with one file.
fn spec((io, evicts, max, window): (&str, &str, u64, u64), file: &str, ops: &[String]) -> String {
    let ops: Vec<String> = ops.iter().map(|op| format!("\"{op}\"")).collect();
    let claims = "\"speculative-passes per readahead\" = 0\n\"marks per readahead\" = 0\n\
                  \"folios-added per readahead\" = 0\n\"batch-reclaims per readahead\" = 0\n";
    format!(
        "title = \"A task alone\"\n\n\
         {KERNEL}\n\
         [world]\nio = \"{io}\"\nevicts = \"{evicts}\"\n\n\
         [[memcg]]\nname = \"job\"\nmax = {max}\n\n\
         [[file]]\nname = \"a\"\n{file}\nra-pages = {window}\n\n\
         [[actor]]\nname = \"A\"\nmemcg = \"job\"\ndoes = [{}]\n\n\
         [design.before]\nbase = \"linux-7.3\"\n\n\
         [design.after]\nbase = \"readahead-batch-reclaim\"\n\n\
         [expect.before]\n{claims}\n[expect.after]\n{claims}",
        ops.join(", ")
    )
}

/// Every verdict and value, and the number of states.
type Answers = (Vec<(Claim, String)>, u64);

/// Those of each design.
fn answers(text: &str) -> Vec<Answers> {
    let spec = parse("pooled.toml", text).expect("the spec is right");
    let point = &spec.points[0];
    let options = support::options(None);
    let judged = |design| {
        let checked = check(&spec, design, point, &options, &mut Quiet).expect("it is searched");
        let words = checked.judged.iter().map(|judged| {
            (
                judged.claim,
                format!(
                    "{:?} {:?} {:?}",
                    judged.value,
                    judged.verdict,
                    judged.counterexample.is_some()
                ),
            )
        });
        (words.collect(), checked.states)
    };
    spec.designs.iter().map(judged).collect()
}

/// Compares a file of some kind with one whose pages lie at those places.
fn compare(
    file: &str,
    world: (&str, &str, u64, u64),
    program: &Program<'_>,
    places: &[String],
) -> u64 {
    let ops = |op: &str, places: &mut dyn Iterator<Item = &str>| -> Vec<String> {
        places.map(|place| op.replace("PAGE", place)).collect()
    };
    let one = ops(program.op, &mut program.places.iter().copied());
    let other = ops(program.op, &mut places.iter().map(String::as_str));
    let one = answers(&spec(world, file, &one));
    let other = answers(&spec(world, "pages = 128", &other));
    same(&one, &other, &format!("{world:?}, {}", program.op))
}

/// Compares what two specs answer, and returns the states of the first.
fn same(one: &[Answers], other: &[Answers], what: &str) -> u64 {
    assert_eq!(one.len(), other.len(), "{what}");
    let mut all = 0;
    for ((one, states), (other, _)) in one.iter().zip(other) {
        assert_eq!(one.len(), other.len(), "{what}");
        let differ: Vec<_> = one.iter().zip(other).filter(|(one, other)| one != other).collect();
        assert!(differ.is_empty(), "{what}: {differ:?}");
        all += states;
    }
    all
}

/// The kind of a file of which older pages are only counted.
const POOLED: &str = "pages = 64\npooled = true";

const WORLDS: [(&str, &str, u64, u64); 8] = [
    ("at-once", "any", 2, 2),
    ("at-once", "unmapped-first", 3, 2),
    ("file", "any", 4, 4),
    ("file", "lru", 3, 2),
    ("page", "fifo", 3, 2),
    ("page", "unmapped-first", 3, 2),
    ("at-once", "lru", 6, 4),
    ("at-once", "any", 4, 3),
];

#[test]
fn a_file_that_moves_past_a_task_is_as_one_that_a_task_moves_along() {
    let mut states = 0;
    for op in ["access a PAGE", "access a PAGE seq", "fault a PAGE", "read a PAGE 1"] {
        for world in WORLDS {
            // Windows of 7.3 end at whole blocks, so that it matters where they begin: the first
            // page is the second of a block, in the pooled file too.
            let places: Vec<String> = (33..38).map(|page: u64| page.to_string()).collect();
            let places = if world.3 == 3 { &places[..4] } else { &places[..] };
            let next = vec!["next"; places.len()];
            states += compare(POOLED, world, &Program { op, places: &next }, places);
        }
    }
    assert!(states > 10_000, "{states}");
}

#[test]
fn random_accesses_to_a_pooled_file_are_as_those_to_places_far_from_each_other() {
    for op in ["access a PAGE", "fault a PAGE"] {
        for world in WORLDS {
            let places: Vec<String> = (0..4).map(|nth| (nth * 24 + 2).to_string()).collect();
            compare(POOLED, world, &Program { op, places: &["2"; 4] }, &places);
        }
    }
}

#[test]
fn an_access_of_a_ring_is_as_one_in_the_middle_of_a_file() {
    // How many pages after the one before, in a ring of 16: back by two, there again, forth, and to
    // the window of the first.
    let steps = [0, 14, 0, 3, 12, 6];
    let places: Vec<String> = [60, 58, 58, 61, 57, 63].map(|page: u64| page.to_string()).into();
    let steps = steps.map(|by: u64| by.to_string());
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    let mut states = 0;
    for op in ["access a PAGE", "access a PAGE rand", "fault a PAGE"] {
        for world in WORLDS.iter().filter(|world| world.3 < 4) {
            let program = Program { op, places: &steps };
            states += compare("pages = 16\nring = true", *world, &program, &places);
        }
    }
    assert!(states > 3_000, "{states}");
}

/// Two tasks that go anywhere in files of their own.
fn two_tasks((io, evicts, max, window): (&str, &str, u64, u64), pages: u64, file: &str) -> String {
    let one = |name: &str| {
        let actor = name.to_uppercase();
        let last = pages - 1;
        let file =
            format!("[[file]]\nname = \"{name}\"\npages = {pages}\nra-pages = {window}\n{file}\n");
        let does = format!("does = [\"access {name} 0..{last}\"]\nrepeat = true\n");
        format!("{file}\n[[actor]]\nname = \"{actor}\"\nmemcg = \"job\"\n{does}\n")
    };
    let claims = "\"reclaim-passes per readahead\" = 0\n\"reclaim-passes per fault\" = 0\n\
                  \"pages-evicted-unused per-each access\" = 0\n";
    format!(
        "title = \"Two tasks\"\n\n\
         {KERNEL}\n\
         [world]\nio = \"{io}\"\nevicts = \"{evicts}\"\n\n\
         [[memcg]]\nname = \"job\"\nmax = {max}\n\n\
         {}{}\
         [design.before]\nbase = \"linux-7.3\"\n\n\
         [design.after]\nbase = \"readahead-batch-reclaim\"\n\n\
         [expect.before]\n{claims}\n[expect.after]\n{claims}",
        one("a"),
        one("b"),
    )
}

#[test]
fn with_windows_of_a_page_a_ring_is_a_file_whose_states_are_fewer() {
    let mut saved = [0, 0];
    for io in ["at-once", "file", "page"] {
        for (evicts, max) in [("any", 1), ("unmapped-first", 2), ("fifo", 2), ("lru", 2)] {
            let world = (io, evicts, max, 1);
            let [ring, line] = ["ring = true", ""].map(|file| answers(&two_tasks(world, 2, file)));
            let what = format!("{world:?}");
            saved[0] += same(&ring, &line, &what);
            saved[1] += same(&line, &ring, &what);
        }
    }
    // Two files of two pages each can be turned to one of four.
    assert!(saved[1] > saved[0] * 3, "{saved:?}");
}

#[test]
fn a_ring_larger_than_the_memcg_decides_what_a_pooled_file_does() {
    let text = std::fs::read_to_string("../specs/faults/ring.toml").expect("it is there");
    let pooled = text.replace("ring     = true", "pooled   = true").replace("0..4", "1");
    same(&answers(&text), &answers(&pooled), "faults/ring");
}

#[test]
fn a_file_with_little_more_than_a_window_hides_what_a_larger_one_shows() {
    let short = std::fs::read_to_string("../specs/faults/ring-of-three.toml").expect("it is there");
    let longer = short.replace("pages    = 3", "pages    = 4").replace("0..2", "0..3");
    let starves = |text: &str| {
        let spec = parse("ring.toml", text).expect("the spec is right");
        support::answers(&spec, "starvation-free access")
    };
    assert_eq!(starves(&short), ["violated", "holds"]);
    assert_eq!(starves(&longer), ["violated", "violated"]);
}

/// One task at random in a ring of so many pages, and in a pooled file: what is answered of each.
fn ring_and_pooled(world: &str, max: u64, op: &str, asked: &str) -> impl Fn(u64) -> [String; 2] {
    let head = format!(
        "title = \"A task alone\"\n\n\
         {KERNEL}\n[world]\n{world}\n\n[[memcg]]\nname = \"job\"\nmax = {max}\n"
    );
    let (op, asked) = (op.to_owned(), asked.to_owned());
    move |pages| {
        let kinds = [("ring", pages, format!("0..{}", pages - 1)), ("pooled", 8, "1".to_owned())];
        kinds.map(|(kind, pages, places)| {
            let text = format!(
                "{head}\n[[file]]\nname = \"a\"\npages = {pages}\nra-pages = 2\n{kind} = true\n\n\
                 [[actor]]\nname = \"A\"\nmemcg = \"job\"\ndoes = [\"{op} a {places}\"]\n\
                 repeat = true\n\n[expect.\"linux-7.3\"]\n\"{asked}\" = \"vacuous\"\n"
            );
            let spec = parse("one.toml", &text).expect("the spec is right");
            support::answers(&spec, &asked).remove(0)
        })
    }
}

#[test]
fn a_ring_of_one_page_more_than_its_memcg_hides_what_one_of_two_more_shows() {
    let world = "io = \"page\"\nevicts = \"fifo\"";
    let both = ring_and_pooled(world, 2, "access", "readaheads per access");
    assert_eq!(both(3), ["1", "unbounded"]);
    assert_eq!(both(4), ["unbounded", "unbounded"]);
}

#[test]
fn whoever_comes_back_to_a_page_can_wait_for_its_read() {
    let world = "io = \"file\"\nevicts = \"fifo\"\nno-retry = true";
    let both = ring_and_pooled(world, 1, "fault", "ladder fault");
    for pages in 3..=5 {
        assert_eq!(both(pages), ["starvation-free", "wait-free"], "{pages}");
    }
}
