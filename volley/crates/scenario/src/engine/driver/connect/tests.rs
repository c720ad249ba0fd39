use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::data::{Crowd, Store};
use crate::engine::control::Control;
use crate::engine::driver::{Board, Common, Driver, GLANCE_NS, Quota};
use crate::engine::sites::Sites;
use crate::testkit::scripted::nobody;
use crate::{file, script};
use volley_load::spec::{LbStrategy, Share, TargetSpec};
use volley_net::Clock;
use volley_net::names::Names;
use volley_net::proxy::Proxies;
use volley_serve::{Config, Reference};

/// Lets `test` have a driver whose one link has fallen back from a host with these addresses to another one.
fn with_fallen(own: &[SocketAddr], test: impl FnOnce(&mut Driver)) {
    let other = Reference::start(Config::default()).unwrap();
    let hosts = format!("\"http://127.0.0.1:1\", \"http://{}\"", other.address());
    with_link(&hosts, Names::fixed(own), |driver| {
        driver.connect().unwrap();
        assert_eq!(host(driver), Some(1));
        test(driver);
    });
}

/// Lets `test` have a driver of one link to these hosts. The name of the first means this.
fn with_link(hosts: &str, names: Arc<Names>, test: impl FnOnce(&mut Driver)) {
    let text = format!(
        "targets: {{api: {{hosts: [{hosts}], failback: true}}}}
http: {{version: 2, connections: 1, connect_timeout: 2s}}
scenarios: {{s: {{steps: [{{get: '${{api}}/'}}]}}}}"
    );
    let plan = file::compile(&text, Path::new("test.yaml"), &|_| None);
    let plan = plan.unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let mut sites = Sites::new(&plan.targets).unwrap();
    sites.named[0].hosts[0].names = names;
    let crowd = Crowd {
        threads: 1,
        users: Vec::new(),
        share: Share::default(),
    };
    let (quota, board) = (Quota::new(&plan), Board::default());
    let signal = Arc::new(AtomicBool::new(false));
    let common = Common {
        plan: &plan,
        sites: &sites,
        clock: Clock::start(),
        signal: &signal,
        control: &Control::new(&plan, Arc::clone(&signal)),
        threads: 1,
        quota: &quota,
        board: &board,
        store: &Store::open(&plan.feeds, &plan.folder, crowd).unwrap(),
        seed: 1,
        records: None,
        budget: &Arc::default(),
        scripts: script::none,
        allow_io: false,
        tells_ages: false,
        post: None,
    };
    let mut driver = Driver::new(common, 0).unwrap_or_else(|error| panic!("{error}"));
    test(&mut driver);
}

/// The host of the link's connection.
fn host(driver: &Driver) -> Option<usize> {
    let key = driver.pools[0].links[0].place.wire?;
    driver.net.wires.get(key).map(|wire| wire.owner.host)
}

#[test]
fn a_link_returns_to_whichever_address_of_its_host_answers() {
    let (dead, gone) = (nobody(), nobody());
    with_fallen(&[dead, gone], |driver| {
        let config = Config {
            address: gone,
            ..Config::default()
        };
        let _back = Reference::start(config).unwrap();
        driver.fail_back(driver.now_ns());
        work_until(driver, |driver| host(driver) == Some(0));
    });
}

/// Lets a driver work until a condition holds.
fn work_until(driver: &mut Driver, is_done: impl Fn(&Driver) -> bool) {
    for _ in 0..1000 {
        if is_done(driver) {
            return;
        }
        driver.next_glance_ns = driver.now_ns() + GLANCE_NS;
        driver.open_links(driver.now_ns());
        driver.wait().unwrap();
        driver.take_events();
    }
    panic!("it is at host {:?}", host(driver));
}

#[test]
fn one_attempt_to_return_is_made_at_a_time() {
    let deaf = TcpListener::bind("127.0.0.1:0").unwrap();
    with_fallen(&[deaf.local_addr().unwrap()], |driver| {
        let now_ns = driver.now_ns();
        for seconds in [0, 2, 4] {
            driver.fail_back(now_ns + seconds * 1_000_000_000);
            assert_eq!(driver.net.wires.len(), 2);
        }
        // It is given up, and the next one is made.
        driver.expect_greetings(now_ns + 5_000_000_000);
        assert_eq!(driver.net.wires.len(), 1);
        driver.fail_back(now_ns + 6_000_000_000);
        assert_eq!((driver.net.wires.len(), host(driver)), (2, Some(1)));
    });
}

#[test]
fn names_are_looked_up_again_once_no_address_answers() {
    let meaning = Arc::new(Mutex::new(vec![nobody()]));
    let known = Arc::clone(&meaning);
    let spec = TargetSpec {
        host: "a.test:80".to_owned(),
        ..TargetSpec::default()
    };
    let names = Names::new(
        spec.target().unwrap(),
        Proxies::default(),
        LbStrategy::PickFirst,
        Duration::ZERO,
        Box::new(move |_| Ok(known.lock().unwrap().clone())),
    );
    with_link("\"http://127.0.0.1:1\"", names.unwrap(), |driver| {
        let server = Reference::start(Config::default()).unwrap();
        driver.open_links(driver.now_ns());
        work_until(driver, |driver| driver.pools[0].links[0].place.failures > 0);
        *meaning.lock().unwrap() = vec![server.address()];
        work_until(driver, |driver| host(driver) == Some(0));
    });
}
