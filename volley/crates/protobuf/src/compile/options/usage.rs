//! Where an option may be set, and in which editions.

use buffa_descriptor::generated::descriptor::Edition;
use buffa_descriptor::generated::descriptor::field_options::{FeatureSupport, OptionTargetType};

use super::super::error::{Fault, Pos, shown};
use super::super::universe::FieldInfo;
use super::edition_name;

/// Checks one use of a field of an option.
pub(super) fn check(
    field: &FieldInfo,
    target: OptionTargetType,
    edition: Edition,
    at: Pos,
) -> Result<(), Fault> {
    if !field.targets.is_empty() && !field.targets.contains(&target) {
        let message = format!("the option {} cannot be set here", shown(&field.full_name));
        return Err(at.fault(message));
    }
    match &field.support {
        Some(support) => check_support(&field.full_name, support, edition, at),
        None => Ok(()),
    }
}

/// Checks that an edition has something.
pub(super) fn check_support(
    name: &str,
    support: &FeatureSupport,
    edition: Edition,
    at: Pos,
) -> Result<(), Fault> {
    if let Some(first) = support
        .edition_introduced
        .filter(|first| *first as i32 > edition as i32)
    {
        let (name, first) = (shown(name), edition_name(first));
        return Err(at.fault(format!("{name} needs {first}")));
    }
    if let Some(gone) = support
        .edition_removed
        .filter(|gone| *gone as i32 <= edition as i32)
    {
        let (name, gone) = (shown(name), edition_name(gone));
        return Err(at.fault(format!("{name} has ended with {gone}")));
    }
    Ok(())
}
