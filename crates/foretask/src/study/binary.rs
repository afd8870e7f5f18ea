//! One coupling, one label vector: classical, target alone or optimal, judged by leave-one-out or by
//! the isotropic theory.

use faer::Mat;

use super::averaged::{densities, rows_of};
use super::{Folded, Gaussian, Leading, Outcome, Roads, Rule};
use crate::coupling::Coupling;
use crate::dense;
use crate::error::{Error, Result};
use crate::forecast::{Density, Forecast, Stakes, from_scores, interval, temperature, weighted};
use crate::model::Decision;
use crate::moments::{Moments, Source, centre_noise};
use crate::rules::binary::{BinaryRule, ScoreLaw, alone_labels, classical_labels, optimal_labels};
use crate::rules::families::Family;
use crate::settings::{Evidence, Labels};
use crate::solve::correct_mass;
use crate::solve::path::Grid;
use crate::statistics::Statistics;
use crate::theory::gram;
use crate::tune::{FOLDS, folds};

impl<'a> Roads<'a, '_> {
    /// Named labels by leave-one-out.
    pub(super) fn named(
        &mut self,
        statistics: Statistics<'a>,
        coupling: Option<Coupling>,
        progress: &dyn Fn(f64),
    ) -> Result<Outcome> {
        let class = self.class();
        let tournament = self.tournament(statistics, coupling.as_ref(), progress)?;
        let wanted = match self.settings.labels {
            Labels::Classical => Some(Family::Classical),
            Labels::Alone => Some(Family::Alone),
            Labels::Auto | Labels::Optimal => None,
        };
        // Without sources the classical labels are the target's own.
        let found = tournament
            .best(|entry| wanted.is_none_or(|family| entry.candidate.family == family))
            .or_else(|| tournament.best(|entry| entry.candidate.family == Family::Alone));
        let Some(best) = found else {
            return Err(Error::Setting {
                setting: "labels",
                value: "classical".into(),
                expected: "classical labels need a coupling with lambda > 0",
            });
        };
        let given = coupling.is_some();
        let coupling = match coupling {
            Some(coupling) => coupling,
            None => self.coupling_of(tournament.entries[best].point)?,
        };
        if self.classes() > 2 {
            // One-hot labels with one slope are a candidate; take it alone.
            let mut weights = vec![0.0; tournament.entries.len()];
            weights[best] = 1.0;
            let scores = tournament.entries[best].candidate.scores.clone();
            let mut outcome = self.conclude(&tournament, &weights, scores, Some(coupling))?;
            if let (false, Folded::Features(weights)) = (given, &outcome.folded) {
                outcome.folded = Folded::Reduced(weights.clone());
            }
            return Ok(outcome);
        }
        let fitted = &tournament.fitted[tournament.entries[best].fitted];
        let theory = match (self.settings.labels, self.settings.evidence) {
            (Labels::Optimal, Evidence::Auto) => {
                Some(self.gaussian.theory(&coupling)?.moments(self.target))
            }
            _ => None,
        };
        let mut responses = fitted.responses.clone();
        if self.settings.labels != Labels::Optimal {
            correct_mass(&mut responses, &class, self.cells(), self.target);
        }
        let judged = self.judge(&responses, &class, theory.as_ref());
        let labels = Mat::from_fn(self.cells().len(), 1, |cell, _| {
            judged.rule.label_scores[cell]
        });
        let folded = dense::times(fitted.weights.as_ref(), labels.as_ref());
        let folded = if given {
            Folded::Features(folded)
        } else {
            Folded::Reduced(folded)
        };
        let mut outcome = self.named_outcome(
            coupling,
            judged.rule,
            judged.decision,
            judged.forecast,
            folded,
            Some(judged.scores),
        );
        outcome.forecast.notes = self.notes();
        outcome
            .forecast
            .notes
            .extend(self.disagreement(&outcome.forecast, &outcome.leading)?);
        outcome.rule.tried = tournament.tried();
        Ok(outcome)
    }

    /// Labels and threshold from some of the samples.
    fn learn(
        &self,
        responses: &Mat<f64>,
        class: &[usize],
        samples: &[usize],
        theory: Option<&Moments>,
    ) -> (BinaryRule, ScoreLaw) {
        let chosen = Mat::from_fn(samples.len(), responses.ncols(), |l, cell| {
            responses[(samples[l], cell)]
        });
        let class: Vec<usize> = samples.iter().map(|&l| class[l]).collect();
        let moments = match theory {
            Some(theory) => Moments::shrunk(chosen.as_ref(), &class, theory),
            None => Moments::leave_one_out(chosen.as_ref(), &class, 2),
        };
        let weights = two(&self.stakes.weights());
        let label_scores = match self.settings.labels {
            Labels::Optimal | Labels::Auto => optimal_labels(&moments, weights, 1.0).label_scores,
            Labels::Classical => classical_labels(self.cells(), self.target),
            Labels::Alone => alone_labels(self.cells(), self.target),
        };
        let law = ScoreLaw::new(&moments, &label_scores, 1.0);
        (
            BinaryRule {
                threshold: law.threshold(weights),
                label_scores,
            },
            law,
        )
    }

    /// The rule of all samples, judged by rules that each sample had no say in.
    fn judge(&self, responses: &Mat<f64>, class: &[usize], theory: Option<&Moments>) -> Judged {
        let everyone: Vec<usize> = (0..class.len()).collect();
        let (rule, law) = self.learn(responses, class, &everyone, theory);
        let shares = two(&self.stakes.shares);
        let fold = folds(class, 2, self.settings.seed);
        let mut scores = Mat::zeros(class.len(), 2);
        let mut decisions = vec![0; class.len()];
        for held_out in 0..FOLDS {
            let others: Vec<usize> = everyone
                .iter()
                .copied()
                .filter(|&l| fold[l] != held_out)
                .collect();
            let complete = (0..2).all(|c| others.iter().any(|&l| class[l] == c));
            let (rule, law) = if complete {
                self.learn(responses, class, &others, theory)
            } else {
                (rule.clone(), law)
            };
            for l in everyone.iter().copied().filter(|&l| fold[l] == held_out) {
                let score: f64 = (0..responses.ncols())
                    .map(|cell| responses[(l, cell)] * rule.label_scores[cell])
                    .sum();
                // In units where the class means are at ±1, so that one temperature fits all labels.
                let unit = 0.5 * (law.mean[0] - law.mean[1]).abs();
                let standard =
                    ((score - law.threshold(shares)) / unit.max(1e-300)).clamp(-FARTHEST, FARTHEST);
                scores[(l, 0)] = 0.5 * standard;
                scores[(l, 1)] = -0.5 * standard;
                decisions[l] = usize::from(score <= rule.threshold);
            }
        }
        let slope = temperature(&scores, class);
        let own = Mat::from_fn(class.len(), 2, |l, c| {
            let score: f64 = (0..responses.ncols())
                .map(|cell| responses[(l, cell)] * rule.label_scores[cell])
                .sum();
            if c == 0 { score } else { 0.0 }
        });
        let forecast = from_scores(
            &scores,
            class,
            |l| decisions[l],
            slope,
            self.stakes,
            densities(&own, class),
        );
        let slope = slope / (0.5 * (law.mean[0] - law.mean[1]).abs()).max(1e-300);
        let prior = self.stakes.shift(0) - self.stakes.shift(1);
        let centre = law.threshold(shares) - prior / slope;
        let decision = Decision::Threshold {
            threshold: rule.threshold,
            slope,
            centre,
        };
        Judged {
            rule,
            decision,
            forecast,
            scores,
        }
    }

    /// Labels, threshold and forecast from the isotropic theory, before anything is trained.
    pub(super) fn isotropic(&mut self, coupling: Option<Coupling>) -> Result<Outcome> {
        let candidates = match coupling {
            Some(coupling) => vec![coupling],
            None => Grid::default_for(self.cells().tasks().len())
                .points()
                .into_iter()
                .filter(|point| self.settings.labels != Labels::Alone || point.shared == 0.0)
                .filter_map(|point| self.coupling_of(point).ok())
                .collect(),
        };
        let mut best: Option<(f64, Coupling, BinaryRule, ScoreLaw)> = None;
        let weights = two(&self.stakes.weights());
        for coupling in candidates {
            let (rule, law) = self.foretell(self.gaussian, &coupling)?;
            let errors = law.errors(rule.threshold);
            let cost = weights[0] * errors[0] + weights[1] * errors[1];
            if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                best = Some((cost, coupling, rule, law));
            }
        }
        let Some((_, coupling, rule, law)) = best else {
            return Err(Error::Setting {
                setting: "gamma",
                value: "0".into(),
                expected: "lambda and gamma must not both be zero",
            });
        };
        let errors = law.errors(rule.threshold).to_vec();
        let forecast = Forecast {
            error: weighted(&self.stakes.priors, &errors),
            interval: self.uncertainty(&coupling, &rule, weighted(&self.stakes.priors, &errors))?,
            source: Source::Isotropic,
            cost: weighted(&self.stakes.weights(), &errors),
            class_errors: errors,
            priors: self.stakes.priors.clone(),
            samples: self.cells().samples(self.target),
            densities: (0..2)
                .map(|c| Density::Gaussian {
                    mean: law.mean[c],
                    deviation: law.variance[c].sqrt().max(1e-300),
                })
                .collect(),
            notes: self.notes(),
        };
        let slope =
            (law.mean[0] - law.mean[1]) / (0.5 * (law.variance[0] + law.variance[1])).max(1e-300);
        let decision = Decision::Threshold {
            threshold: rule.threshold,
            slope,
            centre: law.threshold(two(&self.stakes.priors)),
        };
        let labels = Mat::from_fn(self.cells().len(), 1, |cell, _| rule.label_scores[cell]);
        let folded = Folded::Untrained(coupling.clone(), labels);
        Ok(self.named_outcome(coupling, rule, decision, forecast, folded, None))
    }

    fn foretell(&self, gaussian: &Gaussian, coupling: &Coupling) -> Result<(BinaryRule, ScoreLaw)> {
        let moments = gaussian.theory(coupling)?.moments(self.target);
        let noise = centre_noise(self.cells(), self.target);
        let weights = two(&self.stakes.weights());
        let label_scores = match self.settings.labels {
            Labels::Optimal | Labels::Auto => optimal_labels(&moments, weights, noise).label_scores,
            Labels::Classical => classical_labels(self.cells(), self.target),
            Labels::Alone => alone_labels(self.cells(), self.target),
        };
        let law = ScoreLaw::new(&moments, &label_scores, noise);
        Ok((
            BinaryRule {
                threshold: law.threshold(weights),
                label_scores,
            },
            law,
        ))
    }

    /// The error of the same rule if the target's classes were as much closer or farther apart as
    /// their estimated distance is uncertain.
    fn uncertainty(&self, coupling: &Coupling, rule: &BinaryRule, error: f64) -> Result<[f64; 2]> {
        let cells = self.cells();
        let first = cells.of_task(self.target).start;
        let g = &self.gaussian.gram;
        let squared = g[(first, first)] - 2.0 * g[(first, first + 1)] + g[(first + 1, first + 1)];
        let inverse_count: f64 = cells
            .of_task(self.target)
            .map(|cell| 1.0 / cells.count(cell) as f64)
            .sum();
        let variance = gram::squared_distance_variance(
            self.gaussian.features as f64,
            squared.max(0.0),
            self.gaussian.alpha[first],
            inverse_count,
        );
        if squared <= 0.0 {
            return Ok(interval(error, cells.samples(self.target) as f64, 1.0));
        }
        let mut ends = [error, error];
        for (end, sign) in [(0, 1.0), (1, -1.0)] {
            let moved = (squared + sign * NORMAL_95 * variance.sqrt()).max(0.0);
            let stretched = Gaussian {
                gram: gram::with_stretched_task(g, cells, self.target, (moved / squared).sqrt()),
                ..self.gaussian.clone()
            };
            let moments = stretched.theory(coupling)?.moments(self.target);
            let law = ScoreLaw::new(
                &moments,
                &rule.label_scores,
                centre_noise(cells, self.target),
            );
            ends[end] = weighted(&self.stakes.priors, &law.errors(rule.threshold));
        }
        Ok([
            ends[0].min(ends[1]).min(error),
            ends[0].max(ends[1]).max(error),
        ])
    }

    fn named_outcome(
        &self,
        coupling: Coupling,
        rule: BinaryRule,
        decision: Decision,
        forecast: Forecast,
        folded: Folded,
        scores: Option<Mat<f64>>,
    ) -> Outcome {
        let labels = Mat::from_fn(self.cells().len(), 1, |cell, _| rule.label_scores[cell]);
        let leading = Leading {
            weight: 1.0,
            coupling: coupling.clone(),
            label_scores: Mat::from_fn(self.cells().len(), 2, |cell, c| {
                labels[(cell, 0)] * if c == 0 { 0.5 } else { -0.5 }
            }),
        };
        Outcome {
            rule: Rule {
                coupling: Some(coupling),
                label_scores: Some(rows_of(&labels)),
                threshold: rule.threshold.is_finite().then_some(rule.threshold),
                weights: Vec::new(),
                candidates: Vec::new(),
                tried: 1,
            },
            decision,
            folded,
            bias: vec![self.label_mean(&labels)],
            forecast,
            leading: vec![leading],
            scores,
        }
    }
}

struct Judged {
    rule: BinaryRule,
    decision: Decision,
    forecast: Forecast,
    scores: Mat<f64>,
}

/// Standardised scores beyond this are as certain as can be.
const FARTHEST: f64 = 50.0;
/// The 95 % point of the normal law: the interval holds 90 %.
const NORMAL_95: f64 = 1.644_853_626_951_472_2;

fn two(values: &[f64]) -> [f64; 2] {
    [values[0], values[1]]
}

/// The error that the theory foretells for given labels at their best threshold.
pub(super) fn gaussian_error(
    gaussian: &Gaussian,
    coupling: &Coupling,
    labels: &[f64],
    target: usize,
    stakes: &Stakes,
) -> Result<f64> {
    let moments = gaussian.theory(coupling)?.moments(target);
    let law = ScoreLaw::new(&moments, labels, centre_noise(&gaussian.cells, target));
    let threshold = law.threshold(two(&stakes.weights()));
    Ok(weighted(&stakes.priors, &law.errors(threshold)))
}
