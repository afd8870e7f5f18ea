//! One-versus-one: every pair of classes is a problem of its own, trained on its samples only; the
//! scores vote.

use faer::Mat;

use super::averaged::densities;
use super::evidence::Knowledge;
use super::ruled::{CrossFitted, Kind, as_in_use, decision_of, mean_margin, rows};
use super::{Folded, Leading, Outcome, Roads, Rule, to_raw};
use crate::cells::Cells;
use crate::coupling::Coupling;
use crate::dense;
use crate::error::Result;
use crate::moments::{Moments, centre_noise};
use crate::rules::one_vs_one::PairScore;
use crate::rules::{Discriminant, Form, one_hot, pairs};
use crate::settings::Evidence;
use crate::solve::{System, needs_rows};
use crate::statistics::Statistics;
use crate::theory::pairs::Member;
use crate::tune::{FOLDS, folds};

/// The samples of two classes of the target and of the cells that stand for them.
pub(super) struct Pair {
    pub(super) tasks: Cells,
    /// The cells that are left.
    pub(super) cells: Vec<usize>,
    pub(super) target: usize,
    pub(super) coupling: Coupling,
    /// For every cell left, 0 or 1: the class of the pair that it stands for.
    pub(super) side: Vec<usize>,
}

/// A pair of classes, the coupling of the whole problem, and the pair's rule.
#[derive(Clone, Debug)]
pub(super) struct PairRule {
    classes: (usize, usize),
    coupling: Coupling,
    rule: PairScore,
}

impl Pair {
    /// The pair as the theory sees it.
    fn member(&self, labels: &[f64]) -> Member {
        Member {
            cells: self.cells.clone(),
            tasks: self.tasks.clone(),
            target: self.target,
            coupling: self.coupling.clone(),
            labels: labels.to_vec(),
        }
    }
}

