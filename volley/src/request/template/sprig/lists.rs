//! Lists and dicts. None is changed: each function makes a new one.

use std::sync::Arc;

use gotmpl::Value;

use super::args::{Args, Entries, Functions, Outcome, dict, list, string, strings, text};

pub fn add_lists(all: &mut Functions) {
    all.add(&["list", "tuple"], |args| list(args.values.to_vec()));
    all.add(&["first", "mustFirst"], |args| {
        Ok(args.list(0)?.first().cloned().unwrap_or(Value::Nil))
    });
    all.add(&["last", "mustLast"], |args| {
        Ok(args.list(0)?.last().cloned().unwrap_or(Value::Nil))
    });
    all.add(&["rest", "mustRest"], |args| {
        list(args.list(0)?.into_iter().skip(1))
    });
    all.add(&["initial", "mustInitial"], |args| {
        let mut items = args.list(0)?;
        items.pop();
        list(items)
    });
    all.add(&["append", "push", "mustAppend", "mustPush"], |args| {
        let mut items = args.list(0)?;
        items.push(args.at(1)?.clone());
        list(items)
    });
    all.add(&["prepend", "mustPrepend"], |args| {
        let items = args.list(0)?;
        list([args.at(1)?.clone()].into_iter().chain(items))
    });
    all.add(&["concat"], |args| {
        let lists = (0..args.values.len()).map(|place| args.list(place));
        list(lists.collect::<Result<Vec<_>, _>>()?.concat())
    });
    all.add(&["reverse", "mustReverse"], |args| {
        list(args.list(0)?.into_iter().rev())
    });
    all.add(&["uniq", "mustUniq"], |args| {
        let mut kept: Vec<Value> = Vec::new();
        for item in args.list(0)? {
            if !kept.contains(&item) {
                kept.push(item);
            }
            if kept.len() > 10_000 {
                return Err(args.wrong("takes at most 10,000 different items"));
            }
        }
        list(kept)
    });
    all.add(&["compact", "mustCompact"], |args| {
        list(args.list(0)?.into_iter().filter(Value::is_truthy))
    });
    all.add(&["without", "mustWithout"], |args| {
        let gone = args.values.get(1..).unwrap_or_default();
        list(
            args.list(0)?
                .into_iter()
                .filter(|item| !gone.contains(item)),
        )
    });
    all.add(&["has", "mustHas"], |args| {
        Ok(Value::Bool(args.list(1)?.contains(args.at(0)?)))
    });
    all.add(&["chunk", "mustChunk"], |args| {
        let size = args.count(0)?.max(1);
        list(
            args.list(1)?
                .chunks(size)
                .map(|chunk| Value::List(chunk.into())),
        )
    });
    all.add(&["sortAlpha"], |args| {
        let mut items: Vec<String> = args.list(0)?.iter().map(text).collect();
        items.sort_unstable();
        strings(items)
    });
    all.add(&["toStrings"], |args| {
        strings(args.list(0)?.iter().map(text))
    });
}

