//! Step 3a for a target in folds: class scores of its rows by models without their fold.

use faer::Mat;

use super::averaged::Listing;
use super::fits::Fits;
use super::folded::Folded;
use super::held_out::{HeldOut, Partition};
use super::target::Target;
use crate::error::Result;
use crate::recipe::Entry;

impl Target<'_, '_> {
    /// Class scores of each fold by the weighted candidates that qualify, all made without it.
    pub(super) fn held_out_folds(
        &self,
        fits: &Fits<'_>,
        folded: &Folded<'_>,
        qualifies: &dyn Fn(&Entry) -> bool,
    ) -> Result<HeldOut> {
        let tournament = &fits.tournament;
        let shares = &self.stakes().shares;
        let rows = &folded.rows;
        let mut scores = Mat::zeros(rows.len(), shares.len());
        for (fold, members) in folded.members.iter().enumerate() {
            self.settings().stop.check()?;
            let weights = tournament.weights_without(fold, qualifies);
            let own = Listing::without(fits, &weights, fold).scores(self, shares)?;
            let zero = vec![0.0; rows.features()];
            let fold = rows.select(members.iter().copied());
            fold.for_panels(&zero, 1.0, |start, panel| {
                let of_panel = own.of(panel);
                for (row, &sample) in members[start..start + panel.ncols()].iter().enumerate() {
                    for c in 0..shares.len() {
                        scores[(sample, c)] = of_panel[(row, c)];
                    }
                }
            });
        }
        Ok(HeldOut {
            class: folded.class.clone(),
            importance: folded.importance.clone(),
            repeats: vec![Partition {
                scores,
                folds: folded.members.clone(),
            }],
            half: None,
            // A tenth of many rows changes no error that could be told.
            kept: 1.0,
        })
    }
}
