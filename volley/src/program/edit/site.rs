//! What the page asks for. Nothing else on this host, and no other page in the browser, gets an answer.

use std::io;
use std::str;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, ETAG, HOST, HeaderName, HeaderValue, IF_MATCH, ORIGIN,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use hyper::{Method, Request, StatusCode};
use serde_json::{Value, json};

use super::document::{Document, Unsaved};
use super::page::Page;
use super::trial::{LONGEST, Trial};
use crate::docs::SCENARIO_SCHEMA;
use crate::program::check::outline;
use crate::scenario::engine as load;
use crate::scenario::file::{self, LARGEST};
use crate::scenario::plan::Plan;
use crate::watch::server::{self, Answer, NoBody, error, in_json, knows, not_allowed, of};

/// The page gets everything from here, and nothing from elsewhere.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What each answer says to the browser.
const HEADERS: [(HeaderName, &str); 5] = [
    (CACHE_CONTROL, "no-store"),
    (CONTENT_SECURITY_POLICY, POLICY),
    (REFERRER_POLICY, "no-referrer"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
];

/// What a file begins with that does not exist yet.
const SKELETON: &str = "\
# A scenario: what users do, one step after another. Explained in docs/scenarios.md
targets:
  api: http://127.0.0.1:8080
scenarios:
  first:
    steps:
      - name: read
        get: ${api}/
load:
  - {users: 1, for: 10s}
thresholds:
  - failed < 0.1%
";

/// The same as JSON.
const SKELETON_JSON: &str = r#"{
  "targets": {"api": "http://127.0.0.1:8080"},
  "scenarios": {
    "first": {
      "steps": [
        {"name": "read", "get": "${api}/"}
      ]
    }
  },
  "load": [{"users": 1, "for": "10s"}],
  "thresholds": ["failed < 0.1%"]
}
"#;

/// A file, and the page that edits it.
#[derive(Clone)]
pub struct Site {
    page: Page,
    document: Arc<Document>,
    token: Arc<str>,
    allow_io: bool,
    trial: Trial,
}

impl Site {
    /// `allow_io`: scripts may use files.
    pub fn new(page: Page, document: Document, token: String, allow_io: bool) -> Self {
        Self {
            page,
            document: Arc::new(document),
            token: token.into(),
            allow_io,
            trial: Trial::default(),
        }
    }

    pub fn token(&self) -> Arc<str> {
        Arc::clone(&self.token)
    }

    pub async fn answer(self, request: Request<Incoming>) -> Answer {
        let mut answer = match refusal(&request) {
            Some(refusal) => refusal,
            None => self.route(request).await,
        };
        for (name, value) in HEADERS {
            let value = HeaderValue::from_static(value);
            answer.headers_mut().insert(name, value);
        }
        answer
    }

    async fn route(self, request: Request<Incoming>) -> Answer {
        let path = request.uri().path().to_owned();
        let method = request.method().clone();
        let page = &self.page;
        let part = match path.as_str() {
            "/" => Some(("text/html; charset=utf-8", page.html)),
            "/page.css" => Some(("text/css; charset=utf-8", page.css)),
            "/page.js" => Some(("text/javascript; charset=utf-8", page.js)),
            "/licenses.txt" => Some(("text/plain; charset=utf-8", page.licenses)),
            _ => None,
        };
        match part {
            Some(_) if method != Method::GET => return not_allowed("GET"),
            Some((kind, text)) => return of(StatusCode::OK, kind, text),
            None => {}
        }
        if !knows(&request, &self.token) {
            let reason =
                "the token is missing or wrong: open the address that `volley edit` printed";
            return error(StatusCode::UNAUTHORIZED, reason);
        }
        match (path.as_str(), &method) {
            ("/v1/schema", &Method::GET) => of(StatusCode::OK, "application/json", SCENARIO_SCHEMA),
            ("/v1/file", &Method::GET) => self.read(),
            ("/v1/file", &Method::PUT) => self.save(request).await,
            ("/v1/check", &Method::POST) => self.check(request).await,
            ("/v1/once", &Method::POST) => self.once(request).await,
            ("/v1/schema", _) => not_allowed("GET"),
            ("/v1/file", _) => not_allowed("GET, PUT"),
            ("/v1/check" | "/v1/once", _) => not_allowed("POST"),
            _ => error(StatusCode::NOT_FOUND, "there is no such page"),
        }
    }

    fn read(&self) -> Answer {
        let document = &self.document;
        let content = match document.read() {
            Ok(content) => content,
            Err(reason) => return self.failed("read", &reason),
        };
        let skeleton = match document.is_json() {
            true => SKELETON_JSON,
            false => SKELETON,
        };
        let answer = json!({
            "path": document.path().display().to_string(),
            "json": document.is_json(),
            "exists": content.text.is_some(),
            "read_only": document.is_read_only(),
            "text": content.text.as_deref().unwrap_or(skeleton),
        });
        versioned(in_json(StatusCode::OK, &answer), &content.version)
    }

