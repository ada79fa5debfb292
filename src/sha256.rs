//! SHA-256, from the library that the features select.
//!
//! `hmac-sha256` brings no other package. `sha2` brings seven, and uses the instructions of the processor for it: a
//! daemon has these packages anyway.

#[cfg(not(feature = "sha2"))]
pub(crate) use hmac_sha256::Hash as Sha256;
#[cfg(feature = "sha2")]
pub(crate) use with_instructions::Sha256;

#[cfg(feature = "sha2")]
mod with_instructions {
    use sha2::Digest;

    /// A hash that takes its text in parts.
    #[derive(Clone, Debug, Default)]
    pub(crate) struct Sha256(sha2::Sha256);

    impl Sha256 {
        pub(crate) fn new() -> Sha256 {
            Sha256::default()
        }

        pub(crate) fn hash(text: &[u8]) -> [u8; 32] {
            sha2::Sha256::digest(text).into()
        }

        pub(crate) fn update(&mut self, part: impl AsRef<[u8]>) {
            self.0.update(part);
        }

        pub(crate) fn finalize(self) -> [u8; 32] {
            self.0.finalize().into()
        }
    }
}
