//! Functions that templates may call, beside Go's own: those of ghz, and the common ones of sprig.
//!
//! <https://masterminds.github.io/sprig/> says what each does.

mod args;
mod dates;
mod functions;
mod printf;

use std::sync::LazyLock;

use gotmpl::{FuncMap, Value, ValueFunc};

use args::{Args, Functions, Outcome, string};
pub use args::{LONGEST, refill};

use volley_base::uuid::Uuid;

use super::ActionError;
use super::function::{Function, Int};

/// A name, and what adds the functions.
type Group = (&'static str, fn(&mut Functions));

/// Groups of functions, as help shows them.
const GROUPS: [Group; 7] = [
    ("ghz", add_own),
    ("strings", functions::add_strings),
    ("math", functions::add_math),
    ("dates", dates::add),
    ("lists", functions::add_lists),
    ("encoding", functions::add_encodings),
    ("random", functions::add_random),
];

/// What to use in place of the rest of sprig. Some functions also have a name that begins with `must`.
const INSTEAD: [(&str, &str); 8] = [
    ("nospace", "use `replace`"),
    ("substr abbrev abbrevboth", "use `trunc`, or Go's `slice`"),
    ("cat indent nindent squote toString", "use Go's `printf`"),
    (
        "first last get dig hasKey has empty coalesce all any deepEqual",
        "use Go's `index`, `eq`, `and`, `or` and `not`",
    ),
    (
        "seq untilStep max biggest min",
        "use `add`, `until` and Go's `if`",
    ),
    ("randAscii randBytes", "use `randAlphaNum`"),
    (
        "dateInZone date_in_zone htmlDate htmlDateInZone ago duration durationRound",
        "use `date`, which shows UTC, `dateModify` or `unixEpoch`",
    ),
    (
        "add1f addf adler32sum append b32dec b32enc b64dec base bcrypt buildCustomCert camelcase ceil chunk clean compact concat \
         decryptAES deepCopy derivePassword dir divf encryptAES env expandenv ext fail float64 floor fromJson genCA \
         genCAWithKey genPrivateKey genSelfSignedCert genSelfSignedCertWithKey genSignedCert genSignedCertWithKey \
         getHostByName hello htpasswd initial initials isAbs kebabcase keys kindIs kindOf maxf merge mergeOverwrite minf \
         mulf omit osBase osClean osDir osExt osIsAbs pick pluck plural prepend push regexFind regexFindAll regexMatch \
         regexQuoteMeta regexReplaceAll regexReplaceAllLiteral regexSplit rest reverse round semver semverCompare set \
         sha1sum sha512sum shuffle snakecase sortAlpha split splitList splitn subf slice swapcase title toDate toDecimal toPrettyJson toStrings trimAll trimall typeIs \
         typeIsLike typeOf uniq unset untitle urlJoin urlParse values without wrap wrapWith",
        "take such values from a file: --data-file, or `data` of a scenario",
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
    functions::add_go(&mut all);
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
            let is_it = |known: &str| {
                let plain = name.strip_prefix("must");
                name == known || plain.is_some_and(|plain| plain.eq_ignore_ascii_case(known))
            };
            let instead = INSTEAD
                .iter()
                .find(|(names, _)| names.split(' ').any(is_it));
            Err(match instead {
                Some((_, instead)) => ActionError::LeftOut {
                    name: name.to_owned(),
                    instead,
                },
                None => ActionError::UnknownFunction {
                    name: volley_base::excerpt::excerpt(name, 40),
                },
            })
        }
    }
}

/// The functions by group, for help.
pub fn groups() -> Vec<(&'static str, Vec<String>)> {
    let names = |(group, add): &Group| {
        let mut some = Functions(FuncMap::new());
        add(&mut some);
        let names = some.0.into_keys();
        (
            *group,
            names.filter(|name| !name.starts_with("must")).collect(),
        )
    };
    GROUPS.iter().map(names).collect()
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
