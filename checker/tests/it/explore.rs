//! `mmcheck explore` as a process: links, and an end on Ctrl-C.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const STARVES: &str = "specs/charge/small-charge-starves.toml";

struct Explorer {
    child: Child,
    links: Vec<String>,
    addr: SocketAddr,
}

fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mmcheck"));
    command.current_dir(dir).arg("explore").args(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

impl Explorer {
    fn start(args: &[&str]) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let args = [args, &["--listen", "127.0.0.1:0"]].concat();
        let mut child = command(directory.path(), &args).spawn().expect("it starts");
        let out = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut links = Vec::new();
        let mut addr = None;
        for line in out.lines() {
            let line = line.expect("it is text");
            if let Some((_, at)) = line.split_once(": http://") {
                addr = Some(at.parse().expect("an address"));
            }
            links.extend(line.trim().starts_with("http").then(|| line.trim().to_owned()));
            if line == "Ctrl-C ends it." {
                break;
            }
        }
        Self { child, links, addr: addr.expect("it says where it is") }
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.addr).expect("it listens");
        let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer.split_once("\r\n\r\n").expect("an answer has a body").1.to_owned()
    }
}

impl Drop for Explorer {
    fn drop(&mut self) {
        // One that has ended already is just as well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn counterexamples_are_discoveries_and_have_links() {
    let explorer = Explorer::start(&[STARVES, "--design", "before"]);
    let link = explorer.links.first().expect("the lasso has a link").clone();
    let (_, path) = link.split_once("/#/steps").expect("it is a deep link");
    let next = explorer.get(&format!("/.states{path}"));
    assert!(next.contains("try_to_free_mem_cgroup_pages"), "{next}");
    assert!(next.contains("repeats for ever"), "the diagram frames the loop: {next}");
    for _ in 0..200 {
        let status = explorer.get("/.status");
        if status.contains(r#""done":true"#) {
            let lasso = r#""starvation-free charge (weak fairness)","0/"#;
            assert!(status.contains(lasso), "{status}");
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("the Explorer does not come to its end");
}

#[test]
fn an_interrupt_ends_it_cleanly() {
    let mut explorer = Explorer::start(&[STARVES, "--design", "before"]);
    let pid = explorer.child.id().to_string();
    let killed = Command::new("kill").args(["-INT", &pid]).status().expect("kill is there");
    assert!(killed.success());
    let status = explorer.child.wait().expect("it ends");
    assert_eq!(status.code(), Some(0));
}

#[test]
fn whoever_lets_others_reach_it_is_warned() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let args = [STARVES, "--design", "before", "--listen", "0.0.0.0:0"];
    let mut child = command(directory.path(), &args).spawn().expect("it starts");
    let err = BufReader::new(child.stderr.take().expect("it is piped"));
    let first = err.lines().next().expect("it says something").expect("it is text");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert!(first.starts_with("mmcheck: warning: anyone who reaches 0.0.0.0:"), "{first}");
}

fn refused(dir: &Path, listen: &str) -> (Option<i32>, String) {
    let out = command(dir, &[STARVES, "--design", "before", "--listen", listen]).output();
    let out = out.expect("it runs");
    (out.status.code(), String::from_utf8(out.stderr).expect("it is text"))
}

#[test]
fn a_port_in_use_is_an_error_with_a_way_out() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let taken = TcpListener::bind("127.0.0.1:0").expect("some port is free");
    let addr = taken.local_addr().expect("it is bound").to_string();
    let (status, err) = refused(directory.path(), &addr);
    assert_eq!(status, Some(2), "{err}");
    assert!(err.starts_with(&format!("mmcheck: can't listen on {addr}: ")), "{err}");
    assert!(err.contains("hint: `--listen 127.0.0.1:0`"), "{err}");
}

#[test]
fn a_folder_that_would_replace_its_pages_is_an_error() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    std::fs::create_dir(directory.path().join("ui")).expect("it is writable");
    let (status, err) = refused(directory.path(), "127.0.0.1:0");
    assert_eq!(status, Some(2), "{err}");
    assert!(err.contains("has a folder `ui`"), "{err}");
}
