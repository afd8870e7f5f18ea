//! Two classes, one coupling, one label vector and a threshold: classical, pooled, target alone or
//! optimal, judged by leave-one-out or by a theory.

use faer::Mat;

use super::fits::Fits;
use super::held_out::{Lesson, Whole};
use super::judge::{FARTHEST, densities};
use super::learn::{moments_of, two};
use super::outcome::{Folded, Outcome, Surrogate, rows_of};
use super::target::Target;
use crate::data::Coupling;
use crate::decision::{Decided, Decision};
use crate::error::Result;
use crate::forecast::count::from_judgements;
use crate::forecast::{
    AlarmForecast, Calibration, Density, Forecast, Judgement, Judgements, Note, Rehearsal, stacked,
};
use crate::model::Rule;
use crate::moments::Moments;
use crate::numerics::NORMAL_95;
use crate::numerics::normal::{tail, upper_quantile};
use crate::recipe::Tournament;
use crate::rules::{BinaryRule, ScoreLaw, Tail};
use crate::settings::RuleName;
use crate::solve::correct_mass;
use crate::stakes::weighted;

/// A loss of cost below this is not worth a note.
const NOTABLE_LOSS: f64 = 1e-3;

/// A score with its verdict.
struct Judged {
    rule: BinaryRule,
    decision: Decision,
    forecast: Forecast,
    /// None from a theory.
    judgements: Option<Judgements>,
}

impl Target<'_, '_> {
    /// Labels by name, by leave-one-out.
    pub(super) fn one_score(&self, fits: &Fits<'_>, best: usize) -> Result<Outcome> {
        let tournament = &fits.tournament;
        let coupling = self.coupling_at(tournament, best)?;
        let fitted = &tournament.fitted[tournament.entries[best].fitted];
        let judged = self.judged_score(fits, &coupling, &fitted.responses)?;
        let labels = column(&judged.rule.label_scores);
        let folded = Folded::Trained(fitted.weights.times(&labels));
        let mut outcome = self.score_outcome(&coupling, judged, folded);
        outcome.forecast.notes = self.notes();
        let disagreement = self.disagreement(&outcome.forecast, outcome.leading.as_ref())?;
        outcome.forecast.notes.extend(disagreement);
        outcome.rule.tried = tournament.tried_in(self.shared.view);
        Ok(outcome)
    }

