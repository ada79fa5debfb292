//! `bestow audit`: reads, verifies and repairs the audit trail.

use std::{
    io::{self, BufWriter, Write, stderr, stdout},
    path::Path,
};

use bestow::{
    journal::{
        Head, HeadNote, JournalError,
        audit::{self, Cut, Record, Rotated},
    },
    text::Escaped,
};

use crate::{
    args::{AuditCommand, Form, ShowArgs},
    exit::Exit,
    server_files::name_credential_file,
    state::verify_person,
};

/// Carries out a command about the trail.
pub(crate) fn audit(command: &AuditCommand) -> Result<Exit, Exit> {
    let state = command.state();
    if !state.is_dir() {
        return Err(Exit::failed(JournalError::NotState { directory: state.clone() }));
    }
    match command {
        AuditCommand::Show(args) => show(state, args),
        AuditCommand::Verify { expect, noted, .. } => {
            let noted = noted.as_deref().map(noted_in).transpose()?;
            let expect = &expect.or(noted);
            let verified = audit::verify(state, *expect).map_err(Exit::failed)?;
            name_credential_file(state);
            let torn = verified.torn.map_or_else(String::new, |torn| format!("\nnot acknowledged, {torn}"));
            let events = if verified.head.sequence < verified.first {
                "there is no event: no decision was recorded here yet, or the records were removed".to_owned()
            } else {
                format!("events {} to {} follow from one another", verified.first, verified.head.sequence)
            };
            let end = if verified.has_noted_end {
                ""
            } else {
                "\nthere is no `LOCK`, as in an archive: if records are missing after them is unknown"
            };
            Ok(Exit::print(&format!("{events}{torn}{end}\nhead {}\n", verified.head)))
        }
        AuditCommand::Head { to, to_command, .. } => {
            let file = to.clone().map(HeadNote::File);
            let head = match file.or(to_command.clone().map(HeadNote::Command)) {
                Some(note) => note.note(state),
                None => audit::head(state),
            };
            let head = head.map_err(Exit::failed)?;
            Ok(Exit::print(&format!("{head}\n")))
        }
        AuditCommand::Rotate { to, person, .. } => {
            verify_person(state, person)?;
            let rotated = audit::rotate(state, to).map_err(Exit::failed)?;
            Ok(Exit::print(&rotated.map_or_else(nothing_to_move, |rotated| moved(&rotated, to))))
        }
        AuditCommand::Cut { before, person, .. } => {
            verify_person(state, person)?;
            Ok(Exit::print(&set_aside(&audit::cut(state, *before).map_err(Exit::failed)?)))
        }
    }
}

/// Returns the head that a file has.
fn noted_in(file: &Path) -> Result<Head, Exit> {
    let noted = HeadNote::File(file.to_owned()).read().map_err(Exit::failed)?;
    noted.ok_or_else(|| {
        let file = Escaped(&file.to_string_lossy()).to_string();
        Exit::failed(format!("`{file}` does not exist, so there is no head to compare with: name the file of the note"))
    })
}

fn nothing_to_move() -> String {
    "there is nothing to move yet: records are moved that are older than the last two snapshots\n".to_owned()
}

/// Describes what was moved, and the way to verify it.
fn moved(rotated: &Rotated, archive: &Path) -> String {
    let Rotated { first, segments, head, .. } = rotated;
    let (last, archive) = (head.sequence, Escaped(&archive.to_string_lossy()).to_string());
    format!(
        "events {first} to {last} are in {archive}, in {segments} more files\nhead {head}\nnote the head elsewhere; \
         `bestow audit verify --state {archive} --expect {head}` verifies the archive\n"
    )
}

/// Describes what was set aside, what was applied again, and what cannot be read.
fn set_aside(cut: &Cut) -> String {
    let again: String = cut.again.iter().map(|event| format!("stored again: {event}\n")).collect();
    let unread = match cut.unread {
        0 => String::new(),
        1 => "1 record cannot be read or was altered: if it revoked, denied or narrowed something, that is undone\n"
            .to_owned(),
        count => {
            format!(
                "{count} records cannot be read or were altered: if they revoked, denied or narrowed something, \
                 that is undone\n"
            )
        }
    };
    format!("the records after event {} are set aside\n{again}{unread}head {}\n", cut.kept, cut.head)
}

/// Prints the records that match. A name that occurs in no record may be mistyped, so it is an error.
fn show(state: &Path, args: &ShowArgs) -> Result<Exit, Exit> {
    let (filter, form) = (args.filter()?, args.form.form());
    let mut out = BufWriter::new(stdout().lock());
    let (at_any_time, mut is_named, mut is_printed) = (filter.at_any_time(), false, false);
    for record in audit::records(state).map_err(Exit::failed)? {
        let record = match record {
            Ok(record) => record,
            Err(why) => return Err(out.flush().map_or_else(|why| Exit::output_failed(&why), |()| Exit::failed(why))),
        };
        is_named = is_named || at_any_time.wants(&record);
        if filter.wants(&record) {
            is_printed = true;
            print(&mut out, &record, form).map_err(|why| Exit::output_failed(&why))?;
        }
    }
    out.flush().map_err(|why| Exit::output_failed(&why))?;
    if filter.names_something() && !is_named {
        return Err(Exit::failed(
            "no record of this trail has this name: `bestow grants` and `bestow requests` list names",
        ));
    }
    if !is_printed {
        // A closed standard error changes nothing here.
        let _ = writeln!(stderr().lock(), "bestow: no record of this trail matches");
    }
    Ok(Exit::Done)
}

fn print(out: &mut impl Write, record: &Record, form: Form) -> io::Result<()> {
    match form {
        Form::Text => writeln!(out, "{record}"),
        Form::Json => writeln!(out, "{}", record.to_json()?),
    }
}
