//! Tests of the dashboard, in a real browser and with a real server.

mod answering;
mod browser;
mod elsewhere;
mod entering;
mod foreign_text;
mod found;
mod keyboard;
mod many;
mod policy;
mod races;
mod reconnect;
mod revoking;
mod stage;
mod views;
mod webdriver;
