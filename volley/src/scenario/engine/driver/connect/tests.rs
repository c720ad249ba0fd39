use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use mio::Events;

use crate::net::Clock;
use crate::net::names::Names;
use crate::scenario::data::{Crowd, Store};
use crate::scenario::engine::control::Control;
use crate::scenario::engine::driver::{Board, Common, Driver, GLANCE_NS, Quota};
use crate::scenario::engine::sites::Sites;
use crate::scenario::{file, script};
use crate::serve::{Config, Reference};
use crate::spec::Share;
use crate::testkit::scripted::nobody;

/// Lets `test` have a driver whose one link has fallen back from a host with these addresses to another one.
fn with_fallen(own: &[SocketAddr], test: impl FnOnce(&mut Driver)) {
    let other = Reference::start(Config::default()).unwrap();
    let text = format!(
        "targets: {{api: {{hosts: [\"http://127.0.0.1:1\", \"http://{}\"], failback: true}}}}
http: {{version: 2, connections: 1, connect_timeout: 2s}}
scenarios: {{s: {{steps: [{{get: '${{api}}/'}}]}}}}",
        other.address()
    );
    let plan = file::compile(&text, Path::new("test.yaml"), &|_| None);
    let plan = plan.unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let mut sites = Sites::new(&plan.targets).unwrap();
    sites.named[0].hosts[0].names = Names::fixed(own);
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
    driver.connect().unwrap();
    assert_eq!(host(&driver), Some(1));
    test(&mut driver);
}

/// The host of the link's connection.
fn host(driver: &Driver) -> Option<usize> {
    let key = driver.pools[0].links[0].wire?;
    driver.wires.get(key).map(|wire| wire.owner.host)
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
        let mut events = Events::with_capacity(16);
        for _ in 0..100 {
            if host(driver) == Some(0) {
                return;
            }
            driver.next_glance_ns = driver.now_ns() + GLANCE_NS;
            driver.open_links(driver.now_ns());
            driver.wait(&mut events).unwrap();
            driver.take_events(&events);
        }
        panic!("it is still at host {:?}", host(driver));
    });
}

#[test]
fn one_attempt_to_return_is_made_at_a_time() {
    let deaf = TcpListener::bind("127.0.0.1:0").unwrap();
    with_fallen(&[deaf.local_addr().unwrap()], |driver| {
        let now_ns = driver.now_ns();
        for seconds in [0, 2, 4] {
            driver.fail_back(now_ns + seconds * 1_000_000_000);
            assert_eq!(driver.wires.len(), 2);
        }
        // It is given up, and the next one is made.
        driver.expect_greetings(now_ns + 5_000_000_000);
        assert_eq!(driver.wires.len(), 1);
        driver.fail_back(now_ns + 6_000_000_000);
        assert_eq!((driver.wires.len(), host(driver)), (2, Some(1)));
    });
}
