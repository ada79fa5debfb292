//! `bestow audit`: the trail, read and verified.

use std::io::{BufWriter, Write, stdout};

use bestow::journal::audit;

use crate::{
    arguments::{Audit, Style},
    end::End,
};

pub(crate) fn audit(asked: &Audit) -> End {
    match asked {
        Audit::Show { state, filter, style } => {
            let records = match audit::records(state) {
                Ok(records) => records,
                Err(why) => return End::failed(why),
            };
            let mut out = BufWriter::new(stdout().lock());
            for record in records {
                let record = match record {
                    Ok(record) => record,
                    Err(why) => return out.flush().map_or_else(|why| End::unheard(&why), |()| End::failed(why)),
                };
                if !filter.wants(&record) {
                    continue;
                }
                let written = match style {
                    Style::Human => writeln!(out, "{record}"),
                    Style::Json => record.to_json().map_err(Into::into).and_then(|json| writeln!(out, "{json}")),
                };
                if let Err(why) = written {
                    return End::unheard(&why);
                }
            }
            out.flush().map_or_else(|why| End::unheard(&why), |()| End::Done)
        }
        Audit::Verify { state, expected } => match audit::verify(state, *expected) {
            Ok(verified) => {
                let torn = verified.torn.map_or_else(String::new, |torn| format!("\nnot acknowledged, {torn}"));
                End::said(&format!(
                    "events {} to {} follow from one another{torn}\nhead {}\n",
                    verified.first, verified.head.sequence, verified.head
                ))
            }
            Err(why) => End::failed(why),
        },
        Audit::Head { state } => match audit::verify(state, None) {
            Ok(verified) => End::said(&format!("{}\n", verified.head)),
            Err(why) => End::failed(why),
        },
        Audit::Cut { state, before } => match audit::cut(state, *before) {
            Ok(head) => End::said(&format!("what follows event {} is set aside\nhead {head}\n", head.sequence)),
            Err(why) => End::failed(why),
        },
    }
}
