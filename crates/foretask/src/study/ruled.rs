//! A rule by name, for any number of classes, at one coupling: learned from moments, and judged either
//! on leave-one-out responses or on draws from the moments of the theory.

use faer::Mat;
use rayon::prelude::*;

use super::averaged::{decide_by, densities, rows_of};
use super::evidence::Knowledge;
use super::{Folded, Leading, Outcome, Roads, Rule};
use crate::coupling::Coupling;
use crate::dense;
use crate::error::Result;
use crate::forecast::{Forecast, Stakes, argmax, from_draws, from_scores, temperature, weighted};
use crate::gaussian;
use crate::model::Decision;
use crate::moments::{Moments, centre_noise};
use crate::rules::{Discriminant, Form, bayes, one_hot, one_vs_all};
use crate::settings::{Evidence, Labels, RuleName};
use crate::solve::correct_mass;
use crate::tune::{FOLDS, Tournament, folds};

/// Draws of all classes in a forecast by the theory.
const DRAWS: usize = 1 << 14;
/// Draws of all classes while a coupling is chosen, and for the change that makes an interval.
const FEW_DRAWS: usize = 1 << 12;
/// Draws of a class at least.
const LEAST_DRAWS: usize = 256;
/// Class scores beyond this many units are as certain as can be.
const FARTHEST: f64 = 50.0;
/// Orthants beyond this dimension are left to the draws.
const MOST_MARGINS: usize = 20;
/// Absolute error of each of m orthant probabilities, over m: their mean is off by 2e-4 √m at most, far
/// below any forecast's own uncertainty.
const ORTHANT_TOLERANCE: f64 = 2e-4;

/// Which rule, and which label scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) rule: RuleName,
    pub(super) labels: Labels,
}

impl Kind {
    /// Whether responses may be corrected for the mass of the sample left out. That uses the sample's own
    /// label, which anything that fits the columns freely could read off (RECIPE S3).
    fn keeps_columns(self) -> bool {
        self.labels.are_classical() && self.rule != RuleName::Bayes
    }

    /// Whether class scores are log-posteriors of the moments they were learned from.
    fn is_posterior(self) -> bool {
        match self.rule {
            RuleName::Bayes => true,
            RuleName::OneHot | RuleName::Auto => {
                matches!(self.labels, Labels::Auto | Labels::Optimal)
            }
            _ => false,
        }
    }
}

/// A rule with its verdict.
pub(super) struct Tested {
    pub(super) discriminant: Discriminant,
    pub(super) slope: f64,
    pub(super) forecast: Forecast,
    /// Class scores in comparable units, n_t x m.
    pub(super) scores: Option<Mat<f64>>,
}

/// Class scores of samples that had no say in their rule.
pub(super) struct CrossFitted {
    /// In the units of the rule.
    pub(super) raw: Mat<f64>,
    /// In units of the mean margin, so that one temperature fits all folds.
    pub(super) standard: Mat<f64>,
}

impl Roads<'_, '_> {
    /// A rule by name, by leave-one-out.
    pub(super) fn ruled(
        &self,
        kind: Kind,
        tournament: &Tournament,
        coupling: Option<Coupling>,
        progress: &dyn Fn(f64),
    ) -> Result<Outcome> {
        let best = tournament
            .best(|entry| entry.suits(kind.labels))
            // Without sources nothing is pooled.
            .or_else(|| tournament.best(|_| true))
            .unwrap_or(0);
        let given = coupling.is_some();
        let coupling = match coupling {
            Some(coupling) => coupling,
            None => self.coupling_of(tournament.entries[best].point)?,
        };
        let mut outcome = if kind.rule == RuleName::OneVsOne {
            self.voted(kind, &coupling, progress)?
        } else {
            let fitted = &tournament.fitted[tournament.entries[best].fitted];
            let tested = self.tested(kind, &coupling, &fitted.responses)?;
            let fold = |labels: &Mat<f64>| {
                let weights = dense::times(fitted.weights.as_ref(), labels.as_ref());
                if given {
                    Folded::Features(weights)
                } else {
                    Folded::Reduced(weights)
                }
            };
            self.ruled_outcome(kind, coupling, tested, &fold)
        };
        outcome.rule.tried = tournament.tried();
        outcome.forecast.notes.extend(self.notes());
        Ok(outcome)
    }

