//! Step 3a for a target in folds: class scores by models without the fold, of its rows, or drawn with the moments that
//! they have where no row was kept.

use faer::Mat;
use rayon::prelude::*;

use super::averaged::Listing;
use super::fits::Fits;
use super::folded::Folded;
use super::held_out::{HeldOut, Partition};
use super::target::Target;
use crate::data::{Portion, RowBlock};
use crate::error::Result;
use crate::model::Scores;
use crate::numerics::{dense, points};
use crate::recipe::Entry;

impl Target<'_, '_> {
    /// Class scores of each fold by the weighted candidates that qualify, all made without it.
    pub(super) fn held_out_folds(
        &self,
        fits: &Fits<'_>,
        folded: &Folded<'_>,
        qualifies: &dyn Fn(&Entry) -> bool,
    ) -> Result<HeldOut> {
        let classes = self.classes();
        let mut scores = Mat::zeros(folded.class.len(), classes);
        // The same points for all that is compared.
        let points = match folded.rows {
            Some(_) => Mat::zeros(0, 0),
            None => points::normal_points(classes, folded.class.len()),
        };
        let folds = 0..folded.members.len();
        let models = folds.map(|fold| self.without_fold(fits, fold, qualifies));
        let models: Vec<Scores> = models.collect::<Result<_>>()?;
        let of_fold = |(fold, model): (usize, Scores)| {
            let members = &folded.members[fold];
            match &folded.rows {
                Some(rows) => of_rows(&model, &rows.select(members.iter().copied())),
                None => {
                    let class: Vec<usize> = members.iter().map(|&l| folded.class[l]).collect();
                    let points =
                        Mat::from_fn(members.len(), classes, |l, c| points[(members[l], c)]);
                    of_moments(&model, &folded.portions()[fold], &class, &points)
                }
            }
        };
        let own: Vec<Mat<f64>> = models.into_par_iter().enumerate().map(of_fold).collect();
        for (members, own) in folded.members.iter().zip(&own) {
            for (row, &sample) in members.iter().enumerate() {
                scores.row_mut(sample).copy_from(own.row(row));
            }
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

    /// Class scores by the weighted candidates that qualify, made without a fold.
    pub(super) fn without_fold(
        &self,
        fits: &Fits<'_>,
        fold: usize,
        qualifies: &dyn Fn(&Entry) -> bool,
    ) -> Result<Scores> {
        self.settings().stop.check()?;
        let weights = fits.tournament.weights_without(fold, qualifies);
        Listing::without(fits, &weights, fold).scores(self, &self.stakes().shares)
    }
}

pub(super) fn of_rows(model: &Scores, rows: &RowBlock<'_>) -> Mat<f64> {
    let mut scores = Mat::zeros(rows.len(), model.intercept.len());
    let zero = vec![0.0; rows.features()];
    rows.for_panels(&zero, 1.0, |start, panel| {
        let own = model.of(panel);
        let mut to = scores.as_mut().subrows_mut(start, panel.ncols());
        to.copy_from(&own);
    });
    scores
}

/// Scores of samples of known classes with the mean of their class in a fold, and the covariance that all its classes
/// have in common; `points` are standard normal. Streams have linear views only, so that weights say it all.
fn of_moments(model: &Scores, fold: &Portion, class: &[usize], points: &Mat<f64>) -> Mat<f64> {
    let means = model.of(fold.means.as_ref());
    let covariance = covariance_of(model, fold);
    let factor = points::factor(covariance.as_ref());
    let points = points.subcols(0, factor.ncols());
    let noise = dense::times(points, factor.transpose());
    Mat::from_fn(class.len(), means.ncols(), |l, c| {
        means[(class[l], c)] + noise[(l, c)]
    })
}

/// The covariance of the scores of a fold about the means of its classes.
pub(super) fn covariance_of(model: &Scores, fold: &Portion) -> Mat<f64> {
    let mut within = fold.within.clone();
    dense::mirror(&mut within);
    let half = dense::times(within.as_ref(), model.weights.as_ref());
    let spread = dense::times(model.weights.transpose(), half.as_ref());
    let present = fold.counts.iter().filter(|&&count| count > 0).count();
    let freedom = fold.samples().saturating_sub(present).max(1) as f64;
    spread / faer::Scale(freedom)
}
