//! `mmcheck explain`.

use super::check::{budget, threads};
use super::{Failure, Program, chosen, fuse, sink};
use crate::check::{Checked, Judged, Options, check};
use crate::claim::{self, Claim};
use crate::cli::{Engine, Explain, ExplainFormat, Question};
use crate::engine::Quiet;
use crate::explain::timeline::{MAIL, TERMINAL, timeline};
use crate::explain::{Story, Walk, dot, html, itf, svg, trace};
use crate::spec::{Problems, Spec, library, near};
use crate::status::Outcome;
use crate::verdict::Verdict;
use mm_model::ids::ActorId;

/// A spec under a design, searched.
pub(super) struct Answered {
    pub(super) spec: Spec,
    pub(super) checked: Checked,
    /// What was asked for by name.
    pub(super) asked: Option<Claim>,
}

impl Answered {
    /// The story of a verdict, if there is one.
    pub(super) fn story<'a>(
        &'a self,
        judged: &'a Judged,
        search: &crate::cli::Search,
    ) -> Option<Story<'a>> {
        let path = judged.counterexample.as_ref()?;
        Some(Story {
            walk: Walk::new(&self.checked.scenario, path),
            spec: &self.spec,
            design: &self.checked.design,
            fuse: fuse(search),
            point: &self.checked.point,
            claim: judged.claim,
            value: judged.value,
            fairness: judged.fairness,
        })
    }

    /// What is violated and asked for, the most telling first: what is unexpected, then what
    /// goes on for ever.
    pub(super) fn violated(&self) -> Vec<&Judged> {
        let told = |judged: &&Judged| match self.asked {
            Some(asked) => asked == judged.claim,
            // How a value comes about is told to those who ask, or did not expect it.
            None => judged.claim.is_verdict() || judged.ok() == Some(false),
        };
        let shown = |judged: &&Judged| judged.counterexample.is_some();
        let mut violated: Vec<&Judged> =
            self.checked.judged.iter().filter(told).filter(shown).collect();
        violated.sort_by_key(|judged| {
            (judged.ok() != Some(false), matches!(judged.claim, Claim::Safety(_)))
        });
        violated
    }
}

impl Program<'_> {
    pub(super) fn explain(&mut self, args: &Explain) -> Result<Outcome, Failure> {
        let answered = match self.answer(&args.question)? {
            Ok(answered) => answered,
            Err(outcome) => return Ok(outcome),
        };
        // The design whose violation is the most telling.
        let best = answered.iter().filter_map(|one| Some((one, *one.violated().first()?)));
        let key = |judged: &Judged| {
            (judged.ok() != Some(false), matches!(judged.claim, Claim::Safety(_)))
        };
        let Some((one, judged)) = best.min_by_key(|(_, judged)| key(judged)) else {
            return Ok(self.nothing(&answered)?);
        };
        let Some(story) = one.story(judged, &args.question.search) else {
            return Ok(self.nothing(&answered)?);
        };
        let text = match args.format {
            ExplainFormat::Human => timeline(&story, &TERMINAL),
            ExplainFormat::Mail => timeline(&story, &MAIL),
            ExplainFormat::Html => html::html(&story),
            ExplainFormat::Svg => svg::svg(&story, &story.headline(), svg::Theme::Readers),
            ExplainFormat::Json => trace::json(&story, &library::text(&one.spec.file)?),
            ExplainFormat::Itf => itf::itf(&story),
            ExplainFormat::Dot => dot::dot(&story),
        };
        sink(self.out, self.out_color, &args.output)?.write(&text)?;
        if args.question.property.is_none() {
            self.others(&answered, &story)?;
        }
        Ok(Outcome::AsExpected)
    }

    /// Searches every design that is asked for; without a result, what that means.
    pub(super) fn answer(
        &mut self,
        question: &Question,
    ) -> Result<Result<Vec<Answered>, Outcome>, Failure> {
        let found = library::load(std::slice::from_ref(&question.spec))?;
        let [library::Found { spec, .. }] = &found[..] else {
            let name = question.spec.display().to_string();
            return Err(Problems::of_file(&name, "it is not one spec but several", None).into());
        };
        let asked = match &question.property {
            Some(name) => Some(named(spec, name)?),
            None => None,
        };
        let options = Options {
            fuse: fuse(&question.search),
            budget: budget(&question.budget, &self.interrupted()),
            engine: Engine::Native,
            threads: threads(None),
            asked,
        };
        let mut answered = Vec::new();
        for (spec, design) in chosen(&found, question.design.design.as_deref())? {
            for point in &spec.points {
                match check(&spec, &design, point, &options, &mut Quiet) {
                    Ok(checked) => answered.push(Answered { spec: spec.clone(), checked, asked }),
                    Err(error) => {
                        let place = format!("{}, {}", spec.file, design.name);
                        writeln!(self.err, "mmcheck: internal error: {place}: {error}")?;
                        return Ok(Err(Outcome::Internal));
                    }
                }
            }
        }
        Ok(Ok(answered))
    }

    /// Says that nothing is violated, or that it is not known.
    pub(super) fn nothing(&mut self, answered: &[Answered]) -> std::io::Result<Outcome> {
        let mut outcome = Outcome::NothingDecided;
        for Answered { spec, checked, asked } in answered {
            let (file, design) = (&spec.file, &checked.design.name);
            let mine = |judged: &&Judged| asked.is_none_or(|asked| asked == judged.claim);
            let open = checked.judged.iter().filter(mine).any(|j| j.verdict == Verdict::Unknown);
            if open {
                outcome = Outcome::Unknown;
                writeln!(self.err, "{file}: the search of {design} was cut short")?;
            } else {
                let never =
                    checked.judged.iter().filter(mine).all(|j| j.verdict == Verdict::Vacuous);
                let what = match asked.map(|claim| claim.name(&checked.scenario)) {
                    None => "nothing is violated".to_owned(),
                    Some(claim) if never => format!("{claim} never applies"),
                    Some(claim) => format!("{claim} is not violated"),
                };
                writeln!(self.err, "{file}: {what} under {design}")?;
            }
        }
        Ok(outcome)
    }

    /// Names what else could be explained.
    fn others(&mut self, answered: &[Answered], told: &Story<'_>) -> std::io::Result<()> {
        let mut others = Vec::new();
        for one in answered {
            let design = &one.checked.design.name;
            for judged in one.violated() {
                if (design, judged.claim) != (&told.design.name, told.claim) {
                    others.push(format!("{} under {design}", judged.claim.name(told.scenario)));
                }
            }
        }
        if others.is_empty() {
            return Ok(());
        }
        let (shown, more) = others.split_at(others.len().min(4));
        let more =
            if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
        writeln!(
            self.err,
            "\nhint: `--design` and `--property` choose another violation: {}{more}",
            shown.join(", ")
        )
    }
}

/// The claim of that name.
fn named(spec: &Spec, name: &str) -> Result<Claim, Problems> {
    let actors = spec.actors();
    let actor = |name: &str| actors.iter().position(|actor| *actor == name).map(ActorId::from);
    let claim = Claim::parse(name, actor).ok_or_else(|| {
        let names = claim::names();
        let hint = near(name, "properties", names.iter().map(String::as_str));
        Problems::of_usage(format!("no property is named `{name}`"), Some(hint))
    })?;
    if claim.tells_pages_apart() && spec.counts_pages() {
        let message = format!("`{name}` of pages that are only counted");
        return Err(Problems::of_usage(message, Some("a file of the spec is `pooled`".to_owned())));
    }
    Ok(claim)
}
