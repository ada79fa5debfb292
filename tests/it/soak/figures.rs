//! The figures of a process at several moments, and whether they grow.

use std::{fmt, fs, time::Duration};

/// The figures of a process at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    /// The memory that the process occupies, in KiB.
    memory: f64,
    descriptors: f64,
    threads: f64,
    /// The number of calls since the last moment, and the microseconds of the median and of the 99th percentile.
    calls: usize,
    median: f64,
    slow: f64,
}

impl Figures {
    /// Returns the figures of process `id` now, with the times of its calls since the last moment.
    pub(super) fn of(id: u32, mut times: Vec<Duration>) -> Figures {
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.trim().trim_end_matches(" kB").parse::<f64>().unwrap()
        };
        times.sort_unstable();
        let at = |part: usize| times.get(times.len() * part / 100).map_or(0.0, |time| time.as_secs_f64() * 1e6);
        Figures {
            memory: field("VmRSS:"),
            descriptors: fs::read_dir(format!("/proc/{id}/fd")).unwrap().count() as f64,
            threads: field("Threads:"),
            calls: times.len(),
            median: at(50),
            slow: at(99),
        }
    }
}

/// The figures of a process at several moments.
pub(super) struct Series {
    name: &'static str,
    all: Vec<Figures>,
}

/// A figure, and the growth that counts as none: a factor, and a number.
type Bound = (&'static str, fn(&Figures) -> f64, f64, f64);

const BOUNDS: [Bound; 5] = [
    // The steps since the last snapshot stay in memory, up to two segments of them.
    ("memory in KiB", |figures| figures.memory, 1.1, 16_000.0),
    ("descriptors", |figures| figures.descriptors, 1.0, 8.0),
    ("threads", |figures| figures.threads, 1.0, 6.0),
    ("median in us", |figures| figures.median, 1.3, 1_000.0),
    ("99th percentile in us", |figures| figures.slow, 1.5, 20_000.0),
];

impl Series {
    pub(super) fn of(name: &'static str) -> Series {
        Series { name, all: Vec::new() }
    }

    pub(super) fn add(&mut self, figures: Figures) {
        self.all.push(figures);
    }

    /// Compares the middle third of the run with the last third. In the first third, buffers and caches fill.
    pub(super) fn problems(&self) -> Vec<String> {
        let third = self.all.len() / 3;
        let idle = self.all.iter().filter(|figures| figures.calls == 0).count();
        let mut problems: Vec<_> =
            (0 < idle).then(|| format!("{}: no calls in {idle} intervals", self.name)).into_iter().collect();
        for (what, of, factor, more) in BOUNDS {
            let [before, after] = [third..2 * third, 2 * third..self.all.len()]
                .map(|range| median(self.all.get(range).unwrap_or_default().iter().map(of).collect()));
            if before * factor + more < after {
                problems.push(format!("{}: {what}: {before:.0}, then {after:.0}", self.name));
            }
        }
        problems
    }
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or_default()
}

impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}:\n{:>8} {:>12} {:>8} {:>7} {:>10} {:>8}",
            self.name, "MB", "descriptors", "threads", "calls", "median us", "p99 us"
        )?;
        self.all.iter().try_for_each(|figures| {
            let Figures { memory, descriptors, threads, calls, median, slow } = figures;
            writeln!(f, "{:>8.1} {descriptors:>12} {threads:>8} {calls:>7} {median:>10.0} {slow:>8.0}", memory / 1024.0)
        })
    }
}

/// A series in which something grows is refused, and one that only swings is not.
#[test]
fn a_figure_that_grows_is_named() {
    let usual = Figures { memory: 50_000.0, descriptors: 30.0, threads: 9.0, calls: 100, median: 900.0, slow: 5_000.0 };
    let grown: [fn(&mut Figures, f64); 5] = [
        |figures, part| figures.memory += 160_000.0 * part,
        |figures, part| figures.descriptors += 60.0 * part,
        |figures, part| figures.threads += 40.0 * part,
        |figures, part| figures.median += 9_000.0 * part,
        |figures, part| figures.slow += 400_000.0 * part,
    ];
    let series = |change: &dyn Fn(&mut Figures, f64)| {
        let mut series = Series::of("a process");
        for number in 0..15 {
            let mut figures = usual.clone();
            figures.descriptors += f64::from(number % 4);
            figures.memory += f64::from(number % 3) * 900.0;
            change(&mut figures, f64::from(number) / 15.0);
            series.add(figures);
        }
        series
    };
    assert_eq!(series(&|_, _| {}).problems(), Vec::<String>::new());
    for (change, (what, ..)) in grown.into_iter().zip(BOUNDS) {
        let problems = series(&change).problems();
        assert!(problems.len() == 1 && problems[0].contains(what), "{problems:?}");
    }
    assert_eq!(series(&|figures, part| figures.calls *= usize::from(part < 0.5)).problems().len(), 1);
}
