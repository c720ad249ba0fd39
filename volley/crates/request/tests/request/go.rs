//! What only Go's text/template and sprig understand.

use std::collections::HashSet;

use proptest::prelude::*;
use volley_load::spec::Templates;
use volley_request::Source;
use volley_testkit::table::{table, words};

use crate::support::{everything, header, json, metadata, method, nth, refusal, shown};

/// The output of a template, as metadata of the call 17 of worker 3.
fn rendered(template: &str) -> String {
    let mut spec = json("{}");
    spec.request.metadata = metadata(&[("x", template)]);
    header(&nth(&spec, &everything("Chat"), 3, 17), "x").unwrap()
}

/// Why a template cannot be used.
fn refused(template: &str) -> String {
    let mut spec = json("{}");
    spec.request.metadata = metadata(&[("x", template)]);
    refusal(&spec, &method("GetSum"))
}

#[test]
fn control_structures_and_variables_are_go_s() {
    for [template, expected] in table(
        r#"
        {{if .IsClientStreaming}}yes{{else}}no{{end}} => yes
        {{if eq .MethodName `Call`}}1{{else if eq .MethodName `Chat`}}2{{else}}3{{end}} => 2
        {{if and (gt .RequestNumber 5) (lt .RequestNumber 18)}}in{{end}} => in
        a{{range $i, $v := list 1 2 3}}{{if $i}},{{end}}{{$v}}{{end}}b => a1,2,3b
        {{range until 3}}{{.}}{{$.RequestNumber}} {{end}} => 017 117 217
        {{range 3}}{{if eq . 1}}{{continue}}{{end}}{{.}}{{end}} => 02
        {{range list}}x{{else}}none{{end}} => none
        {{with .UUID}}{{len .}}{{end}} => 36
        {{$x := .RequestNumber}}{{$y := add $x 1}}{{mul $x $y}} => 306
        {{$s := `a`}}{{range 3}}{{$s = print $s .}}{{end}}{{$s}} => a012
        {{define `t`}}<{{.}}>{{end}}{{template `t` .RequestNumber}} => <17>
        {{block `t` 5}}{{.}}{{end}} => 5
        {{$d := dict `a` 1 `b` 2}}{{toJson $d}} => {"a":1,"b":2}
        x {{- if true -}} y {{- end -}} z => xyz
        {{/* } */}}{{'x'}}{{`}}`}} => 120}}
        {{printf `%05d|%-4s|%q|%x|%.2f` .RequestNumber `a` `b` 255 1.5}} => 00017|a   |"b"|ff|1.50
        {{.RequestNumber | printf `%d-%s` 5 | upper}} => 5-%!S(INT=17)
        {{index (list 4 5 6) 1}} {{slice `abcdef` 1 3}} {{len `abc`}} {{not true}} => 5 bc 3 false
        {{html `<a>`}} {{urlquery `a b&c`}} {{js `it's`}} => &lt;a&gt; a+b%26c it\'s
        {{print 1 2 `a` 3}} => 1 2a3
        {{(list 1 2) | len}} => 2
        {{$.MethodName | lower}} => chat
    "#,
    ) {
        assert_eq!(rendered(template), expected, "{template}");
    }
}

