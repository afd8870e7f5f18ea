//! Step 3b: foretell by a theory, before anything is trained.

use faer::Mat;
use rayon::prelude::*;

use super::judge::{Judged, densities, divided, mean_margin};
use super::learn::{NamedRule, two};
use super::outcome::Surrogate;
use super::target::Target;
use crate::data::{Coupling, Importance};
use crate::decision::{Decision, Discriminant, Form, argmax};
use crate::error::Result;
use crate::estimate::Population;
use crate::forecast::draw::from_draws;
use crate::forecast::{Calibration, Forecast, Note};
use crate::moments::{Moments, centre_noise};
use crate::numerics::{dense, interval, orthant, points};
use crate::rules::ScoreLaw;
use crate::stakes::{Stakes, weighted};

/// Draws of all classes in a forecast by the theory.
const DRAWS: usize = 1 << 14;
/// Draws of all classes while a coupling is chosen, and for the change that makes an interval.
const FEW_DRAWS: usize = 1 << 12;
/// Draws of a class at least.
const LEAST_DRAWS: usize = 256;
/// Orthants beyond this dimension are left to the draws.
const MOST_MARGINS: usize = 20;
/// Absolute error of each of m orthant probabilities, over m: their mean is off by 2e-4 √m at most, far
/// below any forecast's own uncertainty.
const ORTHANT_TOLERANCE: f64 = 2e-4;

impl Target<'_, '_> {
    /// A rule by name as a theory sees it.
    pub(super) fn foretold(&self, named: NamedRule, coupling: &Coupling) -> Result<Judged> {
        let moments = self.foretold_moments(self.population, coupling)?;
        let discriminant = self.learn(named, &moments, &self.stakes().priors);
        let (slope, mut forecast) = self.forecast_by_draws(named, &discriminant, &moments);
        let error_of = self.error_of_draws(&discriminant, slope, &moments, forecast.error);
        let ends = self.foretold_ends(coupling)?;
        forecast.interval = self.foretold_interval(forecast.error, &ends, &error_of);
        Ok(Judged {
            discriminant,
            slope,
            forecast,
            judgements: None,
        })
    }

    /// The expected cost of a rule at a coupling.
    pub(super) fn foretold_cost(&self, named: NamedRule, coupling: &Coupling) -> Result<f64> {
        let stakes = self.stakes().in_use();
        let points = normal_points(self.cells().len(), FEW_DRAWS, self.classes());
        let moments = self.foretold_moments(self.population.guide(), coupling)?;
        let discriminant = self.learn(named.without_votes(), &moments, &stakes.priors);
        let errors = drawn_errors(&discriminant, &moments, &points);
        Ok(weighted(&stakes.weights(), &errors))
    }

    /// Slope and forecast of a rule whose scores have the law of `moments`; the interval is left open.
    pub(super) fn forecast_by_draws(
        &self,
        named: NamedRule,
        discriminant: &Discriminant,
        moments: &Moments,
    ) -> (f64, Forecast) {
        let stakes = self.stakes().in_use();
        let points = normal_points(moments.mean.ncols(), DRAWS, self.classes());
        let (scores, class) = drawn(discriminant, moments, &points);
        let unit = mean_margin(&scores, &class);
        let standard = divided(&scores, unit);
        let mut calibration = Calibration::of_slope(&standard, &class, &Importance::default(), 1);
        if named.is_posterior() {
            calibration.slope = unit;
            calibration.twin = unit;
        }
        let slope = calibration.slope / unit;
        let decision = Decision::of_class_scores(calibration.slope, &calibration.offsets, &stakes);
        let decisions = decision.decisions(&standard);
        let right = right_decisions(discriminant, moments, &stakes, slope);
        let mut forecast = from_draws(
            &standard,
            &class,
            &decisions,
            &calibration,
            &stakes,
            right,
            self.population.provenance,
        );
        forecast.samples = self.cells().samples(self.index());
        forecast.worth = forecast.samples as f64;
        forecast.densities = densities(&scores, &class);
        (slope, forecast)
    }

    /// The error of the same rule under other moments: `error` plus what fewer draws say of the change.
    pub(super) fn error_of_draws(
        &self,
        discriminant: &Discriminant,
        slope: f64,
        moments: &Moments,
        error: f64,
    ) -> impl Fn(&Moments) -> f64 + use<> {
        let stakes = self.stakes().in_use();
        let rule = effective(discriminant, &stakes, slope);
        let points = normal_points(moments.mean.ncols(), FEW_DRAWS, self.classes());
        let by_draws = move |moments: &Moments| {
            let errors = drawn_errors(&rule, moments, &points);
            weighted(&stakes.priors, &errors)
        };
        let before = by_draws(moments);
        move |moments| error + by_draws(moments) - before
    }

    /// The moments if the target's classes were as much closer or farther apart as their estimated distance
    /// is uncertain; none if it cannot be told from zero.
    pub(super) fn foretold_ends(&self, coupling: &Coupling) -> Result<Vec<Moments>> {
        let factors = self.population.distance_factors(self.index());
        let end = |factor| {
            let stretched = self.population.stretched(self.index(), factor);
            self.foretold_moments(&stretched, coupling)
        };
        factors.into_iter().map(end).collect()
    }

    /// From `value` to what it is at the ends.
    pub(super) fn foretold_interval(
        &self,
        value: f64,
        ends: &[Moments],
        of: &dyn Fn(&Moments) -> f64,
    ) -> [f64; 2] {
        if ends.is_empty() {
            return interval(value, self.cells().samples(self.index()) as f64, 1.0);
        }
        around(value, ends.iter().map(of))
    }

