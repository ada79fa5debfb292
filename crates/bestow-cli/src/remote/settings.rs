//! The address of a server, and the token for it.

use std::{
    env, fmt,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use bestow::text::{Escaped, StrictJson};
use hyper::{Uri, header::HeaderValue};
use serde_json::Value;

use crate::args::RemoteArgs;

/// The address of a server without an option.
const DEFAULT: &str = "http://127.0.0.1:7422";

/// The begin of the address of a socket in the file system.
const SOCKET_SCHEME: &str = "unix://";

/// The longest ready file or token file, in bytes.
const LONGEST: usize = 4 << 10;

/// The places of the settings.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    url: Option<String>,
    ready_file: Option<PathBuf>,
    token_file: Option<PathBuf>,
    allow_plain_http: bool,
}

/// A place of a server in a network.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    /// The name or address of the server, without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
}

/// A server, and the authority to ask it.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    /// Its socket in the file system. It comes first.
    pub(crate) socket: Option<PathBuf>,
    pub(crate) address: Option<Address>,
    /// The value of `Host`.
    pub(crate) authority: HeaderValue,
    /// The path before the paths of the server.
    pub(crate) prefix: String,
    pub(crate) authorization: HeaderValue,
    /// True if the server may be another machine.
    pub(crate) may_be_remote: bool,
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.address, &self.socket) {
            (Some(Address { host, port }), _) => write!(f, "the server {}:{port}", Escaped(host)),
            (None, socket) => {
                let socket = socket.as_deref().unwrap_or(Path::new("")).to_string_lossy();
                write!(f, "the server {}", Escaped(&socket))
            }
        }
    }
}

impl Source {
    pub(crate) fn of(args: &RemoteArgs) -> Source {
        let RemoteArgs { url, ready_file, token_file, allow_plain_http } = args;
        Source {
            url: url.clone(),
            ready_file: ready_file.clone(),
            token_file: token_file.clone(),
            allow_plain_http: *allow_plain_http,
        }
    }

    /// Checks that there is a token, for a command that can also run an engine of its own. The server may not be there
    /// yet.
    pub(crate) fn token_is_there(&self) -> Result<(), String> {
        let token = self.token().and_then(|token| authorization(&token));
        token.map(drop).map_err(|why| format!("{why}; or run an engine of its own with `--agent ID`"))
    }

    /// Returns the address, and the socket in the ready file, if it names one.
    fn url(&self) -> Result<(String, Option<PathBuf>), String> {
        match (&self.url, &self.ready_file) {
            (Some(url), _) => Ok((url.clone(), None)),
            (None, Some(file)) => in_ready_file(file),
            (None, None) => Ok((variable("BESTOW_URL")?.unwrap_or_else(|| DEFAULT.to_owned()), None)),
        }
    }

    fn token(&self) -> Result<String, String> {
        let Some(file) = &self.token_file else {
            let missing = "there is no token: set BESTOW_TOKEN, or name a file with `--token-file`";
            return variable("BESTOW_TOKEN")?.ok_or_else(|| missing.to_owned());
        };
        let text = in_file("token file", file).map_err(|why| format!("{why}; `bestow token create` prints a token"))?;
        Ok(text.lines().next().unwrap_or_default().trim().to_owned())
    }
}

impl Server {
    /// Reads the settings.
    pub(crate) fn of(source: Source) -> Result<Server, String> {
        let authorization = authorization(&source.token()?)?;
        let (url, socket) = source.url()?;
        let wrong = |why: &str| format!("`{}` is not the address of a server: {why}", Escaped(&url));
        if let Some(path) = url.strip_prefix(SOCKET_SCHEME) {
            let socket = PathBuf::from(path);
            if !socket.is_absolute() {
                return Err(wrong("the path of a socket is absolute, as in `unix:///work/state/server.sock`"));
            }
            return Ok(Server {
                socket: Some(socket),
                address: None,
                authority: HeaderValue::from_static("localhost"),
                prefix: String::new(),
                authorization,
                may_be_remote: false,
            });
        }
        let example = "an address is as in `http://127.0.0.1:7422` or `unix:///work/state/server.sock`";
        let uri: Uri = url.parse().map_err(|_| wrong(example))?;
        if uri.scheme_str() == Some("https") {
            return Err(wrong("this command does not encrypt; use a proxy on this machine"));
        }
        let authority = uri.authority().filter(|_| uri.scheme_str() == Some("http") && uri.query().is_none());
        let authority =
            authority.filter(|authority| !authority.as_str().contains('@')).ok_or_else(|| wrong(example))?;
        let host = authority.host().trim_matches(['[', ']']).to_owned();
        Ok(Server {
            socket,
            address: Some(Address { host, port: uri.port_u16().unwrap_or(80) }),
            authority: HeaderValue::from_str(authority.as_str()).map_err(|_| wrong(example))?,
            prefix: uri.path().trim_end_matches('/').to_owned(),
            authorization,
            may_be_remote: source.allow_plain_http,
        })
    }
}

/// Returns the header with a token. A message never has the token.
fn authorization(token: &str) -> Result<HeaderValue, String> {
    let is_token = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    let header = if is_token { HeaderValue::from_str(&format!("Bearer {token}")).ok() } else { None };
    let mut header = header.ok_or("the token is not a text as `bestow token create` prints it")?;
    header.set_sensitive(true);
    Ok(header)
}

fn variable(name: &str) -> Result<Option<String>, String> {
    match env::var(name) {
        Ok(value) => Ok(Some(value).filter(|value| !value.is_empty())),
        Err(env::VarError::NotPresent) => Ok(None),
        Err(env::VarError::NotUnicode(_)) => Err(format!("the variable {name} is not a text")),
    }
}

fn in_ready_file(file: &Path) -> Result<(String, Option<PathBuf>), String> {
    let text = in_file("ready file", file).map_err(|why| format!("{why}; `bestow serve` writes it: is it running?"))?;
    let StrictJson(ready) = serde_json::from_str(&text).map_err(|why| {
        format!(
            "{} is no ready file: {why}; `bestow serve` writes `server.json` into its state directory",
            file.display()
        )
    })?;
    let text = |name: &str| ready.get(name).and_then(Value::as_str);
    let socket = text("socket").map(PathBuf::from).filter(|socket| socket.is_absolute());
    let url = text("url").ok_or_else(|| format!("the ready file {} has no `url`", file.display()))?;
    Ok((url.to_owned(), socket))
}

fn in_file(kind: &str, file: &Path) -> Result<String, String> {
    let wrong = |why: String| format!("the {kind} {}: {why}", file.display());
    let text = File::open(file).and_then(|open| at_most(open, LONGEST)).map_err(|why| wrong(why.to_string()))?;
    String::from_utf8(text).map_err(|_| wrong("it is not a text".to_owned()))
}

/// Reads everything, if it has at most this number of bytes.
pub(crate) fn at_most(from: impl Read, longest: usize) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let one_more = u64::try_from(longest).unwrap_or(u64::MAX).saturating_add(1);
    from.take(one_more).read_to_end(&mut text)?;
    if text.len() <= longest {
        Ok(text)
    } else {
        Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is longer than {longest} bytes")))
    }
}