#[test]
fn the_functions_of_sprig_give_what_its_documentation_says() {
    for [template, expected] in table(
        r#"
        {{trim `  x `}}{{upper `a`}}{{lower `B`}} => xAb
        {{repeat 3 `ab`}} {{trunc 5 `hello world`}} {{trunc -5 `hello world`}} => ababab hello world
        {{quote `a` 1}} {{replace ` ` `-` `a b c`}} {{join `_` (list 1 2)}} {{join `_` 3}} => "a" "1" a-b-c 1_2 3
        {{contains `b` `abc`}} {{hasPrefix `b` `abc`}} {{hasSuffix `c` `abc`}} {{trimPrefix `-` `-a-`}} {{trimSuffix `-` `-a-`}} => true false true a- -a
        {{add 1 2 3}} {{sub 5 2}} {{mul 2 3 4}} {{div 7 2}} {{mod 7 4}} {{int `5`}} {{atoi `no`}} => 6 3 24 3 3 5 0
        {{until 3}} {{until -2}} {{until 0}} {{index (tuple 4 5) 1}} => [0 1 2] [0 -1] [] 5
        {{default `x` ``}} {{default `x` `y`}} {{`` | default `z`}} {{default 4}} {{ternary 1 2 true}} => x y z 4 1
        {{b64enc `hello`}} {{sha256sum `a` | trunc 8}} {{toJson (list 1 `a` true (dict `b` 1.5 `c`))}} => aGVsbG8= ca978112 [1,"a",true,{"b":1.5,"c":""}]
        {{date `2006-01-02T15:04:05` 0}} {{date `Mon, 2 Jan 06 03:04 PM` 1700000000}} {{date `Z07:00 .000 100%` `9`}} => 1970-01-01T00:00:00 Tue, 14 Nov 23 10:13 PM Z .000 100%
        {{unixEpoch `2017-12-31T00:00:00Z`}} {{dateModify `-1.5h` `2020-01-01T00:00:00Z`}} {{now | date_modify `24h` | len | lt 19}} => 1514678400 2019-12-31T22:30:00Z true
    "#,
    ) {
        assert_eq!(rendered(template), expected, "{template}");
    }
}

#[test]
fn what_volley_does_not_have_of_sprig_names_what_to_use() {
    for [name, instead] in table(
        r"
        getHostByName => take such values from a file: --data-file, or `data` of a scenario
        mustRegexMatch => take such values from a file: --data-file, or `data` of a scenario
        first => use Go's `index`, `eq`, `and`, `or` and `not`
        mustFirst => use Go's `index`, `eq`, `and`, `or` and `not`
        nospace => use `replace`
    ",
    ) {
        let expected = format!(
            "metadata `x`: `{{{{{name} `x`}}}}`: `{name}` is a function of sprig that volley does not have: {instead}"
        );
        assert_eq!(refused(&format!("{{{{{name} `x`}}}}")), expected);
    }
}

#[test]
fn every_call_draws_its_own_random_values() {
    let mut spec = json("{}");
    spec.request.metadata = metadata(&[(
        "x",
        "{{randAlphaNum 8}} {{randInt 0 1000000}} {{uuidv4}} {{randNumeric 9}} {{newUUID | upper}} {{now}}",
    )]);
    let mut source = Source::new(&spec, &method("GetSum")).unwrap();
    let values: HashSet<String> = (0..50)
        .flat_map(|call| {
            let text = header(source.next(0, call).unwrap(), "x").unwrap();
            text.split(' ').map(str::to_owned).collect::<Vec<_>>()
        })
        .collect();
    assert!(values.len() >= 5 * 50, "{}", values.len());
}

#[test]
fn metadata_names_are_templates_too() {
    let mut spec = json("{}");
    spec.request.metadata = metadata(&[
        ("x-{{.RequestNumber}}", "{{.WorkerID}}"),
        ("y-{{.MethodName | lower}}", "constant"),
        (
            "{{if eq .WorkerID `g0c0`}}z-0{{else}}z-1{{end}}-bin",
            "AQI=",
        ),
    ]);
    let request = nth(&spec, &method("GetSum"), 3, 17);
    assert_eq!(header(&request, "x-17").as_deref(), Some("g3c0"));
    assert_eq!(header(&request, "y-getsum").as_deref(), Some("constant"));
    assert_eq!(header(&request, "z-1-bin").as_deref(), Some("AQI"));
    spec.request.metadata = metadata(&[("grpc-{{.WorkerID}}", "x")]);
    assert_eq!(
        refusal(&spec, &method("GetSum")),
        "metadata `grpc-g0c0` is reserved: names in `grpc-` belong to gRPC"
    );
}

