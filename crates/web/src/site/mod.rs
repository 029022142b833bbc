//! What is shown, and the server.

use crate::access::Access;
use crate::{results, running};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use serde_json::{Value, json};
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::{future, io};

const PAGE: &str = include_str!("../page.html");
const STYLE: &str = include_str!("../page.css");
const SCRIPT: &str = include_str!("../page.js");
/// A page may load from this server, and from nowhere else.
const POLICY: &str = "default-src 'none'; script-src 'self' 'unsafe-inline'; \
                      style-src 'self' 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'";

/// Models that can be stepped through.
pub trait Models: Send + Sync {
    /// The models: their names, what they are and their bugs, as JSON.
    fn list(&self) -> Value;
    /// The state of a model after steps, each the number of one of the enabled ones: `state`,
    /// `enabled`, `violated`.
    fn state(&self, model: &str, bugs: &[String], steps: &[usize]) -> Result<Value, String>;
}

/// What is shown.
pub struct Site {
    /// Who may ask.
    pub access: Access,
    /// Folders and files with results.
    pub named: Vec<PathBuf>,
    /// How the sockets of running explorations are called.
    pub prefix: String,
    /// The command that replays traces.
    pub replay: String,
    /// The models.
    pub models: Box<dyn Models>,
}

/// What requests share.
struct Served {
    site: Site,
    known: results::Known,
}

#[derive(Deserialize)]
struct Named {
    file: String,
}

#[derive(Deserialize)]
struct Stepping {
    model: String,
    #[serde(default)]
    bugs: Vec<String>,
    #[serde(default)]
    steps: Vec<usize>,
}

impl Site {
    /// A listener on loopback; port 0 chooses one.
    pub fn listen(port: u16) -> io::Result<TcpListener> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    }

    /// Serves until the process ends.
    pub fn serve(self, listener: TcpListener) -> io::Result<()> {
        self.serve_until(listener, future::pending())
    }

    /// Serves until something happens.
    pub fn serve_until(
        self,
        listener: TcpListener,
        end: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<()> {
        let served = Arc::new(Served { site: self, known: results::Known::default() });
        let pages = Router::new()
            .route("/{token}/", get(page))
            .route("/{token}/page.css", get(style))
            .route("/{token}/page.js", get(script))
            .route("/{token}/trace", get(trace))
            .route("/{token}/api/results", get(list))
            .route("/{token}/api/running", get(live))
            .route("/{token}/api/models", get(models))
            .route("/{token}/api/model", post(model))
            .layer(middleware::from_fn_with_state(Arc::clone(&served), guard))
            .with_state(served);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            axum::serve(listener, pages).with_graceful_shutdown(end).await
        })
    }
}

/// Whether a request is from the page itself: it has the token, and names this server once.
fn is_allowed(site: &Site, request: &Request) -> bool {
    let named = |name: header::HeaderName| {
        let all: Vec<_> = request.headers().get_all(name).iter().collect();
        match all[..] {
            [] => Ok(None),
            [only] => only.to_str().map(Some).map_err(drop),
            _ => Err(()),
        }
    };
    let token = request.uri().path().split('/').nth(1).unwrap_or_default();
    match (named(header::HOST), named(header::ORIGIN)) {
        (Ok(host), Ok(origin)) => site.access.allows(host, origin) && site.access.is_token(token),
        _ => false,
    }
}

/// Refuses whoever is not meant to ask, before anything else is looked at.
async fn guard(State(served): State<Arc<Served>>, request: Request, next: Next) -> Response {
    if !is_allowed(&served.site, &request) {
        let why = "this page needs the address that everypath serve printed\n";
        return (StatusCode::FORBIDDEN, why).into_response();
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let fixed = |text: &'static str| header::HeaderValue::from_static(text);
    headers.insert(header::CONTENT_SECURITY_POLICY, fixed(POLICY));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, fixed("nosniff"));
    headers.insert(header::REFERRER_POLICY, fixed("no-referrer"));
    headers.insert(header::CACHE_CONTROL, fixed("no-store"));
    response
}

fn typed(kind: &'static str, body: impl Into<Body>) -> Response {
    ([(header::CONTENT_TYPE, kind)], body.into()).into_response()
}

fn answer(value: &Value) -> Response {
    typed("application/json", value.to_string())
}

async fn page() -> Response {
    typed("text/html; charset=utf-8", PAGE)
}

async fn style() -> Response {
    typed("text/css; charset=utf-8", STYLE)
}

async fn script() -> Response {
    typed("text/javascript; charset=utf-8", SCRIPT)
}

async fn list(State(served): State<Arc<Served>>) -> Response {
    // Files are read meanwhile, which other requests do not wait for.
    let found = tokio::task::spawn_blocking(move || served.known.about(&served.site.named)).await;
    answer(&json!(found.unwrap_or_default()))
}

async fn live(State(served): State<Arc<Served>>) -> Response {
    let prefix = served.site.prefix.clone();
    // Others are asked, and may take their time.
    let found = tokio::task::spawn_blocking(move || running(&prefix)).await;
    answer(&json!(found.unwrap_or_default()))
}

/// A trace as a page.
async fn trace(State(served): State<Arc<Served>>, Query(named): Query<Named>) -> Response {
    let page = tokio::task::spawn_blocking(move || written(&served.site, &named.file)).await;
    match page.unwrap_or_else(|_| Err((StatusCode::INTERNAL_SERVER_ERROR, String::new()))) {
        Ok(page) => typed("text/html; charset=utf-8", page),
        Err(refused) => refused.into_response(),
    }
}

/// The page of a trace. Only files that are listed can be named.
fn written(site: &Site, file: &str) -> Result<String, (StatusCode, String)> {
    let files = results::files(&site.named);
    let unknown = || (StatusCode::NOT_FOUND, "there is no such file among the results\n".into());
    let path = files.get(file).ok_or_else(unknown)?;
    let trace = results::trace(path).map_err(|why| {
        (StatusCode::UNPROCESSABLE_ENTITY, format!("cannot read {file}: {why}\n"))
    })?;
    let words = everypath_report::text(&trace, &site.replay, file);
    let replay = format!("{} {}", site.replay, everypath_report::quoted(file));
    Ok(everypath_report::html(&trace, &words, &replay))
}

async fn models(State(served): State<Arc<Served>>) -> Response {
    answer(&served.site.models.list())
}

async fn model(State(served): State<Arc<Served>>, headers: HeaderMap, body: Bytes) -> Response {
    // A form of another page could not say this.
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if kind != Some("application/json") {
        return (StatusCode::UNSUPPORTED_MEDIA_TYPE, "expected JSON\n").into_response();
    }
    let asked: Stepping = match serde_json::from_slice(&body) {
        Ok(asked) => asked,
        Err(error) => return (StatusCode::BAD_REQUEST, format!("{error}\n")).into_response(),
    };
    match served.site.models.state(&asked.model, &asked.bugs, &asked.steps) {
        Ok(state) => answer(&state),
        Err(why) => (StatusCode::BAD_REQUEST, format!("{why}\n")).into_response(),
    }
}

#[cfg(test)]
mod tests;
