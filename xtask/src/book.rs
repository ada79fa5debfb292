//! stub
pub(crate) fn build() -> super::Result<super::Outcome> {
    Err("".into())
}
