//! `volley check`: what a scenario file would do.

use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use super::once::once;
use super::status::WRONG;
use super::{Failure, buffered, lua, text};
use crate::cli::Check;
use crate::report::visible;
use crate::scenario::engine as load;
use crate::scenario::file::{self, Loaded, Mistakes};
use crate::scenario::is_lifetime;
use crate::scenario::lua::is_program;
use crate::scenario::plan::{
    Action, Feed, Load, Phase, Phases, Plan, Request, Route, Scenario, Source, Step, Target,
    Version,
};
use crate::units::duration::GoDuration;
use crate::units::numbers::counted;

/// Prints what a file would do, or does it once, or prints everything that is wrong with it.
///
/// # Errors
///
/// If the streams cannot be written to, or a target cannot be reached.
pub fn check(args: &Check) -> Result<ExitCode, Failure> {
    if is_program(&args.file) {
        if !args.once {
            return lua::check(&args.file);
        }
        let file = args.file.display();
        return Err(Failure::usage(format!(
            "--once: `{file}` is a program of Lua, no scenario file: `volley run` runs it"
        )));
    }
    match file::read(&args.file) {
        Ok(Loaded { plan, warnings }) => {
            warn(&warnings);
            if args.once {
                return once(plan, args.allow_io);
            }
            let mut wrong = load::check(&plan);
            if let Some(last) = wrong.pop() {
                let lines: Vec<_> = wrong.iter().map(ToString::to_string).collect();
                tell("error", &lines);
                return Err(last.into());
            }
            text(&outline(&plan))
        }
        Err(mistakes) => Ok(refuse(&mistakes)),
    }
}

/// Prints what the user must know.
pub fn warn(warnings: &[String]) {
    tell("warning", warnings);
}

fn tell(kind: &str, lines: &[String]) {
    // If nobody reads this, the work continues.
    let _ = buffered(io::stderr().lock(), |out| {
        let mut lines = lines.iter();
        lines.try_for_each(|line| writeln!(out, "{kind}: {}", visible(line)))
    });
}

/// Prints everything that is wrong with a file.
pub fn refuse(mistakes: &Mistakes) -> ExitCode {
    // The exit status stands, even if nobody can read why.
    let _ = buffered(io::stderr().lock(), |out| {
        let mut lines = mistakes.lines();
        lines.try_for_each(|line| writeln!(out, "{line}"))
    });
    ExitCode::from(WRONG)
}

/// A few lines for people.
pub fn outline(plan: &Plan) -> String {
    let mut out = String::new();
    section(&mut out, "targets", plan.targets.iter().map(target));
    let all = |list: &[Action]| -> Vec<String> {
        let lines = list.iter().flat_map(|action| actions(plan, action));
        lines.collect()
    };
    section(&mut out, "setup, once", all(&plan.setup));
    for scenario in &plan.scenarios {
        let title = format!("scenario {}{}", scenario.name, repeats(scenario));
        section(&mut out, &title, all(&scenario.actions));
    }
    section(&mut out, "teardown, once", all(&plan.teardown));
    section(&mut out, "data", plan.feeds.iter().map(|it| feed(plan, it)));
    section(&mut out, "load", plan.loads.iter().map(|it| load(plan, it)));
    let goals = plan.thresholds.iter();
    let goals = goals.map(|goal| match goal.abort_after_ns {
        Some(ns) => format!("{}, or the load ends after {}", goal.text, time(ns)),
        None => goal.text.clone(),
    });
    section(&mut out, "must hold", goals);
    out
}

fn section(out: &mut String, title: &str, lines: impl IntoIterator<Item = String>) {
    let mut lines = lines.into_iter().peekable();
    // Writing to memory cannot fail.
    if lines.peek().is_some() {
        let _ = writeln!(out, "{}", visible(title));
    }
    for line in lines {
        let _ = writeln!(out, "  {}", visible(&line));
    }
}

fn repeats(scenario: &Scenario) -> String {
    match scenario.repeat {
        1 => String::new(),
        times => format!(", {times} times an iteration"),
    }
}

/// A line for people.
pub fn target(target: &Target) -> String {
    let hosts: Vec<String> = target.hosts.iter().map(ToString::to_string).collect();
    let version = match target.version {
        Version::Http1 => "HTTP/1.1",
        Version::Http2 => "HTTP/2",
        Version::Auto if target.is_tls => "HTTP/2 or HTTP/1.1",
        Version::Auto => "HTTP/1.1",
    };
    let (name, hosts) = (&target.name, hosts.join(" "));
    let tls = if target.is_tls { " over TLS" } else { "" };
    let connections = match target.connections {
        0 => "unused".to_owned(),
        count => counted(count.into(), "connection"),
    };
    let route = match target.route {
        Route::Targets => "",
        Route::Authority => ", and to each other authority",
    };
    format!("{name}: {hosts}, {version}{tls}, {connections}{route}")
}

