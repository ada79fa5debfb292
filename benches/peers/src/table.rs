//! The tables, in Markdown.

use crate::{
    contender::{Entry, Kind},
    measure::{Figures, Percentiles},
};

/// A contender in one world: its figures, or the bytes of memory that it would need.
pub(crate) type Row = (Entry, Result<Figures, f64>);

/// All contenders in one world.
pub(crate) struct Measured {
    pub(crate) agents: usize,
    pub(crate) roots: usize,
    pub(crate) rows: Vec<Row>,
}

/// Prints everything about one world.
pub(crate) fn print(world: &Measured) {
    println!("\n### {} agents with {} directories each\n", with_commas(world.agents as u64), world.roots);
    println!(
        "| contender | ratio to the best limit | p50 / p99 / p99.9, us | beside a writer, us | cold, us \
         | thousands a second, 1 and 2 threads | allocations | bytes an agent | load | a grant |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    for (entry, figures) in &world.rows {
        match figures {
            Ok(figures) => print_row(world, entry, figures),
            Err(bytes) => println!("| {} | {} | | | | | | | | |", entry.name, needs(*bytes)),
        }
    }
}

fn print_row(world: &Measured, entry: &Entry, figures: &Figures) {
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    let [one, two] = figures.rates.map(|rate| rate / 1e3);
    println!(
        "| {} | {:.1} | {} | {} | {} | {}, {} ({:.1}) | {} | {} | {} | {} |",
        entry.name,
        figures.warm / best_limit(world, has_handles(entry)),
        micros(figures.single),
        or_none(figures.beside_writer.map(micros)),
        micros(figures.cold),
        short(one),
        short(two),
        two / one,
        short(figures.allocations),
        with_commas(figures.bytes_per_agent.max(0) as u64),
        time(figures.load),
        or_none(figures.grant.map(time)),
    );
}

/// Prints the time of a check in all worlds.
pub(crate) fn print_checks(worlds: &[Measured]) {
    let names = worlds.iter().map(|world| format!(" {} x {} |", with_commas(world.agents as u64), world.roots));
    println!("\n| a check, warm / cold |{}", names.collect::<String>());
    println!("|---|{}", "---:|".repeat(worlds.len()));
    for (place, (entry, _)) in worlds[0].rows.iter().enumerate() {
        let cells = worlds.iter().map(|world| match &world.rows[place].1 {
            Ok(figures) => format!(" {} / {} |", time(figures.warm as u64), time(figures.cold[0])),
            Err(bytes) => format!(" {} |", needs(*bytes)),
        });
        println!("| {} |{}", entry.name, cells.collect::<String>());
    }
}

fn needs(bytes: f64) -> String {
    format!("needs {:.0} GB", bytes / 1e9)
}

fn has_handles(entry: &Entry) -> bool {
    entry.name.ends_with("handle")
}

/// Returns the time of the fastest hand-written limit that finds agents by handle, or by id.
fn best_limit(world: &Measured, by_handle: bool) -> f64 {
    let limits = world.rows.iter().filter(|(entry, _)| entry.kind == Kind::Limit && has_handles(entry) == by_handle);
    let times = limits.filter_map(|(_, figures)| figures.as_ref().ok()).map(|figures| figures.warm);
    times.min_by(f64::total_cmp).unwrap_or(f64::NAN)
}

fn micros(percentiles: Percentiles) -> String {
    percentiles.map(|nanoseconds| short(nanoseconds as f64 / 1e3)).join(" / ")
}

/// Returns a number with the digits that say something.
fn short(number: f64) -> String {
    match number {
        ..0.005 => "0".to_owned(),
        ..9.995 => format!("{number:.2}"),
        ..99.95 => format!("{number:.1}"),
        _ => with_commas(number.round() as u64),
    }
}

/// Returns a time with a unit that fits.
pub(crate) fn time(nanoseconds: u64) -> String {
    match nanoseconds {
        0..1_000 => format!("{nanoseconds} ns"),
        1_000..1_000_000 => format!("{:.1} us", nanoseconds as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", nanoseconds as f64 / 1e6),
        _ => format!("{:.1} s", nanoseconds as f64 / 1e9),
    }
}

fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group)).collect();
    groups.join(",")
}
