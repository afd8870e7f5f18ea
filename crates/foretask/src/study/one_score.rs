//! Two classes, one coupling, one label vector and a threshold: classical, pooled, target alone or
//! optimal, judged by leave-one-out or by a theory.

use faer::Mat;

use super::judge::{FARTHEST, densities};
use super::learn::{moments_of, two};
use super::outcome::{Folded, Outcome, Surrogate, rows_of};
use super::target::Target;
use crate::data::Coupling;
use crate::decision::Decision;
use crate::error::Result;
use crate::forecast::count::from_scores;
use crate::forecast::{AlarmForecast, Density, Forecast, Note, temperature};
use crate::model::Rule;
use crate::moments::Moments;
use crate::numerics::NORMAL_95;
use crate::numerics::normal::{tail, upper_quantile};
use crate::recipe::{Folds, Tournament};
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
    /// Class scores that no sample had a say in; none from a theory.
    scores: Option<Mat<f64>>,
}

impl Target<'_, '_> {
    /// Labels by name, by leave-one-out.
    pub(super) fn one_score(&self, tournament: &Tournament, best: usize) -> Result<Outcome> {
        let coupling = self.coupling_at(tournament, best)?;
        let fitted = &tournament.fitted[tournament.entries[best].fitted];
        let judged = self.judged_score(&coupling, &fitted.responses)?;
        let labels = column(&judged.rule.label_scores);
        let folded = Folded::Trained(fitted.weights.times(&labels));
        let mut outcome = self.score_outcome(&coupling, judged, folded);
        outcome.forecast.notes = self.notes();
        let disagreement = self.disagreement(&outcome.forecast, &outcome.surrogates)?;
        outcome.forecast.notes.extend(disagreement);
        outcome.rule.tried = tournament.tried_in(self.shared.view);
        Ok(outcome)
    }

    /// The rule of all samples, judged by rules that each sample had no say in.
    fn judged_score(&self, coupling: &Coupling, responses: &Mat<f64>) -> Result<Judged> {
        let class = self.class();
        let labels = self.settings().labels;
        let mut responses = responses.clone();
        if labels.are_classical() {
            correct_mass(&mut responses, &class, self.cells(), self.index());
        }
        let theory = self.prior_moments(labels, coupling)?;
        let learn = |samples: &[usize]| {
            self.learn_score(&moments_of(&responses, &class, samples, 2, theory.as_ref()))
        };
        let score = |rule: &BinaryRule, l: usize| -> f64 {
            let cells = 0..responses.ncols();
            cells
                .map(|cell| responses[(l, cell)] * rule.label_scores[cell])
                .sum()
        };
        let everyone: Vec<usize> = (0..class.len()).collect();
        let (mut rule, law) = learn(&everyone);
        let stakes = self.stakes();
        let shares = two(&stakes.shares);
        let mut scores = Mat::zeros(class.len(), 2);
        let mut decisions = vec![0; class.len()];
        for fold in &Folds::new(&class, 2, self.settings().seed) {
            let (rule, law) = match &fold.others {
                Some(others) => learn(others),
                None => (rule.clone(), law),
            };
            for &l in &fold.held_out {
                let score = score(&rule, l);
                let standard = (score - law.threshold(shares)) / half_distance(&law);
                let standard = standard.clamp(-FARTHEST, FARTHEST);
                scores[(l, 0)] = 0.5 * standard;
                scores[(l, 1)] = -0.5 * standard;
                decisions[l] = usize::from(score <= rule.threshold);
            }
        }
        let sharpness = temperature(&scores, &class);
        let own = Mat::from_fn(
            class.len(),
            2,
            |l, c| {
                if c == 0 { score(&rule, l) } else { 0.0 }
            },
        );
        let mut forecast = from_scores(
            &scores,
            &class,
            &decisions,
            sharpness,
            stakes,
            densities(&own, &class),
        );
        let (unit, middle) = (half_distance(&law), law.threshold(shares));
        let slope = sharpness / unit;
        // The scores of rules that samples had no say in, in the units of this one.
        let unseen: Vec<f64> = (0..class.len())
            .map(|l| middle + 2.0 * scores[(l, 0)] * unit)
            .collect();
        if let Some(threshold) = self.hold_rate(&unseen, &class, &mut forecast) {
            rule.threshold = threshold;
        }
        let prior = stakes.shift(0) - stakes.shift(1);
        Ok(Judged {
            decision: Decision::Threshold {
                threshold: rule.threshold,
                slope,
                centre: middle - prior / slope,
            },
            rule,
            forecast,
            scores: Some(scores),
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
        let densities = (0..2).map(|c| Density::Gaussian {
            mean: law.mean[c],
            deviation: law.variance[c].sqrt().max(1e-300),
        });
        let forecast = Forecast {
            error,
            interval: self.foretold_interval(error, &ends, &|moments| {
                weighted(priors, &errors_of(moments))
            }),
            provenance: self.population.provenance,
            cost: weighted(&self.stakes().weights(), &errors),
            confusion,
            reliability: Vec::new(),
            alarm: self.foretold_alarm(errors, class_interval),
            class_errors: errors.to_vec(),
            priors: priors.clone(),
            samples: self.cells().samples(self.index()),
            densities: densities.collect(),
            notes,
        };
        let spread = 0.5 * (law.variance[0] + law.variance[1]);
        let judged = Judged {
            decision: Decision::Threshold {
                threshold: rule.threshold,
                slope: (law.mean[0] - law.mean[1]) / spread.max(1e-300),
                centre: law.threshold(two(priors)),
            },
            rule,
            forecast,
            scores: None,
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
            weight: 1.0,
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
            surrogates: vec![surrogate],
            scores: judged.scores,
        }
    }
}

/// In units where the class means are at ±1 one temperature fits all labels.
fn half_distance(law: &ScoreLaw) -> f64 {
    (0.5 * (law.mean[0] - law.mean[1]).abs()).max(1e-300)
}

fn column(labels: &[f64]) -> Mat<f64> {
    Mat::from_fn(labels.len(), 1, |cell, _| labels[cell])
}
