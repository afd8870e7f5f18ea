//! Histograms of oriented gradients, as MATLAB's `extractHOGFeatures` computes them with cells of 8 x 8 pixels
//! and its other defaults (Dalal and Triggs, 2005).
//!
//! ```text
//! gradient     central differences, one-sided at the border
//! orientation  unsigned, nine bins of 20°, each vote shared between the two nearest bin centres
//! block        2 x 2 cells, moved by one cell; a vote is weighted by a Gaussian about the block's centre
//!              (σ half the block) and shared between the four nearest cell centres within the block
//! block norm   L2-Hys: to norm one, no entry above .2, to norm one again
//! ```
//!
//! What is left of the image beyond whole cells, at the right and below, is not used. A 28 x 28 image has 3 x 3
//! cells, 2 x 2 blocks and 144 features.

/// Pixels of a cell's side.
const CELL: usize = 8;
/// Cells of a block's side.
const BLOCK: usize = 2;
/// Orientation bins over 180 degrees.
const BINS: usize = 9;
/// Features of a block.
const OF_BLOCK: usize = BLOCK * BLOCK * BINS;
/// No entry of a block is larger before it is normalised again.
const CLIP: f64 = 0.2;

/// The image in black and white, by Otsu's threshold as MATLAB's `imbinarize` does: the one that makes the
/// variance between the two groups of grey values largest, in 256 steps.
pub fn binarised(image: &[f32]) -> Vec<f64> {
    const LEVELS: usize = 256;
    let level = |x: f32| ((x * (LEVELS - 1) as f32).round() as usize).min(LEVELS - 1);
    let mut counts = [0.0_f64; LEVELS];
    image.iter().for_each(|&x| counts[level(x)] += 1.0);
    let total = image.len() as f64;
    let mean: f64 = (0..LEVELS).map(|i| i as f64 * counts[i]).sum::<f64>() / total;
    let (mut below, mut moment) = (0.0, 0.0);
    let mut best = (0.0, 0);
    for i in 0..LEVELS {
        below += counts[i] / total;
        moment += i as f64 * counts[i] / total;
        let between = (mean * below - moment).powi(2) / (below * (1.0 - below));
        // An empty group has no variance.
        if between.is_finite() && between > best.0 {
            best = (between, i);
        }
    }
    image
        .iter()
        .map(|&x| f64::from(u8::from(level(x) > best.1)))
        .collect()
}

/// The features of a grey image, row after row of `width` pixels: block after block down the columns of
/// blocks, in a block cell after cell the same way, in a cell bin after bin.
pub fn features(image: &[f64], width: usize) -> Vec<f64> {
    let height = image.len() / width;
    let (cells_x, cells_y) = (width / CELL, height / CELL);
    if cells_x < BLOCK || cells_y < BLOCK {
        return Vec::new();
    }
    let gradients = gradients(image, width, height);
    let mut all = Vec::new();
    for block_x in 0..=cells_x - BLOCK {
        for block_y in 0..=cells_y - BLOCK {
            let mut block = histogram(&gradients, width, block_x * CELL, block_y * CELL);
            normalise(&mut block);
            all.extend(block);
        }
    }
    all
}

/// How many features an image has.
pub fn count(width: usize, height: usize) -> usize {
    let blocks = |pixels: usize| (pixels / CELL + 1).saturating_sub(BLOCK);
    blocks(width) * blocks(height) * OF_BLOCK
}

/// Size and orientation in [0, 180) degrees of the gradient at each pixel.
fn gradients(image: &[f64], width: usize, height: usize) -> Vec<(f64, f64)> {
    let at = |x: usize, y: usize| image[y * width + x];
    // Where a neighbour is missing the pixel itself takes its place, without doubling.
    let difference = |before: f64, after: f64| after - before;
    let mut gradients = Vec::with_capacity(image.len());
    for y in 0..height {
        for x in 0..width {
            let dx = difference(at(x.saturating_sub(1), y), at((x + 1).min(width - 1), y));
            let dy = difference(at(x, y.saturating_sub(1)), at(x, (y + 1).min(height - 1)));
            // The image's y goes down, angles go up.
            let angle = (-dy).atan2(dx).to_degrees();
            gradients.push((dx.hypot(dy), angle.rem_euclid(180.0)));
        }
    }
    gradients
}

