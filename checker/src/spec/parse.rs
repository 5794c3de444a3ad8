//! A whole spec.

use super::actors::Places;
use super::problem::{Problems, Source};
use super::tree::{Table, names, parse as parse_tree};
use super::{Point, Spec, Tier, actors, designs, expect, files, kernel, keys, sweep, world};
use crate::symmetry::Symmetry;
use mm_model::scenario::{Granularity, Io, Pass, Scenario};

const TIERS: &[(&str, Tier)] = &[("pr", Tier::Pr), ("nightly", Tier::Nightly)];

/// Reads a spec, or says everything that is wrong with it.
pub fn parse(file: &str, text: &str) -> Result<Spec, Problems> {
    let mut source = Source::new(file, text);
    if text.trim().is_empty() {
        let hint = "a spec has at least a `title`, a `[[memcg]]` and an `[[actor]]`";
        source.problem_with_hint(0, "the file is empty", hint);
        return Err(source.finish());
    }
    let spec = parse_tree(&mut source).and_then(|root| {
        let mut whole: Option<Spec> = None;
        for values in sweep::points(&mut source, &root) {
            let root = sweep::at(&mut source, &root, &values);
            let spec = read(&mut source, file, &root, values)?;
            match &mut whole {
                Some(whole) => whole.points.extend(spec.points),
                None => whole = Some(spec),
            }
        }
        whole
    });
    match spec {
        Some(spec) if source.is_clean() => Ok(spec),
        Some(_) | None => Err(source.finish()),
    }
}

fn read(
    source: &mut Source<'_>,
    file: &str,
    root: &Table<'_>,
    values: sweep::Values,
) -> Option<Spec> {
    root.only(source, keys::TOP.name, &keys::TOP.names());
    let title = root.require(source, keys::TOP.name, "title");
    let title = title.and_then(|value| value.text(source, "title"));
    let mut optional = |key| root.get(key).and_then(|value| value.text(source, key));
    let (about, from) = (optional("about"), optional("source"));
    let tier = match root.get("tier") {
        Some(value) => value.one_of(source, "tier", TIERS),
        None => Some(Tier::Pr),
    };
    let symmetry = match root.get("symmetry") {
        Some(value) => value.flag(source, "symmetry"),
        None => Some(false),
    };
    let kernel = kernel::read(source, root);
    let granularity = world::granularity(source, root);
    let pass = granularity.map_or(Pass::Walked, |granularity| granularity.reclaim.pass);
    let policy = world::policy(source, root, granularity.as_ref());
    let of_files = policy.as_ref().map(|policy| policy.file).unwrap_or_default();
    let memcgs = world::memcgs(source, root, pass, of_files.evicts);
    let ram = world::ram(source, root);
    let mut files = files::read(source, root);
    without_files(source, &files, granularity.as_ref());
    let mut places = Places {
        memcgs: &memcgs,
        memcg_names: names(root, "memcg"),
        cpus: world::cpus(source, root),
        tasks: Vec::new(),
        files: &files.open,
        file_names: names(root, "file"),
        ram: root.get("ram").is_some(),
        walks: pass == Pass::Walked,
    };
    let mut actors = actors::read(source, root, &mut places);
    let cpus = places.cpus;
    let around = files::Around::new(of_files, kernel.as_ref());
    files::settle(source, &mut files, &memcgs, &actors, around);
    if of_files.io != Io::AtOnce {
        actors.extend(files::devices(&files));
    }
    let designs = designs::read(source, root);
    let expectations = expect::read(source, root, &designs, (&actors, &files.inodes), symmetry);
    let design = designs.first()?.design.clone();
    let spec = Spec {
        file: file.to_owned(),
        title: title?.to_owned(),
        about: about.map(str::to_owned),
        source: from.map(str::to_owned),
        tier: tier?,
        symmetry: symmetry?,
        designs,
        expectations,
        points: vec![Point {
            values,
            scenario: Scenario {
                kernel: kernel?,
                design,
                memcgs,
                cpus,
                inodes: files.inodes,
                files: files.open,
                actors,
                policy: policy?,
                granularity: granularity?,
                ram: ram?,
            },
        }],
    };
    alike(source, root, &spec);
    Some(spec)
}

/// Refuses files where passes walk.
fn without_files(source: &mut Source<'_>, files: &files::Files, granularity: Option<&Granularity>) {
    let walks = granularity.is_some_and(|granularity| granularity.reclaim.pass == Pass::Walked);
    if let Some(at) = files.at.first().filter(|_| walks) {
        let hint = "the world answers for passes that free pages of files: `pass = \"answered\"`";
        source.problem_with_hint(*at, "there is a `[[file]]`, but passes walk lists", hint);
    }
}

/// Refuses `symmetry` where no task stands for another.
fn alike(source: &mut Source<'_>, root: &Table<'_>, spec: &Spec) {
    let Some(value) = root.get("symmetry").filter(|_| spec.symmetry) else { return };
    if let Some(Err(why)) = spec.points.first().map(|point| Symmetry::of(&point.scenario)) {
        source.problem_with_hint(value.at, "no task stands for another", why.to_string());
    }
}
