//! Tests of the dashboard, in a real browser and with a real server.

mod activity;
mod answering;
mod browser;
mod demo;
mod elsewhere;
mod entering;
mod foreign_text;
mod found;
mod keyboard;
mod many;
mod notices;
mod policy;
mod races;
mod reconnect;
mod revoking;
mod shown;
mod speed;
mod stage;
mod views;
mod webdriver;
