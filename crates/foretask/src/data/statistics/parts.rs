//! Parts: each is known by its content, so that none is counted twice, and all are merged in one fixed order.

use std::collections::BTreeSet;

use twox_hash::XxHash64;

use super::{Bounds, Statistics};
use crate::error::{Error, Result};

/// Of how many hexadecimal digits an identity is.
const DIGITS: usize = 32;

/// Whether this may be the identity of a part.
pub(super) fn is_identity(text: &str) -> bool {
    text.len() == DIGITS
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

impl Statistics<'_> {
    /// The identities of the parts that these statistics are the union of: 128 bits of a hash of what each holds, in
    /// hexadecimal. One that was never merged is a part itself; one without rows is none.
    pub fn parts(&self) -> BTreeSet<String> {
        match (self.parts.is_empty(), self.cells.is_empty()) {
            (false, _) => self.parts.clone(),
            (true, true) => BTreeSet::new(),
            (true, false) => BTreeSet::from([self.identity()]),
        }
    }

    /// Counts, means, squares and bounds say enough: other rows have others. Meant against accidents, not forgers.
    fn identity(&self) -> String {
        let mut bytes = Vec::new();
        let mut number = |x: f64| bytes.extend((x + 0.0).to_le_bytes());
        for matrix in [&self.means, &self.within] {
            for column in matrix.col_iter() {
                column.iter().for_each(|&x| number(x));
            }
        }
        for Bounds { least, most } in &self.bounds {
            least.iter().chain(most).for_each(|&x| number(x));
        }
        for task in self.cells.tasks() {
            let texts = std::iter::once(&task.name).chain(&task.classes);
            for text in texts {
                bytes.extend((text.len() as u64).to_le_bytes());
                bytes.extend(text.as_bytes());
            }
            for &count in &task.counts {
                bytes.extend((count as u64).to_le_bytes());
            }
        }
        let half = |seed: u64| XxHash64::oneshot(seed, &bytes);
        format!("{:016x}{:016x}", half(0), half(1))
    }
}

impl Statistics<'static> {
    /// The union of parts, merged in pairs: 0 with 1, 2 with 3, …, then those pairs in pairs, and so on; what is left
    /// over at a level goes up as it is.
    ///
    /// This tree, by the number of the part, is the canonical order. Floating-point sums depend on their grouping, so
    /// that parts merged one after the other have other last bits; whoever keeps to the tree has the same bits
    /// whatever the machine: runs of 2^j parts that begin at a multiple of 2^j may be merged anywhere first. No more
    /// than log₂ of the number of parts are held at a time.
    ///
    /// ```
    /// use foretask::{Rows, Statistics};
    /// let part = |x: f64| {
    ///     let mut part = Statistics::new(1);
    ///     part.add(Rows::row_major(&[x, x + 0.3], 1)?, &["t", "t"], &["a", "b"])?;
    ///     Ok::<_, foretask::Error>(part)
    /// };
    /// let whole = Statistics::merge_all([part(0.1)?, part(0.2)?, part(0.7)?])?;
    /// let pair = Statistics::merge_all([part(0.1)?, part(0.2)?])?;
    /// let same = Statistics::merge_all([pair, part(0.7)?])?;
    /// assert_eq!(whole.to_bytes()?, same.to_bytes()?);
    /// # Ok::<(), foretask::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Empty`] if there is no part, [`Error::SamePart`] if one is there twice, and those of
    /// [`Statistics::merge`]; all name the part by its number, from 1.
    pub fn merge_all(parts: impl IntoIterator<Item = Statistics<'static>>) -> Result<Self> {
        let mut seen = BTreeSet::new();
        // Subtrees of falling height, each with the number of its last part.
        let mut subtrees: Vec<(u32, usize, Self)> = Vec::new();
        for (index, part) in parts.into_iter().enumerate() {
            for identity in part.parts() {
                if !seen.insert(identity) {
                    return Err(Error::SamePart {
                        part: format!("part {}", index + 1),
                    });
                }
            }
            subtrees.push((0, index, part));
            while let [.., (a, ..), (b, ..)] = subtrees[..] {
                if a != b {
                    break;
                }
                fold_last(&mut subtrees)?;
            }
        }
        while subtrees.len() > 1 {
            fold_last(&mut subtrees)?;
        }
        let whole = subtrees.pop().map(|(_, _, whole)| whole);
        whole.ok_or(Error::Empty {
            rows: 0,
            features: 0,
        })
    }
}

fn fold_last(subtrees: &mut Vec<(u32, usize, Statistics<'static>)>) -> Result<()> {
    if let (Some((_, index, right)), Some((height, _, mut left))) = (subtrees.pop(), subtrees.pop())
    {
        left.unite(right, &format!("part {}", index + 1))?;
        subtrees.push((height + 1, index, left));
    }
    Ok(())
}