#[test]
fn data_may_have_blocks_that_are_values_or_whole_fields() {
    let method = method("GetSum");
    for [data, expected] in table(
        r#"
        {"a": {{add .RequestNumber 1}}, "b": "{{mul 2 3}}"} => {"a":10,"b":6}
        {"a": {{if true}}1{{else}}2{{end}}} => {"a":1}
        { {{if true}}"a": 5{{end}} } => {"a":5}
        {{$n := .RequestNumber}}{"a": {{$n}}, "b": {{add $n $n}}} => {"a":9,"b":18}
        [{{range $i, $_ := until 20}}{{if $i}},{{end}}{"a": {{$i}}}{{end}}] => {"a":9}
        {{dict "a" 3 | toJson}} => {"a":3}
    "#,
    ) {
        assert_eq!(
            shown(&nth(&json(data), &method, 0, 9), &method),
            [expected],
            "{data}"
        );
    }
}

#[test]
fn templates_that_cannot_be_used_have_one_clear_error() {
    for [template, expected] in table(
        r"
        {{nope 1}} => metadata `x`: `{{nope 1}}`: unknown function `nope`; `volley --help` lists the functions
        {{if nope}}{{end}} => metadata `x`: `{{if nope}}`: unknown function `nope`; `volley --help` lists the functions
        {{$x := 1}}{{$y}} => metadata `x`: undefined variable
        {{range $i, $v := 3}}{{end}} => metadata `x`: can't use 3 to iterate over more than one variable
        {{if true}}{{else}}{{else}}{{end}} => metadata `x`: `{{else}}`: `else` stands outside of its block
        {{div 1 0}} => metadata `x`: `div` divides by zero
        {{add `x` 1}} => metadata `x`: `add` takes a number, not a value of type string
        {{upper}} => metadata `x`: `upper` takes 1 arguments or more, not 0
        {{index (list) 0}} => metadata `x`: index out of range: 0
        {{range 10000000000}}{{end}} => metadata `x`: `range` goes on for too long
        {{range 1000000000}}x{{end}} => metadata `x`: `range` goes on for too long
        {{repeat 9999999999 `x`}} => metadata `x`: `repeat` cannot make 9999999999 of something
        {{repeat 9999 (repeat 9999 `x`)}} => metadata `x`: `repeat` makes too long a text
        {{until 9999999999}} => metadata `x`: `until` makes too long a list
        {{$x := `xxxxxxxx`}}{{range 60}}{{$x = print $x $x}}{{end}} => metadata `x`: a value is longer than 16 MiB
        {{$x := `xxxxxxxx`}}{{range 60}}{{$x = printf `%s%s` $x $x}}{{end}} => metadata `x`: a value is longer than 16 MiB
        {{$x := list 1}}{{range 60}}{{$x = join `xxxxxxxx` (list $x $x)}}{{end}} => metadata `x`: a value is longer than 16 MiB
        {{$x := list}}{{range 60}}{{$x = list $x}}{{end}} => metadata `x`: values are nested too deeply
        {{$x := list}}{{range 30}}{{$x = list $x $x $x}}{{end}} => metadata `x`: a value is longer than 16 MiB
        {{$x := repeat 9999999 `x`}}{{range 99}}{{len (print $x)}}{{end}} => metadata `x`: the functions make too much
        {{$x := repeat 9999999 `x`}}{{range 99}}{{$x}}{{end}} => metadata `x`: it makes more than 64 MiB of text
        {{define `t`}}{{template `t`}}{{end}}{{template `t`}} => metadata `x`: the template `t` calls itself
        {{printf `%s%s%s%s%s` (repeat 9999999 `x`) 1 2 3 4}} => metadata `x`: `printf` might make too long a text
        {{date `2006` `yesterday`}} => metadata `x`: `date`
        {{dateModify `1 day` 0}} => metadata `x`: `dateModify` `day` is not a unit of time
    ",
    ) {
        let error = refused(template);
        assert!(error.starts_with(expected), "{template}: {error}");
    }
}

