//! `mmcheck list`.

use crate::support::mmcheck;
use insta::assert_snapshot;
use mm_model::design::Design;
use serde_json::Value;

const LISTS: [&str; 5] = ["specs", "designs", "properties", "costs", "functions"];

fn json(list: &str) -> Vec<Value> {
    let ran = mmcheck(&["list", list, "--format", "json"]);
    assert_eq!((ran.status, ran.err.as_str()), (0, ""), "{list}");
    serde_json::from_str(&ran.out).expect("it is a JSON array")
}

#[test]
fn every_list_is_an_array_of_named_objects_with_a_summary() {
    for list in LISTS {
        for item in json(list) {
            for field in ["name", "summary"] {
                let text = item[field].as_str().unwrap_or_default();
                assert!(!text.is_empty(), "{list}: {item} has no {field}");
            }
        }
    }
}

#[test]
fn both_forms_of_a_list_have_the_same_names_in_the_same_order() {
    for list in LISTS {
        let names: Vec<Value> = json(list).into_iter().map(|item| item["name"].clone()).collect();
        let human = mmcheck(&["list", list]).out;
        let human: Vec<&str> =
            human.lines().map(|line| line.split("  ").next().unwrap_or_default()).collect();
        assert_eq!(names, human, "{list}");
    }
}

#[test]
fn a_design_lists_every_decision() {
    for design in json("designs") {
        for field in Design::FIELDS {
            let value = &design["decisions"][field.name()];
            let known = match field.least {
                Some(least) => value.as_u64() >= Some(least.into()),
                None => field.values.contains(&value.as_str().unwrap_or_default()),
            };
            assert!(known, "{} {}", design["name"], field.name());
        }
    }
}

#[test]
fn a_function_says_what_it_mirrors_and_leaves_out() {
    let functions = json("functions");
    let charge = functions.iter().find(|function| function["name"] == "try_charge_memcg");
    let charge = charge.expect("the charge is modelled");
    assert_eq!(charge["file"], "mm/memcontrol.c");
    assert!(charge["versions"].as_str().is_some_and(|versions| versions.contains("7.3")));
    assert!(charge["points"].as_array().is_some_and(|points| !points.is_empty()));
    assert!(charge["left_out"].is_string());
}

#[test]
fn designs_are_listed_newest_first() {
    assert_snapshot!(mmcheck(&["list", "designs"]).all(), @"
    status 0
    -- stdout
    linux-7.3                Linux 7.3.4
    linux-7.2                Linux 7.2.13
    linux-6.12               Linux 6.12.117
    linux-6.1                Linux 6.1.192
    reclaim-min-32           Linux 6.12.117 with memory.reclaim in batches of at most SWAP_CLUSTER_MAX
    reclaim-min-32-7.3       Linux 7.3.4 with memory.reclaim in batches of at most SWAP_CLUSTER_MAX
    reclaim-whole-7.3        Linux 7.3.4 with memory.reclaim in one batch, the whole rest each time
    readahead-batch-reclaim  7.3.4 with the patch mm/readahead: avoid per-folio memcg reclaim, v1 3/3
    mark-round-up            7.3.4 with marks rounded up, as they were before they were rounded down
    -- stderr
    ");
}

#[test]
fn what_cannot_be_listed_is_a_usage_error() {
    assert_snapshot!(mmcheck(&["list", "designes"]).all(), @"
    status 2
    -- stdout
    -- stderr
    error: invalid value 'designes' for '<WHAT>'
      [possible values: specs, designs, properties, costs, functions]

      tip: a similar value exists: 'designs'

    For more information, try '--help'.
    ");
}
