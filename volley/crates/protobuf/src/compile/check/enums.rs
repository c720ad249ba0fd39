//! Enums: numbers, names, aliases.

use std::collections::HashMap;

use buffa_descriptor::generated::descriptor::Edition;
use buffa_descriptor::generated::descriptor::feature_set::EnumType;

use super::super::error::{Fault, shown};
use super::super::names;
use super::super::tree::{Enum, place};
use super::numbers::{self, Span};

pub(super) fn check(item: &Enum, edition: Edition) -> Result<(), Fault> {
    let Some(first) = item.values.first() else {
        return Err(item.at.fault("the enum has no value"));
    };
    if item.features.enums == EnumType::OPEN && first.number() != 0 {
        return Err(first
            .number_at
            .fault("the first value of an open enum must be 0"));
    }
    aliases(item)?;
    let options = item.proto.options.as_option();
    let lenient =
        options.is_some_and(|own| own.deprecated_legacy_json_field_conflicts == Some(true));
    if !lenient || edition != Edition::EDITION_PROTO2 {
        unique_names(item)?;
    }
    reserved(item)
}

fn aliases(item: &Enum) -> Result<(), Fault> {
    let allowed = item
        .proto
        .options
        .as_option()
        .and_then(|options| options.allow_alias);
    let option_at = place(&item.options, "allow_alias", item.at);
    if allowed == Some(false) {
        return Err(option_at.fault("`allow_alias = false` has no effect: remove it"));
    }
    let mut taken: HashMap<i32, &str> = HashMap::new();
    let mut has_alias = false;
    for value in &item.values {
        if let Some(other) = taken.insert(value.number(), value.name()) {
            has_alias = true;
            if allowed.is_none() {
                let message = format!(
                    "the number {} is that of {} already; `option allow_alias = true;` permits it",
                    value.number(),
                    shown(other)
                );
                return Err(value.number_at.fault(message));
            }
        }
    }
    match allowed == Some(true) && !has_alias {
        true => Err(option_at.fault("no value is an alias: remove `allow_alias`")),
        false => Ok(()),
    }
}

/// Names must differ where languages drop the name of the enum.
fn unique_names(item: &Enum) -> Result<(), Fault> {
    let mut taken = HashMap::new();
    for value in &item.values {
        let short = names::enum_value(item.name(), value.name());
        let other = taken.entry(short).or_insert(value);
        if other.number() != value.number() {
            let message = format!(
                "{} and {} are one name without that of the enum",
                shown(value.name()),
                shown(other.name())
            );
            return Err(value.at.fault(message));
        }
    }
    Ok(())
}

fn reserved(item: &Enum) -> Result<(), Fault> {
    let mut spans = Vec::new();
    for (range, at) in &item.reserved {
        let (first, last) = (
            range.start.unwrap_or_default(),
            range.end.unwrap_or_default(),
        );
        if first > last {
            return Err(at.fault("the range ends before it starts"));
        }
        spans.push(Span {
            first,
            last,
            at: *at,
            what: "reserved",
        });
    }
    numbers::disjoint(&mut spans)?;
    let names = numbers::reserved_names(&item.reserved_names)?;
    for value in &item.values {
        numbers::is_free(&spans, value.number(), value.number_at)?;
        numbers::is_free_name(&names, value.name(), value.at)?;
    }
    Ok(())
}
