//! Keys that answer requests.

use bestow::{
    Action, Answer, Outcome, PermissionRequest,
    decision::Check,
    grant::{PermissionRef, Permissions, Scope},
};

use rustix::process::Signal;

use super::{Place, READY, asks_for, asks_to, bob};
use crate::support::{real, tag, tags};

#[tokio::test(flavor = "multi_thread")]
async fn a_request_appears_with_everything_that_a_person_needs_and_a_key_allows_it() {
    let place = Place::new();
    let engine = place.engine().await;
    let (mut terminal, bob) = (place.watch(&engine), bob(&engine).await);
    terminal.shows("No request waits.");
    let ticket = asks_for(&bob, "@write:/ws/site", "to publish the site").await;
    let text = terminal.shows(&ticket.code().to_string());
    for part in ["1 waiting", "bob (subagent), for you", "write access to \"/ws/site\"", "\"to publish the site\""] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    terminal.shows(READY);
    terminal.press("a");
    assert_eq!(ticket.resolution().await.outcome, Outcome::Granted);
    assert_eq!(bob.check(PermissionRef::write("/ws/site")), Check::Held);
    terminal.shows("granted (this run) by you");
    terminal.press("q");
    assert_eq!(terminal.ends().code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_is_shown_with_its_parts_and_their_tiers() {
    let place = Place::new();
    let engine = place.engine().await;
    let (mut terminal, bob) = (place.watch(&engine), bob(&engine).await);
    let ticket = asks_to(&bob, Action::command("git status && make publish")).await;
    let text = terminal.shows(READY);
    for part in [
        "run `git status && make publish`",
        "part      safe `git status`",
        "part      dangerous `make publish`",
        "Dangerous command",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    terminal.press("a");
    let how = ticket.resolution().await;
    assert_eq!((how.outcome, how.scope), (Outcome::Granted, Some(Scope::Once)));
    terminal.shows("granted (once) by you");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denial_has_words_to_the_agent() {
    let place = Place::new();
    let engine = place.engine().await;
    let (mut terminal, bob) = (place.watch(&engine), bob(&engine).await);
    let [first, second] = [asks_for(&bob, "@network", "a").await, asks_for(&bob, "@events", "b").await];
    terminal.shows(READY);
    terminal.press("d");
    terminal.shows("Words to the agent");
    // The keys of the list are letters here.
    terminal.press("not today, qad\x7f1");
    terminal.shows("not today, qa1");
    terminal.press("\r");
    let how = first.resolution().await;
    assert_eq!(how.feedback.as_ref().unwrap().as_str(), "not today, qa1");
    assert_eq!(how.outcome, Outcome::Denied);
    terminal.shows("denied by you: not today, qa1");
    terminal.shows(&format!("> {}", second.code()));
    terminal.shows(READY);
    terminal.press("d");
    terminal.shows("Words to the agent");
    terminal.press("\x1b");
    terminal.hides("Words to the agent");
    assert!(second.poll().is_none(), "escape sends nothing");
    terminal.press("d\r");
    assert_eq!(second.resolution().await.feedback, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_possible_scopes_are_offered_and_keys_select_them() {
    let place = Place::new();
    let engine = place.engine().await;
    let (mut terminal, bob) = (place.watch(&engine), bob(&engine).await);
    let lasting = asks_for(&bob, "@network", "a").await;
    let text = terminal.shows(READY);
    for key in ["1 once", "2 this run", "3 until", "4 always"] {
        assert!(text.contains(key), "{key}:\n{text}");
    }
    terminal.press("4a");
    assert_eq!(lasting.resolution().await.scope, Some(Scope::Always));
    let short = bob
        .request(bestow::PermissionRequest::new(crate::support::tag("@events"), "b").at_most(Scope::Once))
        .await
        .unwrap();
    terminal.shows(&format!("> {}", short.code()));
    let text = terminal.shows(READY);
    assert!(text.contains("1 once") && !text.contains("4 always"), "{text}");
    terminal.press("4");
    terminal.shows("Not possible: the agent asks for less than that.");
    assert!(short.poll().is_none());
    terminal.press("a");
    assert_eq!(short.resolution().await.scope, Some(Scope::Once));

    let timed = asks_for(&bob, "@write:/ws/x", "c").await;
    terminal.shows(&format!("> {}", timed.code()));
    terminal.shows(READY);
    terminal.press("3");
    terminal.shows("until when?");
    terminal.press("soon\r");
    terminal.shows("`soon` is no time");
    terminal.press("\x152h\r");
    terminal.shows("Press a to allow it for 2h 00m.");
    assert!(timed.poll().is_none(), "the time alone is no answer");
    terminal.press("a");
    assert!(matches!(timed.resolution().await.scope, Some(Scope::Until(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_destructive_action_needs_its_code() {
    let place = Place::new();
    let engine = place.engine().await;
    let (mut terminal, bob) = (place.watch(&engine), bob(&engine).await);
    let action = Action::command("git push --force").needing(crate::support::tag("@events"));
    // A person has enabled it. It still lacks a permission.
    engine.approver("you", "ann", "test").enable("bob", &action, "it may").await.unwrap();
    let ticket = asks_to(&bob, action).await;
    let text = terminal.shows(READY);
    assert!(text.contains("destructive") && !text.contains("2 this run"), "{text}");
    terminal.press("a");
    terminal.shows("This cannot be undone.");
    terminal.press("yes\r");
    terminal.shows(&format!("That is not {}.", ticket.code()));
    assert!(ticket.poll().is_none());
    terminal.press(&format!("\x15{}\r", ticket.code()));
    assert_eq!(ticket.resolution().await.outcome, Outcome::Granted);
}

/// The attack: an agent times its request so that a person who allows another one hits this one.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_was_meant_for_another_request_does_not_answer_a_new_one() {
    let place = Place::new();
    let engine = place.engine().await;
    let (mut terminal, bob) = (place.watch(&engine), bob(&engine).await);
    // The key is there before the program can show the request.
    terminal.signal(Signal::STOP);
    let ticket = asks_for(&bob, "@network", "a").await;
    terminal.press("a");
    terminal.signal(Signal::CONT);
    terminal.shows(READY);
    assert!(ticket.poll().is_none());
    // The second key of a double press comes to the next request.
    let next = asks_for(&bob, "@write:/", "b").await;
    terminal.shows("2 waiting");
    terminal.shows(READY);
    terminal.press("aaaa");
    assert_eq!(ticket.resolution().await.outcome, Outcome::Granted);
    terminal.shows(&format!("> {}", next.code()));
    terminal.shows(READY);
    assert!(next.poll().is_none());
    terminal.press("d\r");
    assert_eq!(next.resolution().await.outcome, Outcome::Denied);
}

#[tokio::test(flavor = "multi_thread")]
async fn pasted_text_presses_no_key() {
    let place = Place::new();
    let engine = place.engine().await;
    let (mut terminal, bob) = (place.watch(&engine), bob(&engine).await);
    let ticket = asks_for(&bob, "@network", "a").await;
    terminal.shows(READY);
    terminal.press("\x1b[200~a\rq\x1b[201~d");
    terminal.shows("Words to the agent");
    assert!(ticket.poll().is_none());
    terminal.press("\x1b[200~one\ntwo\x1b[201~\r");
    assert_eq!(ticket.resolution().await.feedback.as_ref().unwrap().as_str(), "one two");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_of_another_person_is_shown_and_nothing_is_answered_twice() {
    let place = Place::new();
    let engine = place.engine().await;
    let (mut terminal, bob) = (place.watch(&engine), bob(&engine).await);
    let [first, second] = [asks_for(&bob, "@network", "a").await, asks_for(&bob, "@events", "b").await];
    terminal.shows(READY);
    let eve = engine.approver("you", "eve", "phone");
    eve.answer(first.id(), Answer::deny().feedback("no need".parse().unwrap())).await.unwrap();
    let text = terminal.shows("denied by eve (phone): no need");
    assert!(text.contains(&format!("> {}", first.code())), "the cursor stays:\n{text}");
    terminal.press("a");
    terminal.shows(&format!("[{}] has ended: denied by eve", first.code()));
    terminal.press("j");
    terminal.shows(&format!("> {}", second.code()));
    terminal.press("d");
    terminal.shows("Words to the agent");
    eve.answer(second.id(), Answer::allow()).await.unwrap();
    terminal.shows(&format!("[{}] has ended meanwhile: granted", second.code()));
    terminal.press("\r");
    assert_eq!(second.resolution().await.outcome, Outcome::Granted);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_order_stays_and_the_cursor_moves_by_keys_alone() {
    let place = Place::new();
    let engine = place.engine().await;
    let (mut terminal, bob) = (place.watch(&engine), bob(&engine).await);
    let mut tickets = Vec::new();
    for number in 0..4 {
        tickets.push(asks_for(&bob, &format!("@write:/ws/{number}"), "a").await);
    }
    terminal.shows("4 waiting");
    let rows = |text: &str| -> Vec<String> {
        let codes = tickets.iter().map(|ticket| ticket.code().to_string());
        let row = |code: &String| text.lines().position(|line| line.get(2..8) == Some(code));
        let mut found: Vec<_> = codes.map(|code| (row(&code), code)).collect();
        found.sort();
        found.into_iter().map(|(_, code)| code).collect()
    };
    let order: Vec<_> = tickets.iter().map(|ticket| ticket.code().to_string()).collect();
    terminal.press("jj");
    let text = terminal.shows(&format!("> {}", order[2]));
    assert_eq!(rows(&text), order);
    bob.cancel(tickets[0].id()).await.unwrap();
    let text = terminal.shows("3 waiting");
    assert!(text.contains(&format!("> {}", order[2])), "{text}");
    assert_eq!(rows(&text), order, "one that has ended stays in its place");
    terminal.press("k");
    terminal.shows(&format!("> {}", order[1]));
    terminal.hides(&order[0]);
    terminal.press("G");
    terminal.shows(&format!("> {}", order[3]));
    terminal.press("\x1b[A\x1b[B\x1b[A");
    terminal.shows(&format!("> {}", order[2]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_longer_than_the_screen_is_allowed_after_all_of_it_was_shown() {
    let place = Place::new();
    let engine = place.engine().await;
    let (mut terminal, bob) = (place.watch_in(&engine, (14, 60)), bob(&engine).await);
    let ticket = asks_for(&bob, "@network", &format!("{} the end", "word ".repeat(300))).await;
    terminal.shows("more lines: press space");
    terminal.shows(READY);
    terminal.press("a");
    terminal.shows("Not all of this request was on the screen.");
    terminal.press("\r");
    terminal.hides("──");
    terminal.press("G");
    terminal.shows("the end\"");
    terminal.press("a");
    terminal.shows("Not all of this request was on the screen.");
    terminal.press("g");
    let mut left = terminal.shows("more lines: press space");
    while let Some(more) = left.lines().find(|line| line.contains("more lines")) {
        terminal.press(" ");
        left = terminal.hides(more);
    }
    terminal.press("a");
    assert_eq!(ticket.resolution().await.outcome, Outcome::Granted);
}

#[tokio::test(flavor = "multi_thread")]
async fn help_lists_the_keys() {
    let place = Place::new();
    let engine = place.engine().await;
    let mut terminal = place.watch_in(&engine, (40, 120));
    terminal.press("?");
    for text in [
        "allow always, until it is revoked",
        "destructive action is allowed after its code",
        "it has no key `u` to undo that",
    ] {
        terminal.shows(text);
    }
    terminal.press("q");
    terminal.shows("No request waits.");
    terminal.press("\x03");
    assert_eq!(terminal.ends().code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn five_hundred_requests_are_one_list() {
    let place = Place::new();
    let mut settings = bestow::Settings::default();
    (settings.max_pending, settings.max_asks_per_minute) = (1_000, 1_000);
    let engine = place.engine_with(settings).await;
    let (mut terminal, bob) = (place.watch(&engine), bob(&engine).await);
    let mut last = None;
    for number in 0..500 {
        last = Some(asks_for(&bob, &format!("@write:/ws/{number}"), "a").await);
    }
    terminal.shows("500 waiting");
    let last = last.unwrap();
    terminal.press("G");
    terminal.shows(&format!("> {}", last.code()));
    let next = asks_for(&bob, "@network", "a").await;
    terminal.shows("501 waiting");
    terminal.press("G");
    terminal.shows(&format!("> {}", next.code()));
    terminal.shows(READY);
    terminal.press("a");
    assert_eq!(next.resolution().await.outcome, Outcome::Granted);
}

#[tokio::test(flavor = "multi_thread")]
async fn words_go_with_an_approval() {
    let place = Place::new();
    let engine = place.engine().await;
    let (mut terminal, bob) = (place.watch(&engine), bob(&engine).await);
    let ticket = asks_for(&bob, "@network", "to fetch the list").await;
    terminal.shows(READY);
    terminal.press("w");
    terminal.shows("Words to the agent if");
    terminal.press("only the mirror\r");
    terminal.shows("\"only the mirror\" goes with an approval");
    terminal.press("a");
    let how = ticket.resolution().await;
    assert_eq!(how.outcome, Outcome::Granted);
    assert_eq!(how.feedback.as_ref().unwrap().as_str(), "only the mirror");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_of_several_permissions_is_given_by_their_numbers() {
    let place = Place::new();
    let engine = place.engine().await;
    let (mut terminal, bob) = (place.watch(&engine), bob(&engine).await);
    let wanted = Permissions::try_from(tags(&["@network", "@write:/ws/site", "@write:/ws/else"])).unwrap();
    let wanted = PermissionRequest::new(wanted, "to publish");
    let ticket = bob.request(wanted).await.unwrap();
    let text = terminal.shows(READY);
    let number = |name: &str| {
        let line = text.lines().find(|line| line.starts_with("needs") && line.contains(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().to_owned()
    };
    let (network, site) = (number("network"), number("/ws/site"));
    terminal.press("p");
    terminal.shows("Which permissions of");
    terminal.press("7\r");
    terminal.shows("`7` is no number from 1 to 3.");
    terminal.press("\x15");
    terminal.press(&format!("{network} {site}\r"));
    terminal.shows("denied");
    terminal.press("a");
    let how = ticket.resolution().await;
    assert_eq!(how.granted.len(), 2, "{how:?}");
    assert_eq!(how.refused, [tag("@write:/ws/else")]);
}

/// A changed command is judged by the engine before the key allows it.
#[tokio::test(flavor = "multi_thread")]
async fn a_command_is_changed_and_judged_before_it_is_allowed() {
    let place = Place::new();
    let engine = place.engine().await;
    let (mut terminal, bob) = (place.watch(&engine), bob(&engine).await);
    let ticket = asks_to(&bob, Action::command("make all")).await;
    terminal.shows(READY);
    terminal.press("e");
    terminal.shows("The command to allow instead: make all");
    terminal.press("\x7f\x7f\x7fdocs\r");
    terminal.shows("run `make docs`");
    terminal.shows("dangerous: ");
    terminal.press("a");
    let how = ticket.resolution().await;
    assert_eq!(how.outcome, Outcome::Granted);
    assert_eq!(&*how.updated_input.as_ref().unwrap().resource, "make docs");

    let ticket = asks_to(&bob, Action::command("make once")).await;
    terminal.shows(&format!("> {}", ticket.code()));
    terminal.shows(READY);
    terminal.press("e");
    terminal.shows("The command to allow instead: make once");
    terminal.press("\x15rm -rf /\r");
    terminal.shows("destructive: ");
    terminal.press("a");
    terminal.shows("was not answered");
    assert!(ticket.poll().is_none(), "a more harmful command is not allowed");
}

/// Several requests are answered together, each for one use, and only those that were shown as a whole.
#[tokio::test(flavor = "multi_thread")]
async fn several_selected_requests_are_allowed_once() {
    let place = Place::new();
    let engine = place.engine().await;
    let (mut terminal, bob) = (place.watch(&engine), bob(&engine).await);
    let [first, second, third] = [
        asks_for(&bob, "@write:/ws/a", "a").await,
        asks_for(&bob, "@write:/ws/b", "b").await,
        asks_for(&bob, "@write:/ws/c", "c").await,
    ];
    // Each may have appeared at another time.
    for (key, path) in [("", "a"), ("j", "b"), ("k", "a")] {
        terminal.press(key);
        terminal.shows(&format!("needs     write access to \"/ws/{path}\""));
        terminal.shows(READY);
    }
    terminal.press("x");
    terminal.shows("a allow the selected once");
    terminal.press("j");
    terminal.shows("needs     write access to \"/ws/b\"");
    terminal.press("x");
    terminal.shows(&format!("» {}", second.code()));
    // The keys of one request do nothing now.
    terminal.press("4w");
    terminal.press("a");
    for ticket in [&first, &second] {
        let how = ticket.resolution().await;
        assert_eq!((how.outcome, how.scope), (Outcome::Granted, Some(Scope::Once)));
    }
    assert!(third.poll().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_request_says_where_a_path_leads() {
    let place = Place::new();
    let engine = place.engine().await;
    let (mut terminal, bob) = (place.watch(&engine), bob(&engine).await);
    let ground = tempfile::tempdir().unwrap();
    let site = real(ground.path()).join("site");
    std::fs::create_dir(&site).unwrap();
    std::fs::write(site.join("index.html"), "").unwrap();
    let _ticket = asks_for(&bob, &format!("@write:{}", site.display()), "to publish").await;
    terminal.shows("a directory with everything in it, now: index.html");
    let _ticket = asks_for(&bob, &format!("@write:{}/later", site.display()), "to publish").await;
    terminal.shows("2 waiting");
    terminal.press("j");
    terminal.shows("nothing is there yet");
}
