//! What files become.

use volley::scenario::plan::{
    Action, After, AtEnd, HttpRequest, Part, Phase, Phases, Plan, Request, RowOrder, Rule, Source,
    Step, Url, Version, WhenFull,
};
use volley::scenario::{Slot, Text, Values, file};
use volley::spec::Endpoint;

use crate::{compile, examples, with_steps};

/// What a text says if each slot holds its own name.
fn shown(plan: &Plan, text: &Text) -> String {
    let mut values = Values::new(plan.slots.len());
    for (index, name) in plan.slots.iter().enumerate() {
        values.set(
            Slot(u16::try_from(index).unwrap()),
            format!("<{name}>").as_bytes(),
        );
    }
    let mut out = Vec::new();
    text.render(&values, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn http(step: &Step) -> &HttpRequest {
    match &step.request {
        Request::Http(request) => request,
        Request::Grpc(_) => panic!("{} is a call", step.name),
    }
}

fn body(plan: &Plan, step: usize) -> String {
    shown(plan, http(&plan.steps[step]).body.as_ref().unwrap())
}

fn path(plan: &Plan, step: usize) -> String {
    match &plan.steps[step].url {
        Url::Target { path, .. } => shown(plan, path),
        Url::Value { slot, then, .. } => {
            format!("{}+{}", plan.slots[usize::from(slot.0)], shown(plan, then))
        }
    }
}

fn plan(text: &str) -> Plan {
    compile(text).unwrap_or_else(|lines| panic!("{lines}"))
}

#[test]
fn the_shop_is_compiled() {
    let plan = file::read(&examples().join("shop.yaml"))
        .unwrap_or_else(|mistakes| panic!("{mistakes}"))
        .plan;
    let names: Vec<&str> = plan.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "token", "create", "change", "remove", "list", "stock", "login", "watch"
        ]
    );
    assert_eq!(plan.slots[..2], ["token", "lifetime of token"]);
    assert_eq!(plan.common_slots, 2);
    assert_eq!(
        (plan.refreshes[0].action, plan.refreshes[0].early_ns),
        (0, 30_000_000_000)
    );
    assert_eq!(plan.refreshes[0].after, After::Seconds(Slot(1)));

    assert_eq!(body(&plan, 0), "grant_type=client_credentials");
    assert_eq!(body(&plan, 1), r#"{"owner":"<user.name>","sku":"<sku>"}"#);
    let create = http(&plan.steps[1]);
    let headers: Vec<(&str, String)> = create
        .headers
        .iter()
        .map(|(name, text)| (&**name, shown(&plan, text)))
        .collect();
    assert_eq!(
        headers,
        [
            ("authorization", "Bearer <token>".to_owned()),
            ("content-type", "application/json".to_owned())
        ]
    );
    let expect = &plan.steps[1].expect;
    assert_eq!(
        (&expect.status[..], expect.within_ns),
        (&[(201, 201)][..], Some(500_000_000))
    );
    assert_eq!(expect.checks[0].name, "json /item/sku");
    assert!(matches!(&expect.checks[0].rule, Rule::Equals(text) if shown(&plan, text) == "<sku>"));
    assert_eq!(plan.steps[1].saves[0].part, Part::Header("location".into()));
    assert_eq!(
        (path(&plan, 2), path(&plan, 4)),
        (
            "url+".to_owned(),
            "/v1/items?owner=%3Cuser.name%3E".to_owned()
        )
    );

    let crud = &plan.scenarios[0];
    assert!(matches!(
        crud.actions[..],
        [
            Action::Step(1),
            Action::Think {
                least_ns: 50_000_000,
                most_ns: 150_000_000
            },
            Action::Step(2),
            Action::Step(3)
        ]
    ));
    assert!(
        matches!(&plan.scenarios[1].actions[..], [Action::Together(steps)] if steps[..] == [4, 5])
    );
    assert_eq!(
        (crud.draws.as_slice(), plan.scenarios[2].draws.as_slice()),
        (&[0, 1][..], &[0][..])
    );

    let user = &plan.feeds[0];
    assert_eq!((user.order, user.at_end), (RowOrder::Unique, AtEnd::Stop));
    assert!(matches!(&user.source, Source::Csv { names, .. } if names[..] == ["name", "mail"]));
    assert_eq!(user.columns.len(), 1);
    assert!(matches!(
        plan.feeds[1].source,
        Source::Range {
            start: 0,
            end: 100_000,
            width: 8
        }
    ));

    let Request::Grpc(watch) = &plan.steps[7].request else {
        panic!()
    };
    assert_eq!(
        (watch.method.path.as_str(), shown(&plan, &watch.messages[0])),
        ("/shop.Orders/Watch", r#"{"count":100}"#.to_owned())
    );
    assert_eq!(
        (plan.steps[7].expect.replies, &plan.steps[7].expect.each[..]),
        (Some(100), &["seq = i".to_owned()][..])
    );

    assert_eq!(plan.loads.len(), 2);
    assert_eq!(
        plan.loads[0].phases,
        Phases::Rate(vec![Phase {
            from: 200_000_000,
            to: 200_000_000,
            length_ns: Some(120_000_000_000)
        }])
    );
    assert_eq!(plan.loads[1].scenarios, [(0, 80), (1, 20)]);
    assert_eq!(
        (plan.limits.iterations_open, plan.limits.when_full),
        (2000, WhenFull::Drop)
    );
    let goals: Vec<_> = plan
        .thresholds
        .iter()
        .map(|goal| (goal.fails_if.text.as_str(), goal.of.as_deref()))
        .collect();
    assert_eq!(
        goals,
        [
            ("p99 >= 50ms", Some("crud.create")),
            ("checks <= 99.9%", None),
            ("dropped >= 0.1%", None)
        ]
    );
    assert_eq!(plan.thresholds[2].abort_after_ns, Some(10_000_000_000));
}

#[test]
fn json_files_are_scenario_files_too() {
    let text =
        r#"{"targets": {"api": "http://a"}, "scenarios": {"s": {"steps": [{"get": "${api}/"}]}}}"#;
    let plan = plan(text);
    assert_eq!(plan.targets[0].hosts[0].to_string(), "a:80");
    let one = Phase {
        from: 1,
        to: 1,
        length_ns: None,
    };
    assert_eq!(
        (&plan.loads[0].phases, plan.loads[0].iterations),
        (&Phases::Users(vec![one]), Some(1))
    );
}

#[test]
fn hosts_may_come_from_the_environment() {
    let text = "targets: {a: '${env.BASE}', b: ['https://${env.HOST}:1', 'https://${env.HOST}:2']}\nscenarios: {s: {steps: [{get: '${a}/'}]}}";
    let env = |name: &str| match name {
        "BASE" => Some("http://a:80/".to_owned()),
        "HOST" => Some("b".to_owned()),
        _ => None,
    };
    let plan = file::compile(text, &examples().join("test.yaml"), &env).unwrap();
    let hosts = plan.targets.iter().flat_map(|target| &target.hosts);
    let hosts: Vec<String> = hosts.map(ToString::to_string).collect();
    assert_eq!(hosts, ["a:80", "b:1", "b:2"]);
}

#[test]
fn users_of_http1_have_a_connection_each_unless_the_file_says_how_many() {
    let plan = plan(
        "targets: {a: http://a, b: http://b, c: {hosts: http://c, http: {connections: 3}}, d: http://d, e: https://e}\n\
         scenarios:\n  \
           s: {steps: [{get: '${a}'}, {get: '${c}'}, {get: '${e}'}]}\n  \
           t: {load: [{users: 0..30, for: 1s}], steps: [{get: '${a}'}]}\n  \
           u: {load: [{rate: 100/s, for: 1s}], steps: [{get: '${b}'}]}\n\
         load: [{users: 20, for: 1s}, {users: 40, for: 1s}]\n\
         setup: [{get: '${d}'}]\n",
    );
    let connections: Vec<_> = plan
        .targets
        .iter()
        .map(|target| target.connections)
        .collect();
    assert_eq!(connections, [70, 8, 3, 8, 8]);
}

#[test]
fn a_target_has_hosts_and_ways_to_speak_with_them() {
    let plan = plan(
        "http: {version: 2, connections: 3, streams: 9, timeout: 1s}\n\
         targets:\n  \
           a: [https://a:1, 'https://[::1]']\n  \
           b: {hosts: unix:/run/b, http: {version: 1, timeout: 2s}, authority: b.example, failback: false}\n  \
           c: {hosts: [https://c], tls: {insecure: true, server_name: x}, http: {version: auto}}\n\
         scenarios: {s: {steps: [{get: '${a}'}, {get: '${b}?x'}, {get: 'https://d/y', timeout: 3s}]}}\n",
    );
    let [a, b, c, d] = &plan.targets[..] else {
        panic!()
    };
    assert_eq!(
        a.hosts.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["a:1", "[::1]:443"]
    );
    assert_eq!(
        (a.version, a.connections, a.streams, a.is_tls, a.fails_back),
        (Version::Http2, 3, 9, true, true)
    );
    assert_eq!(b.hosts, [Endpoint::Unix("/run/b".to_owned())]);
    assert_eq!(
        (b.version, b.streams, b.is_tls, b.fails_back),
        (Version::Http1, 1, false, false)
    );
    assert_eq!(b.authority.as_deref(), Some("b.example"));
    assert_eq!(
        (
            c.version,
            c.tls.skips_verification,
            c.tls.server_name.as_deref()
        ),
        (Version::Auto, true, Some("x"))
    );
    assert_eq!(d.name, "https://d");
    assert_eq!(
        (path(&plan, 0), path(&plan, 1), path(&plan, 2)),
        ("/".into(), "/?x".into(), "/y".into())
    );
    let timeouts: Vec<_> = plan
        .steps
        .iter()
        .map(|step| step.timeout_ns.unwrap())
        .collect();
    assert_eq!(timeouts, [1_000_000_000, 2_000_000_000, 3_000_000_000]);
}

#[test]
fn values_are_escaped_for_where_they_stand() {
    let plan = plan(&with_steps(
        r#"{get: "${api}/", save: {x: {header: h}}},
           {name: json, post: "${api}/${x}/${x:raw}?q=a%20${x}", headers: {A: "${x}", b: "${env.KEY}"},
            json: {"${x}": ["a\"${x}", "${x:json}", 1.5, null, true, "$${x}", "${env.KEY}"]}},
           {name: form, post: "/", form: {a b: "c&d${x}", e: "${env.KEY}"}},
           {name: text, post: "/", text: "t ${x}", headers: {Content-Type: text/csv}},
           {name: last, get: "${last.url}/z"}"#,
    ));
    assert_eq!(path(&plan, 1), "/%3Cx%3E/<x>?q=a%20%3Cx%3E");
    assert_eq!(
        body(&plan, 1),
        r#"{"<x>":["a\"<x>",<x>,1.5,null,true,"${x}","k e\"y"]}"#
    );
    assert_eq!(body(&plan, 2), "a+b=c%26d%3Cx%3E&e=k+e%22y");
    assert_eq!(body(&plan, 3), "t <x>");
    let headers: Vec<&str> = http(&plan.steps[3])
        .headers
        .iter()
        .map(|(name, _)| &**name)
        .collect();
    assert_eq!(headers, ["content-type"]);
    assert_eq!(
        http(&plan.steps[1]).headers[1].1.constant(),
        Some(&b"k e\"y"[..])
    );
    assert_eq!(path(&plan, 4), "last.url+/z");
    assert!(
        plan.steps
            .iter()
            .all(|step| step.saves.last().unwrap().part == Part::Url)
    );
}

#[test]
fn names_and_values_of_a_form_are_escaped_whatever_they_are() {
    let plan = plan(&with_steps(
        r#"{get: "/", save: {x: {header: h}}},
           {post: "/", form: {grant type: "a b&c", "x=": "<${x}", "": "a b&c"}}, {post: "/none", form: {}}"#,
    ));
    let mut values = Values::new(plan.slots.len());
    let slot = plan.slots.iter().position(|name| name == "x").unwrap();
    values.set(Slot(u16::try_from(slot).unwrap()), b"&y= +");
    let mut out = Vec::new();
    let text = http(&plan.steps[1]).body.as_ref().unwrap();
    text.render(&values, &mut out).unwrap();
    let expected = "grant+type=a+b%26c&x%3D=%3C%26y%3D+%2B&=a+b%26c";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
    assert_eq!(body(&plan, 2), "");
}

#[test]
fn a_multipart_body_has_its_parts_between_boundaries() {
    let plan = plan(&with_steps(
        r#"{post: "/", multipart: [{name: 'a"b', value: "v"}, {name: f, file: patch.json, type: application/json}]}"#,
    ));
    let request = http(&plan.steps[0]);
    let media_type = shown(&plan, &request.headers[0].1);
    let boundary = media_type
        .strip_prefix("multipart/form-data; boundary=")
        .unwrap();
    let expected = format!(
        "--{boundary}\r\ncontent-disposition: form-data; name=\"a%22b\"\r\n\r\nv\r\n\
         --{boundary}\r\ncontent-disposition: form-data; name=\"f\"; filename=\"patch.json\"\r\n\
         content-type: application/json\r\n\r\n{{\"item\": {{\"stock\": 7}}}}\n\r\n--{boundary}--\r\n"
    );
    assert_eq!(body(&plan, 0), expected);
}

#[test]
fn a_column_can_be_chosen_by_the_step() {
    let plan = plan(
        "targets: {api: http://a}\n\
         data: {u: {csv: users.csv, column: step}, r: {rows: [{k: 1, l: x}, {l: y, k: 2}]}, w: {rows: [p, 7]}}\n\
         scenarios: {s: {steps: [{name: one, get: '/${u}'}, {name: two, get: '/${u}/${r.l}${w}'}, {draw: [w, r]}]}}\n",
    );
    assert_eq!(
        (path(&plan, 0), path(&plan, 1)),
        ("/%3Cu.0%3E".into(), "/%3Cu.1%3E/%3Cr.l%3E%3Cw%3E".into())
    );
    assert_eq!(plan.feeds[0].columns, [(0, Slot(0)), (1, Slot(1))]);
    let cell = |text: &str| Box::<[u8]>::from(text.as_bytes());
    assert!(
        matches!(&plan.feeds[1].source, Source::Rows(rows) if rows[1] == [cell("2"), cell("y")])
    );
    assert!(matches!(&plan.feeds[2].source, Source::Rows(rows) if rows[1] == [cell("7")]));
    assert!(matches!(
        plan.scenarios[0].actions[2..],
        [Action::Draw(2), Action::Draw(1)]
    ));
}

#[test]
fn setup_draws_before_its_steps() {
    let plan = plan(
        "targets: {api: http://a}\n\
         data: {id: {uuid: true}}\n\
         setup: [{post: '/${id}', save: {t: {from: body, regex: 'a(b)', refresh: {after: 30m}}}}]\n\
         scenarios: {s: {steps: [{get: '/${t}', save: {n: {json: /n, default: ''}}}]}}\n\
         teardown: [{delete: '/${t}'}]\n",
    );
    assert!(matches!(plan.setup[..], [Action::Draw(0), Action::Step(0)]));
    assert_eq!(
        (plan.refreshes[0].action, &plan.refreshes[0].after),
        (1, &After::Fixed(1_800_000_000_000))
    );
    assert!(matches!(&plan.steps[0].saves[0].regex, Some((_, 1))));
    assert_eq!(plan.steps[1].saves[0].default.as_deref(), Some(&b""[..]));
    assert!(matches!(plan.teardown[..], [Action::Step(2)]));
    assert_eq!((plan.common_slots, plan.slots[0].as_str()), (1, "t"));
}

#[test]
fn phases_follow_each_other_and_iterations_count_all_of_them() {
    let text = |load: &str| with_steps("{get: /}") + load;
    let load = |load: &str| plan(&text(load)).loads.remove(0);
    let ramped = load(
        "load: [{users: 0..10, for: 1s}, {users: 10}, {iterations: 5}]\npace: 1s\nstart_after: 2s\n",
    );
    let phases = vec![
        Phase {
            from: 0,
            to: 10,
            length_ns: Some(1_000_000_000),
        },
        Phase {
            from: 10,
            to: 10,
            length_ns: None,
        },
    ];
    assert_eq!(
        (ramped.phases, ramped.iterations),
        (Phases::Users(phases), Some(5))
    );
    assert_eq!(
        (ramped.pace_ns, ramped.start_after_ns),
        (1_000_000_000, 2_000_000_000)
    );
    let counted = load("load: {iterations: 7}\nshare: requests\n");
    assert_eq!(
        (counted.iterations, counted.shares_requests),
        (Some(7), true)
    );
}

#[test]
fn a_path_may_have_a_url_in_its_query() {
    let plan = plan(&with_steps("{get: '/go?to=http://x/'}"));
    assert_eq!(
        (path(&plan, 0).as_str(), plan.targets.len()),
        ("/go?to=http://x/", 1)
    );
}

#[test]
fn names_of_a_form_are_filled_and_a_default_may_come_from_the_environment() {
    let plan = plan(&with_steps(
        "{get: '/', save: {x: {header: h, default: '${env.KEY}'}}}, {post: '/', form: {'a${x}': b, '$${x}': c}}",
    ));
    assert_eq!(body(&plan, 1), "a%3Cx%3E=b&%24%7Bx%7D=c");
    assert_eq!(
        plan.steps[0].saves[0].default.as_deref(),
        Some(&b"k e\"y"[..])
    );
}

#[test]
fn a_scenario_with_users_of_its_own_inherits_the_pace_and_one_with_a_rate_does_not() {
    let plan = plan(
        "targets: {api: http://a}\n\
         scenarios:\n  \
           a: {steps: [{get: /}], load: {rate: 1/s, for: 1s}}\n  \
           b: {steps: [{get: /}], load: {users: 1, for: 1s}}\n  \
           c: {steps: [{get: /}]}\n\
         load: {users: 2, for: 1s}\npace: 2s\n",
    );
    let paces: Vec<u64> = plan.loads.iter().map(|load| load.pace_ns).collect();
    assert_eq!(paces, [0, 2_000_000_000, 2_000_000_000]);
}

#[test]
fn numbers_are_sent_as_they_are_written() {
    let plan = plan(&format!(
        "{}data: {{d: {{rows: [1.10, 2]}}}}\ntags: {{version: 1.20}}\n",
        with_steps(
            r#"{post: "/${d}", headers: {a: 1.10, b: 0x1F}, form: {c: 2.50}, expect: {headers: {d: 1.0}},
                save: {x: {header: h, default: 1.10}}},
               {post: "/b", json: {e: 1.10, f: 123456789012345678901234567890, g: 0x1F, h: -7}}"#
        )
    ));
    let headers = &http(&plan.steps[0]).headers;
    let header = |at: usize| shown(&plan, &headers[at].1);
    assert_eq!(
        (header(0), header(1)),
        ("1.10".to_owned(), "0x1F".to_owned())
    );
    assert_eq!(body(&plan, 0), "c=2.50");
    assert_eq!(
        body(&plan, 1),
        r#"{"e":1.10,"f":123456789012345678901234567890,"g":31,"h":-7}"#
    );
    let expect = &plan.steps[0].expect;
    assert!(matches!(&expect.checks[0].rule, Rule::Equals(text) if shown(&plan, text) == "1.0"));
    assert_eq!(
        plan.steps[0].saves[0].default.as_deref(),
        Some(&b"1.10"[..])
    );
    assert_eq!(plan.tags, [("version".to_owned(), "1.20".to_owned())]);
    assert!(matches!(&plan.feeds[0].source, Source::Rows(rows) if *rows[0][0] == *b"1.10"));
}

#[test]
fn a_number_in_the_file_is_compared_with_numbers() {
    let plan = plan(&with_steps(
        "{get: '/', expect: {json: {/a: 1.10, /b: {not: 7}, /c: '1.10', /d: 9007199254740993}}}",
    ));
    let rules: Vec<&Rule> = plan.steps[0]
        .expect
        .checks
        .iter()
        .map(|check| &check.rule)
        .collect();
    assert!(matches!(
        rules[..],
        [
            Rule::EqualsNumber(_),
            Rule::DiffersFromNumber(_),
            Rule::Equals(_),
            Rule::Equals(_)
        ]
    ));
}

#[test]
fn an_empty_content_type_leaves_out_the_one_of_the_body() {
    let steps = "{get: \"${api}/\", text: a, headers: {x: y, content-type: \"\"}}";
    let plan = plan(&with_steps(steps));
    let headers = &http(&plan.steps[0]).headers;
    let names: Vec<&str> = headers.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["x"]);
}
