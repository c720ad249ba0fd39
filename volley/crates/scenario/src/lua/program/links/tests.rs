use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::*;
use crate::lua::program::shared::Shared;
use crate::lua::program::{Options, Program};
use crate::plan::Script;
use crate::testkit::scripted::nobody;
use crate::testkit::sockets::BlackHole;
use volley_load::spec::{LbStrategy, TargetSpec};
use volley_net::names::Names;
use volley_net::proxy::Proxies;
use volley_serve::{Config, Reference};

/// Asks until there is an answer. Its host is looked up by itself; what its name means is then replaced.
const PROGRAM: &str = "
local asked = {[':scheme']='http', [':authority']='127.0.0.1:1', [':method']='GET', [':path']='/v1/items', ['x-protocol-to-use']='h2c'}
repeat
  local head = send_http_request_and_await_response(asked, '', 600000)
until head[':status']
";

#[test]
fn what_is_needed_stays_when_the_rest_is_forgotten() {
    let mut known: HashMap<usize, bool> = (0..MOST_KNOWN).map(|n| (n, n == 7)).collect();
    make_room(&mut known, |is_needed| *is_needed);
    assert_eq!(known, HashMap::from([(7, true)]));
}

/// Runs the program until it is over. `names`: what its host means. Returns when that was, in ns.
fn run(names: Arc<Names>) -> u64 {
    let program = Program {
        script: Script {
            name: "x.lua".to_owned(),
            text: PROGRAM.into(),
            sets: Vec::new(),
        },
        folder: PathBuf::new(),
    };
    let options = Options {
        duration: Some(Duration::from_secs(60)),
        ..Options::default()
    };
    let shared = Shared::new(&program, &options, Arc::new(AtomicBool::new(false)));
    let mut worker = Worker::new(&Arc::new(shared), 0, None).unwrap_or_else(|why| panic!("{why}"));
    let base = Base {
        is_tls: false,
        authority: "127.0.0.1:1".to_owned(),
        is_http1: false,
    };
    let at = worker.pool(&base).unwrap();
    let Ok(Mail::Site(_, site)) = worker.mail.recv() else {
        panic!()
    };
    let mut site = site.unwrap_or_else(|why| panic!("{why}"));
    site.hosts[0].names = names;
    worker.found(at, Ok(site), 0);
    worker.tally.reset(0);
    worker.begin(0..1).unwrap_or_else(|_| panic!());
    let ended_by = loop {
        if let Some(ended_by) = worker.turn().unwrap() {
            break ended_by;
        }
    };
    assert_eq!(format!("{ended_by:?}"), "Finished");
    worker.now_ns()
}

#[test]
fn an_address_that_takes_long_shares_its_time_with_the_next() {
    let (hole, server) = (BlackHole::default(), Reference::start(Config::default()));
    let server = server.unwrap();
    let ended_ns = run(Names::fixed(&[hole.address(), server.address()]));
    // The first address was not given up.
    assert!(ended_ns < CONNECT_NS);
}

#[test]
fn the_name_is_looked_up_again_for_new_connections() {
    let server = Reference::start(Config::default()).unwrap();
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
    *meaning.lock().unwrap() = vec![server.address()];
    run(names.unwrap());
}
