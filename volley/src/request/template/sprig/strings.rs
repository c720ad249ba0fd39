//! Strings. As in sprig, what is changed comes last, so that it can be piped in.

use gotmpl::{TemplateError, Value};

use super::args::{Args, Functions, LONGEST, Outcome, dict, string, strings, text};

pub fn add(all: &mut Functions) {
    all.add(&["trim"], |args| string(args.text(0)?.trim()));
    all.add(&["trimAll"], |args| {
        let cut: Vec<char> = args.text(0)?.chars().collect();
        string(args.text(1)?.trim_matches(cut.as_slice()))
    });
    all.add(&["trimPrefix"], |args| {
        let (prefix, text) = (args.text(0)?, args.text(1)?);
        string(text.strip_prefix(&prefix).unwrap_or(&text))
    });
    all.add(&["trimSuffix"], |args| {
        let (suffix, text) = (args.text(0)?, args.text(1)?);
        string(text.strip_suffix(&suffix).unwrap_or(&text))
    });
    all.add(&["upper"], |args| string(args.text(0)?.to_uppercase()));
    all.add(&["lower"], |args| string(args.text(0)?.to_lowercase()));
    all.add(&["title"], |args| {
        string(by_word(&args.text(0)?, |first| {
            first.to_uppercase().collect()
        }))
    });
    all.add(&["untitle"], |args| {
        string(by_word(&args.text(0)?, |first| {
            first.to_lowercase().collect()
        }))
    });
    all.add(&["swapcase"], |args| {
        let swap = |c: char| -> String {
            if c.is_uppercase() {
                c.to_lowercase().collect()
            } else {
                c.to_uppercase().collect()
            }
        };
        string(args.text(0)?.chars().map(swap).collect::<String>())
    });
    all.add(&["repeat"], |args| {
        let (count, text) = (args.count(0)?, args.text(1)?);
        match count.checked_mul(text.len()) {
            Some(length) if length <= LONGEST => string(text.repeat(count)),
            _ => Err(args.wrong("makes too long a text")),
        }
    });
    all.add(&["substr"], |args| {
        let (start, end, text) = (args.int(0)?, args.int(1)?, args.text(2)?);
        let end = usize::try_from(end).unwrap_or(usize::MAX);
        let start = usize::try_from(start).unwrap_or(0);
        string(text.chars().take(end).skip(start).collect::<String>())
    });
    all.add(&["trunc"], |args| {
        let (most, text) = (args.int(0)?, args.text(1)?);
        let kept = usize::try_from(most.unsigned_abs()).unwrap_or(usize::MAX);
        let cut = if most < 0 {
            text.chars().count().saturating_sub(kept)
        } else {
            0
        };
        string(text.chars().skip(cut).take(kept).collect::<String>())
    });
    all.add(&["abbrev"], |args| {
        let (most, text) = (args.count(0)?, args.text(1)?);
        if most < 4 || text.chars().count() <= most {
            return string(text);
        }
        string(
            text.chars()
                .take(most - 3)
                .chain("...".chars())
                .collect::<String>(),
        )
    });
    all.add(&["initials"], |args| {
        string(
            args.text(0)?
                .split_whitespace()
                .filter_map(|word| word.chars().next())
                .collect::<String>(),
        )
    });
    all.add(&["nospace"], |args| {
        string(args.text(0)?.split_whitespace().collect::<String>())
    });
    all.add(&["wrap"], |args| {
        string(wrapped(args.count(0)?, "\n", &args.text(1)?))
    });
    all.add(&["wrapWith"], |args| {
        let (width, mark, text) = (args.count(0)?, args.text(1)?, args.text(2)?);
        check_growth(args, text.split(' ').count(), mark.len())?;
        string(wrapped(width, &mark, &text))
    });
    all.add(&["contains"], |args| {
        Ok(Value::Bool(args.text(1)?.contains(&args.text(0)?)))
    });
    all.add(&["hasPrefix"], |args| {
        Ok(Value::Bool(args.text(1)?.starts_with(&args.text(0)?)))
    });
    all.add(&["hasSuffix"], |args| {
        Ok(Value::Bool(args.text(1)?.ends_with(&args.text(0)?)))
    });
    all.add(&["quote"], |args| {
        joined(args, |text| serde_json::Value::from(text).to_string())
    });
    all.add(&["squote"], |args| joined(args, |text| format!("'{text}'")));
    all.add(&["cat"], |args| joined(args, |text| text));
    all.add(&["indent"], |args| indented(args, ""));
    all.add(&["nindent"], |args| indented(args, "\n"));
    all.add(&["replace"], |args| {
        let (old, new, text) = (args.text(0)?, args.text(1)?, args.text(2)?);
        check_growth(args, text.matches(&old).count(), new.len())?;
        string(text.replace(&old, &new))
    });
    all.add(&["plural"], |args| {
        string(args.text(usize::from(args.int(2)? != 1))?)
    });
    all.add(&["snakecase"], |args| {
        string(words(&args.text(0)?).join("_").to_lowercase())
    });
    all.add(&["kebabcase"], |args| {
        string(words(&args.text(0)?).join("-").to_lowercase())
    });
    all.add(&["camelcase"], |args| {
        let word =
            |word: &String| by_word(&word.to_lowercase(), |first| first.to_uppercase().collect());
        string(words(&args.text(0)?).iter().map(word).collect::<String>())
    });
    all.add(&["join"], |args| {
        let items: Vec<String> = match args.at(1)? {
            Value::List(items) => items.iter().map(text).collect(),
            value => vec![text(value)],
        };
        let mark = args.text(0)?;
        check_growth(args, items.len(), mark.len())?;
        string(items.join(&mark))
    });
    all.add(&["splitList"], |args| {
        strings(args.text(1)?.split(&args.text(0)?))
    });
    all.add(&["split"], |args| {
        parts(args.text(1)?.split(&args.text(0)?))
    });
    all.add(&["splitn"], |args| {
        parts(args.text(2)?.splitn(args.count(1)?, &args.text(0)?))
    });
    all.add(&["toString"], |args| string(args.text(0)?));
    all.add(&["base"], |args| {
        let path = args.text(0)?;
        let name = path
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .unwrap_or_default();
        string(match (path.is_empty(), name) {
            (true, _) => ".",
            (_, "") => "/",
            (_, name) => name,
        })
    });
    all.add(&["dir"], |args| {
        string(match args.text(0)?.rsplit_once('/') {
            None => ".".to_owned(),
            Some(("", _)) => "/".to_owned(),
            Some((folder, _)) => folder.trim_end_matches('/').to_owned(),
        })
    });
    all.add(&["ext"], |args| {
        let path = args.text(0)?;
        let name = path.rsplit('/').next().unwrap_or_default();
        string(
            name.rfind('.')
                .and_then(|dot| name.get(dot..))
                .unwrap_or_default(),
        )
    });
    all.add(&["isAbs"], |args| {
        Ok(Value::Bool(args.text(0)?.starts_with('/')))
    });
    all.add(&["print"], |args| string(printed(args)));
    all.add(&["println"], |args| {
        joined(args, |text| text).and_then(|line| string(text(&line) + "\n"))
    });
    all.add(&["html"], |args| {
        string(gotmpl::html_escape(&printed(args)))
    });
    all.add(&["js"], |args| string(gotmpl::js_escape(&printed(args))));
    all.add(&["urlquery"], |args| {
        string(gotmpl::url_encode(&printed(args)))
    });
}

