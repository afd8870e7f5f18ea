//! Two classes, one coupling, one label vector and a threshold: classical, pooled, target alone or
//! optimal, judged by leave-one-out or by a theory.

use faer::Mat;

use super::averaged::{densities, rows_of};
use super::evidence::{Knowledge, NORMAL_95};
use super::{Folded, Leading, Outcome, Roads, Rule};
use crate::coupling::Coupling;
use crate::dense;
use crate::error::{Error, Result};
use crate::forecast::{
    Density, Forecast, Stakes, TestForecast, from_scores, interval, temperature, weighted,
};
use crate::gaussian::{tail, upper_quantile};
use crate::model::Decision;
use crate::moments::{Moments, centre_noise};
use crate::rules::binary::{BinaryRule, ScoreLaw, alone_labels, classical_labels, optimal_labels};
use crate::rules::false_alarm::{self, Tail};
use crate::rules::families::Family;
use crate::settings::{Evidence, Labels, RuleName};
use crate::solve::correct_mass;
use crate::solve::path::Grid;
use crate::tune::{Entry, FOLDS, Tournament, folds};

impl Roads<'_, '_> {
    /// Named labels by leave-one-out.
    pub(super) fn named(
        &self,
        tournament: &Tournament,
        coupling: Option<Coupling>,
    ) -> Result<Outcome> {
        let class = self.class();
        let labels = self.settings.labels;
        let classical = |entry: &Entry| entry.candidate.family == Family::Classical;
        // Without sources the classical labels are the target's own.
        let found = tournament
            .best(|entry| entry.suits(labels) && (labels != Labels::Classical || classical(entry)))
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
            let mut outcome = self.conclude(tournament, &weights, scores, Some(coupling))?;
            if let (false, Folded::Features(weights)) = (given, &outcome.folded) {
                outcome.folded = Folded::Reduced(weights.clone());
            }
            return Ok(outcome);
        }
        let fitted = &tournament.fitted[tournament.entries[best].fitted];
        let fixed = labels.are_classical();
        let theory = match self.settings.evidence {
            Evidence::Auto if !fixed => Some(self.knowledge.moments(&coupling, self.target)?),
            _ => None,
        };
        let mut responses = fitted.responses.clone();
        if fixed {
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
    fn learn_binary(
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
        self.rule_of(&moments, 1.0)
    }

    /// Labels and threshold from moments; `noise` multiplies their variances.
    fn rule_of(&self, moments: &Moments, noise: f64) -> (BinaryRule, ScoreLaw) {
        let weights = two(&self.stakes.weights());
        let test = self.null.zip(self.settings.false_alarm.as_ref());
        let label_scores = match (self.settings.labels, test) {
            (Labels::Classical | Labels::Pooled, _) => classical_labels(self.cells(), self.target),
            (Labels::Alone, _) => alone_labels(self.cells(), self.target),
            (_, Some((null, test))) => {
                false_alarm::optimal_labels(moments, null, test.rate, noise).label_scores
            }
            _ => optimal_labels(moments, weights, noise).label_scores,
        };
        let law = ScoreLaw::new(moments, &label_scores, noise);
        let threshold = match test {
            Some((null, test)) => false_alarm::gaussian_threshold(&law, null, test.rate),
            None => law.threshold(weights),
        };
        (
            BinaryRule {
                threshold,
                label_scores,
            },
            law,
        )
    }

    /// The rule of all samples, judged by rules that each sample had no say in.
    fn judge(&self, responses: &Mat<f64>, class: &[usize], theory: Option<&Moments>) -> Judged {
        let everyone: Vec<usize> = (0..class.len()).collect();
        let (mut rule, law) = self.learn_binary(responses, class, &everyone, theory);
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
                self.learn_binary(responses, class, &others, theory)
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
        let mut forecast = from_scores(
            &scores,
            class,
            |l| decisions[l],
            slope,
            self.stakes,
            densities(&own, class),
        );
        let unit = (0.5 * (law.mean[0] - law.mean[1]).abs()).max(1e-300);
        let slope = slope / unit;
        // The scores of rules that samples had no say in, in the units of this one.
        let middle = law.threshold(shares);
        let unseen: Vec<f64> = (0..class.len())
            .map(|l| middle + 2.0 * scores[(l, 0)] * unit)
            .collect();
        if let Some(threshold) = self.hold_rate(&unseen, class, &mut forecast) {
            rule.threshold = threshold;
        }
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

    /// Labels, threshold and forecast from the theory, before anything is trained.
    pub(super) fn foretold_binary(&self, coupling: Option<Coupling>) -> Result<Outcome> {
        let weights = two(&self.stakes.weights());
        let coupling = match coupling {
            Some(coupling) => coupling,
            None => self.cheapest(self.settings.labels, &|_| {}, |coupling| {
                let (rule, law) = self.foretell_binary(self.knowledge.guide(), coupling)?;
                let errors = law.errors(rule.threshold);
                Ok(match self.null {
                    Some(null) => errors[1 - null],
                    None => weighted(&weights, &errors),
                })
            })?,
        };
        let (rule, law) = self.foretell_binary(self.knowledge, &coupling)?;
        let errors = law.errors(rule.threshold);
        let errors_of = |moments: &Moments| {
            ScoreLaw::new(moments, &rule.label_scores, 1.0).errors(rule.threshold)
        };
        let error = weighted(&self.stakes.priors, &errors);
        let ends = self.foretold_ends(&coupling)?;
        let interval = self.foretold_interval(error, &ends, &|moments| {
            weighted(&self.stakes.priors, &errors_of(moments))
        });
        let test = match self.null.zip(self.settings.false_alarm.as_ref()) {
            Some((null, test)) => {
                let class_interval = |c: usize| {
                    self.foretold_interval(errors[c], &ends, &|moments| errors_of(moments)[c])
                };
                let [low, high] = class_interval(1 - null);
                // The null class lies where its n samples have it, give or take 1/√n deviations.
                let samples = self
                    .cells()
                    .count(self.cells().of_task(self.target).start + null);
                let shift = NORMAL_95 / (samples as f64).sqrt();
                let at = upper_quantile(test.rate);
                let [least, most] = class_interval(null);
                Some(TestForecast {
                    null,
                    requested: test.rate,
                    false_alarm: errors[null],
                    false_alarm_interval: [least.min(tail(at + shift)), most.max(tail(at - shift))],
                    detection: 1.0 - errors[1 - null],
                    detection_interval: [1.0 - high, 1.0 - low],
                    tail: Tail::Gaussian,
                    samples,
                })
            }
            None => None,
        };
        let mut notes = self.notes();
        let two_thresholds = law.two_threshold_error(weights);
        let loss = weighted(&weights, &errors) - two_thresholds;
        if self.null.is_none() && loss > NOTABLE_LOSS {
            notes.push(format!(
                "the classes differ in spread: two thresholds instead of one would cost {:.2} % less (the rule 'bayes' uses them)",
                100.0 * loss
            ));
        }
        let forecast = Forecast {
            error,
            interval,
            source: self.knowledge.source,
            cost: weighted(&self.stakes.weights(), &errors),
            confusion: vec![
                vec![1.0 - errors[0], errors[0]],
                vec![errors[1], 1.0 - errors[1]],
            ],
            reliability: Vec::new(),
            test,
            class_errors: errors.to_vec(),
            priors: self.stakes.priors.clone(),
            samples: self.cells().samples(self.target),
            densities: (0..2)
                .map(|c| Density::Gaussian {
                    mean: law.mean[c],
                    deviation: law.variance[c].sqrt().max(1e-300),
                })
                .collect(),
            notes,
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

    /// The coupling of the grid with the least cost.
    pub(super) fn cheapest(
        &self,
        labels: Labels,
        progress: &dyn Fn(f64),
        cost: impl Fn(&Coupling) -> Result<f64>,
    ) -> Result<Coupling> {
        let tasks = self.cells().tasks().len();
        let points: Vec<_> = Grid::default_for(tasks)
            .points()
            .into_iter()
            .filter(|&point| tasks == 1 || labels.allow(point))
            .collect();
        let mut best: Option<(f64, Coupling)> = None;
        for (done, point) in points.iter().enumerate() {
            progress(done as f64 / points.len() as f64);
            let Ok(coupling) = self.coupling_of(*point) else {
                continue;
            };
            let cost = cost(&coupling)?;
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, coupling));
            }
        }
        best.map(|(_, coupling)| coupling).ok_or(Error::Setting {
            setting: "gamma",
            value: "0".into(),
            expected: "lambda and gamma must not both be zero",
        })
    }

    fn foretell_binary(
        &self,
        knowledge: &Knowledge,
        coupling: &Coupling,
    ) -> Result<(BinaryRule, ScoreLaw)> {
        let moments = self.foretold_moments(knowledge, coupling)?;
        Ok(self.rule_of(&moments, 1.0))
    }

    /// The moments if the target's classes were as much closer or farther apart as their estimated distance
    /// is uncertain; none if it cannot be told from zero.
    pub(super) fn foretold_ends(&self, coupling: &Coupling) -> Result<Vec<Moments>> {
        let factors = self.knowledge.distance_factors(self.target);
        let end = |factor| {
            let stretched = self.knowledge.stretched(self.target, factor);
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
            return interval(value, self.cells().samples(self.target) as f64, 1.0);
        }
        let (mut low, mut high) = (value, value);
        for moments in ends {
            let end = of(moments);
            low = low.min(end);
            high = high.max(end);
        }
        [low.max(0.0), high.min(1.0)]
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
            offsets: vec![0.0; 2],
        };
        Outcome {
            rule: Rule {
                name: RuleName::Auto,
                labels: self.settings.labels,
                coupling: Some(coupling),
                label_scores: Some(rows_of(&labels)),
                threshold: rule.threshold.is_finite().then_some(rule.threshold),
                weights: Vec::new(),
                candidates: Vec::new(),
                tried: 1,
            },
            decision,
            folded,
            bias: vec![self.label_mean(&labels, 0)],
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
/// A loss of cost below this is not worth a note.
const NOTABLE_LOSS: f64 = 1e-3;

fn two(values: &[f64]) -> [f64; 2] {
    [values[0], values[1]]
}

/// The error that the theory foretells for given labels at their best threshold.
pub(super) fn gaussian_error(
    knowledge: &Knowledge,
    coupling: &Coupling,
    labels: &[f64],
    target: usize,
    stakes: &Stakes,
) -> Result<f64> {
    let moments = knowledge.moments(coupling, target)?;
    let law = ScoreLaw::new(&moments, labels, centre_noise(&knowledge.cells, target));
    let threshold = law.threshold(two(&stakes.weights()));
    Ok(weighted(&stakes.priors, &law.errors(threshold)))
}
