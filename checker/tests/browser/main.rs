//! What a person sees in a real browser. Needs chromium and chromedriver; run by `.ci/run`.

mod driver;

use driver::Browser;
use serde_json::json;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

const STARVES: [&str; 3] = ["specs/charge/small-charge-starves.toml", "--design", "before"];

/// WebDriver's names of keys.
const RIGHT: &str = "\u{E014}";
const LEFT: &str = "\u{E012}";
const END: &str = "\u{E010}";

/// An Explorer, which ends with its value.
struct Explorer(Child);

impl Drop for Explorer {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn mmcheck(command: &str) -> Command {
    let mut mmcheck = Command::new(env!("CARGO_BIN_EXE_mmcheck"));
    mmcheck.arg(command).args(STARVES).current_dir(std::env::temp_dir());
    mmcheck
}

#[test]
fn a_lassos_deep_link_shows_its_last_step_and_the_repeated_state() {
    let mut child = mmcheck("explore")
        .args(["--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let out = BufReader::new(child.stdout.take().expect("it is piped"));
    let explorer = Explorer(child);
    let lines = out.lines().map(|line| line.expect("it is text"));
    let link = lines.map(|line| line.trim().to_owned()).find(|line| line.starts_with("http://"));
    let link = link.expect("the lasso has a link");
    let browser = Browser::start();
    browser.open(&link);
    browser.wait("document.querySelectorAll('.path-list li').length === 12");
    let selected =
        browser.eval("document.querySelector('.path-list .is-selected-state').innerText");
    assert_eq!(
        selected.as_str().expect("text").lines().next(),
        Some("B: charge begins (retry_mayfail); consume_stock(job, 1 page) = 0")
    );
    // The state before the loop, after three steps and the two that only choose the start.
    let same = browser.eval(
        "[...document.querySelectorAll('.path-list li')].findIndex(\
         li => li.querySelector('.is-same-state'))",
    );
    assert_eq!(same, 4, "the loop begins after three steps");
    assert_eq!(browser.eval("document.querySelectorAll('svg.mm rect.loop').length"), 1);
    browser.wait("document.body.innerText.includes('starvation-free charge (weak fairness)')");
    let machine = link.split("/#").next().expect("an address");
    browser.assert_clean(machine);
    drop(explorer);
}

#[test]
fn the_page_cache_is_a_row_of_folios_with_order_mark_and_lock() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (spec, page) = (directory.path().join("reader.toml"), directory.path().join("story.html"));
    std::fs::write(&spec, include_str!("../reader.toml")).expect("it is writable");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mmcheck"));
    command.arg("explain").arg(&spec).args(["--property", "own-steps per read"]);
    let written = command.args(["--format", "html", "--output"]).arg(&page).status();
    assert!(written.expect("it runs").success());
    let browser = Browser::start();
    browser.open(&format!("file://{}", page.display()));
    let all = |selector: &str| {
        browser
            .eval(&format!("[...document.querySelectorAll('{selector}')].map(it => it.innerText)"))
    };
    assert_eq!(all(".strip .folio"), json!(["1", "⚑"]), "an order-1 folio and the marked one");
    assert_eq!(all(".windows .window").as_array().map(Vec::len), Some(1));
    let seen = |signs: &str| {
        let last = browser.eval("story.steps.length").as_u64().expect("a number");
        (0..last).any(|_| {
            browser.press(RIGHT);
            all(".strip .folio").as_array().expect("folios").contains(&json!(signs))
        })
    };
    assert!(seen("L⚑"), "the next folio is locked and marked while it is read");
    browser.assert_clean("file://");
}

#[test]
fn the_page_is_stepped_through_by_keyboard_and_shows_the_loop() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("story.html");
    let written = mmcheck("explain")
        .args(["--format", "html", "--output"])
        .arg(&file)
        .status()
        .expect("it runs");
    assert!(written.success());
    let browser = Browser::start();
    browser.open(&format!("file://{}", file.display()));
    let step = || browser.eval("document.body.dataset.step");
    let round = || browser.eval("document.body.dataset.round");
    let now = || browser.eval("document.getElementById('now').innerText").to_string();
    assert_eq!(step(), "0");
    browser.press(RIGHT);
    assert!(now().contains("charge begins (retry_mayfail)"), "{}", now());
    browser.press("jj");
    assert_eq!(step(), "3");
    assert!(!now().contains("repeats for ever"), "{}", now());
    browser.press("l");
    assert_eq!(step(), "4");
    assert!(now().contains("repeats for ever, round 1"), "{}", now());
    browser.press(END);
    assert_eq!(step(), "10");
    assert!(now().contains("The state is the one before step 4 again."), "{}", now());
    browser.press(RIGHT);
    assert_eq!((step(), round()), ("4".into(), "2".into()), "the loop goes round");
    browser.press(LEFT);
    assert_eq!((step(), round()), ("10".into(), "1".into()), "and back");
    let shown = browser.eval("document.querySelector('.diagram g.now').dataset.step");
    assert_eq!(shown, "10");
    let current = browser.eval("document.querySelector('tr[aria-current=step] th').innerText");
    assert_eq!(current, "10");
    assert_eq!(browser.eval("document.querySelectorAll('tr.loop').length"), 7);
    assert_eq!(browser.eval("document.querySelectorAll('.diagram rect.loop').length"), 1);
    let world = browser.eval("document.getElementById('world').innerText").to_string();
    assert!(world.contains("usage 3/3, reclaimable 3"), "{world}");
    browser.assert_clean("file://");
}