impl<'a> Roads<'_, 'a> {
    /// The problem of classes `a` and `b`. kp counts the tasks, so the coupling shrinks with the tasks
    /// that have no sample of either class, to leave the penalty of the others as it was.
    pub(super) fn pair(&self, a: usize, b: usize, coupling: &Coupling) -> Result<Option<Pair>> {
        let aligned = self.cells().aligned(self.target);
        let keep = |cell: usize| aligned[cell] == Some(a) || aligned[cell] == Some(b);
        let (tasks, cells) = self.cells().restricted(&keep);
        let task_of: Vec<usize> = (0..tasks.tasks().len())
            .map(|task| self.cells().task_of(cells[tasks.of_task(task).start]))
            .collect();
        let Some(target) = task_of.iter().position(|&task| task == self.target) else {
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

    /// One-versus-one, judged by leave-one-out: a sample of the pair is left out of it, any other is new
    /// to it.
    pub(super) fn voted(
        &self,
        kind: Kind,
        coupling: &Coupling,
        progress: &dyn Fn(f64),
    ) -> Result<Outcome> {
        let class = self.class();
        let m = self.classes();
        let count = m * (m - 1) / 2;
        let fold = folds(&class, m, self.settings.seed);
        let mut weights = Mat::zeros(self.knowledge.features, count);
        let mut intercept = vec![0.0; count];
        // Scores by the rule of all samples, and by the rule of the other folds.
        let mut own = Mat::zeros(class.len(), count);
        let mut left_out = Mat::zeros(class.len(), count);
        for (number, (a, b)) in pairs(m).enumerate() {
            progress(number as f64 / count as f64);
            let Some(pair) = self.pair(a, b, coupling)? else {
                continue;
            };
            let fitted = self.fit_pair(kind, &pair, (a, b), &class)?;
            let learn = |samples: &[usize]| self.learn_pair(kind, &pair, &fitted, samples);
            let members: Vec<usize> = (0..class.len())
                .filter(|&l| class[l] == a || class[l] == b)
                .collect();
            let pair_class = |l: usize| usize::from(class[l] == b);
            let all = learn(&members)?;
            for l in 0..class.len() {
                own[(l, number)] = all.at(fitted.responses.row(l).iter().copied());
            }
            for held_out in 0..FOLDS {
                let others: Vec<usize> = members
                    .iter()
                    .copied()
                    .filter(|&l| fold[l] != held_out)
                    .collect();
                let complete = (0..2).all(|c| others.iter().any(|&l| pair_class(l) == c));
                let learned = match complete {
                    true => Some(learn(&others)?),
                    false => None,
                };
                let rule = learned.as_ref().unwrap_or(&all);
                for l in (0..class.len()).filter(|&l| fold[l] == held_out) {
                    left_out[(l, number)] = rule.at(fitted.responses.row(l).iter().copied());
                }
            }
            let (column, constant) =
                folded(&all, &pair, &fitted.weights, &fitted.mean, fitted.scale);
            intercept[number] = constant;
            for (feature, value) in column.into_iter().enumerate() {
                weights[(feature, number)] = value;
            }
        }
        let form = Form::Votes {
            thresholds: vec![0.0; count],
            ties: self.settings.ties,
        };
        let raw = form.class_scores_of(&left_out);
        let unit = mean_margin(&form.class_scores_of(&own), &class);
        let standard = Mat::from_fn(raw.nrows(), m, |l, c| raw[(l, c)] / unit);
        let fitted = CrossFitted { raw, standard };
        let (slope, mut forecast) = self.verdict(&fitted, &class, unit);
        forecast.densities = densities(&fitted.raw, &class);
        Ok(Outcome {
            rule: self.pair_rule(kind, coupling),
            decision: decision_of(form, slope, self.stakes),
            folded: Folded::Raw { weights, intercept },
            bias: Vec::new(),
            forecast,
            leading: vec![self.pair_leading(coupling)],
            scores: Some(fitted.standard),
        })
    }

    /// One-versus-one from the theory, before anything is trained.
    pub(super) fn foretold_votes(&self, kind: Kind, coupling: &Coupling) -> Result<Outcome> {
        let m = self.classes();
        let stakes = as_in_use(self.stakes);
        let noise = centre_noise(self.cells(), self.target);
        let mut rules = Vec::new();
        for (a, b) in pairs(m) {
            let Some(pair) = self.pair(a, b, coupling)? else {
                continue;
            };
            let moments = self
                .knowledge
                .pair_theory(&pair.member(&[]))?
                .moments(pair.target);
            let weights = [a, b].map(|c| stakes.priors[c] * stakes.costs[c]);
            rules.push(PairRule {
                classes: (a, b),
                coupling: coupling.clone(),
                rule: pair_score(kind, &pair, &moments, weights, noise),
            });
        }
        let joint = |knowledge: &Knowledge| -> Result<Moments> {
            let mut members = Vec::with_capacity(rules.len());
            for PairRule { classes, rule, .. } in &rules {
                if let Some(pair) = self.pair(classes.0, classes.1, coupling)? {
                    members.push(pair.member(&rule.labels));
                }
            }
            let law = knowledge
                .pairs_law(self.target, &members)?
                .with_noise(noise);
            Ok(Moments {
                mean: Mat::from_fn(m, rules.len(), |c, s| {
                    (law.mean[(c, s)] - rules[s].rule.threshold) / rules[s].rule.deviation
                }),
                covariance: law
                    .covariance
                    .iter()
                    .map(|covariance| {
                        Mat::from_fn(rules.len(), rules.len(), |s, t| {
                            covariance[(s, t)] / (rules[s].rule.deviation * rules[t].rule.deviation)
                        })
                    })
                    .collect(),
            })
        };
        let discriminant = Discriminant {
            label_scores: Mat::identity(rules.len(), rules.len()),
            form: Form::Votes {
                thresholds: vec![0.0; rules.len()],
                ties: self.settings.ties,
            },
        };
        let moments = joint(self.knowledge)?;
        let (slope, mut forecast) = self.forecast_by_draws(kind, &discriminant, &moments);
        let error_of = self.error_of_draws(&discriminant, slope, &moments, forecast.error);
        let (mut low, mut high) = (forecast.error, forecast.error);
        for factor in self.knowledge.distance_factors(self.target) {
            let end = error_of(&joint(&self.knowledge.stretched(self.target, factor))?);
            low = low.min(end);
            high = high.max(end);
        }
        forecast.interval = [low.max(0.0), high.min(1.0)];
        Ok(Outcome {
            rule: self.pair_rule(kind, coupling),
            decision: decision_of(discriminant.form, slope, &stakes),
            folded: Folded::UntrainedPairs(rules),
            bias: Vec::new(),
            forecast,
            leading: vec![self.pair_leading(coupling)],
            scores: None,
        })
    }

    /// Trains what [`Roads::foretold_votes`] foretold: weights on raw features, and scores at the origin.
    pub(super) fn train_pairs(&self, rules: &[PairRule]) -> Result<(Mat<f64>, Vec<f64>)> {
        let mut weights = Mat::zeros(self.knowledge.features, rules.len());
        let mut intercept = vec![0.0; rules.len()];
        for (number, rule) in rules.iter().enumerate() {
            let Some(pair) = self.pair(rule.classes.0, rule.classes.1, &rule.coupling)? else {
                continue;
            };
            let statistics = self.statistics_of(&pair)?;
            let system = System::new(statistics, self.settings.scaling, &pair.coupling)?;
            let (column, constant) = folded(
                &rule.rule,
                &pair,
                &system.weights(pair.target),
                &system.task_mean(pair.target),
                system.scales()[pair.target],
            );
            intercept[number] = constant;
            for (feature, value) in column.into_iter().enumerate() {
                weights[(feature, number)] = value;
            }
        }
        Ok((weights, intercept))
    }

    /// The statistics of a pair's samples.
    fn statistics_of(&self, pair: &Pair) -> Result<Statistics<'a>> {
        self.ground.statistics.restricted(&pair.tasks, &pair.cells)
    }

    /// A linear rule that stands for the votes in relative statements.
    fn pair_leading(&self, coupling: &Coupling) -> Leading {
        Leading {
            weight: 1.0,
            coupling: coupling.clone(),
            label_scores: one_hot::classical(self.cells(), self.target).label_scores,
            offsets: vec![0.0; self.classes()],
        }
    }

    fn pair_rule(&self, kind: Kind, coupling: &Coupling) -> Rule {
        Rule {
            name: kind.rule,
            labels: kind.labels,
            coupling: Some(coupling.clone()),
            label_scores: None,
            threshold: None,
            weights: Vec::new(),
            candidates: Vec::new(),
            tried: 1,
        }
    }

    fn fit_pair(
        &self,
        kind: Kind,
        pair: &Pair,
        (a, b): (usize, usize),
        class: &[usize],
    ) -> Result<FittedPair> {
        let statistics = self.statistics_of(pair)?;
        let rows = statistics.rows_of(pair.target).cloned();
        let rows = rows.ok_or_else(|| needs_rows(&pair.tasks.tasks()[pair.target].name))?;
        let scales = self.settings.scaling.scales(&statistics);
        let knowledge = Knowledge::isotropic(&statistics, &scales);
        let theory = match self.settings.evidence {
            Evidence::Auto => Some(knowledge.moments(&pair.coupling, pair.target)?),
            _ => None,
        };
        let system = System::new(statistics, self.settings.scaling, &pair.coupling)?;
        let weights = system.weights(pair.target);
        let all = self.ground.rows_of(self.target)?;
        let mut responses = system.responses_of(pair.target, all.table(), all.index(), &weights);
        let inside = system
            .leave_one_out_of(&rows, pair.target)
            .stratified(&pair.tasks);
        let inside = match kind.labels.are_classical() {
            true => inside.mass_corrected(&pair.tasks),
            false => inside,
        }
        .responses;
        let mut row = 0;
        for (l, &c) in class.iter().enumerate() {
            if c == a || c == b {
                for cell in 0..inside.ncols() {
                    responses[(l, cell)] = inside[(row, cell)];
                }
                row += 1;
            }
        }
        Ok(FittedPair {
            responses,
            second: class.iter().map(|&c| usize::from(c == b)).collect(),
            theory,
            weights,
            mean: system.task_mean(pair.target),
            scale: system.scales()[pair.target],
        })
    }

    fn learn_pair(
        &self,
        kind: Kind,
        pair: &Pair,
        fitted: &FittedPair,
        samples: &[usize],
    ) -> Result<PairScore> {
        let chosen = rows(&fitted.responses, samples);
        let class: Vec<usize> = samples.iter().map(|&l| fitted.second[l]).collect();
        let moments = match &fitted.theory {
            Some(theory) if !kind.labels.are_classical() => {
                Moments::shrunk(chosen.as_ref(), &class, theory)
            }
            _ => Moments::leave_one_out(chosen.as_ref(), &class, 2),
        };
        let counts = [0, 1].map(|c| class.iter().filter(|&&d| d == c).count() as f64);
        Ok(pair_score(kind, pair, &moments, counts, 1.0))
    }
}

