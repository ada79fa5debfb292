//! The picture: two bars for each contender, on a logarithmic scale.

use std::fmt::Write;

use crate::{
    contender::{Entry, Kind},
    measure::Figures,
    table::{Measured, time},
};

const WIDTH: f64 = 820.0;
/// The space for the names, and for the times behind the bars.
const NAMES: f64 = 200.0;
const TIMES: f64 = 150.0;
const ROW: f64 = 30.0;
const HEAD: f64 = 74.0;
/// The time at which the bars begin, in nanoseconds.
const FIRST: f64 = 10.0;

/// Returns the picture of a check in one world, as SVG.
pub(crate) fn of(world: &Measured) -> String {
    let rows = world.rows.iter().filter_map(|(entry, figures)| Some((entry, figures.as_ref().ok()?)));
    let mut rows: Vec<_> = rows.collect();
    rows.sort_by(|(_, one), (_, other)| one.warm.total_cmp(&other.warm));
    let slowest = rows.iter().map(|(_, figures)| figures.warm.max(figures.cold[0] as f64)).fold(FIRST, f64::max);
    let scale = (WIDTH - NAMES - TIMES) / (slowest / FIRST).log10().max(1.0);
    let height = HEAD + ROW * rows.len() as f64 + 12.0;
    let mut svg = head(world, height);
    grid(&mut svg, slowest, scale, height);
    for (place, (entry, figures)) in rows.into_iter().enumerate() {
        row(&mut svg, entry, figures, HEAD + ROW * place as f64, scale);
    }
    svg + "</svg>\n"
}

fn head(world: &Measured, height: f64) -> String {
    let title = format!("A permission check, {} agents with {} directories each", world.agents, world.roots);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" role=\"img\" font-family=\"system-ui, sans-serif\" font-size=\"13\">\n\
         <title>{title}</title>\n\
         <style>text {{ fill: #24292f }} .grid {{ stroke: #8c959f; stroke-opacity: .3 }} .cold {{ opacity: .45 }} \
         @media (prefers-color-scheme: dark) {{ text {{ fill: #e6edf3 }} }}</style>\n\
         <text x=\"12\" y=\"22\" font-size=\"15\" font-weight=\"600\">{title} (less is better)</text>\n\
         <text x=\"12\" y=\"42\" font-size=\"12\">Thick: one check after the other. Pale: a check after the caches of \
         the processor were emptied.</text>\n"
    )
}

fn grid(svg: &mut String, slowest: f64, scale: f64, height: f64) {
    let ticks = std::iter::successors(Some(FIRST), |tick| Some(tick * 10.0)).take_while(|tick| *tick <= slowest);
    for tick in ticks {
        let x = NAMES + (tick / FIRST).log10() * scale;
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{HEAD}\" y2=\"{:.1}\"/>\n\
             <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\" font-size=\"11\">{}</text>",
            height - 10.0,
            HEAD - 8.0,
            time(tick as u64)
        );
    }
}

fn row(svg: &mut String, entry: &Entry, figures: &Figures, y: f64, scale: f64) {
    let color = match entry.kind {
        Kind::Own => "#2da44e",
        Kind::Limit => "#8c959f",
        Kind::Engine => "#0969da",
    };
    let [warm, cold] = [figures.warm, figures.cold[0] as f64].map(|time| ((time / FIRST).log10() * scale).max(2.0));
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n\
         <rect x=\"{NAMES}\" y=\"{:.1}\" width=\"{warm:.1}\" height=\"12\" rx=\"2\" fill=\"{color}\"/>\n\
         <rect class=\"cold\" x=\"{NAMES}\" y=\"{:.1}\" width=\"{cold:.1}\" height=\"6\" rx=\"2\" fill=\"{color}\"/>\n\
         <text x=\"{:.1}\" y=\"{:.1}\">{}, cold {}</text>",
        NAMES - 8.0,
        y + 18.0,
        entry.name,
        y + 3.0,
        y + 17.0,
        NAMES + warm.max(cold) + 6.0,
        y + 18.0,
        time(figures.warm as u64),
        time(figures.cold[0])
    );
}