    /// A note if the Gaussian theory, at the same coupling and labels, foretells another error.
    pub(super) fn disagreement(
        &self,
        forecast: &Forecast,
        leading: Option<&Surrogate>,
    ) -> Result<Option<Note>> {
        // A held rate has another threshold than the one of least error that this compares, and a theory knows no
        // weights.
        let comparable =
            self.classes() == 2 && self.plan.null.is_none() && !self.cells().are_weighed();
        let Some(first) = leading.filter(|_| comparable) else {
            return Ok(None);
        };
        let theory = gaussian_error(self.population, first, self.index(), self.stakes())?;
        let floor = 1.0 / forecast.samples as f64;
        let ratio = (theory + floor) / (forecast.error + floor);
        let outside = theory < forecast.interval[0] || theory > forecast.interval[1];
        Ok(
            (outside && !(0.5..=2.0).contains(&ratio)).then_some(Note::TheoryDisagrees {
                theory,
                error: forecast.error,
            }),
        )
    }
}

/// The interval of shares that holds a value and all ends.
pub(super) fn around(value: f64, ends: impl Iterator<Item = f64>) -> [f64; 2] {
    let (low, high) = ends.fold((value, value), |(low, high), end| {
        (low.min(end), high.max(end))
    });
    [low.max(0.0), high.min(1.0)]
}

/// The error that a theory foretells for two classes by the labels of a surrogate at their best threshold.
pub(super) fn gaussian_error(
    population: &Population,
    surrogate: &Surrogate,
    target: usize,
    stakes: &Stakes,
) -> Result<f64> {
    let moments = population.moments(&surrogate.coupling, target)?;
    let noise = centre_noise(&population.cells, target);
    let law = ScoreLaw::new(&moments, &surrogate.labels(0, 1), noise);
    let threshold = law.threshold(two(&stakes.weights()));
    Ok(weighted(&stakes.priors, &law.errors(threshold)))
}

/// So many standard normal points that all classes together have about `draws`.
fn normal_points(dimension: usize, draws: usize, classes: usize) -> Mat<f64> {
    points::normal_points(dimension, (draws / classes).max(LEAST_DRAWS))
}

/// Class scores of draws from every class, and the classes.
fn drawn(
    discriminant: &Discriminant,
    moments: &Moments,
    points: &Mat<f64>,
) -> (Mat<f64>, Vec<usize>) {
    let m = moments.mean.nrows();
    let by_class: Vec<Mat<f64>> = moments
        .draw_all(&discriminant.label_scores, points)
        .into_par_iter()
        .map(|scores| discriminant.form.class_scores_of(&scores))
        .collect();
    let n = points.nrows();
    let scores = Mat::from_fn(n * m, m, |l, c| by_class[l / n][(l % n, c)]);
    (scores, (0..n * m).map(|l| l / n).collect())
}

/// The share of wrong decisions among draws of each class, by the largest class score.
pub(super) fn drawn_errors(
    discriminant: &Discriminant,
    moments: &Moments,
    points: &Mat<f64>,
) -> Vec<f64> {
    let (scores, class) = drawn(discriminant, moments, points);
    let mut wrong = vec![0.0; moments.mean.nrows()];
    for (l, &c) in class.iter().enumerate() {
        if argmax(scores.row(l).iter().copied()) != c {
            wrong[c] += 1.0 / points.nrows() as f64;
        }
    }
    wrong
}

/// The rule with priors and costs written into it; votes have nowhere to write them.
fn effective(discriminant: &Discriminant, stakes: &Stakes, slope: f64) -> Discriminant {
    let mut effective = discriminant.clone();
    let constants = match &mut effective.form {
        Form::Linear { offsets } => offsets,
        Form::Quadratic(quadratic) => &mut quadratic.constants,
        Form::Votes { .. } => return effective,
    };
    for (c, constant) in constants.iter_mut().enumerate() {
        *constant += (stakes.shift(c) + stakes.costs[c].ln()) / slope;
    }
    effective
}

/// P(right decision | class) of a linear rule: the probability that all margins over the other classes
/// are positive.
fn right_decisions(
    discriminant: &Discriminant,
    moments: &Moments,
    stakes: &Stakes,
    slope: f64,
) -> Option<Vec<f64>> {
    let effective = effective(discriminant, stakes, slope);
    let Form::Linear { offsets } = &effective.form else {
        return None;
    };
    let m = offsets.len();
    if m - 1 > MOST_MARGINS || offsets.iter().any(|o| !o.is_finite()) {
        return None;
    }
    let labels = &discriminant.label_scores;
    let tolerance = ORTHANT_TOLERANCE * m as f64;
    let right = |c: usize| {
        let others: Vec<usize> = (0..m).filter(|&d| d != c).collect();
        let margins = Mat::from_fn(labels.nrows(), m - 1, |cell, i| {
            labels[(cell, c)] - labels[(cell, others[i])]
        });
        let mean = dense::times(moments.mean.as_ref().subrows(c, 1), margins.as_ref());
        let mean: Vec<f64> = (0..m - 1)
            .map(|i| mean[(0, i)] + offsets[c] - offsets[others[i]])
            .collect();
        let half = dense::times(moments.covariance[c].as_ref(), margins.as_ref());
        let covariance = dense::times(margins.transpose(), half.as_ref());
        orthant(&mean, covariance.as_ref(), tolerance).probability
    };
    Some((0..m).into_par_iter().map(right).collect())
}
