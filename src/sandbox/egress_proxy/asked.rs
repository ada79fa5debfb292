//! The request of a program to its proxy: parsed, and written anew for the host.

use httparse::{EMPTY_HEADER, Header, Request, Status};

use super::body::Body;
use crate::model::Domain;

/// The most headers of a request.
const MOST_HEADERS: usize = 128;

/// The headers that the proxy writes itself, or that are between the program and the proxy.
const LEFT_OUT: [&str; 8] =
    ["host", "connection", "keep-alive", "upgrade", "te", "trailer", "content-length", "transfer-encoding"];

/// The request of a program to its proxy.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) host: Domain,
    pub(super) port: u16,
    /// The request that the proxy sends to the host, or `None` for a tunnel.
    pub(super) forward: Option<Forward>,
}

/// A request to a host.
#[derive(Debug)]
pub(super) struct Forward {
    pub(super) head: Vec<u8>,
    pub(super) body: Body,
}

impl Asked {
    /// Parses the bytes up to the first empty line.
    pub(super) fn read(head: &[u8]) -> Result<Asked, String> {
        let mut headers = [EMPTY_HEADER; MOST_HEADERS];
        let mut request = Request::new(&mut headers);
        match request.parse(head) {
            Ok(Status::Complete(length)) if length == head.len() => {}
            Ok(_) => return Err("the head of the request has no clear end".into()),
            Err(why) => return Err(format!("this is no request of HTTP/1: {why}")),
        }
        let (Some(method), Some(target), Some(version)) = (request.method, request.path, request.version) else {
            return Err("a line has a method, a target and a version".into());
        };
        if method == "CONNECT" {
            let (host, port) = place(target, None)?;
            return Ok(Asked { host, port, forward: None });
        }
        let rest = target.strip_prefix("http://").ok_or("a target begins with `http://`, or the method is CONNECT")?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let (host, port) = place(authority, Some(80))?;
        let body = body(request.headers, version)?;
        let slash = if path.starts_with('/') { "" } else { "/" };
        let line = format!("{method} {slash}{path} HTTP/1.{version}\r\nHost: {authority}\r\nConnection: close\r\n");
        let mut head = line.into_bytes();
        for header in request.headers.iter().filter(|header| is_passed_on(header.name)) {
            head.extend([header.name.as_bytes(), b": ", header.value, b"\r\n"].concat());
        }
        head.extend(body.header().as_bytes());
        head.extend(b"\r\n");
        Ok(Asked { host, port, forward: Some(Forward { head, body }) })
    }
}

/// Returns the body that the headers announce. An ambiguous length is refused: the host could take the end of the body
/// for another request.
fn body(headers: &[Header<'_>], version: u8) -> Result<Body, String> {
    let (mut lengths, mut encodings) = (Vec::new(), Vec::new());
    for header in headers {
        // Some hosts take `_` for `-`.
        let values = match header.name.replace('_', "-").to_ascii_lowercase().as_str() {
            "content-length" => &mut lengths,
            "transfer-encoding" => &mut encodings,
            _ => continue,
        };
        if header.name.contains('_') {
            return Err(format!("`{}` is ambiguous", header.name));
        }
        values.push(header.value);
    }
    match (lengths.as_slice(), encodings.as_slice()) {
        ([], []) => Ok(Body::Length(None)),
        ([length], []) => Ok(Body::Length(Some(number(length).ok_or("`Content-Length` is not a number")?))),
        ([], [encoding]) if version == 1 && encoding.eq_ignore_ascii_case(b"chunked") => Ok(Body::Chunked),
        _ => Err("the length of the body is ambiguous: one `Content-Length` or `Transfer-Encoding: chunked`".into()),
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(digits).ok()?;
    // The parser of numbers accepts a sign.
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}

fn is_passed_on(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    !name.starts_with("proxy-") && !LEFT_OUT.contains(&name.as_str())
}

fn place(authority: &str, usual: Option<u16>) -> Result<(Domain, u16), String> {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (host, port.parse().ok()),
        Some(_) => (authority, None),
        None => (authority, usual),
    };
    let port = port.filter(|port| *port > 0).ok_or("a port is missing, or is none")?;
    Ok((host.parse::<Domain>().map_err(|why| format!("`{}`: {why}", host.escape_debug()))?, port))
}
