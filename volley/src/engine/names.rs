//! The ways to a target's servers, and the thread that looks its names up again.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use socket2::SockAddr;

use super::EngineError;
use super::proxy::{Handshake, Proxies, Proxy};
use crate::spec::{Address, Endpoint, LbStrategy, RESOLVE_LEAST, Target};

/// Finds the addresses of a name; it may take long.
pub type Lookup = dyn Fn(&Address) -> io::Result<Vec<SocketAddr>> + Send + Sync;

/// All ways to a target, in the order in which they are tried.
pub type Routes = Arc<[Arc<Route>]>;

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
    /// A name without an address, or a proxy that is of no use.
    pub fn new(
        target: Target,
        proxies: Proxies,
        strategy: LbStrategy,
        every: Duration,
        lookup: Box<Lookup>,
    ) -> Result<Arc<Self>, EngineError> {
        let found = routes(&target, &proxies, &*lookup)?;
        let (wish, wishes) = sync_channel(1);
        let is_named = target.endpoints.iter().any(is_named);
        let names = Arc::new(Self {
            target,
            proxies,
            strategy,
            lookup,
            found: Mutex::new(found.into()),
            version: AtomicU64::new(0),
            wish: is_named.then_some(wish),
        });
        if is_named {
            let weak = Arc::downgrade(&names);
            // Nobody waits for it: a look-up may take longer than the run.
            thread::Builder::new()
                .name("names".to_owned())
                .spawn(move || look_again(&weak, &wishes, every))
                .map_err(|error| EngineError::Host {
                    doing: "start a thread",
                    error,
                })?;
        }
        Ok(names)
    }

    /// The ways to an address.
    #[cfg(test)]
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
        })
    }

    /// What was found last.
    pub fn routes(&self) -> Routes {
        Arc::clone(&self.found.lock().unwrap_or_else(PoisonError::into_inner))
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

    fn look(&self) {
        // Whatever was known is better than nothing, as in grpc-go.
        let Ok(found) = routes(&self.target, &self.proxies, &*self.lookup) else {
            return;
        };
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
fn look_again(names: &Weak<Names>, wishes: &Receiver<()>, every: Duration) {
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
        names.look();
        last = Instant::now();
    }
}

/// Whether there is something to look up.
fn is_named(endpoint: &Endpoint) -> bool {
    matches!(endpoint, Endpoint::Name(address) if address.host.parse::<std::net::IpAddr>().is_err())
}

/// The same addresses, each in the place that it had. New ones take the places of those that are gone. So no more
/// connections change their address than must.
fn in_place(before: &[Arc<Route>], found: Vec<Arc<Route>>) -> Vec<Arc<Route>> {
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

/// All ways to a target, each once.
fn routes(
    target: &Target,
    proxies: &Proxies,
    lookup: &Lookup,
) -> Result<Vec<Arc<Route>>, EngineError> {
    let mut routes = Vec::new();
    for endpoint in &target.endpoints {
        for route in ways(endpoint, proxies, lookup)? {
            if !routes.contains(&route) {
                routes.push(route);
            }
        }
    }
    Ok(routes)
}

fn ways(
    endpoint: &Endpoint,
    proxies: &Proxies,
    lookup: &Lookup,
) -> Result<Vec<Arc<Route>>, EngineError> {
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

fn found(lookup: &Lookup, address: &Address) -> Result<Vec<SocketAddr>, EngineError> {
    match lookup(address) {
        Ok(found) if found.is_empty() => {
            Err(unresolved(&address.host, "it has no address".to_owned()))
        }
        Ok(found) => Ok(found),
        Err(error) => Err(unresolved(&address.host, error.to_string())),
    }
}

fn unresolved(host: &str, reason: String) -> EngineError {
    EngineError::Resolve {
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
    use crate::spec::TargetSpec;

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
        for _ in 0..2 {
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
