//! Streams of lines: bots over stdio, the control socket, the Model Context Protocol and the Agent Client Protocol. The
//! lines depend on the bytes, and never on the pieces in which they arrive.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use bestow::{
    control::control_hears,
    stdio::{Line, Lines},
};
use bestow_hosts::acp::line_in;
use bestow_mcp::{LONGEST_LINE, Lines as McpLines};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};

/// Runs a future that waits for nothing outside.
fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(future)
}

/// Bytes that arrive in pieces of this length.
struct Pieces {
    bytes: Vec<u8>,
    read: usize,
    length: usize,
}

impl Pieces {
    fn of(bytes: &[u8], length: u8) -> Pieces {
        Pieces { bytes: bytes.to_vec(), read: 0, length: usize::from(length).max(1) }
    }
}

impl AsyncRead for Pieces {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let most = self.length.min(into.remaining()).min(self.bytes.len() - self.read);
        into.put_slice(&self.bytes[self.read..self.read + most]);
        self.read += most;
        Poll::Ready(Ok(()))
    }
}

/// Checks the lines of bots. Each line of the bytes is a text, or one of the faults, in order.
pub fn stdio(bytes: &[u8], pieces: u8) {
    const MAX: usize = 32;
    let read = |length: u8| {
        run(async {
            let (mut lines, mut all) = (Lines::new(Pieces::of(bytes, length), MAX), Vec::new());
            while let Some(line) = lines.next().await.unwrap() {
                let is_endless = line == Line::Endless;
                all.push(line);
                if is_endless {
                    break;
                }
            }
            all
        })
    };
    let found = read(pieces);
    assert_eq!(found, read(u8::MAX));
    let whole = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let expected: Vec<&[u8]> = if bytes.is_empty() { Vec::new() } else { whole.split(|byte| *byte == b'\n').collect() };
    if !found.contains(&Line::Endless) {
        assert_eq!(found.len(), expected.len());
    }
    for (found, expected) in found.iter().zip(expected) {
        match found {
            Line::Text(text) => assert_eq!(text.as_bytes(), expected),
            Line::TooLong | Line::Endless => assert!(expected.len() > MAX),
            Line::NotUtf8 => assert!(std::str::from_utf8(expected).is_err()),
        }
    }
}

/// Checks the orders of the control socket. An order is read from one line or two, and the first has only the secret.
pub fn control(bytes: &[u8]) {
    match control_hears(bytes) {
        Ok((order, has_secret)) => {
            let mut lines = bytes.split(|byte| *byte == b'\n');
            if has_secret {
                let first: Value = serde_json::from_slice(lines.next().unwrap()).unwrap();
                assert!(first["token"].is_string() && first.as_object().unwrap().len() == 1);
            }
            // A second reader of the same line reads the same order.
            let line = lines.next().unwrap();
            let (again, _) = control_hears(line).unwrap();
            assert_eq!(format!("{order:?}"), format!("{again:?}"));
        }
        Err(why) => assert!(!why.is_empty()),
    }
}

/// Checks the lines of the Model Context Protocol. Each line is one object, one error, or nothing.
pub fn mcp(bytes: &[u8], pieces: u8) {
    let read = |length: u8| {
        run(async {
            let (client, mut errors) = tokio::io::duplex(1 << 20);
            let mut lines = McpLines::new(Pieces::of(bytes, length), client);
            let (mut all, mut told) = (Vec::new(), String::new());
            while let Some(value) = lines.next().await {
                assert!(value.is_object());
                all.push(value);
            }
            lines.end().await.unwrap();
            drop(lines);
            errors.read_to_string(&mut told).await.unwrap();
            (all, told)
        })
    };
    let (all, told) = read(pieces);
    assert_eq!((&all, &told), (&read(u8::MAX).0, &read(u8::MAX).1));
    let ends = bytes.iter().filter(|byte| **byte == b'\n').count();
    assert!(all.len() + told.lines().count() <= ends);
    for error in told.lines() {
        let error: Value = serde_json::from_str(error).unwrap();
        assert!(error["error"]["code"].is_i64() && !error["error"]["message"].as_str().unwrap().is_empty());
    }
    assert!(all.iter().all(|value| value.to_string().len() <= 8 * LONGEST_LINE));
    // The protocol itself takes a part of these objects for messages, and panics at none of them.
    run(async {
        let (client, _errors) = tokio::io::duplex(1 << 20);
        let mut lines = McpLines::new(Pieces::of(bytes, u8::MAX), client);
        let mut messages = 0;
        while Transport::<rmcp::RoleServer>::receive(&mut lines).await.is_some() {
            messages += 1;
        }
        assert!(messages <= all.len());
    });
}

/// Checks a line of the Agent Client Protocol. What is called a message is one object with the same method for every
/// reader, and an object is never called text.
pub fn acp(line: &[u8]) {
    let (kind, method) = line_in(line);
    let read: Option<Value> = serde_json::from_slice(line).ok();
    match kind {
        "message" => {
            let read = read.unwrap();
            assert!(read.is_object());
            assert_eq!(read.get("method").and_then(Value::as_str), method.as_deref());
        }
        "text" => assert!(!read.is_some_and(|read| read.is_object())),
        _ => assert_eq!((kind, method), ("unclear", None)),
    }
}
