//! stateright's Explorer on a scenario, in the browser.

use super::{LOOPLESS, Searched};
use crate::engine::Budget;
use crate::node::{Node, follow, initial};
use crate::verdict::{Choice, Trace};
use mm_model::machine::Fuse;
use mm_model::scenario::Scenario;
use stateright::Model as _;
use std::fmt::{self, Write as _};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The place of a path in the Explorer: `#/steps/` and the position of each step among those of
/// its state, after that of the initial state. Nothing if it is no path of the scenario.
pub fn deep_link(scenario: &Scenario, fuse: Fuse, choices: &[Choice]) -> Option<String> {
    let mut node = initial(scenario).0;
    let mut link = "#/steps/0".to_owned();
    for choice in choices {
        let (at, to) = follow(scenario, &fuse.into(), &node, choice)?;
        node = to;
        let _ = write!(link, "/{at}");
    }
    Some(link)
}

/// Why the Explorer can't be served.
#[derive(Debug)]
pub enum ServeError {
    /// The address can't be listened on.
    Bind(SocketAddr, std::io::Error),
    /// It did not begin to answer.
    Silent(SocketAddr),
    /// stateright would serve the files of a folder `ui` in place of its own.
    UiFolder,
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bind(addr, error) => write!(f, "can't listen on {addr}: {error}"),
            Self::Silent(addr) => write!(f, "the Explorer does not answer on {addr}"),
            Self::UiFolder => f.write_str(
                "the current directory has a folder `ui`, whose files would replace the \
                 Explorer's own",
            ),
        }
    }
}

impl std::error::Error for ServeError {}

/// The Explorer, being served.
pub struct Served {
    /// Where.
    pub addr: SocketAddr,
    /// Ends only by a panic: stateright has no way to stop it but the end of the process.
    pub thread: JoinHandle<()>,
}

/// How long the Explorer may take until it answers.
const PATIENCE: Duration = Duration::from_secs(10);

/// Serves the Explorer in a thread of its own, and returns once it answers. Port 0 stands for any
/// free one. Lassos, by their names and paths, appear among the properties.
pub fn serve(
    scenario: &Scenario,
    fuse: Fuse,
    addr: SocketAddr,
    lassos: &[(String, Trace)],
) -> Result<Served, ServeError> {
    own_files_only(Path::new("."))?;
    // stateright panics on an address it can't have, and does not say which port it got.
    let bound = TcpListener::bind(addr).and_then(|listener| listener.local_addr());
    let addr = bound.map_err(|error| ServeError::Bind(addr, error))?;
    let mut model = Searched::new(scenario, fuse.into(), &Budget::default(), true);
    for (name, trace) in lassos.iter().take(LOOPLESS.len()) {
        let stem = &trace.choices[..trace.cycle_from.unwrap_or(trace.choices.len())];
        if let Some(entry) = end(scenario, fuse, stem) {
            // A name must last as long as the server, which is as long as the process.
            model.lassos.push((name.clone().leak(), entry));
        }
    }
    let thread = std::thread::spawn(move || drop(model.checker().serve(addr)));
    let started = Instant::now();
    while TcpStream::connect(addr).is_err() {
        if thread.is_finished() || started.elapsed() > PATIENCE {
            return Err(ServeError::Silent(addr));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(Served { addr, thread })
}

/// Lets the Explorer visit every state, so that it shows which properties are violated.
pub fn complete(addr: SocketAddr) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(addr)?;
    write!(
        stream,
        "POST /.runtocompletion HTTP/1.1\r\nHost: {addr}\r\nContent-Length: 0\r\n\
         Connection: close\r\n\r\n"
    )?;
    stream.read_to_end(&mut Vec::new()).map(drop)
}

/// The node at the end of a path.
fn end(scenario: &Scenario, fuse: Fuse, choices: &[Choice]) -> Option<Node> {
    let mut node = initial(scenario).0;
    for choice in choices {
        node = follow(scenario, &fuse.into(), &node, choice)?.1;
    }
    Some(node)
}

/// stateright reads its pages from `./ui/` before it takes its own.
fn own_files_only(current_dir: &Path) -> Result<(), ServeError> {
    if current_dir.join("ui").exists() { Err(ServeError::UiFolder) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_would_replace_the_explorers_pages_is_refused() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        assert!(own_files_only(dir.path()).is_ok());
        std::fs::create_dir(dir.path().join("ui")).expect("it is writable");
        assert!(matches!(own_files_only(dir.path()), Err(ServeError::UiFolder)));
    }
}
