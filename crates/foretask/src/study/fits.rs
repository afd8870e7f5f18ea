//! [`Fits`]: what one target's rules stand on, all views of it.

use std::sync::Arc;

use super::shared::Shared;
use crate::recipe::Tournament;
use crate::views::{Skipped, View};

/// The candidates of a target, and the data in the views they come from.
#[derive(Debug)]
pub(super) struct Fits<'a> {
    pub(super) tournament: Tournament,
    pub(super) views: Vec<Arc<Shared<'a>>>,
    /// Views that were asked for.
    pub(super) skipped: Vec<(View, Skipped)>,
}

impl<'a> Fits<'a> {
    /// The linear view that most of the weight is in: relative statements and theories speak of it.
    pub(super) fn main_view(&self) -> Option<&Arc<Shared<'a>>> {
        let weights = self.tournament.weights(|_| true);
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
