//! The colours of Okabe and Ito, which people with any kind of colour blindness can tell apart. The same thing has
//! the same colour in every picture, here and in Python (`python/foretask/_displays/palette.py`).

/// Red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour(pub u8, pub u8, pub u8);

const BLUE: Colour = Colour(0x00, 0x72, 0xb2);
const VERMILLION: Colour = Colour(0xd5, 0x5e, 0x00);
const GREEN: Colour = Colour(0x00, 0x9e, 0x73);
const PURPLE: Colour = Colour(0xcc, 0x79, 0xa7);
const ORANGE: Colour = Colour(0xe6, 0x9f, 0x00);
const SKY: Colour = Colour(0x56, 0xb4, 0xe9);

/// The classes, in their order.
const CLASSES: [Colour; 6] = [BLUE, VERMILLION, PURPLE, ORANGE, SKY, GREEN];

/// What was foretold.
pub const FORETOLD: Colour = GREEN;
/// What was measured.
pub const MEASURED: Colour = Colour(0x00, 0x00, 0x00);
/// What lowers the error, and tasks alike.
pub const HELPS: Colour = BLUE;
/// What raises the error, and tasks opposed.
pub const HARMS: Colour = VERMILLION;
/// What cannot be told, and tasks that have nothing to do with one another.
pub const UNKNOWN: Colour = Colour(0x70, 0x70, 0x70);

/// Letters, lesser letters, and lines behind the data.
pub const TEXT: Colour = Colour(0x22, 0x22, 0x22);
pub const MUTED: Colour = Colour(0x60, 0x60, 0x60);
pub const GRID: Colour = Colour(0xe6, 0xe6, 0xe6);
pub const WHITE: Colour = Colour(0xff, 0xff, 0xff);

/// Of a class.
pub fn class(index: usize) -> Colour {
    CLASSES[index % CLASSES.len()]
}

impl Colour {
    /// On white, as if only so much of it were there.
    pub fn faded(self, share: f64) -> Self {
        let of = |part: u8| {
            let white = 255.0 - (255.0 - f64::from(part)) * share.clamp(0.0, 1.0);
            white.round() as u8
        };
        Self(of(self.0), of(self.1), of(self.2))
    }
}