pub fn add_dicts(all: &mut Functions) {
    all.add(&["dict"], |args| {
        let pairs = args.values.chunks(2).filter_map(<[Value]>::split_first);
        dict(pairs.map(|(key, value)| {
            let value = value.first().cloned().unwrap_or(Value::String("".into()));
            (text(key).into(), value)
        }))
    });
    all.add(&["get"], |args| {
        let value = args.dict(0)?.get(args.text(1)?.as_str()).cloned();
        Ok(value.unwrap_or(Value::String("".into())))
    });
    all.add(&["set"], |args| {
        let mut entries = args.dict(0)?.clone();
        entries.insert(args.text(1)?.into(), args.at(2)?.clone());
        dict(entries)
    });
    all.add(&["unset"], |args| {
        let mut entries = args.dict(0)?.clone();
        entries.remove(args.text(1)?.as_str());
        dict(entries)
    });
    all.add(&["hasKey"], |args| {
        Ok(Value::Bool(
            args.dict(0)?.contains_key(args.text(1)?.as_str()),
        ))
    });
    all.add(&["keys"], |args| strings(args.dict(0)?.keys()));
    all.add(&["values"], |args| list(args.dict(0)?.values().cloned()));
    all.add(&["pick"], |args| chosen(args, true));
    all.add(&["omit"], |args| chosen(args, false));
    all.add(&["pluck"], |args| {
        let name = args.text(0)?;
        let dicts = (1..args.values.len()).map(|place| args.dict(place));
        let dicts: Vec<&Entries> = dicts.collect::<Result<_, _>>()?;
        list(
            dicts
                .into_iter()
                .filter_map(|entries| entries.get(name.as_str()).cloned()),
        )
    });
    all.add(&["merge", "mustMerge"], |args| {
        merged(args, (0..args.values.len()).rev())
    });
    all.add(&["mergeOverwrite", "mustMergeOverwrite"], |args| {
        merged(args, 0..args.values.len())
    });
    all.add(&["dig"], |args| {
        // Keys, the default, the dict.
        let [keys @ .., otherwise, _] = args.values else {
            return Err(args.wrong("takes keys, a default and a dict"));
        };
        let mut value = args.last()?;
        for key in keys {
            match value {
                Value::Map(entries) => match entries.get(text(key).as_str()) {
                    Some(inner) => value = inner,
                    None => return Ok(otherwise.clone()),
                },
                _ => return Ok(otherwise.clone()),
            }
        }
        Ok(value.clone())
    });
    all.add(&["deepCopy", "mustDeepCopy"], |args| {
        Ok(args.at(0)?.clone())
    });
}

fn chosen(args: &Args, keeps: bool) -> Outcome {
    let names: Vec<String> = args.values.iter().skip(1).map(text).collect();
    let is_chosen = |key: &str| names.iter().any(|name| name == key) == keeps;
    let entries = args.dict(0)?.iter().filter(|(key, _)| is_chosen(key));
    dict(entries.map(|(key, value)| (Arc::clone(key), value.clone())))
}

/// Of entries with the same key, the one of the last place stays.
fn merged(args: &Args, places: impl Iterator<Item = usize>) -> Outcome {
    let mut merged = Entries::new();
    for place in places {
        let entries = args.dict(place)?.iter();
        merged.extend(entries.map(|(key, value)| (Arc::clone(key), value.clone())));
    }
    dict(merged)
}

/// Defaults, types, and ends.
pub fn add_defaults(all: &mut Functions) {
    all.add(&["default"], |args| {
        let is_given = args.values.len() > 1 && args.last()?.is_truthy();
        Ok(if is_given { args.last()? } else { args.at(0)? }.clone())
    });
    all.add(&["empty"], |args| Ok(Value::Bool(!args.at(0)?.is_truthy())));
    all.add(&["coalesce"], |args| {
        let first = args.values.iter().find(|value| value.is_truthy());
        Ok(first.cloned().unwrap_or(Value::Nil))
    });
    all.add(&["all"], |args| {
        Ok(Value::Bool(args.values.iter().all(Value::is_truthy)))
    });
    all.add(&["any"], |args| {
        Ok(Value::Bool(args.values.iter().any(Value::is_truthy)))
    });
    all.add(&["ternary"], |args| {
        Ok(args.at(usize::from(!args.at(2)?.is_truthy()))?.clone())
    });
    all.add(&["fail"], |args| {
        Err(args.wrong(format_args!("says: {}", args.text(0)?)))
    });
    all.add(&["typeOf", "kindOf"], |args| string(kind(args.at(0)?)));
    all.add(&["typeIs", "typeIsLike", "kindIs"], |args| {
        Ok(Value::Bool(args.text(0)? == kind(args.at(1)?)))
    });
    all.add(&["deepEqual"], |args| {
        Ok(Value::Bool(args.at(0)? == args.at(1)?))
    });
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::List(_) => "slice",
        Value::Int(_) => "int64",
        value => value.type_name(),
    }
}
