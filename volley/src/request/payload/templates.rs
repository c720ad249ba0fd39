//! Templates in data.

use crate::request::RequestError;
use crate::request::messages::is_array;
use crate::request::schema::Method;
use crate::request::spec::RequestSpec;
use crate::request::template::{Labels, Template};

/// One template for the whole data. If calls take the elements of an array in turn, one template
/// for each element, so that a call renders only its own.
pub(super) fn templates(
    json: &str,
    spec: &RequestSpec,
    method: &Method,
) -> Result<Vec<Template>, RequestError> {
    let labels = Labels::from(method);
    let parse = |text: &str| {
        if !spec.templates_in_data {
            return Ok(Template::literal(text));
        }
        Template::parse(text, &labels, spec.template_functions).map_err(|error| {
            RequestError::Template {
                place: "the data".to_owned(),
                error,
            }
        })
    };
    let whole = parse(json)?;
    if whole.constant().is_some() || method.shape.streams_requests() || !is_array(json) {
        return Ok(vec![whole]);
    }
    // An array that becomes JSON only through its templates must be rendered as a whole.
    match serde_json::from_str::<Vec<serde_json::Value>>(json) {
        Ok(elements) if !elements.is_empty() => elements
            .iter()
            .map(|element| parse(&element.to_string()))
            .collect(),
        _ => Ok(vec![whole]),
    }
}