    /// The rule of all samples, judged by rules made without each fold.
    fn judged_score(
        &self,
        fits: &Fits<'_>,
        coupling: &Coupling,
        responses: &Mat<f64>,
    ) -> Result<Judged> {
        let class = self.class();
        let labels = self.settings().labels;
        let mut responses = responses.clone();
        if labels.are_classical() {
            let groups = self.groups();
            let importance = self.importance();
            correct_mass(
                &mut responses,
                &class,
                &groups,
                &importance,
                self.cells(),
                self.index(),
            );
        }
        let theory = self.prior_moments(labels, coupling)?;
        let everyone: Vec<usize> = (0..class.len()).collect();
        let importance = self.importance();
        let moments = moments_of(
            &responses,
            &class,
            &everyone,
            2,
            &importance,
            theory.as_ref(),
        );
        let (mut rule, law) = self.learn_score(&moments);
        let stakes = self.stakes();
        let shares = two(&stakes.shares);
        let whole = Whole {
            corrected: labels.are_classical(),
            responses: &responses,
            theory: theory.as_ref(),
        };
        let choose =
            |tournament: &Tournament| self.best_for_labels(labels, tournament).unwrap_or(0);
        let lessons = self.lessons(fits, &whole, &choose)?;
        let judgement = |lessons: &Vec<Lesson>| {
            let mut scores = Mat::zeros(class.len(), 2);
            let mut decisions = vec![Decided::One(0); class.len()];
            for lesson in lessons {
                let (rule, law) = self.learn_score(&lesson.moments(2));
                for (row, &l) in lesson.held_out.iter().enumerate() {
                    let score = score_of(&rule, &lesson.tested, row);
                    let standard =
                        (score - law.origin(shares)) / law.half_distance(&rule.label_scores);
                    let standard = standard.clamp(-FARTHEST, FARTHEST);
                    scores[(l, 0)] = 0.5 * standard;
                    scores[(l, 1)] = -0.5 * standard;
                    decisions[l] = Decided::of_two(score - rule.threshold);
                }
            }
            Judgement {
                scores,
                decisions,
                folds: (lessons.iter())
                    .map(|lesson| lesson.held_out.clone())
                    .collect(),
                calibrations: Vec::new(),
            }
        };
        let repeats: Vec<Judgement> = lessons.repeats.iter().map(judgement).collect();
        let all: Vec<&Mat<f64>> = repeats.iter().map(|one| &one.scores).collect();
        let (scores, classes, weights) = stacked(&all, &class, &importance);
        let calibration = Calibration::of_slope(&scores, &classes, &weights, repeats.len());
        let calibration = calibration.with_twin(&scores, &classes, &weights, repeats.len());
        let sharpness = calibration.slope;
        let judgements = Judgements {
            class: class.clone(),
            groups: self.groups(),
            importance,
            repeats,
            half: lessons.half.as_ref().map(judgement),
            kept: lessons.kept,
            calibration,
            by_name: true,
        };
        let own = Mat::from_fn(class.len(), 2, |l, c| match c {
            0 => score_of(&rule, &responses, l),
            _ => 0.0,
        });
        let mut forecast = from_judgements(&judgements, stakes, densities(&own, &class));
        let (unit, middle) = (law.half_distance(&rule.label_scores), law.origin(shares));
        let slope = sharpness / unit;
        // The scores of rules that samples had no say in, in the units of this one.
        let scores = judgements.scores();
        let unseen: Vec<f64> = (0..class.len())
            .map(|l| middle + 2.0 * scores[(l, 0)] * unit)
            .collect();
        if let Some(threshold) = self.hold_rate(&unseen, &unseen, &class, &mut forecast) {
            rule.threshold = threshold;
        }
        let mut prior = stakes.shift(0) - stakes.shift(1);
        if law.threshold(shares).is_infinite() {
            // The score says nothing: in its middle classes are as probable as they are common.
            prior += (shares[0] / shares[1]).ln();
        }
        Ok(Judged {
            decision: Decision::Threshold {
                threshold: rule.threshold,
                slope,
                centre: middle - prior / slope,
            },
            rule,
            forecast,
            judgements: Some(judgements),
        })
    }

