//! The picture: one bar for each contender, on a logarithmic scale.

use std::fmt::Write;

use crate::{measure::Figures, table::time};

const WIDTH: f64 = 760.0;
/// The space for the names, and for the time behind each bar.
const NAMES: f64 = 220.0;
const TIMES: f64 = 90.0;
const ROW: f64 = 24.0;
const HEAD: f64 = 56.0;

/// Returns the picture of a check in one world, as SVG.
pub(crate) fn of(title: &str, all: &[Figures]) -> String {
    let mut all: Vec<_> = all.iter().collect();
    all.sort_by(|one, other| one.check.total_cmp(&other.check));
    let slowest = all.last().map_or(10.0, |last| last.check);
    let scale = (WIDTH - NAMES - TIMES) / (slowest / 10.0).log10().max(1.0);
    let height = HEAD + ROW * all.len() as f64 + 12.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" role=\"img\" font-family=\"system-ui, sans-serif\" font-size=\"13\">\n\
         <title>{title}</title>\n\
         <style>text {{ fill: #24292f }} .grid {{ stroke: #8c959f; stroke-opacity: .3 }} \
         @media (prefers-color-scheme: dark) {{ text {{ fill: #e6edf3 }} }}</style>\n\
         <text x=\"12\" y=\"22\" font-size=\"15\" font-weight=\"600\">{title}</text>\n"
    );
    let mut tick = 10.0;
    while tick <= slowest {
        let x = NAMES + (tick / 10.0_f64).log10() * scale;
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{HEAD}\" y2=\"{:.1}\"/>\n\
             <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\" font-size=\"11\">{}</text>",
            height - 10.0,
            HEAD - 8.0,
            time(tick as u64)
        );
        tick *= 10.0;
    }
    for (place, figures) in all.into_iter().enumerate() {
        let y = HEAD + ROW * place as f64;
        let width = ((figures.check / 10.0).log10() * scale).max(2.0);
        let color = if figures.is_own {
            "#2da44e"
        } else if figures.is_limit {
            "#8c959f"
        } else {
            "#0969da"
        };
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n\
             <rect x=\"{NAMES}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"16\" rx=\"2\" fill=\"{color}\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            NAMES - 8.0,
            y + 16.0,
            figures.name,
            y + 4.0,
            NAMES + width + 6.0,
            y + 16.0,
            time(figures.check as u64)
        );
    }
    svg + "</svg>\n"
}
