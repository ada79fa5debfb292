//! Resource limits for commands of an agent.

use std::{str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

use super::duration;

/// Resource limits for a command. A limit cannot exceed the limit of this process itself.
///
/// A limit of none means the default of the sandbox. The default for processes is 4096, where they can be counted for
/// the command alone. The default for the memory of each process is the memory of the machine. The default for the
/// memory of all processes together is three quarters of that, where this process can make control groups.
/// [`Limits::UNLIMITED`] removes a limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Limits {
    /// The longest run time. After it, everything that the command started is killed. None means the default: two
    /// minutes, and one hour for `bestow exec`. [`Limits::FOREVER`] removes it.
    pub time: Option<Duration>,
    /// The number of bytes of each output stream that are kept.
    pub output: usize,
    /// The largest size of one written file, in bytes.
    pub file_size: Option<u64>,
    /// The most open descriptors of each process.
    pub open_files: Option<u64>,
    /// The most processes of the command, with everything that it started. A control group counts them where this
    /// process can make one. Otherwise, only those of the command count in a sandbox with namespaces, and else all of
    /// this user. For the superuser without a control group, only a process namespace enforces the limit (Linux 6.14),
    /// and only from 300 on.
    pub processes: Option<u64>,
    /// The most processor time of each process, in seconds.
    pub cpu_seconds: Option<u64>,
    /// The most private memory of each process, in bytes.
    pub memory: Option<u64>,
    /// The most memory of the command with everything that it started, in bytes. Only a control group enforces it.
    pub total_memory: Option<u64>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            time: None,
            output: 1 << 20,
            file_size: None,
            open_files: Some(1024),
            processes: None,
            cpu_seconds: None,
            memory: None,
            total_memory: None,
        }
    }
}

/// The names of all limits, in files and on the command line.
const NAMES: [&str; 8] =
    ["time", "output", "file_size", "open_files", "processes", "cpu_time", "memory", "total_memory"];

/// The longest run time of a command, if none is set.
const TIME: Duration = Duration::from_secs(120);

impl Limits {
    /// The value that removes a limit, including the default one.
    pub const UNLIMITED: u64 = u64::MAX;

    /// The run time of a command without a limit of time.
    pub const FOREVER: Duration = Duration::MAX;

    /// Returns the longest run time of a command to its end.
    pub(crate) fn time(&self) -> Duration {
        self.time.unwrap_or(TIME)
    }

    /// Sets the limit `name` to `value`, in the notation of `agents.toml` and `bestow exec --limit`: a time (`2m`), a
    /// size (`512MiB`), a number, or `unlimited`.
    ///
    /// # Errors
    ///
    /// [`InvalidLimit`] if no limit has this name, or the value is not valid for it.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), InvalidLimit> {
        let wrong = |expected| InvalidLimit::Value { name: name.into(), value: value.into(), expected };
        let time = || {
            let time = duration::parse(value).ok().filter(|time| !time.is_zero());
            let forever = unlimited(value).map(|_| Limits::FOREVER);
            time.or(forever).ok_or_else(|| wrong("a time, as in `2m`, or `unlimited`"))
        };
        let size = || size(value).ok_or_else(|| wrong("a size, as in `512MiB`, or `unlimited`"));
        let number = || {
            let number = value.parse().ok().filter(|number| *number != 0);
            number.or_else(|| unlimited(value)).ok_or_else(|| wrong("a whole number from 1, or `unlimited`"))
        };
        match name {
            "time" => self.time = Some(time()?),
            "output" => self.output = usize::try_from(size()?).unwrap_or(usize::MAX),
            "file_size" => self.file_size = Some(size()?),
            "open_files" => self.open_files = Some(number()?),
            "processes" => self.processes = Some(number()?),
            // The kernel counts whole seconds.
            "cpu_time" if unlimited(value).is_some() => self.cpu_seconds = Some(Limits::UNLIMITED),
            "cpu_time" => self.cpu_seconds = Some(time()?.as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX)),
            "memory" => self.memory = Some(size()?),
            "total_memory" => self.total_memory = Some(size()?),
            _ => return Err(InvalidLimit::Name(name.into())),
        }
        Ok(())
    }

    /// Lists the names of all limits, as [`Limits::set`] takes them.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.into_iter()
    }

    /// Returns `new`, with each limit that is laxer than now replaced by the current one.
    pub(crate) fn narrowed(&self, new: &Limits) -> Limits {
        // Most defaults depend on the machine, so a limit cannot be compared with them here.
        let least = |now: Option<u64>, new: Option<u64>| now.zip(new).map_or(now, |(now, new)| Some(now.min(new)));
        Limits {
            time: new.time.filter(|new| *new < self.time()).or(self.time),
            output: self.output.min(new.output),
            file_size: least(self.file_size, new.file_size),
            open_files: least(self.open_files, new.open_files),
            processes: least(self.processes, new.processes),
            cpu_seconds: least(self.cpu_seconds, new.cpu_seconds),
            memory: least(self.memory, new.memory),
            total_memory: least(self.total_memory, new.total_memory),
        }
    }
}