/// The two nearest centres of bins of `width`, numbered from zero, and the share of the first.
fn neighbours(x: f64, width: f64) -> (isize, f64) {
    let lower = (x / width - 0.5).floor();
    (lower as isize, 1.0 - (x / width - 0.5 - lower))
}

fn histogram(gradients: &[(f64, f64)], width: usize, left: usize, top: usize) -> Vec<f64> {
    let side = BLOCK * CELL;
    let middle = (side as f64 - 1.0) / 2.0;
    let deviation = 0.5 * side as f64;
    let mut block = vec![0.0; OF_BLOCK];
    for y in 0..side {
        for x in 0..side {
            let (size, angle) = gradients[(top + y) * width + left + x];
            if size == 0.0 {
                continue;
            }
            let square = (x as f64 - middle).powi(2) + (y as f64 - middle).powi(2);
            let vote = size * (-square / (2.0 * deviation * deviation)).exp();
            let (cell_x, share_x) = neighbours(x as f64 + 0.5, CELL as f64);
            let (cell_y, share_y) = neighbours(y as f64 + 0.5, CELL as f64);
            let (bin, share) = neighbours(angle, 180.0 / BINS as f64);
            for (cx, wx) in [(cell_x, share_x), (cell_x + 1, 1.0 - share_x)] {
                for (cy, wy) in [(cell_y, share_y), (cell_y + 1, 1.0 - share_y)] {
                    let inside = |cell: isize| (0..BLOCK as isize).contains(&cell);
                    if !inside(cx) || !inside(cy) {
                        continue;
                    }
                    let cell = cx as usize * BLOCK + cy as usize;
                    for (b, w) in [(bin, share), (bin + 1, 1.0 - share)] {
                        // Half a turn is the same orientation.
                        let b = b.rem_euclid(BINS as isize) as usize;
                        block[cell * BINS + b] += vote * wx * wy * w;
                    }
                }
            }
        }
    }
    block
}

