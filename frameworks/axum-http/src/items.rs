//! The service of items and its store.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::header::{IF_MATCH, LOCATION};
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The longest request body, in bytes.
const MAX_BODY: usize = 64 << 10;

/// What a client may set.
#[derive(Clone, Deserialize, Serialize)]
struct Values {
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sku: Option<String>,
}

#[derive(Clone, Serialize)]
struct Item {
    id: String,
    #[serde(flatten)]
    values: Values,
    rev: u64,
}

#[derive(Serialize)]
struct Answer {
    item: Item,
}

#[derive(Serialize)]
struct Failure {
    error: &'static str,
}

type Refusal = (StatusCode, Json<Failure>);

#[derive(Clone, Default)]
struct Items(Arc<Mutex<HashMap<String, Item>>>);

pub fn router() -> Router {
    Router::new()
        .route("/v1/items", post(create))
        .route("/v1/items/{id}", get(read).patch(change).delete(remove))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(Items::default())
}

async fn create(State(items): State<Items>, Json(values): Json<Values>) -> impl IntoResponse {
    let id = Uuid::new_v4().simple().to_string();
    let location = [(LOCATION, format!("/v1/items/{id}"))];
    let item = Item { id, values, rev: 1 };
    items.lock().insert(item.id.clone(), item.clone());
    (StatusCode::CREATED, location, Json(Answer { item }))
}

async fn read(State(items): State<Items>, Path(id): Path<String>) -> Result<Json<Answer>, Refusal> {
    let found = items.lock().get(&id).cloned();
    found
        .map(|item| Json(Answer { item }))
        .ok_or_else(not_found)
}

async fn change(
    State(items): State<Items>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(values): Json<Values>,
) -> Result<StatusCode, Refusal> {
    let mut items = items.lock();
    let item = items.get_mut(&id).ok_or_else(not_found)?;
    require(&headers, item.rev)?;
    if values.owner.is_some() {
        item.values.owner = values.owner;
    }
    if values.sku.is_some() {
        item.values.sku = values.sku;
    }
    item.rev += 1;
    Ok(StatusCode::NO_CONTENT)
}

async fn remove(
    State(items): State<Items>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Refusal> {
    let mut items = items.lock();
    require(&headers, items.get(&id).ok_or_else(not_found)?.rev)?;
    items.remove(&id);
    Ok(StatusCode::NO_CONTENT)
}

impl Items {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Item>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Refuses a request whose If-Match is not for this revision.
fn require(headers: &HeaderMap, rev: u64) -> Result<(), Refusal> {
    let allows = |wanted: &[u8]| wanted == b"*" || wanted == format!("\"{rev}\"").as_bytes();
    match headers.get(IF_MATCH) {
        Some(wanted) if !allows(wanted.as_bytes()) => Err(refusal(
            StatusCode::PRECONDITION_FAILED,
            "the item has another revision",
        )),
        _ => Ok(()),
    }
}

fn not_found() -> Refusal {
    refusal(StatusCode::NOT_FOUND, "there is no such item")
}

fn refusal(status: StatusCode, error: &'static str) -> Refusal {
    (status, Json(Failure { error }))
}
