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
use std::sync::mpsc;
use std::time::Duration;

const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

fn served() -> SocketAddr {
    let (sender, receiver) = mpsc::channel();
    // The server ends with the test process: there is no other way to end it.
    std::thread::spawn(move || {
        let scenario = two_at_the_limit(&Changes::NONE);
        serve(&scenario, Fuse::No, ANY, |addr| sender.send(addr).expect("the test waits"))
    });
    receiver.recv_timeout(Duration::from_secs(10)).expect("it is served")
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
        answer.split_once("\r\n\r\n").expect("an answer has a body").1.to_owned()
    });
    assert!(before.contains("try_charge_memcg"));
    assert_eq!(before, after);
    let start = get(addr, "/.states/0");
    assert!(!start.ends_with(&before), "the lasso does not begin at the start");
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
    let served = serve(&two_at_the_limit(&Changes::NONE), Fuse::No, addr, |_| {});
    assert!(matches!(served, Err(ServeError::Bind(at, _)) if at == addr));
}
