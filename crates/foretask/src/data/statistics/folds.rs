//! How many folds a target's rows are dealt to.

use super::dealt::{FOLDS, check_folds, other_folds};
use super::{Kept, Statistics};
use crate::error::Result;

impl Statistics<'_> {
    /// Deals the rows of targets ([`Statistics::with_target`]) to so many folds, 2 to 50; ten where nothing is said. Call
    /// it before rows are added: sums cannot be dealt out again.
    ///
    /// ```
    /// use foretask::Statistics;
    /// let five = Statistics::new(2).with_target("webcam").with_folds(5)?;
    /// let mut ten = Statistics::new(2).with_target("webcam");
    /// assert!(ten.merge(five).is_err());
    /// assert!(ten.with_folds(1).is_err());
    /// # Ok::<(), foretask::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`crate::Error::Setting`] if it is out of range, or rows were dealt to another number already.
    pub fn with_folds(mut self, folds: usize) -> Result<Self> {
        check_folds(folds)?;
        let dealt = (0..self.second.len()).find_map(|task| self.dealt(task));
        match dealt.map(|dealt| dealt.portions.len()) {
            Some(there) if there != folds => Err(other_folds(there, folds)),
            _ => {
                self.kept.folds = (folds != FOLDS).then_some(folds);
                Ok(self)
            }
        }
    }

    /// How many folds the rows of targets are dealt to; none if no task is to be a target.
    pub fn target_folds(&self) -> Option<usize> {
        self.kept.dealt_to()
    }

    /// How many folds a target's rows are dealt to.
    pub(crate) fn folds(&self) -> usize {
        self.kept.folds()
    }
}

impl Kept {
    pub(super) fn folds(&self) -> usize {
        self.folds.unwrap_or(FOLDS)
    }

    /// The same, if any task is to be a target.
    pub(super) fn dealt_to(&self) -> Option<usize> {
        (!self.targets.is_empty()).then(|| self.folds())
    }

    pub(super) fn check(&self) -> Result<()> {
        check_folds(self.folds())
    }

    /// Whether targets of both are dealt alike.
    pub(super) fn check_with(&self, other: &Self) -> Result<()> {
        match (self.dealt_to(), other.dealt_to()) {
            (Some(own), Some(others)) if own != others => Err(other_folds(own, others)),
            _ => Ok(()),
        }
    }
}
