//! Functions that templates may call, beside Go's own: those of ghz, and those of sprig that make sense in a payload.
//!
//! <https://masterminds.github.io/sprig/> says what each does.

mod args;
mod dates;
mod encodings;
mod lists;
mod numbers;
mod printf;
mod random;
mod strings;

use std::sync::LazyLock;

use gotmpl::{FuncMap, Value, ValueFunc};

use args::{Args, Functions, Outcome, string};
pub use args::{LONGEST, refill};

use super::ActionError;
use super::function::{Function, Int};
use crate::uuid::Uuid;

/// A name, and what adds the functions.
type Group = (&'static str, fn(&mut Functions));

/// Groups of functions, as help shows them.
const GROUPS: [Group; 9] = [
    ("ghz", add_own),
    ("strings", strings::add),
    ("math", numbers::add),
    ("dates", dates::add),
    ("lists", lists::add_lists),
    ("dicts", lists::add_dicts),
    ("defaults", lists::add_defaults),
    ("encoding", encodings::add),
    ("regex", encodings::add_regex),
];

/// Those of sprig that are refused, and why.
const REFUSED: [(&str, &[&str]); 5] = [
    ("reads the environment", &["env", "expandenv"]),
    ("asks the network", &["getHostByName"]),
    (
        "reads files or depends on the host",
        &[
            "buildCustomCert",
            "osBase",
            "osClean",
            "osDir",
            "osExt",
            "osIsAbs",
        ],
    ),
    (
        "makes keys or passwords",
        &[
            "bcrypt",
            "htpasswd",
            "derivePassword",
            "genPrivateKey",
            "genCA",
            "genCAWithKey",
            "genSelfSignedCert",
            "genSelfSignedCertWithKey",
            "genSignedCert",
            "genSignedCertWithKey",
            "encryptAES",
            "decryptAES",
        ],
    ),
    (
        "is not for payloads",
        &[
            "semver",
            "semverCompare",
            "urlParse",
            "urlJoin",
            "clean",
            "abbrevboth",
            "hello",
        ],
    ),
];

/// Go's own, which need no flag.
const BUILT_IN: [&str; 19] = [
    "and", "call", "eq", "ge", "gt", "html", "index", "js", "le", "len", "lt", "ne", "not", "or",
    "print", "printf", "println", "slice", "urlquery",
];

static ALL: LazyLock<FuncMap> = LazyLock::new(|| {
    let mut all = Functions(FuncMap::new());
    for (_, add) in GROUPS {
        add(&mut all);
    }
    random::add(&mut all);
    all.add(&["printf"], printf::printf);
    all.0
});

/// What a template calls.
pub enum Found {
    /// One of Go's own that the engine has.
    Engine,
    /// One of Go's own, made here so that it cannot make too much.
    BuiltIn(ValueFunc),
    /// One of ghz or sprig.
    Added(ValueFunc),
}

pub fn find(name: &str) -> Result<Found, ActionError> {
    let function = ALL.get(name).cloned();
    match (function, BUILT_IN.contains(&name)) {
        (Some(function), true) => Ok(Found::BuiltIn(function)),
        (None, true) => Ok(Found::Engine),
        (Some(function), false) => Ok(Found::Added(function)),
        (None, false) => {
            let reason = REFUSED.iter().find(|(_, names)| names.contains(&name));
            Err(match reason {
                Some((reason, _)) => ActionError::Refused {
                    name: name.to_owned(),
                    reason,
                },
                None => ActionError::UnknownFunction {
                    name: crate::request::excerpt::excerpt(name, 40),
                },
            })
        }
    }
}

/// The functions by group, for help.
pub fn groups() -> Vec<(&'static str, Vec<String>)> {
    let mut groups: Vec<(&str, Vec<String>)> = GROUPS
        .iter()
        .map(|(group, add)| (*group, names(*add)))
        .collect();
    groups.push(("random", names(random::add)));
    groups
}

fn names(add: fn(&mut Functions)) -> Vec<String> {
    let mut some = Functions(FuncMap::new());
    add(&mut some);
    let is_shown = |name: &String| !name.starts_with("must") && !BUILT_IN.contains(&name.as_str());
    some.0.into_keys().filter(is_shown).collect()
}

/// ghz's own. Their results are those of templates that need no more than these.
fn add_own(all: &mut Functions) {
    all.add(&["newUUID", "uuidv4"], |args| match args.values {
        [] => {
            let mut text = String::new();
            Uuid::new(&mut fastrand::Rng::new()).render(&mut text);
            string(text)
        }
        _ => Err(args.wrong("takes no argument")),
    });
    all.add(&["randomString"], own);
    all.add(&["randomInt"], own);
}

fn own(args: &Args) -> Outcome {
    let numbers = args.values.iter().map(|value| match value {
        Value::Int(int) => Some(Int::Constant(*int)),
        _ => None,
    });
    let function = Function::new(args.name, numbers.collect());
    let wrong = |error: ActionError| gotmpl::TemplateError::Exec(error.to_string());
    let mut random = fastrand::Rng::new();
    function
        .and_then(|function| function.value(&mut random))
        .map_err(wrong)
}