#[test]
fn named_templates_that_double_themselves_are_refused() {
    let mut text = String::new();
    for name in 0..60 {
        let next = name + 1;
        text += &format!(
            "{{{{define `t{name}`}}}}{{{{template `t{next}`}}}}{{{{template `t{next}`}}}}{{{{end}}}}"
        );
    }
    text += "{{define `t60`}}x{{end}}{{template `t0`}}";
    assert_eq!(
        refused(&text),
        "metadata `x`: its named templates make too much"
    );
}

#[test]
fn without_functions_go_s_own_still_work() {
    let mut spec = json("{}");
    spec.request.templates = Templates::NoFunctions;
    spec.request.metadata = metadata(&[(
        "x",
        "{{if eq .RequestNumber 17}}{{printf `%04d` .RequestNumber}}{{end}}",
    )]);
    let method = method("GetSum");
    assert_eq!(
        header(&nth(&spec, &method, 0, 17), "x").as_deref(),
        Some("0017")
    );
    spec.request.metadata = metadata(&[("x", "{{upper .UUID}}")]);
    assert_eq!(
        refusal(&spec, &method),
        "metadata `x`: `{{upper .UUID}}`: template functions are off; drop --disable-template-functions"
    );
}

/// Pieces of templates: some make sense together.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(words(
            "{{|}}|¦|{{-|-}}|if|else|end|range|with|define|template|block|break|continue|$x|$|\
             :=|=|,|(|)|.|.UUID|.RequestNumber|`|\"|'|\\|/*|*/|5|-1|\
             1e9|0x7f|true|nil| |\n|and|or|not|eq|lt|index|slice|len|print|printf|\
             call|html|{{end}}|{{else}}|{{if true}}|{{range 9}}|{{$x := |\"%v%d%*s\"|`a`|é"
        ))
        .prop_map(|piece| piece.replace('¦', "|")),
        prop::sample::select(functions()),
        "\\PC{0,3}",
    ]
}

/// All functions that templates may call.
fn functions() -> Vec<String> {
    let groups = volley_request::function_groups();
    groups.into_iter().flat_map(|(_, names)| names).collect()
}

/// A call of a function with any arguments.
fn call() -> impl Strategy<Value = String> {
    let argument = prop::sample::select(words(
        "0|1|-1|9223372036854775807|99999999999|1.5|`a`|``|`2006-01-02`|`a.b(c`|true|\
         nil|(list)|(list 1 `b`)|(dict `a` 1)|.UUID|.RequestNumber|.|(now)|`é`|`-1h`",
    ));
    (
        prop::sample::select(functions()),
        prop::collection::vec(argument, 0..4),
    )
        .prop_map(|(name, arguments)| format!("{{{{{name} {}}}}}", arguments.join(" ")))
}

fn one_line_or_a_request(data: &str, value: &str) -> Result<(), TestCaseError> {
    let mut spec = json(data);
    spec.request.metadata = metadata(&[("x-bin", value)]);
    if let Err(error) = Source::new(&spec, method_once()) {
        let error = error.to_string();
        prop_assert!(!error.contains('\n'), "{error}");
    }
    Ok(())
}

/// Compiling the schema for every case would take seconds.
fn method_once() -> &'static volley_request::Method {
    static METHOD: std::sync::OnceLock<volley_request::Method> = std::sync::OnceLock::new();
    METHOD.get_or_init(|| everything("Call"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn any_template_gives_a_request_or_one_error(pieces in prop::collection::vec(piece(), 0..14)) {
        let text = pieces.join(" ");
        one_line_or_a_request(&text, &pieces.concat())?;
        one_line_or_a_request(&format!("{{\"string\": \"{{{{{text}}}}}\"}}"), "")?;
    }

    #[test]
    fn any_call_of_a_function_gives_a_value_or_one_error(call in call(), then in call()) {
        one_line_or_a_request(&format!("{{\"string\": \"{call}\"}}"), &then)?;
    }
}
