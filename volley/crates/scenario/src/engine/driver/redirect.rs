//! Redirects: where they lead, and whether they may be followed.

use super::Core;
use crate::engine::flight::{Flight, FlightKey, Moved};
use crate::plan::Expect;
use crate::secrets::masked;
use crate::tally::Reason;
use volley_http::http::{Follow, HttpUrl, resolve};

impl Core<'_> {
    /// A response leads to another URL, which is asked for when this response is over. Returns whether it will be; if not,
    /// that is a fault, unless the step expects this status.
    #[cold]
    pub(super) fn redirect(
        &mut self,
        key: FlightKey,
        location: &[u8],
        follow: Follow,
        (most, expect): (u8, &Expect),
    ) -> bool {
        let Some(flight) = self.flights.get(key.0 as usize) else {
            return false;
        };
        let next = match flight.redirects < most {
            true => self.moved(flight, location, follow),
            false => Err(format!(
                "it is one more than the step follows (`redirects: {most}`)"
            )),
        };
        let Some(flight) = self.flights.get_mut(key.0 as usize) else {
            return false;
        };
        match next {
            Ok(moved) => {
                flight.moves = Some(Box::new(moved));
                return true;
            }
            Err(why) => {
                let status = flight.status.unwrap_or(0);
                let mut named = expect.status.iter();
                if !named.any(|(low, high)| (*low..=*high).contains(&status)) {
                    let location = masked(&String::from_utf8_lossy(location));
                    flight.blame(Reason::Redirects, format!("`{location}`: {why}"));
                }
            }
        }
        false
    }

    /// Where a redirect leads.
    fn moved(&self, flight: &Flight, location: &[u8], follow: Follow) -> Result<Moved, String> {
        let site = self.sites.get(flight.target);
        let host = site.and_then(|site| site.hosts.get(flight.host));
        let host = host.ok_or("it came from nowhere")?;
        let (mut base, mut url) = (Vec::new(), Vec::new());
        host.write_url(&flight.path, &mut base);
        resolve(&base, location, &mut url).map_err(|error| error.to_string())?;
        let to = HttpUrl::parse(&url).map_err(|error| error.to_string())?;
        let target = self.sites.of(&to, flight.target);
        let before = flight.moved.as_deref();
        Ok(Moved {
            target: target.map_err(|why| format!("it {why}"))?,
            path: to.target.to_vec(),
            // Once it has become a GET, it stays one.
            follow: match before.map(|before| before.follow) {
                Some(Follow::Get) => Follow::Get,
                _ => follow,
            },
            // What another origin says does not bring the secrets back.
            is_foreign: before.is_some_and(|before| before.is_foreign) || !host.is_of(&to),
        })
    }
}
