//! The ways to a target's servers, and the thread that looks its names up again.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use socket2::SockAddr;

use super::NetError;
use super::proxy::{Handshake, Proxies, Proxy};
use volley_load::spec::{Address, Endpoint, LbStrategy, RESOLVE_LEAST, Target};

/// Finds the addresses of a name; it may take long.
pub type Lookup = dyn Fn(&Address) -> io::Result<Vec<SocketAddr>> + Send + Sync;

/// All ways to a target, in the order in which they are tried.
pub type Routes = Arc<[Arc<Route>]>;

/// Ways to a server.
pub type Ways = Vec<Arc<Route>>;

/// A way to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The server's address, for people.
    pub label: String,
    /// Where the socket connects.
    pub address: SockAddr,
    /// The socket leads to this proxy, which connects to that target.
    tunnel: Option<(Proxy, Address)>,
}

/// A target's ways.
pub struct Names {
    target: Target,
    proxies: Proxies,
    strategy: LbStrategy,
    lookup: Box<Lookup>,
    found: Mutex<Routes>,
    /// It increases with each change of what was found.
    version: AtomicU64,
    /// Wakes the thread that looks names up; `None` if there are no names.
    wish: Option<SyncSender<()>>,
    /// The endpoints that had no address at first.
    unresolved: Vec<String>,
}

impl Route {
    /// What is said to the proxy first, if there is one.
    pub fn handshake(&self) -> Option<Handshake> {
        let (proxy, target) = self.tunnel.as_ref()?;
        Some(proxy.connect(target))
    }

    /// Whether it is TCP.
    pub fn is_tcp(&self) -> bool {
        self.address.as_socket().is_some()
    }
}

impl From<SocketAddr> for Route {
    fn from(address: SocketAddr) -> Self {
        Self {
            label: address.to_string(),
            address: address.into(),
            tunnel: None,
        }
    }
}

impl Names {
    /// Looks a target up, and starts the thread that does so again: on a wish, and every so often unless that is zero.
    ///
    /// # Errors
    ///
    /// No name has an address, or a proxy is of no use.
    pub fn new(
        target: Target,
        proxies: Proxies,
        strategy: LbStrategy,
        every: Duration,
        lookup: Box<Lookup>,
    ) -> Result<Arc<Self>, NetError> {
        let known = ways(&target, &proxies, &*lookup, &[])?;
        let (wish, wishes) = sync_channel(1);
        let is_named = target.endpoints.iter().any(|one| is_named(one, &proxies));
        let endpoints = target.endpoints.iter().zip(&known);
        let unresolved = endpoints.filter(|(_, ways)| ways.is_empty());
        let unresolved = unresolved
            .map(|(endpoint, _)| endpoint.to_string())
            .collect();
        let names = Arc::new(Self {
            target,
            proxies,
            strategy,
            lookup,
            found: Mutex::new(each_once(&known).into()),
            version: AtomicU64::new(0),
            wish: is_named.then_some(wish),
            unresolved,
        });
        if is_named {
            let weak = Arc::downgrade(&names);
            // Nobody waits for it: a look-up may take longer than the run.
            thread::Builder::new()
                .name("names".to_owned())
                .spawn(move || look_again(&weak, &wishes, every, known))
                .map_err(NetError::host("start a thread"))?;
        }
        Ok(names)
    }

    /// The ways to an address.
    pub fn fixed(addresses: &[SocketAddr]) -> Arc<Self> {
        let routes = addresses
            .iter()
            .map(|address| Arc::new(Route::from(*address)));
        Arc::new(Self {
            target: Target {
                endpoints: Vec::new(),
                authority: String::new(),
            },
            proxies: Proxies::default(),
            strategy: LbStrategy::PickFirst,
            lookup: Box::new(system),
            found: Mutex::new(routes.collect()),
            version: AtomicU64::new(0),
            wish: None,
            unresolved: Vec::new(),
        })
    }

