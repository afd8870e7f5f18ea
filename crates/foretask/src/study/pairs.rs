//! One-versus-one: every pair of classes is a problem of its own, trained on its samples only; the
//! scores vote.

use faer::Mat;

use super::fits::Fits;
use super::foretell::around;
use super::held_out::{HeldOut, Partition};
use super::judge::{divided, mean_margin};
use super::learn::NamedRule;
use super::outcome::{Folded, Outcome, PairRule, Surrogate};
use super::pair::{FittedPair, Pair, RawScores, TrainedPair};
use super::target::Target;
use crate::data::{Coupling, Statistics, pairs};
use crate::decision::{Decision, Discriminant, Form};
use crate::error::Result;
use crate::estimate::Population;
use crate::model::{Rule, Scores};
use crate::moments::{Moments, centre_noise};
use crate::recipe::{Fold, Folds, folds_of};
use crate::rules::one_hot;
use crate::settings::Evidence;
use crate::solve::{HAT_ROWS, System, needs_rows};

/// Every pair is trained again so many times, to judge it.
const MOST_TRAININGS: usize = 5;

/// The rules of all pairs.
struct Voters {
    scores: RawScores,
    /// The score of each sample and pair (n_t x pairs) that it had no say in.
    own: Mat<f64>,
}

impl<'a> Target<'_, 'a> {
    /// The problem of classes `a` and `b`. kp counts the tasks, so the coupling shrinks with the tasks
    /// that have no sample of either class, to leave the penalty of the others as it was.
    fn pair(&self, a: usize, b: usize, coupling: &Coupling) -> Result<Option<Pair>> {
        let aligned = self.cells().aligned(self.index());
        let keep = |cell: usize| aligned[cell] == Some(a) || aligned[cell] == Some(b);
        let (tasks, cells) = self.cells().restricted(&keep);
        let task_of: Vec<usize> = (0..tasks.tasks().len())
            .map(|task| self.cells().task_of(cells[tasks.of_task(task).start]))
            .collect();
        let Some(target) = task_of.iter().position(|&task| task == self.index()) else {
            return Ok(None);
        };
        let shrink = task_of.len() as f64 / self.cells().tasks().len() as f64;
        let gamma = task_of
            .iter()
            .map(|&task| coupling.gamma()[task] * shrink)
            .collect();
        let side = cells
            .iter()
            .map(|&cell| usize::from(aligned[cell] == Some(b)))
            .collect();
        Ok(Some(Pair {
            coupling: Coupling::new(coupling.lambda() * shrink, gamma)?,
            tasks,
            cells,
            target,
            side,
        }))
    }

    /// One-versus-one, judged by pairs that are trained again without each fold.
    pub(super) fn voted(
        &self,
        named: NamedRule,
        fits: &Fits<'_>,
        coupling: &Coupling,
        progress: &dyn Fn(f64),
    ) -> Result<Outcome> {
        let (class, m) = (self.class(), self.classes());
        // As for other rules, many samples need no folds.
        let groups = self.groups();
        let folds = folds_of(&class, m, &groups).filter(|_| class.len() <= HAT_ROWS);
        let folds = folds.map(|folds| {
            let folds = folds.min(MOST_TRAININGS);
            Folds::balanced(&class, m, folds, &groups, &fits.tournament.keys, 0)
        });
        let parts: Vec<&Fold> = folds.iter().flatten().collect();
        let steps = (1 + parts.len()) as f64;
        let whole = self.voters(named, coupling, &|share| progress(share / steps))?;
        let form = self.votes(whole.own.ncols());
        let own = form.class_scores_of(&whole.own);
        let unit = mean_margin(&own, &class);
        // A class of one sample cannot be held out: samples are left out one by one.
        let mut scores = divided(&own, unit);
        for (number, fold) in parts.iter().enumerate() {
            let Some(others) = &fold.others else {
                continue;
            };
            let shared = self.shared.among(self.index(), others)?;
            let rest = Target {
                shared: &shared,
                ..*self
            };
            let done = |share: f64| progress((1.0 + number as f64 + share) / steps);
            let voters = rest.voters(named, coupling, &done)?;
            let unit = mean_margin(&form.class_scores_of(&voters.own), &rest.class());
            let rows = self.shared.rows_of(self.index())?;
            let rows = rows.select(fold.held_out.iter().copied());
            let tested = divided(&form.class_scores_of(&voters.scores.of(&rows)), unit);
            for (row, &l) in fold.held_out.iter().enumerate() {
                for c in 0..m {
                    scores[(l, c)] = tested[(row, c)];
                }
            }
        }
        let held_out = HeldOut {
            class,
            importance: self.importance(),
            repeats: vec![Partition {
                scores,
                folds: parts.iter().map(|fold| fold.held_out.clone()).collect(),
            }],
            half: None,
            kept: 1.0,
        };
        let (sharpness, forecast, judgements) = self.verdict(held_out, unit);
        let slope = sharpness / unit;
        Ok(Outcome {
            rule: Rule::at(named.rule, named.labels, coupling),
            decision: Decision::argmax(form, slope, self.stakes()),
            folded: Folded::Raw(Scores {
                weights: self.shared.to_columns(whole.scores.weights),
                intercept: whole.scores.intercept,
                terms: Vec::new(),
            }),
            bias: Vec::new(),
            forecast,
            leading: Some(self.pair_surrogate(coupling)),
            judgements: Some(judgements),
        })
    }

    /// The rules of all pairs: a sample of the pair is left out of it, any other is new to it.
    fn voters(
        &self,
        named: NamedRule,
        coupling: &Coupling,
        progress: &dyn Fn(f64),
    ) -> Result<Voters> {
        let (class, m) = (self.class(), self.classes());
        let count = m * (m - 1) / 2;
        let mut scores = RawScores::new(self.population.features, count);
        let mut own = Mat::zeros(class.len(), count);
        for (number, (a, b)) in pairs(m).enumerate() {
            self.settings().stop.check()?;
            progress(number as f64 / count as f64);
            let Some(pair) = self.pair(a, b, coupling)? else {
                continue;
            };
            let fitted = self.fit_pair(named, &pair, (a, b), &class)?;
            let members: Vec<usize> = (0..class.len())
                .filter(|&l| class[l] == a || class[l] == b)
                .collect();
            let rule = fitted.learn(named, &pair, &members);
            for l in 0..class.len() {
                own[(l, number)] = rule.at(fitted.responses.row(l).iter().copied());
            }
            scores.set(number, fitted.trained.folded(&rule, &pair));
        }
        self.settings().stop.check()?;
        Ok(Voters { scores, own })
    }

    /// One-versus-one from the theory, before anything is trained.
    pub(super) fn foretold_votes(&self, named: NamedRule, coupling: &Coupling) -> Result<Outcome> {
        let stakes = self.stakes().in_use();
        let noise = centre_noise(self.cells(), self.index());
        let mut rules = Vec::new();
        for (a, b) in pairs(self.classes()) {
            let Some(pair) = self.pair(a, b, coupling)? else {
                continue;
            };
            let theory = self.population.pair_theory(&pair.member(&[]))?;
            let moments = theory.moments(pair.target);
            let weights = [a, b].map(|c| stakes.priors[c] * stakes.costs[c]);
            rules.push(PairRule {
                classes: (a, b),
                coupling: coupling.clone(),
                score: pair.score(named, &moments, weights, noise),
            });
        }
        let discriminant = Discriminant {
            label_scores: Mat::identity(rules.len(), rules.len()),
            form: self.votes(rules.len()),
        };
        let joint = |population: &Population| self.joint_law(population, &rules, noise);
        let moments = joint(self.population)?;
        let (slope, mut forecast) = self.forecast_by_draws(named, &discriminant, &moments);
        let error_of = self.error_of_draws(&discriminant, slope, &moments, forecast.error);
        let mut ends = Vec::new();
        for factor in self.population.distance_factors(self.index()) {
            ends.push(error_of(&joint(
                &self.population.stretched(self.index(), factor),
            )?));
        }
        forecast.interval = around(forecast.error, ends.into_iter());
        Ok(Outcome {
            rule: Rule::at(named.rule, named.labels, coupling),
            decision: Decision::argmax(discriminant.form, slope, &stakes),
            folded: Folded::UntrainedPairs(rules),
            bias: Vec::new(),
            forecast,
            leading: Some(self.pair_surrogate(coupling)),
            judgements: None,
        })
    }

    /// The joint law of the scores of all pairs, each less its threshold in units of its deviation.
    fn joint_law(
        &self,
        population: &Population,
        rules: &[PairRule],
        noise: f64,
    ) -> Result<Moments> {
        let mut members = Vec::with_capacity(rules.len());
        for rule in rules {
            if let Some(pair) = self.pair(rule.classes.0, rule.classes.1, &rule.coupling)? {
                members.push(pair.member(&rule.score.labels));
            }
        }
        let law = population
            .pairs_law(self.index(), &members)?
            .with_noise(noise);
        let (threshold, deviation) = (
            |s: usize| rules[s].score.threshold,
            |s: usize| rules[s].score.deviation,
        );
        let covariance = law.covariance.iter().map(|covariance| {
            Mat::from_fn(rules.len(), rules.len(), |s, t| {
                covariance[(s, t)] / (deviation(s) * deviation(t))
            })
        });
        Ok(Moments {
            mean: Mat::from_fn(self.classes(), rules.len(), |c, s| {
                (law.mean[(c, s)] - threshold(s)) / deviation(s)
            }),
            covariance: covariance.collect(),
        })
    }

    /// Trains what [`Target::foretold_votes`] foretold: weights on raw features, and scores at the origin.
    pub(super) fn train_pairs(&self, rules: &[PairRule]) -> Result<(Mat<f64>, Vec<f64>)> {
        let mut raw_scores = RawScores::new(self.population.features, rules.len());
        for (number, rule) in rules.iter().enumerate() {
            self.settings().stop.check()?;
            let Some(pair) = self.pair(rule.classes.0, rule.classes.1, &rule.coupling)? else {
                continue;
            };
            let statistics = self.statistics_of(&pair)?;
            let system = System::new(statistics, self.settings().scaling, &pair.coupling)?;
            let trained = TrainedPair::of(&system, pair.target);
            raw_scores.set(number, trained.folded(&rule.score, &pair));
        }
        self.settings().stop.check()?;
        Ok((raw_scores.weights, raw_scores.intercept))
    }

    /// The statistics of a pair's samples.
    fn statistics_of(&self, pair: &Pair) -> Result<Statistics<'a>> {
        self.shared.statistics.restricted(&pair.tasks, &pair.cells)
    }

    fn votes(&self, pairs: usize) -> Form {
        Form::Votes {
            thresholds: vec![0.0; pairs],
            ties: self.settings().ties,
        }
    }

    /// A linear rule that stands for the votes in relative statements.
    fn pair_surrogate(&self, coupling: &Coupling) -> Surrogate {
        Surrogate {
            coupling: coupling.clone(),
            label_scores: one_hot::classical(self.cells(), self.index()).label_scores,
            offsets: vec![0.0; self.classes()],
        }
    }

    fn fit_pair(
        &self,
        named: NamedRule,
        pair: &Pair,
        (a, b): (usize, usize),
        class: &[usize],
    ) -> Result<FittedPair> {
        let statistics = self.statistics_of(pair)?;
        let rows = statistics.rows_of(pair.target).cloned();
        let rows = rows.ok_or_else(|| needs_rows(&pair.tasks.tasks()[pair.target].name))?;
        let scales = self.settings().scaling.scales(&statistics);
        let population = Population::isotropic(&statistics, &scales);
        let theory = match self.settings().evidence {
            Evidence::Auto => Some(population.moments(&pair.coupling, pair.target)?),
            _ => None,
        };
        let groups = statistics.groups_of(pair.target);
        let importance = statistics.importance_of(pair.target);
        let system = System::new(statistics, self.settings().scaling, &pair.coupling)?;
        let trained = TrainedPair::of(&system, pair.target);
        let all = self.shared.rows_of(self.index())?;
        let mut responses = system.responses_of(pair.target, all, &trained.weights);
        let inside = system
            .leave_one_out_of(&rows, pair.target, false, &groups, &importance)
            .stratified(&pair.tasks);
        let inside = match named.labels.are_classical() {
            true => inside.mass_corrected(&pair.tasks),
            false => inside,
        }
        .responses;
        let members = (0..class.len()).filter(|&l| class[l] == a || class[l] == b);
        for (row, l) in members.enumerate() {
            for cell in 0..inside.ncols() {
                responses[(l, cell)] = inside[(row, cell)];
            }
        }
        Ok(FittedPair {
            responses,
            second: class.iter().map(|&c| usize::from(c == b)).collect(),
            theory: theory.filter(|_| !named.labels.are_classical()),
            trained,
        })
    }
}