fn actions(plan: &Plan, action: &Action) -> Vec<String> {
    let of = |index: &usize| plan.steps.get(*index).map(|it| step(plan, it));
    match action {
        Action::Step(index) => of(index).into_iter().collect(),
        Action::Together(steps) => {
            let steps = steps.iter().filter_map(of);
            steps.map(|line| format!("together: {line}")).collect()
        }
        Action::Think { least_ns, most_ns } if least_ns == most_ns => {
            vec![format!("think {}", time(*least_ns))]
        }
        Action::Think { least_ns, most_ns } => {
            vec![format!("think {} to {}", time(*least_ns), time(*most_ns))]
        }
        Action::Draw(index) => {
            let feed = plan.feeds.get(*index).into_iter();
            feed.map(|feed| format!("draw {}", feed.name)).collect()
        }
    }
}

fn step(plan: &Plan, step: &Step) -> String {
    let verb = match &step.request {
        Request::Http(request) => &request.method,
        Request::Grpc(_) => "grpc",
    };
    let line = format!("{verb} {}", step.written_url);
    // That is what a step without a name is called.
    let mut line = match step.name == line {
        true => line,
        false => format!("{}: {line}", step.name),
    };
    if let Some(script) = &step.lua {
        line += &format!(" with the script in {}", script.name);
    }
    let saves = step.saves.iter().map(|save| save.slot);
    let sets = step.lua.iter().flat_map(|script| &script.sets).copied();
    let saved: Vec<String> = saves
        .chain(sets)
        .filter_map(|slot| plan.slots.get(usize::from(slot.0)))
        // These are for volley itself.
        .filter(|name| !is_lifetime(name))
        .map(|name| format!("${{{name}}}"))
        .collect();
    if !saved.is_empty() {
        line += &format!(" saves {}", saved.join(", "));
    }
    line
}

fn feed(plan: &Plan, feed: &Feed) -> String {
    let from = |file: &Path| {
        let below = file.strip_prefix(&plan.folder);
        below.unwrap_or(file).display().to_string()
    };
    let source = match &feed.source {
        Source::Csv { file, .. } | Source::JsonLines { file, .. } => from(file),
        Source::Rows(rows) => counted(rows.len() as u64, "row"),
        Source::Range { start, end, .. } => format!("{start} to before {end}"),
        Source::Random { low, high } => format!("a random number from {low} to {high}"),
        Source::RandomText { length } => format!("{length} random letters"),
        Source::Uuid => "a random UUID".to_owned(),
        Source::Time(_) => "the present time".to_owned(),
    };
    let has_rows = matches!(
        feed.source,
        Source::Csv { .. } | Source::JsonLines { .. } | Source::Rows(_) | Source::Range { .. }
    );
    let order = match has_rows {
        true => format!(", {:?}, then {:?}", feed.order, feed.at_end).to_lowercase(),
        false => String::new(),
    };
    let unused = match feed.columns.is_empty() {
        true => " (unused)",
        false => "",
    };
    format!("{}: {source}{order}{unused}", feed.name)
}

/// A line for people.
pub fn load(plan: &Plan, load: &Load) -> String {
    let scenarios = load.scenarios.iter().filter_map(|(index, weight)| {
        let name = &plan.scenarios.get(*index)?.name;
        Some(match load.scenarios.len() {
            1 => name.clone(),
            _ => format!("{name} {weight}"),
        })
    });
    let scenarios: Vec<String> = scenarios.collect();
    let (phases, show): (_, fn(u64) -> String) = match &load.phases {
        Phases::Users(phases) => (phases, |users| counted(users, "user")),
        Phases::Rate(phases) => (phases, |rate| format!("{}/s", rate as f64 / 1e6)),
    };
    let mut parts: Vec<String> = phases.iter().map(|it| phase(it, show)).collect();
    parts.extend(load.iterations.map(|number| counted(number, "iteration")));
    format!("{}: {}", scenarios.join(" : "), parts.join(", "))
}

fn phase(phase: &Phase, show: fn(u64) -> String) -> String {
    let what = match phase.from == phase.to {
        true => show(phase.from),
        false => format!("{} to {}", show(phase.from), show(phase.to)),
    };
    match phase.length_ns {
        Some(length) => format!("{what} for {}", time(length)),
        None => what,
    }
}

fn time(ns: u64) -> GoDuration {
    GoDuration(Duration::from_nanos(ns))
}
