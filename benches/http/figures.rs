//! The figures of many measurements.

use std::{fmt, time::Duration};

/// Measured times, sorted.
pub(crate) struct Figures(Vec<Duration>);

impl Figures {
    pub(crate) fn of(mut times: Vec<Duration>) -> Figures {
        assert!(!times.is_empty(), "nothing was measured");
        times.sort();
        Figures(times)
    }

    /// Returns the time that this part of a thousand does not exceed.
    fn per_mille(&self, part: usize) -> Duration {
        self.0[((self.0.len() - 1) * part).div_ceil(1_000)]
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [half, most, last] = [500, 990, 1_000].map(|part| self.per_mille(part).as_secs_f64() * 1e3);
        write!(f, "p50 {half:7.3} ms  p99 {most:7.3} ms  longest {last:7.3} ms  of {}", self.0.len())
    }
}

/// Returns the median.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
