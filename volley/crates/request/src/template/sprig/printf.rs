//! Go's `printf`, as the engine has it, but for what it may make.

use std::sync::{Arc, LazyLock};

use gotmpl::{Template, Value};

use super::args::{Args, Entries, Outcome, string, text};

/// How many arguments it takes after its format.
const MOST: usize = 16;

/// The engine pads to no more than this.
const WIDEST: usize = 1 << 16;

/// The engine's function can only be called by a template: one for each number of arguments.
static CALLS: LazyLock<Vec<Option<Template>>> = LazyLock::new(|| {
    let call = |count: usize| {
        let arguments: String = (0..count).map(|place| format!(" .a{place}")).collect();
        Template::new("")
            .parse(&format!("{{{{printf .format{arguments}}}}}"))
            .ok()
    };
    (0..=MOST).map(call).collect()
});

pub fn printf(args: &Args) -> Outcome {
    let Some((Value::String(format), values)) = args.values.split_first() else {
        return Err(args.wrong("takes a format"));
    };
    let Some(Some(call)) = CALLS.get(values.len()) else {
        return Err(args.wrong(format_args!("takes at most {MOST} values")));
    };
    let longest = values
        .iter()
        .map(|value| text(value).len())
        .max()
        .unwrap_or(0);
    // Quoting makes ten bytes of one at most.
    let each = longest.saturating_mul(10).saturating_add(WIDEST);
    if format.matches('%').count().saturating_mul(each) > 1 << 28 {
        return Err(args.wrong("might make too long a text"));
    }
    let mut data = Entries::new();
    data.insert("format".into(), Value::String(Arc::clone(format)));
    for (place, value) in values.iter().enumerate() {
        data.insert(format!("a{place}").into(), value.clone());
    }
    string(call.execute_to_string(&Value::Map(Arc::new(data)))?)
}
