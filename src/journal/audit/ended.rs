//! The outcomes of requests that an engine does not remember any more.

use std::{path::Path, sync::Arc};

use memchr::memmem;
use serde::Deserialize;

use super::Segments;
use crate::{
    journal::{JournalError, files::segment},
    model::{Event, RequestId, Resolution},
    ports::RealDisk,
};

/// A part of every record of a request that ended.
const ENDED: &[u8] = b"\"permission.resolved\"";

/// The part of a record that is read.
#[derive(Deserialize)]
struct Record {
    event: Event,
}

/// Returns how the request with this id or short code ended, as far back as the trail in `directory` reaches. Outcomes
/// for which `is_wanted` is false are passed over: a caller that acts for one owner passes over those of others. If
/// several requests had the code, the latest counts.
///
/// It reads the newest segments first, and of these only the records of ended requests. It does not find out if a
/// record was altered, as [`verify`](super::verify) does.
///
/// # Errors
///
/// [`JournalError::NotState`] if there is no journal; [`JournalError::Disk`] for every error of the disk.
pub fn resolution(
    directory: impl AsRef<Path>,
    named: &str,
    is_wanted: impl Fn(&Resolution) -> bool,
) -> Result<Option<Arc<Resolution>>, JournalError> {
    let named = named.trim().to_ascii_lowercase();
    let id: Option<RequestId> = named.parse().ok();
    let has_name = |how: &Resolution| match id {
        Some(id) => how.request == id,
        None => how.request.code().to_string() == named,
    };
    let text = id.map(|id| id.to_string());
    let needle = memmem::Finder::new(text.as_ref().map_or(ENDED, |text| text.as_bytes()));
    let Segments { files, firsts, .. } = Segments::of(Arc::new(RealDisk), directory.as_ref())?;
    for first in firsts.into_iter().rev() {
        let content = files.read(&segment(first))?;
        let found = content.split(|byte| *byte == b'\n').rev().filter(|line| needle.find(line).is_some());
        let ended = found.filter_map(ended_by).find(|how| has_name(how) && is_wanted(how));
        if ended.is_some() {
            return Ok(ended);
        }
    }
    Ok(None)
}

/// Returns how a request ended, if this record says so.
fn ended_by(line: &[u8]) -> Option<Arc<Resolution>> {
    memmem::find(line, ENDED)?;
    let Event::Resolved { resolution, .. } = serde_json::from_slice::<Record>(line).ok()?.event else { return None };
    Some(resolution)
}
