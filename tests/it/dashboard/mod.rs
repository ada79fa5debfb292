//! Tests of the dashboard, in a real browser and with a real server.

mod answering;
mod browser;
mod entering;
mod found;
mod keyboard;
mod races;
mod stage;
mod webdriver;
