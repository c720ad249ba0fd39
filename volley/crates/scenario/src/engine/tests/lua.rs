//! Scripts on steps.

use super::load::mute;
use super::peer::{Asked, Does, Peer};
use super::wires;
use super::{failure, finish, report};
use crate::report::Report;
use crate::tally::Reason;
use crate::testkit::table::table;
use crate::testkit::texts::begins;

const ITEM: &str =
    r#"{"item": {"rev": 7, "id": 12345678901234567890, "name": "a\"b", "list": [1]}}"#;

/// Answers with an item, and echoes the header `x-sig`.
fn shop() -> Peer {
    Peer::start(|asked| {
        let sig = asked.field("x-sig").unwrap_or("none");
        Does::says(201, &[("location", "/items/9"), ("x-sig", sig)], ITEM)
    })
}

/// One iteration of steps.
#[track_caller]
fn once(server: &Peer, version: u8, steps: &str) -> Report {
    let file = format!(
        "http: {{version: {version}, connections: 1}}\nscenarios:\n  s:\n    steps:\n{steps}"
    );
    finish(server, 1, &file).unwrap().report
}

/// Why a step failed: the reason and its words.
#[track_caller]
fn fault(report: &Report, step: &str) -> (Reason, String) {
    let step = wires::step(report, step);
    assert_eq!(step.failures.len(), 1, "{:?}", step.failures);
    let failure = &step.failures[0];
    (failure.reason, failure.samples[0].clone())
}

#[track_caller]
fn assert_good(report: &Report, step: &str) {
    assert_eq!(wires::step(report, step).failures, [], "{step}");
}

#[test]
fn a_script_changes_the_request_before_it_is_sent() {
    for version in [1, 2] {
        let server = shop();
        let steps = r#"
      - name: create
        post: ${api}/items
        text: hello
        headers: {x-old: "1", x-gone: "2"}
        lua: |
          function request(req)
            assert(req.method == "POST" and req:path() == "/items" and req:body() == "hello")
            assert(req:header("X-Old") == "1" and req:header("nothing") == nil)
            vars.sig = "s" .. #req:body()
            req:set_header("x-sig", vars.sig)
            req:set_header("X-Old", 5)
            req:set_header("x-gone", nil)
            req:set_body("other body")
            req:set_path("/things?a=1")
          end
      - {name: next, get: "${api}/${sig}"}
"#;
        let report = once(&server, version, steps);
        assert_good(&report, "create");
        let asked = server.asked();
        let first = &asked[0];
        assert_eq!(first.line(), "POST /things?a=1");
        let fields = ["x-sig", "x-old", "x-gone"].map(|name| first.field(name));
        assert_eq!(fields, [Some("s5"), Some("5"), None]);
        assert!(first.field("user-agent").unwrap().starts_with("volley/"));
        assert_eq!(
            first.field("content-type"),
            Some("text/plain; charset=utf-8")
        );
        if version == 1 {
            assert_eq!(first.field("content-length"), Some("10"));
        }
        assert_eq!(asked[1].path, "/s5");
        assert_eq!(asked[1].field("x-sig"), None);
    }
}

#[test]
fn a_script_looks_at_what_it_needs_of_a_response() {
    for version in [1, 2] {
        let server = shop();
        let steps = r#"
      - name: create
        post: ${api}/items
        lua: |
          function response(res)
            assert(res.status == 201 and res:header"location" == "/items/9" and res:header"Location" == "/items/9")
            assert(res:header"none" == nil and res:headers()["x-sig"] == "none")
            assert(res:body():find('"rev"', 1, true))
            assert(res:json"/item/rev" == 7 and res:json"/item/none" == nil and res:json"/item/name" == 'a"b')
            assert(res:json"/item/id" == "12345678901234567890" and res:json"/item/list" == "[1]")
            vars.url, vars.rev = res:header"location", res:json"/item/rev" + 1
            assert(vars.rev == "8" and vars.nothing == nil)
          end
      - {name: next, get: "${url}", headers: {x-rev: "${rev}"}}
"#;
        let report = once(&server, version, steps);
        assert_good(&report, "create");
        let next = &server.asked()[1];
        assert_eq!(
            (next.path.as_str(), next.field("x-rev")),
            ("/items/9", Some("8"))
        );
    }
}

