//! Step 3a: judge a rule by samples that had no say in it.

use faer::Mat;

use super::learn::{NamedRule, moments_of};
use super::target::Target;
use crate::data::coupling::Coupling;
use crate::decision::{Decision, Discriminant, judged_score};
use crate::error::Result;
use crate::forecast::Forecast;
use crate::forecast::calibrate::temperature;
use crate::forecast::count::from_scores;
use crate::forecast::density::Density;
use crate::numerics::dense;
use crate::recipe::folds::{Folds, rows};
use crate::solve::leave_one_out::correct_mass;

/// Standardised scores beyond this are as certain as can be.
pub(super) const FARTHEST: f64 = 50.0;

/// A rule with its verdict.
pub(super) struct Judged {
    pub(super) discriminant: Discriminant,
    pub(super) slope: f64,
    pub(super) forecast: Forecast,
    /// Class scores in comparable units, n_t x m; none from a theory.
    pub(super) scores: Option<Mat<f64>>,
}

/// Class scores of samples that had no say in their rule.
pub(super) struct CrossFitted {
    /// In the units of the rule.
    pub(super) raw: Mat<f64>,
    /// In units of the mean margin, so that one temperature fits all folds.
    pub(super) standard: Mat<f64>,
}

impl Target<'_, '_> {
    /// The rule of all samples, judged by rules that each sample had no say in.
    pub(super) fn judged(
        &self,
        named: NamedRule,
        coupling: &Coupling,
        responses: &Mat<f64>,
    ) -> Result<Judged> {
        let (class, m) = (self.class(), self.classes());
        let mut responses = responses.clone();
        if named.keeps_columns() {
            correct_mass(&mut responses, &class, self.cells(), self.index());
        }
        let theory = self.prior_moments(named.labels, coupling)?;
        let learn = |samples: &[usize]| {
            let moments = moments_of(&responses, &class, samples, m, theory.as_ref());
            self.learn(named, &moments, &self.stakes().shares)
        };
        let everyone: Vec<usize> = (0..class.len()).collect();
        let discriminant = learn(&everyone);
        let scores_by = |discriminant: &Discriminant, samples: &[usize]| {
            let scores = dense::times(
                rows(&responses, samples).as_ref(),
                discriminant.label_scores.as_ref(),
            );
            discriminant.form.class_scores_of(&scores)
        };
        let fitted = self.cross_fit(&class, |samples, held_out| {
            let rule = match samples {
                Some(samples) => learn(samples),
                None => discriminant.clone(),
            };
            let own = scores_by(&rule, samples.unwrap_or(&everyone));
            (own, scores_by(&rule, held_out))
        });
        let unit = mean_margin(&scores_by(&discriminant, &everyone), &class);
        let (slope, forecast) = self.verdict(&fitted, &class, unit);
        Ok(Judged {
            discriminant,
            slope,
            forecast,
            scores: Some(fitted.standard),
        })
    }

    /// Class scores of each fold by a rule of the others. `by` gives the scores of the samples that were
    /// learned from (all of them where the others lack a class) and of those held out.
    fn cross_fit(
        &self,
        class: &[usize],
        by: impl Fn(Option<&[usize]>, &[usize]) -> (Mat<f64>, Mat<f64>),
    ) -> CrossFitted {
        let m = self.classes();
        let mut raw = Mat::zeros(class.len(), m);
        let mut standard = Mat::zeros(class.len(), m);
        for fold in &Folds::new(class, m, self.settings().seed) {
            let (own, scores) = by(fold.others.as_deref(), &fold.held_out);
            let own_class: Vec<usize> = match &fold.others {
                Some(others) => others.iter().map(|&l| class[l]).collect(),
                None => class.to_vec(),
            };
            let unit = mean_margin(&own, &own_class);
            for (i, &l) in fold.held_out.iter().enumerate() {
                let middle = (0..m).map(|c| scores[(i, c)]).sum::<f64>() / m as f64;
                for c in 0..m {
                    raw[(l, c)] = scores[(i, c)];
                    standard[(l, c)] =
                        ((scores[(i, c)] - middle) / unit).clamp(-FARTHEST, FARTHEST);
                }
            }
        }
        CrossFitted { raw, standard }
    }

    /// Slope and forecast of cross-fitted scores; `unit` is that of the rule of all samples.
    pub(super) fn verdict(
        &self,
        fitted: &CrossFitted,
        class: &[usize],
        unit: f64,
    ) -> (f64, Forecast) {
        let (sharpness, forecast) = self.count(&fitted.standard, class, &fitted.raw);
        (sharpness / unit, forecast)
    }

    /// Slope and forecast of class scores in the proportions of training; `judged` are those whose densities
    /// are told.
    pub(super) fn count(
        &self,
        scores: &Mat<f64>,
        class: &[usize],
        judged: &Mat<f64>,
    ) -> (f64, Forecast) {
        let slope = temperature(scores, class);
        let decision = Decision::of_class_scores(slope, self.stakes());
        let forecast = from_scores(
            scores,
            class,
            &decision.decide(scores),
            slope,
            self.stakes(),
            densities(judged, class),
        );
        (slope, forecast)
    }
}

/// Score (two classes) or margin of the right class (more), by class.
pub(super) fn densities(scores: &Mat<f64>, class: &[usize]) -> Vec<Density> {
    (0..scores.ncols())
        .map(|c| {
            let own = (0..class.len()).filter(|&l| class[l] == c);
            Density::of_scores(own.map(|l| judged_score(scores, l, c)).collect())
        })
        .collect()
}

/// The mean of the right class's score less the mean of the others: the unit of a rule's scores.
pub(super) fn mean_margin(scores: &Mat<f64>, class: &[usize]) -> f64 {
    let m = scores.ncols() as f64;
    let total: f64 = class
        .iter()
        .enumerate()
        .map(|(l, &c)| {
            let sum: f64 = (0..scores.ncols()).map(|d| scores[(l, d)]).sum();
            scores[(l, c)] - (sum - scores[(l, c)]) / (m - 1.0)
        })
        .sum();
    let size = scores.norm_max();
    (total / class.len() as f64).max(1e-9 * size).max(1e-300)
}

/// Scores in units.
pub(super) fn divided(scores: &Mat<f64>, unit: f64) -> Mat<f64> {
    Mat::from_fn(scores.nrows(), scores.ncols(), |l, c| scores[(l, c)] / unit)
}
