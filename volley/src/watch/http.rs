//! The HTTP interface of a run.

use std::io;

use hyper::body::Incoming;
use hyper::header::{ORIGIN, WWW_AUTHENTICATE};
use hyper::{Request, StatusCode};
use serde_json::{Value, json};

use super::running::Server;
use super::server::{self, Answer, NoBody, error, in_json, knows, not_allowed, of};
use super::shown::{Asked, Refused, Shows};
use crate::spec::ListenAddress;

/// The longest body of a request.
const MOST_BODY: usize = 4096;

/// Listens, and answers from now on.
///
/// # Errors
///
/// If the address cannot be listened on.
pub fn serve(address: &ListenAddress, shows: Shows) -> io::Result<Server> {
    let token = shows.token.clone();
    server::host(address, token, move |request| shows.clone().answer(request))
}

impl Shows {
    async fn answer(self, request: Request<Incoming>) -> Answer {
        if let Some(refusal) = self.refuse(&request) {
            return refusal;
        }
        let path = request.uri().path().to_owned();
        let allowed = match (path.as_str(), self.takes_orders) {
            ("/metrics" | "/v1/stats", _) => "GET",
            ("/v1/load", true) => "PATCH",
            ("/v1/pause" | "/v1/resume" | "/v1/stop", true) => "POST",
            _ => return error(StatusCode::NOT_FOUND, self.offers()),
        };
        if request.method().as_str() != allowed {
            return not_allowed(allowed);
        }
        match path.as_str() {
            "/metrics" => {
                let text = self.run.metrics();
                of(StatusCode::OK, "text/plain; version=0.0.4", text)
            }
            "/v1/stats" => of(StatusCode::OK, "application/json", self.run.stats()),
            "/v1/pause" => self.ask(Asked::Pause).await,
            "/v1/resume" => self.ask(Asked::Resume).await,
            "/v1/stop" => self.ask(Asked::Stop).await,
            _ => match body(request).await {
                Ok(body) => self.ask(Asked::Load(body)).await,
                Err(reason) => error(StatusCode::BAD_REQUEST, reason),
            },
        }
    }

    /// Refuses strangers, and pages in a browser: those send an `Origin`.
    fn refuse(&self, request: &Request<Incoming>) -> Option<Answer> {
        if request.headers().contains_key(ORIGIN) {
            return Some(error(StatusCode::FORBIDDEN, "web pages have no access"));
        }
        let token = self.token.as_deref()?;
        if knows(request, token) {
            return None;
        }
        let mut refusal = error(
            StatusCode::UNAUTHORIZED,
            "give the token of `--control-token` as `Authorization: Bearer TOKEN`",
        );
        let challenge = hyper::header::HeaderValue::from_static("Bearer");
        refusal.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        Some(refusal)
    }

    fn offers(&self) -> &'static str {
        match self.takes_orders {
            true => {
                "there are GET /v1/stats, GET /metrics, PATCH /v1/load, POST /v1/pause, /v1/resume and /v1/stop"
            }
            false => "there are GET /metrics and GET /v1/stats",
        }
    }

    async fn ask(self, order: Asked) -> Answer {
        // The answer takes a moment, and others may ask meanwhile.
        let done = tokio::task::spawn_blocking(move || self.run.obey(order)).await;
        match done {
            Ok(Ok(())) => in_json(StatusCode::OK, &json!({ "ok": true })),
            Ok(Err(Refused::Wrong(reason))) => error(StatusCode::BAD_REQUEST, reason),
            Ok(Err(Refused::Conflict(reason))) => error(StatusCode::CONFLICT, reason),
            Err(_) => error(StatusCode::CONFLICT, "the run is over"),
        }
    }
}

/// The body of a request; `Null` if it is too long, or no JSON.
async fn body(request: Request<Incoming>) -> Result<Value, &'static str> {
    match server::body(request, MOST_BODY).await {
        Ok(body) => Ok(serde_json::from_slice(&body).unwrap_or(Value::Null)),
        Err(NoBody::TooLong) => Ok(Value::Null),
        Err(NoBody::NoEnd) => Err("the request has no end"),
    }
}