/// As Go's `Sprint`: a space between two values that are no strings.
fn printed(args: &Args) -> String {
    let mut out = String::new();
    let mut was_string = true;
    for value in args.values {
        let is_string = matches!(value, Value::String(_));
        if !was_string && !is_string {
            out.push(' ');
        }
        out += &value.to_string();
        was_string = is_string;
    }
    out
}

fn check_growth(args: &Args, times: usize, length: usize) -> Result<(), TemplateError> {
    match times.checked_mul(length) {
        Some(length) if length <= LONGEST => Ok(()),
        _ => Err(args.wrong("makes too long a text")),
    }
}

fn joined(args: &Args, form: fn(String) -> String) -> Outcome {
    let values = args
        .values
        .iter()
        .filter(|value| !matches!(value, Value::Nil));
    let texts: Vec<String> = values.map(|value| form(text(value))).collect();
    string(texts.join(" "))
}

fn indented(args: &Args, begin: &str) -> Outcome {
    let (width, text) = (args.count(0)?, args.text(1)?);
    check_growth(args, text.split('\n').count(), width)?;
    let pad = " ".repeat(width);
    string(format!(
        "{begin}{pad}{}",
        text.replace('\n', &format!("\n{pad}"))
    ))
}

fn parts<'a>(parts: impl Iterator<Item = &'a str>) -> Outcome {
    dict(
        parts
            .enumerate()
            .map(|(place, part)| (format!("_{place}").into(), Value::String(part.into()))),
    )
}

fn by_word(text: &str, change: impl Fn(char) -> String) -> String {
    let mut begins = true;
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if begins {
            out += &change(character);
        } else {
            out.push(character);
        }
        begins = character.is_whitespace();
    }
    out
}

/// The words of a name: what spaces, `_`, `-` and capitals divide.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut begins, mut was_lower) = (true, false);
    for character in text.chars() {
        if !character.is_alphanumeric() {
            (begins, was_lower) = (true, false);
            continue;
        }
        if begins || (was_lower && character.is_uppercase()) {
            words.push(String::new());
        }
        begins = false;
        was_lower = !character.is_uppercase();
        if let Some(word) = words.last_mut() {
            word.push(character);
        }
    }
    words
}

/// Lines of at most so many characters, if their words allow it.
fn wrapped(width: usize, mark: &str, text: &str) -> String {
    let mut out = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > 0 {
            if used + 1 + length > width {
                out += mark;
                used = 0;
            } else {
                out.push(' ');
                used += 1;
            }
        }
        out += word;
        used += length;
    }
    out
}
