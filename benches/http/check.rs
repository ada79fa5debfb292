//! `/v1/check` over keep-alive, beside a bare handler that answers the same bytes.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::task::JoinSet;

use crate::{
    connection::{Connection, post},
    figures::median,
    server::Server,
};

/// The time of one round. The two servers take turns, so that other load on the machine affects both.
const ROUND: Duration = Duration::from_millis(500);

const ROUNDS: usize = 11;

/// The work of a server in one round.
struct Round {
    /// Requests per second.
    rate: f64,
    /// Processor time of the server per request, in microseconds.
    work: f64,
}

/// Prints the requests per second of both servers, and their ratio.
pub(crate) async fn measure() {
    let (bare, bestow) = (Server::bare(), Server::bestow());
    let body = r#"{"permissions":["@read:/srv/work/site"]}"#;
    let request: Arc<[u8]> = post("/v1/check", &bestow.agent("bot0"), body).into();
    let answer = async |server: &Server| Connection::open(server.address).await.call(&request).await.to_vec();
    assert_eq!(answer(&bare).await, answer(&bestow).await);
    println!("/v1/check over keep-alive: requests per second (processor time of the server per request)");
    for connections in [1, 4, 16, 64] {
        let (mut rounds, mut ratios) = ([Vec::new(), Vec::new()], Vec::new());
        for _ in 0..ROUNDS {
            let both = [round(&bare, connections, &request).await, round(&bestow, connections, &request).await];
            ratios.push(both[1].rate / both[0].rate);
            both.into_iter().zip(&mut rounds).for_each(|(round, rounds)| rounds.push(round));
        }
        let [bare, bestow] = rounds.map(|rounds| {
            let rate = median(rounds.iter().map(|round| round.rate).collect());
            (rate, median(rounds.iter().map(|round| round.work).collect()))
        });
        println!(
            "  {connections:2} connections: bare {:6.0}/s ({:4.1} us)  bestow {:6.0}/s ({:4.1} us)  ratio {:.2}",
            bare.0,
            bare.1,
            bestow.0,
            bestow.1,
            median(ratios)
        );
    }
}

async fn round(server: &Server, connections: usize, request: &Arc<[u8]>) -> Round {
    let (before, started) = (server.work(), Instant::now());
    let mut calls = JoinSet::new();
    for _ in 0..connections {
        calls.spawn(call(server.address, Arc::clone(request), started + ROUND));
    }
    let count: u32 = calls.join_all().await.into_iter().sum();
    let (time, work) = (started.elapsed(), server.work() - before);
    Round { rate: f64::from(count) / time.as_secs_f64(), work: work.as_secs_f64() * 1e6 / f64::from(count) }
}

/// Makes one call after the other. Returns their number.
async fn call(address: SocketAddr, request: Arc<[u8]>, end: Instant) -> u32 {
    let mut connection = Connection::open(address).await;
    let mut count = 0;
    while Instant::now() < end {
        connection.call(&request).await;
        count += 1;
    }
    count
}
