//! The address of a server, and the token for it.

use std::{
    env, fmt,
    fs::File,
    io::{self, Read},
    os::unix::fs::MetadataExt as _,
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

/// The way to a server that a ready file names.
#[derive(Clone, Debug)]
struct Ready {
    url: String,
    socket: Option<PathBuf>,
    /// The user who wrote the file.
    owner: u32,
}

/// A server, and the authority to ask it.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    /// Its socket in the file system. Where there is one, the address is for users who may not open it.
    pub(crate) socket: Option<PathBuf>,
    pub(crate) address: Option<Address>,
    /// The user as whom the server runs, where a file says so. Nobody else gets the token.
    pub(crate) user: Option<u32>,
    /// The ready file that names the server.
    pub(crate) ready_file: Option<PathBuf>,
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

    /// Returns the address, and what the ready file says besides, if it is asked.
    fn url(&self) -> Result<(String, Option<Ready>), String> {
        match (&self.url, &self.ready_file) {
            (Some(url), _) => Ok((url.clone(), None)),
            (None, Some(file)) => read_ready_file(file).map(|ready| (ready.url.clone(), Some(ready))),
            (None, None) => Ok((variable("BESTOW_URL")?.unwrap_or_else(|| DEFAULT.to_owned()), None)),
        }
    }

    fn token(&self) -> Result<String, String> {
        let Some(file) = &self.token_file else {
            let missing = "there is no token: set BESTOW_TOKEN, or name a file with `--token-file`";
            return variable("BESTOW_TOKEN")?.ok_or_else(|| missing.to_owned());
        };
        let (text, _) =
            in_file("token file", file).map_err(|why| format!("{why}; `bestow token create` prints a token"))?;
        Ok(text.lines().next().unwrap_or_default().trim().to_owned())
    }
}

impl Server {
    /// Reads the settings.
    pub(crate) fn of(source: Source) -> Result<Server, String> {
        let authorization = authorization(&source.token()?)?;
        let (url, ready) = source.url()?;
        let wrong = |why: &str| format!("`{}` is not the address of a server: {why}", Escaped(&url));
        if let Some(path) = url.strip_prefix(SOCKET_SCHEME) {
            let socket = PathBuf::from(path);
            if !socket.is_absolute() {
                return Err(wrong("the path of a socket is absolute, as in `unix:///work/state/server.sock`"));
            }
            return Ok(Server {
                user: owner_of_directory(&socket),
                socket: Some(socket),
                address: None,
                ready_file: None,
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
            socket: ready.as_ref().and_then(|ready| ready.socket.clone()),
            user: ready.as_ref().map(|ready| ready.owner),
            ready_file: source.ready_file.filter(|_| ready.is_some()),
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

/// Returns the user who owns the directory of a socket, and so says which socket is there.
fn owner_of_directory(socket: &Path) -> Option<u32> {
    std::fs::metadata(socket.parent()?).ok().map(|directory| directory.uid())
}

fn read_ready_file(file: &Path) -> Result<Ready, String> {
    let (text, owner) =
        in_file("ready file", file).map_err(|why| format!("{why}; `bestow serve` writes it: is it running?"))?;
    if !is_place_of(owner, file) {
        return Err(format!(
            "the ready file {} is not believed: others than its owner may write its directory, and may have put it \
             there; name the file `server.json` in the state directory of the server",
            file.display()
        ));
    }
    let StrictJson(ready) = serde_json::from_str(&text).map_err(|why| {
        format!(
            "{} is no ready file: {why}; `bestow serve` writes `server.json` into its state directory",
            file.display()
        )
    })?;
    let text = |name: &str| ready.get(name).and_then(Value::as_str);
    let socket = text("socket").map(PathBuf::from).filter(|socket| socket.is_absolute());
    let url = text("url").ok_or_else(|| format!("the ready file {} has no `url`", file.display()))?;
    Ok(Ready { url: url.to_owned(), socket, owner })
}

/// Returns true if this user or root owns the file, or if nobody but its owner can put a file into its directory.
fn is_place_of(owner: u32, file: &Path) -> bool {
    let is_own = |uid: u32| uid == rustix::process::getuid().as_raw() || uid == 0;
    let above = file.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    is_own(owner)
        || std::fs::metadata(above).is_ok_and(|directory| {
            (directory.uid() == owner || is_own(directory.uid())) && directory.mode() & 0o022 == 0
        })
}

/// Returns the text of a file, and its owner.
fn in_file(kind: &str, file: &Path) -> Result<(String, u32), String> {
    let wrong = |why: String| format!("the {kind} {}: {why}", file.display());
    let read = || {
        let open = File::open(file)?;
        let owner = open.metadata()?.uid();
        Ok((at_most(open, LONGEST)?, owner))
    };
    let (text, owner) = read().map_err(|why: io::Error| wrong(why.to_string()))?;
    let text = String::from_utf8(text).map_err(|_| wrong("it is not a text".to_owned()))?;
    Ok((text, owner))
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