    /// What was found last.
    pub fn routes(&self) -> Routes {
        Arc::clone(&self.found.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The endpoints that could not be looked up when the run started.
    pub fn unresolved(&self) -> &[String] {
        &self.unresolved
    }

    /// The target for people.
    pub fn words(&self) -> String {
        words(&self.target, &self.routes())
    }

    /// It differs from what it was before if others were found since.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Has the names looked up soon.
    pub fn ask(&self) {
        if let Some(wish) = &self.wish {
            // Full: that is going to happen anyway.
            let _ = wish.try_send(());
        }
    }

    /// Looks all names up; `known` is what is known of each.
    fn look(&self, known: &mut Vec<Ways>) {
        if let Ok(ways) = ways(&self.target, &self.proxies, &*self.lookup, known) {
            *known = ways;
        }
        let found = each_once(known);
        let before = self.routes();
        let routes: Routes = match self.strategy {
            LbStrategy::PickFirst => found.into(),
            LbStrategy::RoundRobin => in_place(&before, found).into(),
        };
        if routes != before {
            *self.found.lock().unwrap_or_else(PoisonError::into_inner) = routes;
            self.version.fetch_add(1, Ordering::Release);
        }
    }
}

/// Looks names up until nobody needs them.
fn look_again(names: &Weak<Names>, wishes: &Receiver<()>, every: Duration, mut known: Vec<Ways>) {
    let mut last = Instant::now();
    loop {
        let wished = match every {
            Duration::ZERO => wishes.recv().map_err(|_| RecvTimeoutError::Disconnected),
            every => wishes.recv_timeout(every),
        };
        if wished == Err(RecvTimeoutError::Disconnected) {
            return;
        }
        thread::sleep(RESOLVE_LEAST.saturating_sub(last.elapsed()));
        let Some(names) = names.upgrade() else {
            return;
        };
        names.look(&mut known);
        last = Instant::now();
    }
}

/// Whether there is something to look up: the endpoint's name, or its proxy's.
fn is_named(endpoint: &Endpoint, proxies: &Proxies) -> bool {
    let Endpoint::Name(address) = endpoint else {
        return false;
    };
    let is_name = |address: &Address| address.host.parse::<IpAddr>().is_err();
    match proxies.of(address) {
        Ok(Some(proxy)) => is_name(&proxy.address),
        _ => is_name(address),
    }
}

/// The same addresses, each in the place that it had. New ones take the places of those that are gone. So no more
/// connections change their address than must.
fn in_place(before: &[Arc<Route>], found: Ways) -> Ways {
    let (known, fresh): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|route| before.contains(route));
    let mut fresh = fresh.into_iter();
    let kept = before
        .iter()
        .filter_map(|route| match known.contains(route) {
            true => Some(Arc::clone(route)),
            false => fresh.next(),
        });
    let mut routes: Vec<_> = kept.collect();
    routes.extend(fresh);
    routes
}

/// The ways to each of a target's endpoints. Whatever was `known` of a name is better than nothing, as in grpc-go.
fn ways(
    target: &Target,
    proxies: &Proxies,
    lookup: &Lookup,
    known: &[Ways],
) -> Result<Vec<Ways>, NetError> {
    let mut failure = None;
    let mut all = Vec::new();
    for (at, endpoint) in target.endpoints.iter().enumerate() {
        all.push(match ways_to(endpoint, proxies, lookup) {
            Ok(ways) => ways,
            Err(error @ NetError::Resolve { .. }) => {
                failure.get_or_insert(error);
                known.get(at).cloned().unwrap_or_default()
            }
            Err(error) => return Err(error),
        });
    }
    match failure.filter(|_| all.iter().all(Vec::is_empty)) {
        Some(error) => Err(error),
        None => Ok(all),
    }
}

/// A target for people, with the proxy that leads to it.
pub fn words(target: &Target, routes: &[Arc<Route>]) -> String {
    match routes.iter().find_map(|route| route.tunnel.as_ref()) {
        Some((proxy, _)) => format!(
            "{target} through the proxy {} (`HTTPS_PROXY`)",
            proxy.address
        ),
        None => target.to_string(),
    }
}

/// All ways to a target, as they are looked up once.
///
/// # Errors
///
/// As [`Names::new`].
pub fn routes(target: &Target, proxies: &Proxies) -> Result<Ways, NetError> {
    Ok(each_once(&ways(target, proxies, &system, &[])?))
}

fn each_once(all: &[Ways]) -> Ways {
    let mut routes = Ways::new();
    for route in all.iter().flatten() {
        if !routes.contains(route) {
            routes.push(Arc::clone(route));
        }
    }
    routes
}

fn ways_to(endpoint: &Endpoint, proxies: &Proxies, lookup: &Lookup) -> Result<Ways, NetError> {
    let address = match endpoint {
        Endpoint::Name(address) => address,
        Endpoint::Unix(path) => {
            let unresolved =
                |error: io::Error| unresolved(&endpoint.to_string(), error.to_string());
            return Ok(vec![Arc::new(Route {
                label: endpoint.to_string(),
                address: SockAddr::unix(path).map_err(unresolved)?,
                tunnel: None,
            })]);
        }
    };
    let Some(proxy) = proxies.of(address)? else {
        let found = found(lookup, address)?.into_iter();
        return Ok(found.map(|found| Arc::new(Route::from(found))).collect());
    };
    // The proxy looks the target's name up.
    let found = found(lookup, &proxy.address)?.into_iter();
    let routes = found.map(|found| {
        Arc::new(Route {
            label: format!("{address} through the proxy {}", proxy.address),
            address: found.into(),
            tunnel: Some((proxy.clone(), address.clone())),
        })
    });
    Ok(routes.collect())
}

fn found(lookup: &Lookup, address: &Address) -> Result<Vec<SocketAddr>, NetError> {
    match lookup(address) {
        Ok(found) if found.is_empty() => {
            Err(unresolved(&address.host, "it has no address".to_owned()))
        }
        Ok(found) => Ok(found),
        Err(error) => Err(unresolved(&address.host, error.to_string())),
    }
}

fn unresolved(host: &str, reason: String) -> NetError {
    NetError::Resolve {
        host: host.to_owned(),
        reason,
    }
}

/// Asks this host's resolver.
pub fn system(address: &Address) -> io::Result<Vec<SocketAddr>> {
    (address.host.as_str(), address.port)
        .to_socket_addrs()
        .map(Iterator::collect)
}

#[cfg(test)]
mod tests {
    use super::*;
    use volley_load::spec::TargetSpec;

