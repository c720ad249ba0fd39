use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::place_of;
use crate::driver::samples::{driver, shared, spec};
use crate::plan::Plan;
use crate::script::Plain;
use crate::stage::Opening;
use volley_http::http2::frame::write_settings;
use volley_load::spec::{Address, LbStrategy, Spec};
use volley_net::Phase;
use volley_net::names::{Names, system};
use volley_net::proxy::Proxies;
use volley_report::measure::Tally;
use volley_serve::{Config, Reference};

type Driver<'a> = crate::driver::Driver<'a, Tally, Plain>;

/// A plan whose target has these addresses.
fn plan(spec: &Spec, addresses: &[SocketAddr]) -> Plan {
    Plan {
        names: Names::fixed(addresses),
        ..Plan::new(spec, &shared().signal).unwrap()
    }
}

/// Where the links of a driver lead.
fn places(driver: &Driver) -> Vec<String> {
    let keys = driver.links.iter().filter_map(|link| link.place.wire);
    keys.map(|key| driver.net.wires[key].route.label.clone())
        .collect()
}

#[test]
fn an_address_that_never_answers_leaves_time_for_the_next() {
    let server = Reference::start(Config::default()).unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut spec = spec("localhost:1");
    spec.target.connect_timeout = Duration::from_secs(2);
    let plan = plan(&spec, &[silent.local_addr().unwrap(), server.address()]);
    let shared = shared();
    let mut driver = driver(&spec, &plan, &shared);
    driver.connect().unwrap();
    assert_eq!(places(&driver), [server.address().to_string()]);
}

/// Lets a driver work until a condition holds.
fn work_until(driver: &mut Driver, is_done: impl Fn(&Driver) -> bool) {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(60) {
        let now_ns = driver.clock.now_ns();
        driver.check_timeouts(now_ns);
        driver.reconnect(now_ns);
        if is_done(driver) {
            return;
        }
        driver.turn(now_ns + 5_000_000).unwrap();
    }
    panic!("{:?}", places(driver));
}

/// A name that means these addresses; an unknown one if there are none. Each look-up is reported.
fn named(meaning: &Arc<Mutex<Vec<SocketAddr>>>) -> (Arc<Names>, Receiver<()>) {
    let known = Arc::clone(meaning);
    let (say, looked) = channel();
    let lookup = move |_: &Address| {
        let _ = say.send(());
        match known.lock().unwrap().clone() {
            empty if empty.is_empty() => Err(io::Error::other("no answer")),
            found => Ok(found),
        }
    };
    let names = Names::new(
        spec("a.b:80").target.target().unwrap(),
        Proxies::default(),
        LbStrategy::RoundRobin,
        Duration::ZERO,
        Box::new(lookup),
    );
    (names.unwrap(), looked)
}

/// A run of one thread whose connections are dealt out to these addresses.
fn in_turn(connections: u32, names: &Arc<Names>) -> (Spec, Plan) {
    let mut spec = spec("localhost:1");
    spec.target.lb_strategy = LbStrategy::RoundRobin;
    (spec.load.connections, spec.load.threads) = (connections, Some(1));
    let plan = Plan {
        names: Arc::clone(names),
        ..Plan::new(&spec, &shared().signal).unwrap()
    };
    (spec, plan)
}

#[test]
fn round_robin_follows_a_name_whose_addresses_change() {
    let servers: Vec<_> = (0..3)
        .map(|_| Reference::start(Config::default()).unwrap())
        .collect();
    let all: Vec<SocketAddr> = servers.iter().map(Reference::address).collect();
    let name = |of: &[usize]| of.iter().map(|at| all[*at]).collect::<Vec<_>>();
    let meaning = Arc::new(Mutex::new(name(&[0, 1])));
    let (names, looked) = named(&meaning);
    let (spec, plan) = in_turn(4, &names);
    let shared = shared();
    let mut driver = driver(&spec, &plan, &shared);
    let at = |of: &[usize]| name(of).iter().map(ToString::to_string).collect::<Vec<_>>();
    driver.connect().unwrap();
    let start_ns = driver.clock.now_ns();
    driver.start(start_ns, Arc::new(Opening::at(start_ns)));
    // On a busy host, an address may answer late. Its link then uses another one at first, and moves later.
    work_until(&mut driver, |driver| places(driver) == at(&[0, 1, 0, 1]));
    work_until(&mut driver, |driver| driver.net.wires.len() == 4);
    let before = driver.planned_reconnects;

    // A third address takes its share; the connections that it replaces are closed.
    *meaning.lock().unwrap() = name(&[2, 0, 1]);
    names.ask();
    work_until(&mut driver, |driver| places(driver) == at(&[0, 1, 2, 0]));
    work_until(&mut driver, |driver| driver.net.wires.len() == 4);
    assert_eq!(driver.reconnects, 0);
    assert!(driver.planned_reconnects >= before + 2);

    // The first one is gone.
    *meaning.lock().unwrap() = name(&[1, 2]);
    names.ask();
    work_until(&mut driver, |driver| places(driver) == at(&[1, 2, 1, 2]));
    work_until(&mut driver, |driver| driver.net.wires.len() == 4);
    assert_eq!(driver.ready, 4);

    // A name that nobody knows any more changes nothing. A look-up begins after the one before has had its effect.
    meaning.lock().unwrap().clear();
    looked.try_iter().for_each(drop);
    let version = names.version();
    for _ in 0..2 {
        names.ask();
        looked.recv().unwrap();
    }
    assert_eq!(names.version(), version);
}

