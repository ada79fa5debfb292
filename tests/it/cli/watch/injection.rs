//! Text of agents that would control the terminal, or lie to its reader.

use std::sync::Arc;

use bestow::{Action, InitialGrants, Kind, PermissionRequest, text::Name};
use serde_json::json;

use super::{Place, READY, asks_for, asks_to};
use crate::support::{profile, tag};

/// Controls a terminal: colors, the title, the clipboard, the alternate screen, a question about the cursor, a bell.
const CONTROL: &str = "\x1b[31mX\x1b]0;pwned\x07\x1b]52;c;cHduZWQ=\x07\x1b[?1049l\x1b[6n\x1bP1$q\x1b\\\
                       \u{9b}2J\u{9d}0;x\u{9c}\x08\r\n\x07";

/// Changes the direction of the text, and hides in it.
const BIDI: &str = "\u{202e}txt.exe\u{2066}a\u{2069}\u{200f}\u{200b}\u{feff}";

/// Fails if anything but the program itself controlled the terminal.
fn assert_clean(raw: &[u8]) {
    let text = String::from_utf8(raw.to_vec()).unwrap();
    for c in ['\u{202e}', '\u{2066}', '\u{2069}', '\u{200f}', '\u{200b}', '\u{feff}', '\u{9b}', '\u{9d}', '\x07'] {
        assert!(!text.contains(c), "{c:?} reached the terminal");
    }
    for sequence in text.split('\x1b').skip(1) {
        let rest = sequence.strip_prefix('[').unwrap_or_else(|| panic!("no CSI: {:?}", sequence.get(..20)));
        let end = rest.find(|c: char| c.is_ascii_alphabetic()).unwrap();
        let (parameters, last) = (&rest[..end], rest[end..].chars().next().unwrap());
        let is_ours = match last {
            'm' | 'H' | 'J' | 'K' | 'C' | 'D' => parameters.chars().all(|c| c.is_ascii_digit() || c == ';'),
            'h' => ["?1049", "?25", "?2004"].contains(&parameters),
            'l' => ["?25"].contains(&parameters),
            _ => false,
        };
        assert!(is_ours, "an unknown sequence: {parameters}{last}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_field_of_a_request_controls_the_terminal_or_misleads_its_reader() {
    let place = Place::new();
    let engine = place.engine().await;
    let mut terminal = place.watch_in(&engine, (60, 110));
    let evil = format!("{CONTROL}{BIDI}");
    let name = evil.replace(['\r', '\n'], "");
    let mut described = profile("bob", "you", Kind::Subagent);
    described.name = Some(name.parse::<Name>().unwrap());
    let bob = engine.register(described, InitialGrants::nothing()).await.unwrap();

    let command = format!("echo '{evil}'; make '{BIDI}'");
    let action =
        Action::command(&command).because(evil.parse().unwrap()).with_details(json!({ evil.as_str(): evil.as_str() }));
    let ticket = asks_to(&bob, action).await;
    terminal.shows(READY);
    let text = terminal.until("the whole request", |screen| screen.contents().contains("echo"));
    assert!(text.contains(r"\u{1b}[31mX") && text.contains(r"\u{202e}txt.exe"), "{text}");
    terminal.press("\r");
    terminal.shows("q back");
    terminal.press("q");
    terminal.shows("q quit");
    terminal.press("a");
    ticket.resolution().await;
    terminal.shows("by you");

    let path = format!("/ws/{BIDI}");
    let asked = asks_for(&bob, &format!("@write:{path}"), &evil).await;
    terminal.shows(&format!("> {}", asked.code()));
    terminal.shows(READY);
    let eve = engine.approver("you", "eve", Arc::<str>::from(evil.as_str()));
    eve.answer(asked.id(), bestow::Answer::deny().feedback(evil.parse().unwrap())).await.unwrap();
    terminal.shows("denied by eve");
    let tool = asks_to(&bob, Action::tool("deploy".parse().unwrap(), json!({ evil.as_str(): [evil.as_str()] }))).await;
    terminal.shows(&format!("> {}", tool.code()));
    terminal.shows(READY);
    // What a person types or pastes is text too.
    terminal.press(&format!("d\x1b[200~{BIDI}\x1b[201~"));
    terminal.shows(r"\u{202e}txt.exe");
    assert_clean(&terminal.raw());
    terminal.press("\x03q");
    assert_eq!(terminal.ends().code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn white_space_does_not_push_text_out_of_sight() {
    let place = Place::new();
    let engine = place.engine().await;
    let terminal = place.watch(&engine);
    let bob = super::bob(&engine).await;
    asks_to(&bob, Action::command(&format!("make test {}&& make evil", " ".repeat(120)))).await;
    let text = terminal.shows(READY);
    assert!(text.contains("make evil"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_look_alike_are_told_apart() {
    let place = Place::new();
    let engine = place.engine().await;
    let terminal = place.watch(&engine);
    let bob = super::bob(&engine).await;
    bob.request(PermissionRequest::new(tag("@write:/ws/p\u{430}ypal"), "to pay")).await.unwrap();
    terminal.shows(r"/ws/p\u{430}ypal");
}
