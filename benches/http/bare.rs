//! The server to compare with: axum with handlers that do no work.

use std::{io::Write, sync::LazyLock};

use axum::{
    Router,
    extract::{WebSocketUpgrade, ws::Message},
    http::header,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use tokio::{net::TcpListener, sync::broadcast};

/// The answer to every check: the same bytes that bestow answers.
const CHECKED: &str = r#"{"results":[{"permission":"@read:/srv/work/site","held":"held"}]}"#;

/// The message to all sockets. It is about as long as the one that bestow sends about a request.
static TOLD: LazyLock<Message> =
    LazyLock::new(|| Message::text(format!("{{\"type\":\"told\",\"text\":\"{:800}\"}}", "")));

/// Serves until this process is ended, and prints the address.
pub(crate) fn serve() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("listening on http://{}", listener.local_addr().unwrap());
        std::io::stdout().flush().unwrap();
        let (all, _) = broadcast::channel::<()>(16);
        let tell = all.clone();
        let router = Router::new()
            .route("/v1/check", post(async || ([(header::CONTENT_TYPE, "application/json")], CHECKED)))
            .route("/tell", post(async move || tell.send(()).map(drop).map_err(|_| "nobody listens")))
            .route("/ws", get(move |upgrade: WebSocketUpgrade| listen(upgrade, all.subscribe())));
        axum::serve(listener, router).await.unwrap();
    });
}

/// Sends each message to one socket.
async fn listen(upgrade: WebSocketUpgrade, mut messages: broadcast::Receiver<()>) -> Response {
    let upgrade = upgrade.read_buffer_size(4 << 10).write_buffer_size(0);
    let talk = async move |mut socket: axum::extract::ws::WebSocket| loop {
        tokio::select! {
            Ok(()) = messages.recv() => if socket.send(TOLD.clone()).await.is_err() { return },
            received = socket.recv() => if received.is_none() { return },
        }
    };
    upgrade.on_upgrade(talk).into_response()
}
