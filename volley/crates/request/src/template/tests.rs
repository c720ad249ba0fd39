use proptest::prelude::*;
use volley_load::spec::SchemaSource;

use super::ActionError;
use super::*;
use crate::CallNumber;
use crate::schema;

/// Compiling the schema for every case would take seconds.
pub(super) fn method() -> &'static Method {
    static METHOD: std::sync::OnceLock<Method> = std::sync::OnceLock::new();
    METHOD.get_or_init(|| {
        let source = SchemaSource::Proto {
            file: "../../../requests/benchmark.proto".into(),
            import_paths: Vec::new(),
        };
        let pool = schema::read(&source).unwrap().unwrap();
        schema::find(&pool, "benchmark.BenchmarkService/GetSum").unwrap()
    })
}

fn rendered(template: &Template) -> String {
    let mut random = fastrand::Rng::with_seed(1);
    let call = CallNumber {
        worker: 2,
        number: 9,
    };
    let mut out = String::new();
    template
        .render(&mut CallData::new(call, "", 1, &mut random), &mut out)
        .unwrap();
    out
}

#[test]
fn text_and_constant_fields_become_one_piece() {
    let template = Template::parse("a {{.MethodName}} {{`b`}} {{1}}", method(), true).unwrap();
    assert_eq!(template.constant(), Some("a GetSum b 1"));
}

#[test]
fn what_changes_with_the_call_is_no_constant() {
    for text in [
        "{{.RequestNumber}}",
        "x{{newUUID}}",
        "{{.Timestamp}}y",
        "{{randomInt 0 1}}",
    ] {
        let template = Template::parse(text, method(), true).unwrap();
        assert_eq!(template.constant(), None, "{text}");
    }
}

#[test]
fn a_range_that_turns_out_empty_is_an_error_then() {
    let template = Template::parse("{{randomInt (randomInt 7 8) 3}}", method(), true).unwrap();
    let mut random = fastrand::Rng::with_seed(1);
    let mut call = CallData::new(CallNumber::default(), "", 1, &mut random);
    assert_eq!(
        template.render(&mut call, &mut String::new()).unwrap_err(),
        TemplateError::Render(ActionError::EmptyRange { min: 7, max: 3 })
    );
}

proptest! {
    #[test]
    fn text_without_actions_is_itself(text in "[^{]{0,60}") {
        let template = Template::parse(&text, method(), true).unwrap();
        prop_assert_eq!(template.constant(), Some(text.as_str()));
        prop_assert_eq!(rendered(&template), text);
    }

    #[test]
    fn any_text_is_parsed_or_refused(
        text in "([a-zA-Z .|()\"`0-9-]|\\{\\{|\\}\\}|/\\*|\\*/|\\PC){0,40}",
    ) {
        let _ = Template::parse(&text, method(), true);
    }
}
