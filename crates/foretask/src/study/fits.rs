//! [`Fits`]: what one target's rules stand on, all views of it.

use std::sync::{Arc, OnceLock};

use super::folded::Folded;
use super::shared::Shared;
use crate::error::Result;
use crate::recipe::{Nested, Tournament};
use crate::stop::Stop;
use crate::views::{Skipped, View};

/// The candidates of a target, and the data in the views they come from.
#[derive(Debug)]
pub(super) struct Fits<'a> {
    pub(super) tournament: Tournament,
    pub(super) views: Vec<Arc<Shared<'a>>>,
    /// Views that were asked for.
    pub(super) skipped: Vec<(View, Skipped)>,
    /// Its folds, where rows are many.
    pub(super) folded: Option<Folded<'a>>,
    nested: OnceLock<Option<Nested>>,
}

impl<'a> Fits<'a> {
    pub(super) fn new(tournament: Tournament) -> Self {
        Self {
            tournament,
            views: Vec::new(),
            skipped: Vec::new(),
            folded: None,
            nested: OnceLock::new(),
        }
    }

    /// Of a target with many rows.
    pub(super) fn in_folds(tournament: Tournament, folded: Folded<'a>) -> Self {
        Self {
            folded: Some(folded),
            ..Self::new(tournament)
        }
    }

    /// Everything without each fold; none where samples are too many, or too few in a class.
    ///
    /// # Errors
    /// If it is to stop; nothing is kept then.
    pub(super) fn nested(&self, stop: &Stop) -> Result<Option<&Nested>> {
        if let Some(nested) = self.nested.get() {
            return Ok(nested.as_ref());
        }
        let nested = self.tournament.nested(stop)?;
        Ok(self.nested.get_or_init(|| nested).as_ref())
    }

    /// The linear view that most of the weight is in: relative statements and theories speak of it.
    pub(super) fn main_view(&self) -> Option<&Arc<Shared<'a>>> {
        let weights = self.tournament.weights();
        let weight = |view: View| -> f64 {
            let entries = self.tournament.entries.iter().zip(&weights);
            let own = entries.filter(|(entry, _)| entry.view == view);
            own.map(|(_, weight)| weight).sum()
        };
        let linear = self.views.iter().filter(|shared| shared.view.is_linear());
        // The first of equals.
        linear
            .rev()
            .max_by(|a, b| weight(a.view).total_cmp(&weight(b.view)))
    }
}
