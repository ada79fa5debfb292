//! `bestow audit`: the trail, read and verified.

use std::{
    io::{self, BufWriter, Write, stderr, stdout},
    path::Path,
};

use bestow::journal::{
    JournalError,
    audit::{self, Cut, Filter, Record},
};

use crate::{
    arguments::{Audit, Style},
    end::End,
};

pub(crate) fn audit(asked: &Audit) -> End {
    let (Audit::Show { state, .. } | Audit::Verify { state, .. } | Audit::Head { state } | Audit::Cut { state, .. }) =
        asked;
    if !state.is_dir() {
        return End::failed(JournalError::NotState { directory: state.clone() });
    }
    match asked {
        Audit::Show { state, filter, style } => show(state, filter, *style).unwrap_or_else(|end| end),
        Audit::Verify { state, expected } => match audit::verify(state, *expected) {
            Ok(verified) => {
                let torn = verified.torn.map_or_else(String::new, |torn| format!("\nnot acknowledged, {torn}"));
                let events = if verified.head.sequence < verified.first {
                    "there is no event: nothing has been decided here yet, or the records are gone".to_owned()
                } else {
                    format!("events {} to {} follow from one another", verified.first, verified.head.sequence)
                };
                End::said(&format!("{events}{torn}\nhead {}\n", verified.head))
            }
            Err(why) => End::failed(why),
        },
        Audit::Head { state } => match audit::verify(state, None) {
            Ok(verified) => End::said(&format!("{}\n", verified.head)),
            Err(why) => End::failed(why),
        },
        Audit::Cut { state, before } => match audit::cut(state, *before) {
            Ok(cut) => End::said(&aside(&cut)),
            Err(why) => End::failed(why),
        },
    }
}

/// What is there, what was taken away again, and what nobody knows.
fn aside(cut: &Cut) -> String {
    let again: String = cut.again.iter().map(|event| format!("again: {event}\n")).collect();
    let unread = match cut.unread {
        0 => String::new(),
        1 => "1 record cannot be read or was altered: what it revoked, denied or narrowed, if it did, is undone\n"
            .to_owned(),
        count => {
            format!(
                "{count} records cannot be read or were altered: what they revoked, denied or narrowed, if they did, is undone\n"
            )
        }
    };
    format!("what follows event {} is set aside\n{again}{unread}head {}\n", cut.kept, cut.head)
}

/// Prints what is wanted. Nothing at all may be a name that was mistyped, and says so.
fn show(state: &Path, filter: &Filter, style: Style) -> Result<End, End> {
    let mut out = BufWriter::new(stdout().lock());
    let (at_any_time, mut is_named, mut is_told) = (filter.at_any_time(), false, false);
    for record in audit::records(state).map_err(End::failed)? {
        let record = match record {
            Ok(record) => record,
            Err(why) => return Err(out.flush().map_or_else(|why| End::unheard(&why), |()| End::failed(why))),
        };
        is_named = is_named || at_any_time.wants(&record);
        if filter.wants(&record) {
            is_told = true;
            print(&mut out, &record, style).map_err(|why| End::unheard(&why))?;
        }
    }
    out.flush().map_err(|why| End::unheard(&why))?;
    if filter.names_something() && !is_named {
        return Err(End::failed(
            "no record of this trail names that: `bestow grants` and `bestow requests` list names",
        ));
    }
    if !is_told {
        // If standard error is gone, nobody needs to know.
        let _ = writeln!(stderr().lock(), "bestow: no record of this trail meets that");
    }
    Ok(End::Done)
}

fn print(out: &mut impl Write, record: &Record, style: Style) -> io::Result<()> {
    match style {
        Style::Human => writeln!(out, "{record}"),
        Style::Json => writeln!(out, "{}", record.to_json()?),
    }
}