    /// Labels, threshold and forecast from the theory, before anything is trained.
    pub(super) fn foretold_score(&self) -> Result<Outcome> {
        let weights = two(&self.stakes().weights());
        let priors = &self.stakes().priors;
        let coupling = self.cheapest(self.settings().labels, &|_| {}, |coupling| {
            let moments = self.foretold_moments(self.population.guide(), coupling)?;
            let (rule, law) = self.learn_score(&moments);
            let errors = law.errors(rule.threshold);
            Ok(match self.plan.null {
                Some(null) => errors[1 - null],
                None => weighted(&weights, &errors),
            })
        })?;
        let moments = self.foretold_moments(self.population, &coupling)?;
        let (rule, law) = self.learn_score(&moments);
        let errors = law.errors(rule.threshold);
        let errors_of = |moments: &Moments| {
            ScoreLaw::new(moments, &rule.label_scores, 1.0).errors(rule.threshold)
        };
        let error = weighted(priors, &errors);
        let ends = self.foretold_ends(&coupling)?;
        let class_interval =
            |c: usize| self.foretold_interval(errors[c], &ends, &|moments| errors_of(moments)[c]);
        let mut notes = self.notes();
        let saves = weighted(&weights, &errors) - law.two_threshold_error(weights);
        if self.plan.null.is_none() && saves > NOTABLE_LOSS {
            notes.push(Note::TwoThresholds { saves });
        }
        let confusion = vec![
            vec![1.0 - errors[0], errors[0]],
            vec![errors[1], 1.0 - errors[1]],
        ];
        let densities = [0, 1].map(|c| Density::Gaussian {
            mean: law.mean[c],
            deviation: law.variance[c].sqrt().max(1e-300),
        });
        let forecast = Forecast {
            told: true,
            error,
            interval: self.foretold_interval(error, &ends, &|moments| {
                weighted(priors, &errors_of(moments))
            }),
            provenance: self.population.provenance,
            worth: self.cells().samples(self.index()) as f64,
            log_loss: None,
            auc: densities[0].exceeds(&densities[1]),
            cost: weighted(&self.stakes().weights(), &errors),
            confusion,
            reliability: Vec::new(),
            alarm: self.foretold_alarm(errors, class_interval),
            class_errors: errors.to_vec(),
            priors: priors.clone(),
            samples: self.cells().samples(self.index()),
            densities: densities.to_vec(),
            rehearsal: Rehearsal::default(),
            notes,
        };
        let spread = 0.5 * (law.variance[0] + law.variance[1]);
        let judged = Judged {
            decision: Decision::Threshold {
                threshold: rule.threshold,
                slope: (law.mean[0] - law.mean[1]) / spread.max(1e-300),
                centre: law.origin(two(priors)),
            },
            rule,
            forecast,
            judgements: None,
        };
        let labels = column(&judged.rule.label_scores);
        let folded = Folded::Untrained(coupling.clone(), labels);
        Ok(self.score_outcome(&coupling, judged, folded))
    }

    /// What a held rate will do by a theory; nothing if none is to be held.
    fn foretold_alarm(
        &self,
        errors: [f64; 2],
        class_interval: impl Fn(usize) -> [f64; 2],
    ) -> Option<AlarmForecast> {
        let (null, asked) = self.plan.null.zip(self.settings().false_alarm.as_ref())?;
        let [low, high] = class_interval(1 - null);
        // The null class lies where its n samples have it, give or take 1/√n deviations.
        let first = self.cells().of_task(self.index()).start;
        let samples = self.cells().count(first + null);
        let shift = NORMAL_95 / (samples as f64).sqrt();
        let at = upper_quantile(asked.rate);
        let [least, most] = class_interval(null);
        Some(AlarmForecast {
            null,
            requested: asked.rate,
            false_alarm: errors[null],
            false_alarm_interval: [least.min(tail(at + shift)), most.max(tail(at - shift))],
            detection: 1.0 - errors[1 - null],
            detection_interval: [1.0 - high, 1.0 - low],
            tail: Tail::Gaussian,
            samples,
        })
    }

    fn score_outcome(&self, coupling: &Coupling, judged: Judged, folded: Folded) -> Outcome {
        let labels = column(&judged.rule.label_scores);
        let surrogate = Surrogate {
            coupling: coupling.clone(),
            label_scores: Mat::from_fn(labels.nrows(), 2, |cell, c| {
                labels[(cell, 0)] * if c == 0 { 0.5 } else { -0.5 }
            }),
            offsets: vec![0.0; 2],
        };
        let threshold = judged.rule.threshold;
        Outcome {
            rule: Rule {
                label_scores: Some(rows_of(&labels)),
                threshold: threshold.is_finite().then_some(threshold),
                ..Rule::at(RuleName::Auto, self.settings().labels, coupling)
            },
            decision: judged.decision,
            folded,
            bias: vec![self.cells().label_mean(self.index(), &labels, 0)],
            forecast: judged.forecast,
            leading: Some(surrogate),
            judgements: judged.judgements,
        }
    }
}

/// The score of a row of responses.
fn score_of(rule: &BinaryRule, responses: &Mat<f64>, row: usize) -> f64 {
    let cells = rule.label_scores.iter().enumerate();
    cells
        .map(|(cell, label)| responses[(row, cell)] * label)
        .sum()
}

fn column(labels: &[f64]) -> Mat<f64> {
    Mat::from_fn(labels.len(), 1, |cell, _| labels[cell])
}
