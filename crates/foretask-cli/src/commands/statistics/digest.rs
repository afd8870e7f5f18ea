//! What some bytes are known by.

use std::hash::Hasher;

use twox_hash::XxHash64;

/// 128 bits of a hash, in hexadecimal.
pub struct Digest(XxHash64, XxHash64);

impl Digest {
    /// Of nothing.
    pub fn new() -> Self {
        Self(XxHash64::with_seed(0), XxHash64::with_seed(1))
    }

    /// Of these.
    pub fn of(bytes: &[u8]) -> String {
        let mut digest = Self::new();
        digest.add(bytes);
        digest.text()
    }

    /// Of more.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
        self.1.write(bytes);
    }

    /// The hash so far.
    pub fn text(&self) -> String {
        format!("{:016x}{:016x}", self.0.finish(), self.1.finish())
    }
}