/// The rule of a pair; `weights` are the importance of its two classes.
fn pair_score(
    kind: Kind,
    pair: &Pair,
    moments: &Moments,
    weights: [f64; 2],
    noise: f64,
) -> PairScore {
    if kind.labels.are_classical() {
        let labels = pair.side.iter().map(|&side| 1.0 - 2.0 * side as f64);
        PairScore::of_labels(labels.collect(), moments, weights, noise)
    } else {
        PairScore::optimal(moments, weights, noise)
    }
}

/// Weights on raw features and the score at the origin; `weights` are the pair's, p x its cells.
fn folded(
    score: &PairScore,
    pair: &Pair,
    weights: &Mat<f64>,
    mean: &[f64],
    scale: f64,
) -> (Vec<f64>, f64) {
    let cells = &pair.tasks;
    let labels = Mat::from_fn(score.labels.len(), 1, |cell, _| {
        score.labels[cell] / score.deviation
    });
    let at_mean: f64 = cells
        .of_task(pair.target)
        .map(|cell| cells.share(cell) * labels[(cell, 0)])
        .sum();
    let folded = dense::times(weights.as_ref(), labels.as_ref());
    let bias = vec![at_mean - score.threshold / score.deviation];
    let (weights, bias) = to_raw(folded, bias, mean, scale);
    (weights.col(0).iter().copied().collect(), bias[0])
}

/// A pair's fit, and its responses of every target sample that had no say in it.
struct FittedPair {
    responses: Mat<f64>,
    /// 1 where a sample is of the second class.
    second: Vec<usize>,
    theory: Option<Moments>,
    weights: Mat<f64>,
    mean: Vec<f64>,
    scale: f64,
}
