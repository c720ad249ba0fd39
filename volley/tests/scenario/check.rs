//! `volley check` and `volley schema scenario`, as programs.

use volley::serve::Faults;

use crate::common::{Scratch, begins, command, ends, has, outcome, reference, scripted};
use crate::examples;

fn volley(args: &[&str]) -> (i32, String, String) {
    outcome(command(args).current_dir(examples()))
}

#[test]
fn a_good_file_is_outlined() {
    let expected = include_str!("../expected/check-shop.txt");
    assert_eq!(
        volley(&["check", "shop.yaml"]),
        (0, expected.to_owned(), String::new())
    );
}

#[test]
fn what_is_hardly_meant_is_a_warning() {
    let scratch = Scratch::new();
    let file = scratch.path("a.yaml");
    let text = "targets: {api: http://a}
data: {sku: {range: [0, 9]}, id: {uuid: true}}
# not `{{id}}`
scenarios: {s: {steps: [{name: x, get: '${api}/${id}/{{sku}}'}]}}
load: {users: 1, for: 1s}
thresholds: [{that: dropped < 1%, abort_after: 3s}]
";
    std::fs::write(&file, text).unwrap();
    let (status, out, errors) = volley(&["check", file.to_str().unwrap()]);
    assert_eq!(status, 0);
    assert_eq!(
        errors,
        "warning: line 4: `{{sku}}` is sent as it is: a value is written `${sku}`\n\
         warning: `data.sku` is used by no step\n"
    );
    let end = "must hold\n  dropped < 1%, or the load ends after 3s\n";
    assert!(out.ends_with(end), "{out}");
}

#[test]
fn what_is_wrong_with_files_is_said_at_once() {
    let scratch = Scratch::new();
    let file = scratch.path("a.yaml");
    let text = "targets: {api: {hosts: 'https://a', tls: {ca: ca.pem}}, b: {hosts: 'https://b', tls: {ca: b.pem}}}
data: {u: {csv: u.csv}, v: {range: [0, 9]}, w: {csv: w.csv}}
scenarios: {s: {steps: [{get: '${api}/${u.n}/${v}/${w.n}'}, {get: '${b}/'}]}}
";
    std::fs::write(&file, text).unwrap();
    for (name, text) in [
        ("ca.pem", "no"),
        ("b.pem", "no"),
        ("u.csv", "n\n\"x"),
        ("w.csv", "n\n"),
    ] {
        std::fs::write(scratch.path(name), text).unwrap();
    }
    let (status, out, errors) = volley(&["check", file.to_str().unwrap()]);
    assert_eq!((status, out.as_str()), (2, ""), "{errors}");
    let lines: Vec<&str> = errors.lines().collect();
    assert_eq!(lines.len(), 4, "{errors}");
    for (line, name) in lines.iter().zip(["ca.pem", "b.pem", "u.csv", "w.csv"]) {
        assert!(line.starts_with("error: ") && line.contains(name), "{line}");
    }
}

#[test]
fn nothing_connects_to_a_target_that_no_step_uses() {
    let server = reference(Faults::default());
    let closed = scripted::nobody();
    let scratch = Scratch::new();
    let file = scratch.path("a.yaml");
    let used = format!(
        "api: 'http://{}', old: 'http://{closed}', lost: 'http://no.such.invalid'",
        server.address()
    );
    let step = "get: '${api}/'";
    let write = |step: &str| {
        let text = format!(
            "targets: {{{used}}}\nscenarios: {{s: {{steps: [{{name: x, {step}}}]}}}}\nload: {{users: 1, iterations: 1}}\n"
        );
        std::fs::write(&file, text).unwrap();
    };
    write(step);
    let path = file.to_str().unwrap();
    let warnings = "warning: `targets.old` is used by no step: nothing connects to it\n\
                    warning: `targets.lost` is used by no step: nothing connects to it\n";
    let (status, out, errors) = volley(&["check", path]);
    assert_eq!((status, errors.as_str()), (0, warnings));
    has(&out, &format!("  old: {closed}, HTTP/1.1, unused\n"));
    let (_, out, errors) = volley(&["check", "--once", path]);
    assert_eq!(errors, warnings);
    assert!(out.starts_with("s.x\n  > GET http://"), "{out}");
    let (_, _, errors) = volley(&["run", "--quiet", path]);
    assert!(!errors.contains("cannot connect"), "{errors}");
    // Where a redirect may lead, there is a connection.
    write("get: '${api}/', redirects: 1");
    let (status, _, errors) = volley(&["check", "--once", path]);
    assert_eq!(status, 1);
    assert!(
        !errors.contains("used by no step") && errors.starts_with("error: "),
        "{errors}"
    );
}