fn unlimited(value: &str) -> Option<u64> {
    (value == "unlimited").then_some(Limits::UNLIMITED)
}

/// Parses a size such as `512MiB`, or a number of bytes.
fn size(text: &str) -> Option<u64> {
    const UNITS: [(&str, u32); 5] = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40), ("", 0)];
    let (digits, shift) = UNITS.iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift)))?;
    let number = digits.parse::<u64>().ok().filter(|number| *number != 0 && !digits.starts_with('+'));
    number.and_then(|number| number.checked_mul(1 << shift)).or_else(|| unlimited(text))
}

/// The reason why a text is not a limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidLimit {
    /// The name is not the name of a limit.
    #[error("there is no limit {:?}: there are {}", .0, NAMES.join(", "))]
    Name(String),
    /// The limit cannot have this value.
    #[error("`{name}` must be {expected}, not {value:?}")]
    Value {
        /// The name of the limit.
        name: String,
        /// The invalid value.
        value: String,
        /// A description of valid values.
        expected: &'static str,
    },
    /// The text is not a name, `=` and a value.
    #[error("a limit is a name, `=` and a value, as in `memory=2GiB`, not {0:?}")]
    Form(String),
}

/// One limit in command-line notation: `memory=2GiB`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    name: String,
    value: String,
}

impl Limit {
    /// Sets this limit in `limits`.
    pub fn set_in(&self, limits: &mut Limits) {
        // The value was validated on parsing.
        let _ = limits.set(&self.name, &self.value);
    }
}

impl FromStr for Limit {
    type Err = InvalidLimit;

    fn from_str(text: &str) -> Result<Limit, InvalidLimit> {
        let (name, value) = text.split_once('=').ok_or_else(|| InvalidLimit::Form(text.to_owned()))?;
        Limits::default().set(name, value)?;
        Ok(Limit { name: name.to_owned(), value: value.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, value: &str) -> Result<Limits, InvalidLimit> {
        let mut limits = Limits::default();
        limits.set(name, value).map(|()| limits)
    }

    #[test]
    fn a_limit_is_a_time_a_size_or_a_number() {
        assert_eq!(with("time", "90s").unwrap().time, Some(Duration::from_secs(90)));
        assert_eq!(with("time", "unlimited").unwrap().time, Some(Limits::FOREVER));
        assert_eq!(with("total_memory", "1GiB").unwrap().total_memory, Some(1 << 30));
        assert_eq!(with("output", "2KiB").unwrap().output, 2048);
        assert_eq!(with("memory", "3GiB").unwrap().memory, Some(3 << 30));
        assert_eq!(with("memory", "1000").unwrap().memory, Some(1000));
        assert_eq!(with("file_size", "unlimited").unwrap().file_size, Some(Limits::UNLIMITED));
        assert_eq!(with("processes", "40").unwrap().processes, Some(40));
        assert_eq!(with("open_files", "unlimited").unwrap().open_files, Some(Limits::UNLIMITED));
        assert_eq!(with("cpu_time", "1500ms").unwrap().cpu_seconds, Some(2));
    }

    #[test]
    fn what_is_no_limit_is_named_with_what_would_be_one() {
        for name in NAMES {
            for value in ["", "0", "-1", "0s", "1.5GiB", "many", "99999999999999999999", "17179869184TiB", "+1"] {
                if (name, value) == ("processes", "+1") || (name, value) == ("open_files", "+1") {
                    continue;
                }
                let why = with(name, value).unwrap_err().to_string();
                assert!(
                    why.contains(name) && why.contains(&format!("{value:?}")) && why.contains("as in")
                        || why.contains("from 1"),
                    "{why}"
                );
            }
        }
        assert!(with("memroy", "1").unwrap_err().to_string().contains("cpu_time, memory, total_memory"));
        assert!("memory".parse::<Limit>().unwrap_err().to_string().contains("memory=2GiB"));
    }

    #[test]
    fn narrowed_limits_bound_no_less_than_before() {
        let now = with("memory", "1GiB").unwrap();
        assert_eq!(now.narrowed(&with("memory", "2GiB").unwrap()), now);
        assert_eq!(now.narrowed(&with("memory", "1MiB").unwrap()).memory, Some(1 << 20));
        assert_eq!(now.narrowed(&Limits::default()), now);
        assert_eq!(Limits::default().narrowed(&now).memory, None);
        let hour = with("time", "1h").unwrap();
        assert_eq!(hour.narrowed(&with("time", "1s").unwrap()).time, Some(Duration::from_secs(1)));
        assert_eq!(hour.narrowed(&with("time", "unlimited").unwrap()).time, hour.time);
        assert_eq!(now.narrowed(&hour).time, None);
        assert_eq!(now.narrowed(&with("time", "1s").unwrap()).time, Some(Duration::from_secs(1)));
        assert_eq!(hour.narrowed(&Limits::default()).time, hour.time, "`bestow exec` has a longer default");
    }
}
