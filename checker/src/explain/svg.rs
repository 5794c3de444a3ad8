//! A path as a sequence diagram: a lane for each actor, a gauge for each limit, a frame round
//! the loop.

use super::{Told, Walk, world, wrap};
use std::fmt::{self, Write as _};

const LANE: usize = 300;
const LEFT: usize = 64;
const TOP: usize = 46;
const LINE: usize = 15;
const GAP: usize = 12;
const PAD: usize = 8;
const GAUGE: usize = 150;
/// Characters of a line in a box, in the font's own width.
const CHARS: usize = 36;

/// How the diagram is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// As the reader has it, light or dark.
    Readers,
    /// Light, for pages that are.
    Light,
}

const STYLE: &str = "\
.mm{--ink:#1b1f24;--dim:#59636e;--paper:#fff;--box:#f6f8fa;--line:#c4ccd4;--loop:#9a6700;\
--wash:#fff8c5;--full:#cf222e;--used:#0969da;background:var(--paper);font:12px ui-monospace,\
SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}
.mm text{fill:var(--ink)}.mm .d{fill:var(--dim)}.mm .b{font-weight:600}
.mm rect.s{fill:var(--box);stroke:var(--line)}.mm .lane{stroke:var(--line)}
.mm rect.loop{fill:var(--wash);stroke:var(--loop);stroke-dasharray:5 3}.mm .l{fill:var(--loop)}
.mm rect.g{fill:none;stroke:var(--line)}.mm rect.u{fill:var(--used)}.mm rect.f{fill:var(--full)}
.mm .now rect.s{stroke:var(--used);stroke-width:2.5}
";

const DARK: &str = "\
--ink:#e6edf3;--dim:#9198a1;--paper:#0d1117;--box:#161b22;--line:#3d444d;--loop:#d29922;\
--wash:#272115;--full:#f85149;--used:#4493f8";

/// The lines of a step's box, with whether each is bold or dim.
struct Boxed {
    lines: Vec<(&'static str, String)>,
}

impl Boxed {
    fn new(told: &Told) -> Self {
        let mut lines: Vec<(&str, String)> = Vec::new();
        let mut say = |class: &'static str, text: &str| {
            for (at, line) in wrap(text, CHARS - 2).into_iter().enumerate() {
                lines.push((class, if at == 0 { line } else { format!("  {line}") }));
            }
        };
        say("b", &told.place);
        for happened in &told.happened {
            say("", happened);
        }
        for answer in &told.answers {
            say("", &format!("[{answer}]"));
        }
        Self { lines }
    }

    fn height(&self) -> usize {
        self.lines.len() * LINE + 2 * PAD
    }
}

/// The diagram.
pub fn svg(walk: &Walk<'_>, title: &str, theme: Theme) -> String {
    let mut svg = String::new();
    // A string takes all that is written to it.
    let _ = draw(walk, title, theme, &mut svg);
    svg
}