#[test]
fn values_of_the_environment_are_not_shown() {
    let scratch = Scratch::new();
    let file = scratch.path("secret.yaml");
    let text = "targets: {api: http://a}\nscenarios: {s: {steps: [{name: x, get: '${api}/x?key=${env.HOME}&${env.PATH:raw}'}]}}\n";
    std::fs::write(&file, text).unwrap();
    let (status, out, errors) = volley(&["check", file.to_str().unwrap()]);
    assert_eq!((status, errors.as_str()), (0, ""));
    let line = "  x: GET ${api}/x?key=${env.HOME}&${env.PATH:raw}\n";
    assert!(out.contains(line), "{out}");
}

#[test]
fn files_of_data_and_tls_are_read() {
    let scratch = Scratch::new();
    let (file, pem) = (scratch.path("a.yaml"), scratch.path("ca.pem"));
    std::fs::write(scratch.path("users.csv"), "name,mail\nann,a@b\nbob\n").unwrap();
    std::fs::write(&pem, "no certificate").unwrap();
    for (text, path, expected) in [
        (
            "targets: {api: http://a}\ndata: {u: {csv: users.csv}}",
            "",
            "users.csv:3: the row has 1 column, the header 2\n",
        ),
        (
            "targets: {api: http://a}\ndata: {u: {rows: [a, b], slice: user}}\nload: {users: 3, iterations: 9}",
            "${u}",
            "error: `data.u` has 2 rows for 3 users: add rows, or use `slice: all`\n",
        ),
        (
            "targets: {api: {hosts: 'https://a', tls: {ca: ca.pem}}}",
            "",
            "ca.pem",
        ),
    ] {
        let text = format!("{text}\nscenarios: {{s: {{steps: [{{get: '${{api}}/{path}'}}]}}}}\n");
        std::fs::write(&file, text).unwrap();
        let (status, out, errors) = volley(&["check", file.to_str().unwrap()]);
        assert_eq!((status, out.as_str()), (2, ""), "{errors}");
        assert!(errors.contains(expected), "{errors}");
    }
}

#[test]
fn data_that_is_not_utf_8_or_has_no_rows_is_refused() {
    let scratch = Scratch::new();
    let (file, users) = (scratch.path("a.yaml"), scratch.path("u.csv"));
    let text = "targets: {api: http://a}
data: {u: {csv: u.csv}}
scenarios: {s: {steps: [{name: x, get: '${api}/${u.name}'}]}}
";
    std::fs::write(&file, text).unwrap();
    for (rows, expected) in [
        (
            &b"name,mail\nann,a\n\xe9ric,b\n"[..],
            "u.csv:3: the row is not UTF-8: save the file as UTF-8\n",
        ),
        (b"name,mail\n", "u.csv: `data.u` has no rows: add one\n"),
    ] {
        std::fs::write(&users, rows).unwrap();
        let (status, out, errors) = volley(&["check", file.to_str().unwrap()]);
        assert_eq!((status, out.as_str()), (2, ""), "{errors}");
        assert!(errors.ends_with(expected), "{errors}");
    }
}

#[test]
fn every_mistake_is_a_line_on_stderr_and_the_status_is_2() {
    let (status, out, errors) = volley(&["check", "shop.proto"]);
    assert_eq!((status, out.as_str()), (2, ""));
    begins(&errors, "shop.proto:");
    ends(&errors, "\n");
    let (status, _, errors) = volley(&["check"]);
    assert_eq!(
        (status, errors.as_str()),
        (
            2,
            "error: no FILE: give a scenario file, such as `shop.yaml`\n"
        )
    );
}

#[test]
fn the_schema_of_a_scenario_file_is_printed() {
    let (status, out, _) = volley(&["schema", "scenario"]);
    assert_eq!((status, out.as_str()), (0, volley::docs::SCENARIO_SCHEMA));
    let line = "error: write `volley schema` for a file of --config, or `volley schema scenario`\n";
    assert_eq!(
        volley(&["schema", "spec"]),
        (2, String::new(), line.to_owned())
    );
}