    fn target(host: &str) -> Target {
        let spec = TargetSpec {
            host: host.to_owned(),
            ..TargetSpec::default()
        };
        spec.target().unwrap()
    }

    fn route(last: u8) -> Arc<Route> {
        Arc::new(SocketAddr::from(([10, 0, 0, last], 80)).into())
    }

    #[test]
    fn an_address_that_is_gone_leaves_its_place_to_a_new_one() {
        for (before, found, after) in [
            (&[1, 2][..], &[3, 1][..], &[1, 3][..]),
            (&[1, 2], &[2, 1], &[1, 2]),
            (&[1, 2], &[3, 2, 1], &[1, 2, 3]),
            (&[1, 2, 3], &[3, 2], &[2, 3]),
            (&[1, 2], &[3, 4, 5], &[3, 4, 5]),
        ] {
            let all = |last: &[u8]| last.iter().map(|last| route(*last)).collect::<Vec<_>>();
            assert_eq!(in_place(&all(before), all(found)), all(after));
        }
    }

    #[test]
    fn a_name_is_looked_up_again_on_a_wish_and_what_was_found_survives_a_failure() {
        let answers = Mutex::new(vec![
            Ok(vec![SocketAddr::from(([10, 0, 0, 2], 80))]),
            Ok(vec![]),
            Err(io::Error::other("no answer")),
            Ok(vec![]),
            Ok(vec![SocketAddr::from(([10, 0, 0, 1], 80))]),
        ]);
        let (say, looked) = std::sync::mpsc::channel();
        let lookup = move |address: &Address| {
            let _ = say.send(address.to_string());
            answers.lock().unwrap().pop().unwrap_or_else(|| Ok(vec![]))
        };
        let names = Names::new(
            target("a.b:80"),
            Proxies::default(),
            LbStrategy::PickFirst,
            Duration::ZERO,
            Box::new(lookup),
        )
        .unwrap();
        assert_eq!(looked.recv().unwrap(), "a.b:80");
        // A look-up begins after the one before has had its effect.
        for _ in 0..3 {
            names.ask();
            looked.recv().unwrap();
            assert_eq!((&*names.routes(), names.version()), (&[route(1)][..], 0));
        }
        names.ask();
        looked.recv().unwrap();
        while names.version() == 0 {
            thread::yield_now();
        }
        assert_eq!(&*names.routes(), [route(2)]);
    }

    #[test]
    fn a_name_that_cannot_be_looked_up_keeps_its_addresses_and_delays_no_other() {
        let target = target("a.b:80,c.d:80");
        let ways = |a: Option<u8>, c: Option<u8>, known: &[Ways]| {
            let lookup = move |address: &Address| {
                let last = if address.host == "a.b" { a } else { c };
                let last = last.ok_or_else(|| io::Error::other("no answer"))?;
                Ok(vec![SocketAddr::from(([10, 0, 0, last], 80))])
            };
            ways(&target, &Proxies::default(), &lookup, known).map(|ways| each_once(&ways))
        };
        let known = [vec![route(1)], vec![route(2)]];
        assert_eq!(ways(None, Some(3), &known).unwrap(), [route(1), route(3)]);
        assert_eq!(ways(None, None, &known).unwrap(), [route(1), route(2)]);
        assert_eq!(ways(None, Some(2), &[]).unwrap(), [route(2)]);
        assert_eq!(
            ways(None, None, &[]).unwrap_err().to_string(),
            "cannot resolve `a.b`: no answer"
        );
    }

    #[test]
    fn what_is_looked_up_again_is_the_name_that_is_dialed() {
        let by =
            |proxy: &str| Proxies::new(|name| (name == "https_proxy").then(|| proxy.to_owned()));
        for (host, proxies, wanted) in [
            ("a.b:80", Proxies::default(), true),
            ("10.0.0.1:80", Proxies::default(), false),
            ("a.b:80", by("10.0.0.9:1"), false),
            ("10.0.0.1:80", by("proxy.test:1"), true),
            ("unix:/a", by("proxy.test:1"), false),
        ] {
            let found = is_named(&target(host).endpoints[0], &proxies);
            assert_eq!(found, wanted, "{host} {proxies:?}");
        }
    }

    #[test]
    fn a_name_is_looked_up_again_and_again_until_nobody_needs_it() {
        let (say, looked) = std::sync::mpsc::channel();
        let lookup = move |_: &Address| {
            let _ = say.send(());
            Ok(vec![SocketAddr::from(([10, 0, 0, 1], 80))])
        };
        let every = Duration::from_millis(1);
        let names = Names::new(
            target("a.b:80"),
            Proxies::default(),
            LbStrategy::PickFirst,
            every,
            Box::new(lookup),
        )
        .unwrap();
        for _ in 0..3 {
            looked.recv().unwrap();
        }
        drop(names);
        while looked.recv().is_ok() {} // until its thread has ended
    }
}