    /// The rule that moments lead to; `priors` are those of the samples that the moments speak of.
    fn learn(&self, kind: Kind, moments: &Moments, priors: &[f64]) -> Discriminant {
        let (cells, target) = (self.cells(), self.target);
        let classical = kind.labels.are_classical();
        match kind.rule {
            RuleName::OneVsAll if classical => one_vs_all::classical(cells, target, moments),
            RuleName::OneVsAll => one_vs_all::minimax(moments, cells, target),
            RuleName::NaiveOneVsAll if classical => one_vs_all::naive_classical(cells, target),
            RuleName::NaiveOneVsAll => one_vs_all::naive_optimal(moments, priors, cells, target),
            RuleName::Bayes if classical => {
                let labels = one_hot::classical(cells, target).label_scores;
                bayes::discriminant(moments, priors, Some(&labels))
            }
            RuleName::Bayes => bayes::discriminant(moments, priors, None),
            _ if classical => one_hot::classical(cells, target),
            _ if kind.labels == Labels::Searched => {
                let start = one_hot::optimal(moments, priors);
                one_hot::search(moments, priors, 1.0, &start)
            }
            _ => one_hot::optimal(moments, priors),
        }
    }

    /// The rule of all samples, judged by rules that each sample had no say in.
    pub(super) fn tested(
        &self,
        kind: Kind,
        coupling: &Coupling,
        responses: &Mat<f64>,
    ) -> Result<Tested> {
        let class = self.class();
        let mut responses = responses.clone();
        if kind.keeps_columns() {
            correct_mass(&mut responses, &class, self.cells(), self.target);
        }
        let shrink = self.settings.evidence == Evidence::Auto && !kind.labels.are_classical();
        let theory = match shrink {
            true => Some(self.knowledge.moments(coupling, self.target)?),
            false => None,
        };
        let m = self.classes();
        let learn = |samples: &[usize]| {
            let chosen = rows(&responses, samples);
            let class: Vec<usize> = samples.iter().map(|&l| class[l]).collect();
            let moments = match &theory {
                Some(theory) => Moments::shrunk(chosen.as_ref(), &class, theory),
                None => Moments::leave_one_out(chosen.as_ref(), &class, m),
            };
            self.learn(kind, &moments, &self.stakes.shares)
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
        Ok(Tested {
            discriminant,
            slope,
            forecast,
            scores: Some(fitted.standard),
        })
    }

    /// Class scores of each fold by a rule of the others. `by` gives the scores of the samples that were
    /// learned from (all of them where the others lack a class) and of those held out.
    pub(super) fn cross_fit(
        &self,
        class: &[usize],
        by: impl Fn(Option<&[usize]>, &[usize]) -> (Mat<f64>, Mat<f64>),
    ) -> CrossFitted {
        let m = self.classes();
        let fold = folds(class, m, self.settings.seed);
        let mut raw = Mat::zeros(class.len(), m);
        let mut standard = Mat::zeros(class.len(), m);
        for number in 0..FOLDS {
            let (held_out, others): (Vec<usize>, Vec<usize>) =
                (0..class.len()).partition(|&l| fold[l] == number);
            if held_out.is_empty() {
                continue;
            }
            let complete = (0..m).all(|c| others.iter().any(|&l| class[l] == c));
            let learned = complete.then_some(others.as_slice());
            let (own, scores) = by(learned, &held_out);
            let own_class: Vec<usize> = match learned {
                Some(others) => others.iter().map(|&l| class[l]).collect(),
                None => class.to_vec(),
            };
            let unit = mean_margin(&own, &own_class);
            for (i, &l) in held_out.iter().enumerate() {
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
        let sharpness = temperature(&fitted.standard, class);
        let forecast = from_scores(
            &fitted.standard,
            class,
            decide_by(&fitted.standard, sharpness, self.stakes),
            sharpness,
            self.stakes,
            densities(&fitted.raw, class),
        );
        (sharpness / unit, forecast)
    }

    /// The coupling of least cost by the theory.
    fn foretold_coupling(&self, kind: Kind, progress: &dyn Fn(f64)) -> Result<Coupling> {
        let stakes = as_in_use(self.stakes);
        let points = normal_points(self.cells().len(), FEW_DRAWS, self.classes());
        self.cheapest(kind.labels, progress, |coupling| {
            let moments = self.foretold_moments(self.knowledge.guide(), coupling)?;
            // Votes are costly to foretell; the rule they approximate is not.
            let kind = match kind.rule {
                RuleName::OneVsOne => Kind {
                    rule: RuleName::OneHot,
                    ..kind
                },
                _ => kind,
            };
            let discriminant = self.learn(kind, &moments, &stakes.priors);
            let errors = drawn_errors(&discriminant, &moments, &stakes, &points);
            Ok(weighted(&stakes.weights(), &errors))
        })
    }

    /// The moments of the theory, with the noise of the target's centre.
    pub(super) fn foretold_moments(
        &self,
        knowledge: &Knowledge,
        coupling: &Coupling,
    ) -> Result<Moments> {
        let noise = centre_noise(&knowledge.cells, self.target);
        Ok(knowledge.moments(coupling, self.target)?.with_noise(noise))
    }

    /// Rule and forecast from the theory, before anything is trained.
    pub(super) fn foretold(
        &self,
        kind: Kind,
        coupling: Option<Coupling>,
        progress: &dyn Fn(f64),
    ) -> Result<Outcome> {
        let coupling = match coupling {
            Some(coupling) => coupling,
            None => self.foretold_coupling(kind, progress)?,
        };
        let mut outcome = if kind.rule == RuleName::OneVsOne {
            self.foretold_votes(kind, &coupling)?
        } else {
            let tested = self.foretell(kind, &coupling)?;
            let fold = |labels: &Mat<f64>| Folded::Untrained(coupling.clone(), labels.clone());
            self.ruled_outcome(kind, coupling.clone(), tested, &fold)
        };
        outcome.forecast.notes.extend(self.notes());
        Ok(outcome)
    }

    pub(super) fn foretell(&self, kind: Kind, coupling: &Coupling) -> Result<Tested> {
        let stakes = as_in_use(self.stakes);
        let moments = self.foretold_moments(self.knowledge, coupling)?;
        let discriminant = self.learn(kind, &moments, &stakes.priors);
        let (slope, mut forecast) = self.forecast_by_draws(kind, &discriminant, &moments);
        let error_of = self.error_of_draws(&discriminant, slope, &moments, forecast.error);
        let ends = self.foretold_ends(coupling)?;
        forecast.interval = self.foretold_interval(forecast.error, &ends, &error_of);
        Ok(Tested {
            discriminant,
            slope,
            forecast,
            scores: None,
        })
    }

    /// Slope and forecast of a rule whose scores have the law of `moments`; the interval is left open.
    pub(super) fn forecast_by_draws(
        &self,
        kind: Kind,
        discriminant: &Discriminant,
        moments: &Moments,
    ) -> (f64, Forecast) {
        let stakes = as_in_use(self.stakes);
        let points = normal_points(moments.mean.ncols(), DRAWS, self.classes());
        let (scores, class) = drawn(discriminant, moments, &points);
        let unit = mean_margin(&scores, &class);
        let standard = divided(&scores, unit);
        let sharpness = if kind.is_posterior() {
            unit
        } else {
            temperature(&standard, &class)
        };
        let slope = sharpness / unit;
        let decide = decide_by(&standard, sharpness, &stakes);
        let decisions: Vec<usize> = (0..class.len()).map(decide).collect();
        let right = right_decisions(discriminant, moments, &stakes, slope);
        let mut forecast = from_draws(
            &standard,
            &class,
            &decisions,
            sharpness,
            &stakes,
            right,
            self.knowledge.source,
        );
        forecast.samples = self.cells().samples(self.target);
        forecast.densities = densities(&scores, &class);
        (slope, forecast)
    }

    /// The error of the same rule under other moments: `error` plus what fewer draws say of the change.
    pub(super) fn error_of_draws<'s>(
        &'s self,
        discriminant: &Discriminant,
        slope: f64,
        moments: &Moments,
        error: f64,
    ) -> impl Fn(&Moments) -> f64 + 's {
        let stakes = as_in_use(self.stakes);
        let rule = effective(discriminant, &stakes, slope);
        let points = normal_points(moments.mean.ncols(), FEW_DRAWS, self.classes());
        let by_draws = move |moments: &Moments| {
            let errors = drawn_errors(&rule, moments, &stakes, &points);
            weighted(&stakes.priors, &errors)
        };
        let before = by_draws(moments);
        move |moments| error + by_draws(moments) - before
    }

    /// What a model needs to know of a tested rule; `fold` turns label scores (C x d) into weights.
    fn ruled_outcome(
        &self,
        kind: Kind,
        coupling: Coupling,
        tested: Tested,
        fold: &dyn Fn(&Mat<f64>) -> Folded,
    ) -> Outcome {
        let Tested {
            discriminant,
            slope,
            forecast,
            scores,
        } = tested;
        let stakes = match scores {
            Some(_) => self.stakes.clone(),
            None => as_in_use(self.stakes),
        };
        let leading = Leading {
            weight: 1.0,
            coupling: coupling.clone(),
            label_scores: self.leading_labels(&discriminant),
            offsets: match &discriminant.form {
                Form::Linear { offsets } => offsets.clone(),
                _ => vec![0.0; self.classes()],
            },
        };
        let (decision, labels, bias) = self.decision(discriminant, slope, &stakes);
        Outcome {
            rule: Rule {
                name: kind.rule,
                labels: kind.labels,
                coupling: Some(coupling),
                label_scores: Some(rows_of(&labels)),
                threshold: match decision {
                    Decision::Threshold { threshold, .. } => {
                        threshold.is_finite().then_some(threshold)
                    }
                    Decision::Argmax { .. } => None,
                },
                weights: Vec::new(),
                candidates: Vec::new(),
                tried: 1,
            },
            decision,
            folded: fold(&labels),
            bias,
            forecast,
            leading: vec![leading],
            scores,
        }
    }

    /// Label scores, one column per class, that stand for a rule in relative statements.
    fn leading_labels(&self, discriminant: &Discriminant) -> Mat<f64> {
        match &discriminant.form {
            Form::Linear { .. } => discriminant.label_scores.clone(),
            // Of a quadratic rule, the linear one with the same means and the mean precision.
            Form::Quadratic(quadratic) => {
                let m = quadratic.constants.len();
                let d = quadratic.means.ncols();
                let precision = Mat::from_fn(d, d, |i, j| {
                    quadratic.precisions.iter().map(|p| p[(i, j)]).sum::<f64>() / m as f64
                });
                dense::times(
                    discriminant.label_scores.as_ref(),
                    dense::times(precision.as_ref(), quadratic.means.transpose()).as_ref(),
                )
            }
            Form::Votes { .. } => one_hot::classical(self.cells(), self.target).label_scores,
        }
    }

    /// The decision, its label scores (C x d), and the scores at the target's mean.
    fn decision(
        &self,
        discriminant: Discriminant,
        slope: f64,
        stakes: &Stakes,
    ) -> (Decision, Mat<f64>, Vec<f64>) {
        let Discriminant { label_scores, form } = discriminant;
        match form {
            Form::Linear { offsets } if offsets.len() == 2 => {
                // Two classes need one score only.
                let labels = Mat::from_fn(label_scores.nrows(), 1, |cell, _| {
                    label_scores[(cell, 0)] - label_scores[(cell, 1)]
                });
                let middle = offsets[1] - offsets[0];
                let prior = stakes.shift(0) - stakes.shift(1);
                let cost = (stakes.costs[0] / stakes.costs[1]).ln();
                let bias = vec![self.label_mean(&labels, 0)];
                let decision = Decision::Threshold {
                    threshold: middle - (prior + cost) / slope,
                    slope,
                    centre: middle - prior / slope,
                };
                (decision, labels, bias)
            }
            Form::Linear { offsets } => {
                let bias = (0..offsets.len())
                    .map(|c| self.label_mean(&label_scores, c) + offsets[c])
                    .collect();
                let form = Form::Linear {
                    offsets: vec![0.0; offsets.len()],
                };
                (decision_of(form, slope, stakes), label_scores, bias)
            }
            form => {
                let bias = (0..label_scores.ncols())
                    .map(|j| self.label_mean(&label_scores, j))
                    .collect();
                (decision_of(form, slope, stakes), label_scores, bias)
            }
        }
    }
}

pub(super) fn decision_of(form: Form, slope: f64, stakes: &Stakes) -> Decision {
    Decision::Argmax {
        form,
        slope,
        offsets: (0..stakes.priors.len()).map(|c| stakes.shift(c)).collect(),
        costs: stakes.costs.clone(),
    }
}

/// The theory knows no training proportions: rules are learned for the priors of use.
pub(super) fn as_in_use(stakes: &Stakes) -> Stakes {
    Stakes {
        shares: stakes.priors.clone(),
        ..stakes.clone()
    }
}

/// So many standard normal points that all classes together have about `draws`.
fn normal_points(dimension: usize, draws: usize, classes: usize) -> Mat<f64> {
    gaussian::normal_points(dimension, (draws / classes).max(LEAST_DRAWS))
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

/// The share of wrong decisions among draws of each class.
pub(super) fn drawn_errors(
    discriminant: &Discriminant,
    moments: &Moments,
    stakes: &Stakes,
    points: &Mat<f64>,
) -> Vec<f64> {
    let (scores, class) = drawn(discriminant, moments, points);
    let mut wrong = vec![0.0; stakes.priors.len()];
    for (l, &c) in class.iter().enumerate() {
        if argmax((0..wrong.len()).map(|d| scores[(l, d)])) != c {
            wrong[c] += 1.0 / points.nrows() as f64;
        }
    }
    wrong
}

/// The rule with priors and costs written into it; only linear rules have offsets to write into.
fn effective(discriminant: &Discriminant, stakes: &Stakes, slope: f64) -> Discriminant {
    let mut effective = discriminant.clone();
    match &mut effective.form {
        Form::Linear { offsets } => {
            for (c, offset) in offsets.iter_mut().enumerate() {
                *offset += (stakes.shift(c) + stakes.costs[c].ln()) / slope;
            }
        }
        Form::Quadratic(quadratic) => {
            for (c, constant) in quadratic.constants.iter_mut().enumerate() {
                *constant += (stakes.shift(c) + stakes.costs[c].ln()) / slope;
            }
        }
        Form::Votes { .. } => {}
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
        gaussian::orthant(&mean, covariance.as_ref(), tolerance).probability
    };
    Some((0..m).into_par_iter().map(right).collect())
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

fn divided(scores: &Mat<f64>, unit: f64) -> Mat<f64> {
    Mat::from_fn(scores.nrows(), scores.ncols(), |l, c| scores[(l, c)] / unit)
}

pub(super) fn rows(of: &Mat<f64>, samples: &[usize]) -> Mat<f64> {
    Mat::from_fn(samples.len(), of.ncols(), |l, j| of[(samples[l], j)])
}
