//! stateright's Explorer on a scenario.

use crate::scenarios::{explored, two_at_the_limit};
use mm_checker::engine::stateright::{ServeError, deep_link, serve};
use mm_checker::liveness::{Fairness, starvation};
use mm_model::design::Changes;
use mm_model::env::Operation;
use mm_model::ids::ActorId;
use mm_model::machine::Fuse;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

fn served() -> SocketAddr {
    let scenario = two_at_the_limit(&Changes::NONE);
    // The server ends with the test process: there is no other way to end it.
    serve(&scenario, Fuse::No, ANY, &[]).expect("it is served").addr
}

#[test]
fn it_shows_readable_steps_and_states() {
    let addr = served();
    assert_ne!(addr.port(), 0);
    let answer = get(addr, "/.states/0");
    assert!(answer.contains(r#""action":"A: charge begins (readahead)""#), "{answer}");
    assert!(answer.contains("job: usage 1 of 1, 1 reclaimable"), "{answer}");
}

#[test]
fn a_lasso_has_a_deep_link_whose_two_ends_are_the_same_state() {
    let scenario = two_at_the_limit(&Changes::NONE);
    let (_, graph) = explored(&scenario, Fuse::No);
    let answer = starvation(&graph, &scenario, Operation::Charge, ActorId(0), Fairness::Weak);
    let lasso = answer.lasso.expect("A starves");
    let (stem, _) = lasso.choices.split_at(lasso.cycle_from.expect("it has a cycle"));
    let addr = served();
    let [before, after] = [stem, &lasso.choices].map(|choices| {
        let link = deep_link(&scenario, Fuse::No, choices).expect("it is a path");
        let path = link.replace("#/steps", "/.states");
        let answer = get(addr, &path);
        let body = answer.split_once("\r\n\r\n").expect("an answer has a body").1;
        without_diagrams(body)
    });
    assert!(before.contains("try_charge_memcg"));
    assert_eq!(before, after);
    let start = get(addr, "/.states/0");
    assert!(!start.ends_with(&before), "the lasso does not begin at the start");
}

/// The states after a path, without the diagrams of the paths that lead to them.
fn without_diagrams(body: &str) -> String {
    let mut states: Vec<serde_json::Value> = serde_json::from_str(body).expect("it is JSON");
    for state in &mut states {
        state.as_object_mut().expect("an object").remove("svg").expect("it has a diagram");
    }
    serde_json::Value::Array(states).to_string()
}

fn get(addr: SocketAddr, path: &str) -> String {
    for _ in 0..200 {
        if let Ok(mut stream) = TcpStream::connect(addr) {
            write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                .expect("it listens");
            let mut answer = String::new();
            stream.read_to_string(&mut answer).expect("it answers");
            return answer;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("nobody listens on {addr}")
}

#[test]
fn an_address_in_use_is_an_error_and_no_panic() {
    let taken = TcpListener::bind(ANY).expect("some port is free");
    let addr = taken.local_addr().expect("it is bound");
    let served = serve(&two_at_the_limit(&Changes::NONE), Fuse::No, addr, &[]);
    assert!(matches!(served, Err(ServeError::Bind(at, _)) if at == addr));
}
