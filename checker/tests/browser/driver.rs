//! A browser without a window, driven through chromedriver's own protocol.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A session, which ends with its value.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
}

impl Browser {
    /// Starts one.
    pub(crate) fn start() -> Self {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Debian's chromium-driver is installed");
        let mut out = BufReader::new(driver.stdout.take().expect("it is piped"));
        let port = loop {
            let mut line = String::new();
            assert!(out.read_line(&mut line).expect("it is text") > 0, "the driver did not start");
            if let Some((_, port)) = line.split_once("started successfully on port ") {
                break port.trim().trim_end_matches('.').parse().expect("a port");
            }
        };
        // What else it says must not block it.
        std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
        let mut browser = Self { driver, port, session: String::new() };
        let args = ["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,1000"];
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": { "args": args },
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
        }}});
        let made = browser.call("POST", "/session", &wanted);
        browser.session = made["sessionId"].as_str().expect("a session").into();
        browser
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = body.to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the driver listens");
        stream.set_read_timeout(Some(Duration::from_mins(1))).expect("it is a socket");
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .expect("it reads");
        let value = answer(BufReader::new(stream));
        assert!(value["value"]["error"].is_null(), "{path}: {value}");
        value["value"].clone()
    }

    fn session(&self, method: &str, path: &str, body: &Value) -> Value {
        self.call(method, &format!("/session/{}{path}", self.session), body)
    }

    /// Shows a page.
    pub(crate) fn open(&self, url: &str) {
        self.session("POST", "/url", &json!({ "url": url }));
    }

    /// The value of a script.
    pub(crate) fn eval(&self, script: &str) -> Value {
        let script = format!("return {script};");
        self.session("POST", "/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Waits until a script is true.
    pub(crate) fn wait(&self, script: &str) {
        for _ in 0..200 {
            if self.eval(script) == true {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("never true: {script}\n{}", self.eval("document.body.innerText"));
    }

    /// Presses keys, one after the other.
    pub(crate) fn press(&self, keys: &str) {
        let actions: Vec<Value> = keys
            .chars()
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key })))
            .collect();
        let actions = json!({ "actions": [{ "type": "key", "id": "keys", "actions": actions }] });
        self.session("POST", "/actions", &actions);
    }

    fn log(&self, kind: &str) -> Vec<Value> {
        let log = self.session("POST", "/se/log", &json!({ "type": kind }));
        log.as_array().expect("a log").clone()
    }

    /// Demands that nothing went wrong, and that nothing was asked of another machine.
    pub(crate) fn assert_clean(&self, machine: &str) {
        // That a site has no icon is no error of its page.
        let icon = |entry: &Value| entry["message"].to_string().contains("/favicon.ico - ");
        let wrong = |entry: &Value| entry["level"] == "SEVERE" && !icon(entry);
        let severe: Vec<Value> = self.log("browser").into_iter().filter(wrong).collect();
        assert!(severe.is_empty(), "{severe:?}");
        for entry in self.log("performance") {
            let message = entry["message"].as_str().expect("a message");
            let message: Value = serde_json::from_str(message).expect("it is JSON");
            if message["message"]["method"] == "Network.requestWillBeSent" {
                let url = &message["message"]["params"]["request"]["url"];
                let url = url.as_str().expect("a request has an address");
                assert!(url.starts_with(machine) || url.starts_with("data:"), "{url}");
            }
        }
    }
}

/// The body of an answer, which need not end with the connection.
fn answer(mut from: impl BufRead) -> Value {
    let mut length = 0;
    loop {
        let mut line = String::new();
        from.read_line(&mut line).expect("it answers");
        if line.trim().is_empty() {
            break;
        }
        if let Some(("content-length", value)) = line.to_lowercase().split_once(':') {
            length = value.trim().parse().expect("a length");
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).expect("an answer has a body");
    serde_json::from_slice(&body).expect("it is JSON")
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.session("DELETE", "", &json!({}));
        }
        // It may have ended already.
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
