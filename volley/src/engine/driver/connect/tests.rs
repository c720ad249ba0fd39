use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::place_of;
use crate::engine::driver::samples::{driver, shared, spec};
use crate::engine::names::Names;
use crate::engine::plan::Plan;
use crate::engine::proxy::Proxies;
use crate::engine::script::Plain;
use crate::engine::stage::Opening;
use crate::measure::Tally;
use crate::serve::{Config, Reference};
use crate::spec::{Address, LbStrategy, Spec};

type Driver<'a> = crate::engine::driver::Driver<'a, Tally, Plain>;

/// A plan whose target has these addresses.
fn plan(spec: &Spec, addresses: &[SocketAddr]) -> Plan {
    Plan {
        names: Names::fixed(addresses),
        ..Plan::new(spec, &shared().signal).unwrap()
    }
}

/// Where the links of a driver lead.
fn places(driver: &Driver) -> Vec<String> {
    let keys = driver.links.iter().filter_map(|link| link.wire);
    keys.map(|key| driver.wires[key].route.label.clone())
        .collect()
}

#[test]
fn an_address_that_never_answers_leaves_time_for_the_next() {
    let server = Reference::start(Config::default()).unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let spec = spec("localhost:1");
    let plan = plan(&spec, &[silent.local_addr().unwrap(), server.address()]);
    let shared = shared();
    let mut driver = driver(&spec, &plan, &shared);
    driver.connect().unwrap();
    assert_eq!(places(&driver), [server.address().to_string()]);
}

/// Lets a driver work until a condition holds.
fn work_until(driver: &mut Driver, is_done: impl Fn(&Driver) -> bool) {
    let mut events = mio::Events::with_capacity(64);
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(30) {
        let now_ns = driver.clock.now_ns();
        driver.sweep(now_ns);
        driver.reconnect(now_ns);
        if is_done(driver) {
            return;
        }
        driver.turn(&mut events, now_ns + 5_000_000).unwrap();
    }
    panic!("{:?}", places(driver));
}

#[test]
fn round_robin_follows_a_name_whose_addresses_change() {
    let servers: Vec<_> = (0..3)
        .map(|_| Reference::start(Config::default()).unwrap())
        .collect();
    let all: Vec<SocketAddr> = servers.iter().map(Reference::address).collect();
    let name = |of: &[usize]| of.iter().map(|at| all[*at]).collect::<Vec<_>>();
    let meaning = Arc::new(Mutex::new(name(&[0, 1])));
    let known = Arc::clone(&meaning);
    let lookup = move |_: &Address| match known.lock().unwrap().clone() {
        empty if empty.is_empty() => Err(io::Error::other("no answer")),
        found => Ok(found),
    };
    let mut spec = spec("a.b:80");
    spec.target.lb_strategy = LbStrategy::RoundRobin;
    spec.load.connections = 4;
    spec.load.threads = Some(1);
    let target = spec.target.target().unwrap();
    let names = Names::new(
        target,
        Proxies::default(),
        LbStrategy::RoundRobin,
        Duration::ZERO,
        Box::new(lookup),
    )
    .unwrap();
    spec.target.host = "localhost:1".to_owned();
    let plan = Plan {
        names: Arc::clone(&names),
        ..Plan::new(&spec, &shared().signal).unwrap()
    };
    let shared = shared();
    let mut driver = driver(&spec, &plan, &shared);
    let at = |of: &[usize]| name(of).iter().map(ToString::to_string).collect::<Vec<_>>();
    driver.connect().unwrap();
    assert_eq!(places(&driver), at(&[0, 1, 0, 1]));
    let start_ns = driver.clock.now_ns();
    driver.start(start_ns, Arc::new(Opening::at(start_ns)));

    // A third address takes its share; the connections that it replaces are closed.
    *meaning.lock().unwrap() = name(&[2, 0, 1]);
    names.ask();
    work_until(&mut driver, |driver| places(driver) == at(&[0, 1, 2, 0]));
    work_until(&mut driver, |driver| driver.wires.len() == 4);
    assert_eq!((driver.reconnects, driver.planned_reconnects), (0, 2));

    // The first one is gone.
    *meaning.lock().unwrap() = name(&[1, 2]);
    names.ask();
    work_until(&mut driver, |driver| places(driver) == at(&[1, 2, 1, 2]));
    work_until(&mut driver, |driver| driver.wires.len() == 4);
    assert_eq!(driver.ready, 4);

    // A name that nobody knows any more changes nothing.
    meaning.lock().unwrap().clear();
    names.ask();
    work_until(&mut driver, |driver| places(driver) == at(&[1, 2, 1, 2]));
}

#[test]
fn a_dead_address_leaves_its_share_to_all_others() {
    let order = |turn| {
        (0..4)
            .map_while(move |tried| place_of(turn, tried, 4))
            .collect::<Vec<_>>()
    };
    assert_eq!(order(0), [0, 1, 2, 3]);
    assert_eq!(order(2), [2, 3, 0, 1]);
    assert_eq!(
        [4, 8, 12].map(order),
        [[0, 2, 3, 1], [0, 3, 1, 2], [0, 1, 2, 3]]
    );
    assert_eq!((place_of(7, 1, 1), place_of(7, 0, 0)), (None, None));
}
