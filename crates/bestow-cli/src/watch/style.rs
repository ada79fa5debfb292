//! The colors of tiers.

use bestow::command::Tier;
use ratatui::style::{Color, Style};

/// Returns the style of a tier. The word stands beside it, for screens without colors.
pub(super) fn tier_style(tier: Tier) -> Style {
    match tier {
        Tier::Safe => Style::new().fg(Color::Green),
        Tier::Dangerous => Style::new().fg(Color::Yellow),
        Tier::Destructive => Style::new().fg(Color::Red).bold(),
    }
}
