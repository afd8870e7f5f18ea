//! The UCI handwritten digits, embedded so that `foretask demo` needs nothing but the binary.
//!
//! 1,797 images of 8 x 8 pixels with values from 0 to 16, and the digit that each shows
//! (E. Alpaydin and C. Kaynak, *Optical Recognition of Handwritten Digits*, UCI Machine Learning
//! Repository, CC BY 4.0; see `data/README.md`). A pixel needs 5 bits, so a record of 64 pixels and a
//! label is 41 bytes and the whole set 72 KiB of the binary; unpacked it is 0.9 MB.

/// Pixels of an image.
pub const PIXELS: usize = 64;

const PACKED: &[u8] = include_bytes!("../data/digits.bin");
const BITS_PER_PIXEL: usize = 5;
const PACKED_PIXELS: usize = PIXELS * BITS_PER_PIXEL / 8;
const RECORD: usize = PACKED_PIXELS + 1;

/// The images and what they show.
#[derive(Debug, Clone, PartialEq)]
pub struct Digits {
    /// Row-major, images x [`PIXELS`], each from 0 to 16.
    pub pixels: Vec<f64>,
    /// The digit of each image.
    pub labels: Vec<u8>,
}

/// Unpacks the digits.
pub fn load() -> Digits {
    let images = PACKED.len() / RECORD;
    let mut pixels = Vec::with_capacity(images * PIXELS);
    let mut labels = Vec::with_capacity(images);
    for record in PACKED.chunks_exact(RECORD) {
        let (image, label) = record.split_at(PACKED_PIXELS);
        // Eight pixels fill five bytes exactly.
        for group in image.chunks_exact(BITS_PER_PIXEL) {
            let bits = group
                .iter()
                .fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
            pixels.extend(
                (0..8)
                    .rev()
                    .map(|pixel| (bits >> (pixel * BITS_PER_PIXEL) & 0b1_1111) as f64),
            );
        }
        labels.extend_from_slice(label);
    }
    Digits { pixels, labels }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_image_and_label_is_there() {
        let digits = load();
        assert_eq!(PACKED.len() % RECORD, 0);
        assert_eq!(digits.labels.len(), 1797);
        assert_eq!(digits.pixels.len(), 1797 * PIXELS);
        let mut counts = [0; 10];
        for &label in &digits.labels {
            counts[usize::from(label)] += 1;
        }
        assert_eq!(counts, [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]);
    }

    #[test]
    fn pixels_are_those_of_scikit_learn() {
        let digits = load();
        assert_eq!(digits.pixels.iter().sum::<f64>(), 561_718.0);
        assert!(
            digits
                .pixels
                .iter()
                .all(|pixel| (0.0..=16.0).contains(pixel))
        );
        // load_digits().data[0, 16:24] and data[1796, 56:], target[0] and target[1796].
        assert_eq!(digits.pixels[16..24], FIRST_IMAGE_THIRD_ROW);
        assert_eq!(digits.pixels[1796 * PIXELS + 56..], LAST_IMAGE_LAST_ROW);
        assert_eq!((digits.labels[0], digits.labels[1796]), (0, 8));
    }

    const FIRST_IMAGE_THIRD_ROW: [f64; 8] = [0.0, 3.0, 15.0, 2.0, 0.0, 11.0, 8.0, 0.0];
    const LAST_IMAGE_LAST_ROW: [f64; 8] = [0.0, 1.0, 8.0, 12.0, 14.0, 12.0, 1.0, 0.0];
}
