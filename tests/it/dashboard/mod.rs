//! Tests of the dashboard, in a real browser and with a real server.

mod browser;
mod entering;
mod found;
mod stage;
mod webdriver;
