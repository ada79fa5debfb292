//! Facts about redirections.

use crate::{
    syntax::tree::{Flow, Piece, Redirect},
    word::Word,
};

/// The descriptors of a line that may be files which are open for reading. `/dev/stderr` opens the file behind the
/// descriptor once more, also for writing. So it stores nothing only while the descriptor is no such file. What a line
/// has done counts everywhere in it: a function may run before or behind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Descriptors {
    /// True if a descriptor from 3 on may be such a file.
    others_read: bool,
    /// True if the output or the errors were a copy of a descriptor from 3 on.
    outputs_copy: bool,
}

impl Descriptors {
    /// Records a redirection to these targets. Returns true if a descriptor that [`is_free`] names may be a file which
    /// is open for reading now.
    pub(super) fn record(&mut self, redirect: &Redirect, targets: &[Word]) -> bool {
        let changed = changed(redirect);
        match redirect.flow {
            Flow::Read if targets.iter().all(|target| target.is_exact() && is_free(target.text())) => {}
            Flow::Read if is_output(changed) => return true,
            Flow::Read => self.others_read |= changed > 2,
            Flow::Duplicate => return self.copy(redirect),
            Flow::Write | Flow::HereString | Flow::HereDocument(_) => {}
        }
        self.others_read && self.outputs_copy
    }

    /// Records that a descriptor becomes a copy of another one.
    fn copy(&mut self, redirect: &Redirect) -> bool {
        let changed = changed(redirect);
        let copied = written(redirect).unwrap_or_default().trim_end_matches('-');
        match copied.parse::<u32>() {
            Ok(0) if is_output(changed) => return true,
            Ok(0) => self.others_read |= changed > 2,
            Ok(1 | 2) | Err(_) => {}
            Ok(_) => self.outputs_copy |= is_output(changed),
        }
        self.others_read && self.outputs_copy
    }
}

/// Returns the descriptor that a redirection changes.
fn changed(redirect: &Redirect) -> u32 {
    match (redirect.descriptor, redirect.flow) {
        // `{name}<` opens one from 10 on.
        _ if redirect.unusual => u32::MAX,
        (Some(descriptor), _) => descriptor,
        (None, Flow::Read) => 0,
        (None, _) => 1,
    }
}

/// Returns true for a descriptor that [`is_free`] names.
fn is_output(descriptor: u32) -> bool {
    matches!(descriptor, 1 | 2 | 63)
}

/// Returns true if a redirection may fail, so that its command does not run.
pub(super) fn may_fail(redirects: &[Redirect]) -> bool {
    redirects.iter().any(|redirect| match redirect.flow {
        Flow::HereString | Flow::HereDocument(_) => false,
        Flow::Duplicate => !written(redirect).is_some_and(|text| matches!(text, "0" | "1" | "2" | "-")),
        Flow::Read | Flow::Write => !written(redirect).is_some_and(|text| is_free(text) && text != "/dev/tty"),
    })
}

/// Returns the text of a target without expansions.
fn written(redirect: &Redirect) -> Option<&str> {
    match redirect.target.pieces.as_slice() {
        [Piece::Bare(text) | Piece::Quoted(text)] => Some(text.as_str()),
        _ => None,
    }
}

/// Returns true if the output goes elsewhere than into the pipe.
pub(super) fn goes_elsewhere(redirects: &[Redirect]) -> bool {
    let elsewhere =
        |redirect: &Redirect| redirect.flow == Flow::Write && redirect.descriptor.is_none_or(|number| number == 1);
    redirects.iter().any(elsewhere)
}

/// Returns true for a redirection target that stores nothing. For a descriptor, [`Descriptors`] has the exception.
pub(crate) fn is_free(target: &str) -> bool {
    matches!(
        target,
        "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "/dev/fd/1" | "/dev/fd/2" | "/dev/fd/63"
    )
}
