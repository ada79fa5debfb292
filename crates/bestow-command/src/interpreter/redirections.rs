//! Facts about redirections.

use crate::syntax::tree::{Flow, Piece, Redirect};

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

/// Returns true for a redirection target that stores nothing.
pub(crate) fn is_free(target: &str) -> bool {
    matches!(
        target,
        "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "/dev/fd/1" | "/dev/fd/2" | "/dev/fd/63"
    )
}
