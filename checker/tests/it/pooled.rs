//! Pages that are only counted, against the same pages with their identity.

use mm_checker::check::{Options, check};
use mm_checker::claim::Claim;
use mm_checker::cli::Engine;
use mm_checker::engine::{Budget, Quiet};
use mm_checker::spec::parse;
use mm_model::machine::Fuse;

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
         [kernel]\nswap_cluster_max = 1\nmemcg_charge_batch = 1\nmax_reclaim_retries = 1\n\
         mmap_lotsamiss = 0\n\n\
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
fn answers(text: &str) -> Vec<(Vec<(Claim, String)>, u64)> {
    let spec = parse("pooled.toml", text).expect("the spec is right");
    let point = &spec.points[0];
    let options = Options {
        fuse: Fuse::OwnLocal,
        budget: Budget::default(),
        engine: Engine::Native,
        threads: 1,
        asked: None,
    };
    let judged = |design| {
        let checked = check(&spec, design, point, &options, &mut Quiet).expect("it is searched");
        let words = checked.judged.iter().map(|judged| {
            (judged.claim, format!("{:?} {:?}", judged.value, judged.counterexample.is_some()))
        });
        (words.collect(), checked.states)
    };
    spec.designs.iter().map(judged).collect()
}

/// Compares a pooled file with one whose pages lie at those places.
fn compare(world: (&str, &str, u64, u64), pooled: &Program<'_>, places: &[String]) -> u64 {
    let ops = |op: &str, places: &mut dyn Iterator<Item = &str>| -> Vec<String> {
        places.map(|place| op.replace("PAGE", place)).collect()
    };
    let counted = ops(pooled.op, &mut pooled.places.iter().copied());
    let named = ops(pooled.op, &mut places.iter().map(String::as_str));
    let counted = answers(&spec(world, "pages = 64\npooled = true", &counted));
    let named = answers(&spec(world, "pages = 128", &named));
    let mut states = 0;
    for ((one, counted), (other, _)) in counted.iter().zip(&named) {
        let differ: Vec<_> = one.iter().zip(other).filter(|(one, other)| one != other).collect();
        assert!(differ.is_empty(), "{world:?}, {}: {differ:?}", pooled.op);
        states += counted;
    }
    states
}

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
            states += compare(world, &Program { op, places: &next }, places);
        }
    }
    assert!(states > 10_000, "{states}");
}

#[test]
fn random_accesses_to_a_pooled_file_are_as_those_to_places_far_from_each_other() {
    for op in ["access a PAGE", "fault a PAGE"] {
        for world in WORLDS {
            let places: Vec<String> = (0..4).map(|nth| (nth * 24 + 2).to_string()).collect();
            compare(world, &Program { op, places: &["2"; 4] }, &places);
        }
    }
}
