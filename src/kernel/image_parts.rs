//! A reader of an image that frees what it has read. An image is about as large as the state that is read from it, so
//! an engine that starts would otherwise need twice the memory.

use std::io::{self, Read};

/// The bytes that are freed at once.
const PART: usize = 1 << 20;

/// The parts of an image that are not read yet, the next one last.
#[derive(Debug)]
pub(super) struct ImageParts {
    parts: Vec<Vec<u8>>,
    /// The number of bytes of the next part that were read.
    read: usize,
}

impl From<Vec<u8>> for ImageParts {
    fn from(mut image: Vec<u8>) -> ImageParts {
        let mut parts = Vec::with_capacity(image.len() / PART + 1);
        // From the end on, so that there is never more than one part twice.
        while image.len() > PART {
            parts.push(image.split_off(image.len() - PART));
            image.shrink_to_fit();
        }
        parts.push(image);
        ImageParts { parts, read: 0 }
    }
}

impl Read for ImageParts {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while let Some(part) = self.parts.last() {
            let read = part.get(self.read..).unwrap_or_default().read(into)?;
            if read > 0 || into.is_empty() {
                self.read += read;
                return Ok(read);
            }
            self.parts.pop();
            self.read = 0;
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_an_image_is_read_in_order() {
        for length in [0, 1, PART - 1, PART, PART + 1, 3 * PART + 7] {
            let image: Vec<u8> = (0..length).map(|place| (place % 251) as u8).collect();
            let mut read = Vec::new();
            ImageParts::from(image.clone()).read_to_end(&mut read).unwrap();
            assert!(read == image, "{length}");
        }
    }
}