    async fn save(self, request: Request<Incoming>) -> Answer {
        let seen = request.headers().get(IF_MATCH);
        let seen = seen.and_then(|value| value.to_str().ok());
        let Some(seen) = seen.map(|seen| seen.trim_matches('"').to_owned()) else {
            let reason = "`If-Match` must name the version that was read";
            return error(StatusCode::PRECONDITION_REQUIRED, reason);
        };
        let text = match text(request).await {
            Ok(text) => text,
            Err(refusal) => return refusal,
        };
        let document = Arc::clone(&self.document);
        let saved = tokio::task::spawn_blocking(move || document.save(&text, &seen)).await;
        match saved {
            Ok(Ok(version)) => versioned(in_json(StatusCode::OK, &json!({})), &version),
            Ok(Err(Unsaved::Changed)) => error(
                StatusCode::PRECONDITION_FAILED,
                "the file on disk has changed since it was opened: nothing was saved",
            ),
            Ok(Err(Unsaved::Host(reason))) => self.failed("save", &reason),
            Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "the save broke off"),
        }
    }

    fn failed(&self, doing: &str, reason: &io::Error) -> Answer {
        let path = self.document.path().display();
        let reason = format!("cannot {doing} {path}: {reason}");
        error(StatusCode::INTERNAL_SERVER_ERROR, reason)
    }

    async fn check(self, request: Request<Incoming>) -> Answer {
        match self.plan(request).await {
            Ok(Ok(plan)) => {
                let found = json!({ "mistakes": [], "outline": outline(&plan) });
                in_json(StatusCode::OK, &found)
            }
            Ok(Err(mistakes)) => in_json(StatusCode::OK, &json!({ "mistakes": mistakes })),
            Err(refusal) => refusal,
        }
    }

    async fn once(self, request: Request<Incoming>) -> Answer {
        let (trial, allow_io) = (self.trial.clone(), self.allow_io);
        match self.plan(request).await {
            Ok(Ok(plan)) => match trial.run(plan, allow_io, LONGEST).await {
                Some(shown) => in_json(StatusCode::OK, &shown),
                None => error(StatusCode::CONFLICT, "another iteration is running"),
            },
            Ok(Err(mistakes)) => {
                let error = json!({ "error": "mend the mistakes first", "mistakes": mistakes });
                in_json(StatusCode::UNPROCESSABLE_ENTITY, &error)
            }
            Err(refusal) => refusal,
        }
    }

    /// What the text of a request would do, or everything that is wrong with it.
    async fn plan(self, request: Request<Incoming>) -> Result<Result<Plan, Value>, Answer> {
        let text = text(request).await?;
        let compiled = move || {
            let env = |name: &str| std::env::var(name).ok();
            let plan = file::compile(&text, self.document.path(), &env)
                .map_err(|mistakes| json!(mistakes.all))?;
            // No line is known.
            let problem = |error: load::RunError| json!({ "problem": error.to_string() });
            let wrong: Vec<Value> = load::check(&plan).into_iter().map(problem).collect();
            match wrong.is_empty() {
                true => Ok(plan),
                false => Err(json!(wrong)),
            }
        };
        let compiled = tokio::task::spawn_blocking(compiled).await;
        compiled.map_err(|_| error(StatusCode::INTERNAL_SERVER_ERROR, "the check broke off"))
    }
}

/// Refuses requests of other pages.
fn refusal<T>(request: &Request<T>) -> Option<Answer> {
    let header = |name| request.headers().get(name).map(HeaderValue::as_bytes);
    let host = header(HOST).unwrap_or_default();
    let is_own = |origin: &[u8]| origin.strip_prefix(b"http://") == Some(host);
    match header(ORIGIN) {
        Some(origin) if !is_own(origin) => {
            Some(error(StatusCode::FORBIDDEN, "other pages have no access"))
        }
        _ => None,
    }
}

/// The body of a request, which is the text of a file.
async fn text(request: Request<Incoming>) -> Result<String, Answer> {
    let body = server::body(request, LARGEST as usize).await;
    let body = body.map_err(|reason| match reason {
        NoBody::TooLong => {
            let reason = format!("the file would have more than {} MiB", LARGEST >> 20);
            error(StatusCode::PAYLOAD_TOO_LARGE, reason)
        }
        NoBody::NoEnd => error(StatusCode::BAD_REQUEST, "the request has no end"),
    })?;
    let text = str::from_utf8(&body).map(str::to_owned);
    text.map_err(|_| error(StatusCode::BAD_REQUEST, "the text is no UTF-8"))
}

fn versioned(mut answer: Answer, version: &str) -> Answer {
    if let Ok(value) = HeaderValue::from_str(&format!("\"{version}\"")) {
        answer.headers_mut().insert(ETAG, value);
    }
    answer
}

#[cfg(test)]
mod tests;