#[test]
fn a_check_of_a_script_and_an_error_are_reasons_of_their_own() {
    for [body, reason, words] in table(
        r#"
        fail('too old: ' .. res.status) => LuaCheck => too old: 201
        pcall(fail, 'caught') return true => LuaCheck => caught
        return false => LuaCheck => test.yaml: response returned false
        return nil + 1 => LuaResponse => test.yaml:10: attempt to perform arithmetic on a nil value
        local x = res:json('x') => LuaResponse => test.yaml:10: `x` is no JSON pointer, such as `/items/0/id`
        vars[res:body()] = 1 => LuaResponse => test.yaml:10: no step has the value `{"item": {
        error({code = 5}) => LuaResponse => test.yaml:10: the error is a table
    "#,
    ) {
        let server = shop();
        let steps = format!(
            "      - name: create\n        get: ${{api}}/\n        lua: |\n          -- response\n          function response(res) {body} end\n      - {{name: next, get: \"${{api}}/\"}}\n"
        );
        let report = once(&server, 2, &steps);
        let (found, said) = fault(&report, "create");
        assert!(
            format!("{found:?}") == reason && said.starts_with(words),
            "{body}: {found:?} {said}"
        );
        assert_eq!(server.asked().len(), 1);
    }
    let server = shop();
    let steps = "      - {name: create, get: '${api}/', lua: \"function request(req) req:set_header('host', 'x') end\"}\n";
    let (reason, words) = fault(&once(&server, 2, steps), "create");
    assert_eq!((reason, server.asked().len()), (Reason::Lua, 0));
    begins(&words, "test.yaml:6: `host` is the target's");
    let steps = "      - {name: create, get: '${api}/', expect: {status: 200}, lua: \"function response(res) return false end\"}\n";
    assert_eq!(fault(&once(&server, 2, steps), "create").0, Reason::Status);
}

#[test]
fn functions_of_h2loadrunner_get_tables_and_make_the_next_request() {
    for version in [1, 2] {
        let server = shop();
        let steps = r#"
      - {name: create, post: "${api}/items", text: one}
      - name: change
        patch: ${api}/wrong
        headers: {x-old: "1", x-gone: "2", x-var: "${user}"}
        text: body
        lua: |
          function make_request(response_headers, response_body, headers, body)
            assert(response_headers[":status"] == "201" and response_headers[":path"] == "/items")
            assert(response_body:find("rev") and headers[":path"] == "/wrong" and headers[":scheme"] == "http")
            assert(headers["x-var"] == "u" and headers[":method"] == "PATCH")
            headers[":path"] = response_headers["location"]
            headers["x-sig"] = "s"
            headers["x-old"] = 2
            headers["x-gone"] = nil
            headers["content-length"] = "7"
            return headers, body .. "!!!"
          end
          function validate_response(headers, body)
            return headers[":status"] == "201" and headers["x-sig"] == "s" and #body > 10
          end
data: {user: {rows: [u]}}
"#;
        let report = once(&server, version, steps);
        assert_good(&report, "change");
        let asked = server.asked();
        let change = &asked[1];
        assert_eq!(change.line(), "PATCH /items/9");
        let fields = ["x-sig", "x-old", "x-gone", "x-var"].map(|name| change.field(name));
        assert_eq!(fields, [Some("s"), Some("2"), None, Some("u")]);
        if version == 1 {
            assert_eq!(change.field("content-length"), Some("7"));
        }
    }
}

#[test]
fn the_first_request_of_h2loadrunners_functions_has_no_response_before_it() {
    let server = shop();
    let steps = "      - name: only\n        get: ${api}/\n        lua: |\n          function make_request(rh, rb, h, b) assert(next(rh) == nil and rb == '') return h, b end\n          function validate_response(h, b) return h[':status'] == '404' end\n";
    let found = fault(&once(&server, 2, steps), "only");
    let words = "test.yaml: validate_response returned false";
    assert_eq!(found, (Reason::LuaCheck, words.to_owned()));
    let gone = Peer::plain(|_| Some((404, String::new())));
    let report = once(&gone, 2, steps);
    assert_good(&report, "only");
}

#[test]
fn a_path_that_a_script_sets_leads_back_to_where_it_came_from() {
    for version in [1, 2] {
        let [other, server] = [shop(), shop()];
        let file = format!(
            r#"
http: {{route: authority, version: {version}, connections: 1}}
data: {{there: {{rows: ["http://{}/there"]}}}}
scenarios:
  s:
    steps:
      - name: there
        get: ${{there}}
        lua: |
          function request(req) vars.asked = req:path() end
          function response(res) vars.url = res:header"location" end
      - {{name: asked, get: "${{asked}}"}}
      - {{name: next, get: "${{url}}"}}
      - {{name: own, get: "${{api}}/own", lua: "function response(res) vars.url = '/back' end"}}
      - {{name: back, get: "${{url}}"}}
"#,
            other.address
        );
        let report = finish(&server, 1, &file).unwrap().report;
        assert_eq!(report.iterations().ok, 1);
        assert_eq!(other.paths(), ["/there", "/there", "/items/9"]);
        assert_eq!(server.paths(), ["/own", "/back"]);
    }
}

#[test]
fn what_a_script_says_shows_no_secret() {
    let server = shop();
    let steps = r#"
      - {name: login, get: "${api}/", save: {token: {json: /item/id}}}
      - {name: check, get: "${api}/", lua: "function response(res) fail('no ' .. vars.token .. ' ?password=hush') end"}
"#;
    let found = fault(&once(&server, 2, steps), "check");
    let expected = (Reason::LuaCheck, "no *** ?password=***".to_owned());
    assert_eq!(found, expected);
}

#[test]
fn a_script_of_setup_gives_values_to_everybody() {
    let server = shop();
    let file = "http: {connections: 2}
setup: [{get: '${api}/login', lua: \"function response(res) vars.token = res:json'/item/rev' end\"}]
scenarios: {s: {steps: [{get: '${api}/${token}'}]}}
load: [{users: 2}, {iterations: 4}]
";
    let finished = finish(&server, 2, file).unwrap();
    assert_eq!(finished.report.iterations().ok, 4);
    assert!(server.paths()[1..].iter().all(|path| path == "/7"));
}

#[test]
fn a_script_without_end_ends_the_run_in_setup_and_in_the_load() {
    let server = shop();
    let endless =
        "{name: x, get: '${api}/', lua: \"function response(res) while true do end end\"}";
    let line = "test.yaml:2: the script ran longer than 500 ms";
    let load = format!(
        "scenarios: {{s: {{on_failure: continue, steps: [{endless}]}}}}\nload: [{{users: 1, for: 1h}}]\n"
    );
    let failed = failure(finish(&server, 1, &load));
    assert_eq!(failed, format!("step `x` ended the run: {line}"));
    let setup =
        format!("setup: [{endless}]\nscenarios: {{s: {{steps: [{{get: '${{api}}/'}}]}}}}\n");
    let failed = failure(finish(&server, 1, &setup));
    assert_eq!(failed, format!("setup: step `x` failed: {line}"));
}

#[test]
fn what_scripts_have_written_for_too_many_open_requests_is_named_with_its_remedy() {
    let file = "limits: {lua_memory: 4MiB}
scenarios: {s: {steps: [{name: x, post: '${api}/', lua: \"function request(req) req:set_body(('x'):rep(1e6)) end\"}]}}
load: [{users: 9, for: 1h}]
";
    let words = "what scripts have written for open requests (bodies, paths and headers) has more than 4 MiB in one thread: \
                 raise `limits: {lua_memory: …}`, or let fewer iterations be open";
    assert_eq!(
        failure(finish(&mute(), 1, file)),
        format!("step `x` ended the run: test.yaml:3: {words}")
    );
}

#[test]
fn a_script_that_fails_before_any_function_is_called_prevents_the_run() {
    let server = shop();
    let file = "scenarios: {s: {steps: [{get: '${api}/', lua: \"error('no') function request() end\"}]}}\n";
    assert_eq!(failure(finish(&server, 1, file)), "test.yaml:2: no");
    let file =
        "scenarios: {s: {steps: [{get: '${api}/', lua: \"local function request() end\"}]}}\n";
    let words = "test.yaml: the script has no function `request`, `response`, `make_request` or `validate_response`";
    assert_eq!(failure(finish(&server, 1, file)), words);
    assert!(server.asked().is_empty());
}

#[test]
fn a_reference_server_counts_what_scripts_asked_for() {
    let server = volley_serve::Reference::start(volley_serve::Config::default()).unwrap();
    let file = format!(
        r#"
targets: {{api: "http://{}"}}
http: {{version: 2, connections: 4}}
scenarios:
  crud:
    steps:
      - {{name: create, post: "${{api}}/v1/items", json: {{owner: o, sku: s}}, expect: {{status: 201}}}}
      - name: change
        patch: ${{api}}/
        json: {{owner: o, sku: s}}
        lua: |
          function make_request(rh, rb, h, b) h[":path"] = rh.location vars.url = rh.location return h, b end
          function validate_response(h) return h[":status"] == "204" end
      - {{name: remove, delete: "${{url}}", lua: "function response(res) return res.status == 204 end"}}
load: [{{users: 20}}, {{iterations: 500}}]
"#,
        server.address()
    );
    let report = report(&super::plan(&file), 2);
    let counts = server.counts();
    assert_eq!(report.iterations().ok, 500, "{:?}", report.steps);
    let [created, patched, deleted] = [counts.created, counts.patched, counts.deleted];
    assert_eq!(
        [created, patched, deleted, counts.live()],
        [500, 500, 500, 0]
    );
}

#[test]
fn a_changed_path_stays_on_the_host_of_its_url_and_a_changed_authority_leads_to_another() {
    let [first, second] = [shop(), shop()];
    let file = format!(
        r#"
targets: {{a: "http://{}", b: "http://{}"}}
data: {{there: {{rows: ["http://{}/there"]}}}}
scenarios:
  s:
    steps:
      - name: value
        get: ${{there}}
        lua: |
          function make_request(rh, rb, h, b) h[":path"] = h[":path"] .. "?x" return h, b end
      - name: lazy
        get: ${{there}}
        lua: |
          function request(req) req:set_path(req:path() .. "?y") end
      - name: authority
        get: ${{a}}/
        lua: |
          function make_request(rh, rb, h, b) h[":authority"] = "{}" h[":method"] = "PUT" return h, "new" end
      - name: refused
        get: ${{a}}/
        lua: |
          function make_request(rh, rb, h, b) h[":method"] = "A B" return h, b end
"#,
        first.address, second.address, second.address, second.address
    );
    let report = report(&super::plan(&file), 1);
    for step in ["value", "lazy", "authority"] {
        assert_good(&report, step);
    }
    let (reason, words) = fault(&report, "refused");
    let expected = "test.yaml: make_request returned the method `A B`";
    assert_eq!((reason, words.as_str()), (Reason::Lua, expected));
    assert!(first.asked().is_empty());
    let asked = second.asked();
    let sent: Vec<_> = asked.iter().map(Asked::line).collect();
    assert_eq!(sent, ["GET /there?x", "GET /there?y", "PUT /"]);
}