fn normalise(block: &mut [f64]) {
    let to_unit = |block: &mut [f64]| {
        let norm = block.iter().map(|x| x * x).sum::<f64>().sqrt() + f64::EPSILON;
        block.iter_mut().for_each(|x| *x /= norm);
    };
    to_unit(block);
    block.iter_mut().for_each(|x| *x = x.min(CLIP));
    to_unit(block);
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIDE: usize = 28;

    fn image(of: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        (0..SIDE * SIDE).map(|i| of(i % SIDE, i / SIDE)).collect()
    }

    /// Splits the features into blocks, cells and bins.
    fn bin(features: &[f64], block: usize, cell: usize, bin: usize) -> f64 {
        features[(block * 4 + cell) * 9 + bin]
    }

    #[test]
    fn there_are_144_features_and_every_block_has_norm_one() {
        assert_eq!(count(SIDE, SIDE), 144);
        let wave = image(|x, y| ((x * x + 3 * y) % 7) as f64);
        let found = features(&wave, SIDE);
        assert_eq!(found.len(), 144);
        for block in found.chunks(36) {
            let norm: f64 = block.iter().map(|x| x * x).sum();
            assert!((norm - 1.0).abs() < 1e-12);
            assert!(block.iter().all(|&x| x >= 0.0));
        }
        assert!(features(&image(|_, _| 3.0), SIDE).iter().all(|&x| x == 0.0));
        assert!(features(&[1.0; 49], 7).is_empty());
    }

    /// By hand: a ramp to the right has gradient 2 to the right everywhere but at the border. An angle of
    /// zero lies halfway between the centres of the first (10°) and the last bin (170°), so each of the four
    /// cells has two equal entries; the block is symmetric, so all eight are equal, and L2-Hys leaves
    /// 1/√8 (clipped to .2 each, then to norm one again).
    #[test]
    fn a_ramp_votes_for_its_direction() {
        let features = features(&image(|x, _| x as f64), SIDE);
        // The last of the four blocks has no border pixel.
        for cell in 0..4 {
            for b in 0..9 {
                let expected = if b == 0 || b == 8 {
                    1.0 / 8.0_f64.sqrt()
                } else {
                    0.0
                };
                assert!((bin(&features, 3, cell, b) - expected).abs() < 1e-12);
            }
        }
    }

    /// By hand: a step between columns 11 and 12 in rows 0 to 15 of block 0 (pixels 0 to 15). The gradient is 1
    /// at x = 11 and 12 (for unit height) and zero elsewhere. Pixel centres 11.5 and 12.5 lie .5 below and
    /// above the right cells' centre 12: shares 1/16 to the left and 15/16 to the right, and 1/16 beyond the
    /// block, lost. With Gaussian weights g(11) = exp(-3.5²/128) and g(12) = exp(-4.5²/128), left and right
    /// have the ratio (g(11)/16) / (15/16 (g(11) + g(12))) in every bin, before clipping.
    #[test]
    fn votes_are_shared_between_cells_within_the_block() {
        let step = image(|x, _| if x >= 12 { 1.0 } else { 0.0 });
        let raw = histogram(&gradients(&step, SIDE, SIDE), SIDE, 0, 0);
        let g = |x: f64| (-(x - 7.5_f64).powi(2) / 128.0).exp();
        let ratio = (g(11.0) / 16.0) / (15.0 / 16.0 * (g(11.0) + g(12.0)));
        for row in 0..2 {
            let (left, right) = (raw[row * 9], raw[(2 + row) * 9]);
            assert!(right > 0.0 && (left / right - ratio).abs() < 1e-12);
        }
        // All orientation zero: first and last bin alike.
        assert!((raw[0] - raw[8]).abs() < 1e-15);
    }

    #[test]
    fn an_image_of_two_greys_is_parted_between_them() {
        let image = [0.1, 0.15, 0.1, 0.8, 0.75, 0.1];
        assert_eq!(binarised(&image), [0.0, 0.0, 0.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn contrast_does_not_matter_and_a_mirror_image_mirrors_blocks_and_bins() {
        // Zero outside the 24 x 24 pixels that are used, and symmetric room about them.
        let blob = |x: usize, y: usize| {
            let (dx, dy) = (x as f64 - 9.0, y as f64 - 13.0);
            (-(dx * dx + 0.5 * dy * dy + 0.3 * dx * dy) / 20.0).exp()
        };
        let plain = features(&image(blob), SIDE);
        let bright = features(&image(|x, y| 7.0 * blob(x, y) + 2.0), SIDE);
        for (a, b) in plain.iter().zip(&bright) {
            assert!((a - b).abs() < 1e-12);
        }
        let turned: Vec<f64> = image(|x, y| {
            if x < 24 && y < 24 {
                blob(23 - x, y)
            } else {
                0.0
            }
        });
        let cut = image(|x, y| if x < 24 && y < 24 { blob(x, y) } else { 0.0 });
        let (raw, mirrored) = (
            histogram(&gradients(&cut, SIDE, SIDE), SIDE, 4, 4),
            histogram(&gradients(&turned, SIDE, SIDE), SIDE, 4, 4),
        );
        // The block from 4 to 19 is its own mirror image: cells left and right change places, and an angle a
        // becomes 180° - a, bin b becomes 8 - b.
        for cell in 0..4 {
            for b in 0..9 {
                let other = (cell + 2) % 4;
                assert!((raw[cell * 9 + b] - mirrored[other * 9 + 8 - b]).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn pixels_beyond_whole_cells_change_only_the_gradient_at_their_edge() {
        let inside = |x: usize, y: usize| f64::from(u8::from(x > 5 && x < 15 && y > 3 && y < 20));
        let noise = image(|x, y| {
            if x > 25 || y > 25 {
                ((x * y) % 5) as f64
            } else {
                inside(x, y)
            }
        });
        assert_eq!(features(&image(inside), SIDE), features(&noise, SIDE));
    }
}