#[test]
fn a_move_that_wins_after_the_connection_was_lost_was_not_planned() {
    let server = Reference::start(Config::default()).unwrap();
    let slow = TcpListener::bind("127.0.0.1:0").unwrap();
    let meaning = Arc::new(Mutex::new(vec![server.address()]));
    let (names, _looked) = named(&meaning);
    let (spec, plan) = in_turn(1, &names);
    let shared = shared();
    let mut driver = driver(&spec, &plan, &shared);
    driver.connect().unwrap();
    let start_ns = driver.clock.now_ns();
    driver.start(start_ns, Arc::new(Opening::at(start_ns)));
    *meaning.lock().unwrap() = vec![slow.local_addr().unwrap()];
    names.ask();
    work_until(&mut driver, |driver| driver.links[0].place.is_trying());
    let present = driver.links[0].place.wire.unwrap();
    driver.lose(present, "it is gone", driver.clock.now_ns());
    let mut greeting = Vec::new();
    write_settings(&mut greeting, &[]);
    let (mut socket, _) = slow.accept().unwrap();
    socket.write_all(&greeting).unwrap();
    work_until(&mut driver, |driver| driver.ready > 0);
    assert_eq!((driver.reconnects, driver.planned_reconnects), (1, 0));
}

#[test]
fn a_connection_that_is_lost_while_its_link_moves_is_replaced_beside_the_move() {
    let [first, last] = [0, 1].map(|_| Reference::start(Config::default()).unwrap());
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let meaning = Arc::new(Mutex::new(vec![first.address()]));
    let (names, _looked) = named(&meaning);
    let (mut spec, _) = in_turn(1, &names);
    spec.target.connect_timeout = Duration::from_secs(3600);
    let plan = Plan {
        names,
        ..Plan::new(&spec, &shared().signal).unwrap()
    };
    let shared = shared();
    let mut driver = driver(&spec, &plan, &shared);
    driver.connect().unwrap();
    let start_ns = driver.clock.now_ns();
    driver.start(start_ns, Arc::new(Opening::at(start_ns)));
    *meaning.lock().unwrap() = vec![silent.local_addr().unwrap(), last.address()];
    plan.names.ask();
    work_until(&mut driver, |driver| driver.links[0].place.is_trying());
    let present = driver.links[0].place.wire.unwrap();
    driver.lose(present, "it is gone", driver.clock.now_ns());
    work_until(&mut driver, |driver| driver.ready > 0);
    assert_eq!(places(&driver), [last.address().to_string()]);
}

#[test]
fn each_connection_has_its_own_reason_why_it_is_not_ready() {
    let quiet = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = quiet.local_addr().unwrap();
    // Loopback needs no proxy.
    let both = spec(&format!("{address},10.0.0.1:80"));
    let names = Names::new(
        both.target.target().unwrap(),
        Proxies::new(|name| (name == "https_proxy").then(|| address.to_string())),
        LbStrategy::RoundRobin,
        Duration::ZERO,
        Box::new(system),
    )
    .unwrap();
    let (spec, plan) = in_turn(2, &names);
    let shared = shared();
    let mut driver = driver(&spec, &plan, &shared);
    driver.begin_to_connect();
    let [first, last] = [0, 1].map(|at| driver.links[at].place.attempt().unwrap());
    work_until(&mut driver, |driver| {
        [first, last].map(|key| driver.net.wires[key].phase) == [Phase::Greeting, Phase::Tunnelling]
    });
    let later_ns = driver.clock.now_ns() + 3_600_000_000_000;
    driver.net.wires[first].began_ns = later_ns;
    driver.links[1].place.tried = 2;
    driver.expect_greetings(later_ns);
    let down = driver.links[1].down.take().unwrap();
    assert_eq!(
        down.reason,
        "the proxy (`HTTPS_PROXY`) did not answer within 10 s (`--connect-timeout`)"
    );
}

#[test]
fn attempts_that_take_too_long_are_not_left_to_a_salvo() {
    let silent = [0, 1].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    let addresses = silent.each_ref().map(|one| one.local_addr().unwrap());
    let mut spec = spec("localhost:1");
    spec.target.connect_timeout = Duration::from_millis(100);
    let plan = plan(&spec, &addresses);
    let shared = shared();
    let mut driver = driver(&spec, &plan, &shared);
    driver.mend().unwrap();
    assert!(driver.net.wires.is_empty() && driver.links[0].is_down_for_good());
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