fn draw(walk: &Walk<'_>, title: &str, theme: Theme, svg: &mut String) -> fmt::Result {
    let cast = walk.cast();
    let boxes: Vec<Boxed> =
        (0..walk.path.steps.len()).map(|at| Boxed::new(&walk.tell(at))).collect();
    let mut tops = vec![TOP];
    for (at, boxed) in boxes.iter().enumerate() {
        // The frame of the loop has a line of its own.
        let frame = if walk.path.cycle_from == Some(at) { LINE + GAP } else { 0 };
        let top = tops[at] + frame;
        tops[at] = top;
        tops.push(top + boxed.height() + GAP);
    }
    let bottom = tops[boxes.len()] + GAP;
    let lanes = LEFT + cast.len() * LANE;
    let gauges = gauged(walk);
    let width = lanes + gauges.len() * (GAUGE + 30) + 20;
    let height = bottom + LINE;
    writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"mm\" role=\"img\" \
         viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">"
    )?;
    writeln!(svg, "<title>{}</title>", escaped(title))?;
    let dark = match theme {
        Theme::Readers => format!("@media(prefers-color-scheme:dark){{.mm{{{DARK}}}}}\n"),
        Theme::Light => String::new(),
    };
    writeln!(svg, "<style>{STYLE}{dark}</style>")?;
    writeln!(svg, "<rect width=\"{width}\" height=\"{height}\" style=\"fill:var(--paper)\"/>")?;
    frame(walk, svg, &tops, lanes, bottom)?;
    for (at, actor) in cast.iter().enumerate() {
        let x = LEFT + at * LANE + LANE / 2;
        let name = escaped(walk.name(*actor));
        writeln!(svg, "<text class=\"b\" x=\"{x}\" y=\"24\" text-anchor=\"middle\">{name}</text>")?;
        writeln!(svg, "<path class=\"lane\" d=\"M{x} 32V{bottom}\"/>")?;
    }
    for (at, gauge) in gauges.iter().enumerate() {
        let x = lanes + 20 + at * (GAUGE + 30);
        writeln!(svg, "<text class=\"b\" x=\"{x}\" y=\"24\">{} usage</text>", escaped(gauge))?;
    }
    for (at, boxed) in boxes.iter().enumerate() {
        let actor = walk.path.steps[at].actor;
        let lane = cast.iter().position(|one| *one == actor).unwrap_or_default();
        let (x, y) = (LEFT + lane * LANE + 5, tops[at]);
        let (wide, high) = (LANE - 10, boxed.height());
        writeln!(svg, "<g id=\"step-{}\" data-step=\"{}\">", at + 1, at + 1)?;
        let number = y + PAD + 11;
        writeln!(
            svg,
            "<text class=\"d\" x=\"{}\" y=\"{number}\" text-anchor=\"end\">{}</text>",
            LEFT - 22,
            at + 1
        )?;
        writeln!(
            svg,
            "<rect class=\"s\" x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{high}\" rx=\"5\"/>"
        )?;
        for (line, (class, text)) in boxed.lines.iter().enumerate() {
            let (x, y) = (x + PAD, y + PAD + 11 + line * LINE);
            let text = escaped(text);
            writeln!(
                svg,
                "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" xml:space=\"preserve\">{text}</text>"
            )?;
        }
        for (column, name) in gauges.iter().enumerate() {
            gauge(walk, svg, name, at + 1, (lanes + 20 + column * (GAUGE + 30), y + PAD))?;
        }
        svg.push_str("</g>\n");
    }
    svg.push_str("</svg>\n");
    Ok(())
}

/// The frame round the loop, below all else.
fn frame(
    walk: &Walk<'_>,
    svg: &mut String,
    tops: &[usize],
    lanes: usize,
    bottom: usize,
) -> fmt::Result {
    let Some(from) = walk.path.cycle_from else { return Ok(()) };
    let y = tops[from] - LINE - GAP / 2;
    let (wide, high) = (lanes - 8, bottom - y);
    writeln!(
        svg,
        "<rect class=\"loop\" x=\"12\" y=\"{y}\" width=\"{wide}\" height=\"{high}\" rx=\"8\"/>"
    )?;
    let text = format!("repeats for ever: steps {} to {}", from + 1, walk.path.steps.len());
    writeln!(svg, "<text class=\"l b\" x=\"24\" y=\"{}\">{text}</text>", y + LINE)
}

/// The memcgs that have a limit.
fn gauged(walk: &Walk<'_>) -> Vec<String> {
    let items = world::items(walk.scenario, walk.before(0));
    let limited = |item: &world::Item| item.bar.as_ref().is_some_and(|bar| bar.max.is_some());
    items.into_iter().filter(limited).map(|item| item.name).collect()
}

/// How full a memcg is after some steps.
fn gauge(
    walk: &Walk<'_>,
    svg: &mut String,
    name: &str,
    after: usize,
    (x, y): (usize, usize),
) -> fmt::Result {
    let items = world::items(walk.scenario, walk.before(after));
    let bar = items.iter().find(|item| item.name == name).and_then(|item| item.bar.clone());
    let Some(world::Bar { used, max: Some(max), .. }) = bar else { return Ok(()) };
    // What is above the limit sticks out, and is written in full.
    let span = max.max(1);
    let share = |pages: u64| (pages.min(span) * (GAUGE as u64) / span).min(GAUGE as u64);
    let over = if used > max { 12 } else { 0 };
    let class = if used >= max { "f" } else { "u" };
    let wide = share(used) + over;
    writeln!(svg, "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"10\"/>")?;
    writeln!(svg, "<rect class=\"g\" x=\"{x}\" y=\"{y}\" width=\"{GAUGE}\" height=\"10\"/>")?;
    writeln!(svg, "<text class=\"d\" x=\"{x}\" y=\"{}\">{used} of {max}</text>", y + 24)
}

/// Text that can stand between tags.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
