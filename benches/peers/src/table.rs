//! The table, in Markdown.

use crate::measure::Figures;

/// Prints the figures of one world.
pub(crate) fn print(agents: usize, roots: usize, all: &[Figures]) {
    let (by_handle, by_id) = (best_limit(all, true), best_limit(all, false));
    println!("\n{} agents with {roots} directories each\n", with_commas(agents as u64));
    println!("| contender | a check | ratio to the best limit | p50 / p99 / p99.9 | bytes an agent | load | a grant |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for figures in all {
        let limit = if has_handles(figures) { by_handle } else { by_id };
        let [p50, p99, p999] = figures.percentiles.map(time);
        println!(
            "| {} | {} | {:.1} | {p50} / {p99} / {p999} | {} | {} | {} |",
            figures.name,
            time(figures.check as u64),
            figures.check / limit,
            with_commas(figures.bytes_per_agent.max(0) as u64),
            time((figures.load_ms * 1e6) as u64),
            figures.grant.map_or("–".to_owned(), time),
        );
    }
}

fn has_handles(figures: &Figures) -> bool {
    figures.name.ends_with("handle")
}

/// Returns the time of the fastest hand-written limit that finds agents by handle, or by id.
fn best_limit(all: &[Figures], by_handle: bool) -> f64 {
    let limits = all.iter().filter(|figures| figures.is_limit && has_handles(figures) == by_handle);
    limits.map(|figures| figures.check).min_by(f64::total_cmp).unwrap_or(f64::NAN)
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
