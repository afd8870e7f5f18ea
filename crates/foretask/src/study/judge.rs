//! Step 3a: judge a rule by samples that had no say in it. The rule is made again without each of several folds, its
//! coupling included.

use faer::Mat;

use super::fits::Fits;
use super::held_out::{HeldOut, Lesson, Partition, Whole};
use super::learn::{NamedRule, moments_of};
use super::target::Target;
use crate::data::{Coupling, Importance};
use crate::decision::{Discriminant, judged_score};
use crate::error::Result;
use crate::forecast::count::from_judgements;
use crate::forecast::{Calibration, Density, Forecast, Judgement, Judgements, stacked};
use crate::numerics::dense;
use crate::recipe::{Tournament, rows};
use crate::solve::correct_mass;

/// Standardised scores beyond this are as certain as can be.
pub(super) const FARTHEST: f64 = 50.0;
/// Up to so many samples the calibration that decides for a fold has not seen it.
const MOST_CALIBRATED: usize = 2000;

/// From class scores, classes, how much samples count, and the number of partitions.
type Fit = fn(&Mat<f64>, &[usize], &Importance, usize) -> Calibration;

/// A rule with its verdict.
pub(super) struct Judged {
    pub(super) discriminant: Discriminant,
    pub(super) slope: f64,
    pub(super) forecast: Forecast,
    /// None from a theory.
    pub(super) judgements: Option<Judgements>,
}

impl Target<'_, '_> {
    /// A rule by name, learnt from all samples and judged without each fold.
    pub(super) fn judged(
        &self,
        named: NamedRule,
        fits: &Fits<'_>,
        coupling: &Coupling,
        responses: &Mat<f64>,
    ) -> Result<Judged> {
        let (class, m) = (self.class(), self.classes());
        let mut responses = responses.clone();
        if named.keeps_columns() {
            let groups = self.groups();
            let (cells, importance) = (self.cells(), self.importance());
            correct_mass(
                &mut responses,
                &class,
                &groups,
                &importance,
                cells,
                self.index(),
            );
        }
        let theory = self.prior_moments(named.labels, coupling)?;
        let shares = &self.stakes().shares;
        let everyone: Vec<usize> = (0..class.len()).collect();
        let moments = moments_of(
            &responses,
            &class,
            &everyone,
            m,
            &self.importance(),
            theory.as_ref(),
        );
        let discriminant = self.learn(named, &moments, shares);
        let whole = Whole {
            corrected: named.keeps_columns(),
            responses: &responses,
            theory: theory.as_ref(),
        };
        let choose = |tournament: &Tournament| self.best_for_rule(named.labels, tournament);
        let lessons = self.lessons(fits, &whole, &choose)?;
        let scores_by = |discriminant: &Discriminant, responses: &Mat<f64>| {
            let scores = dense::times(responses.as_ref(), discriminant.label_scores.as_ref());
            discriminant.form.class_scores_of(&scores)
        };
        let unit = mean_margin(&scores_by(&discriminant, &responses), &class);
        let test = |lesson: &Lesson| {
            let rule = self.learn(named, &lesson.moments(m), shares);
            let own = mean_margin(&scores_by(&rule, &lesson.responses), &lesson.class);
            standardised(&scores_by(&rule, &lesson.tested), own)
        };
        let partition = |lessons: &Vec<Lesson>| self.tested(&class, lessons, &test);
        let held_out = HeldOut {
            importance: self.importance(),
            repeats: lessons.repeats.iter().map(partition).collect(),
            half: lessons.half.as_ref().map(partition),
            kept: lessons.kept,
            class,
        };
        let (sharpness, forecast, judgements) = self.verdict(held_out, unit);
        Ok(Judged {
            discriminant,
            slope: sharpness / unit,
            forecast,
            judgements: Some(judgements),
        })
    }

    /// What deciding for the commonest class will do, of samples that are judged.
    pub(super) fn commonest(
        &self,
        class: &[usize],
        importance: &Importance,
    ) -> (Forecast, Judgements) {
        let held_out = HeldOut {
            class: class.to_vec(),
            importance: importance.clone(),
            repeats: vec![Partition {
                scores: self.with_shares(Mat::zeros(class.len(), self.classes())),
                folds: Vec::new(),
            }],
            half: None,
            kept: 1.0,
        };
        let (_, forecast, judgements) = self.verdict(held_out, 1.0);
        (forecast, judgements)
    }

    /// Class scores of all samples, fold by fold.
    fn tested(
        &self,
        class: &[usize],
        lessons: &[Lesson],
        test: &dyn Fn(&Lesson) -> Mat<f64>,
    ) -> Partition {
        let m = self.classes();
        let mut scores = Mat::zeros(class.len(), m);
        for lesson in lessons {
            let own = test(lesson);
            for (row, &l) in lesson.held_out.iter().enumerate() {
                for c in 0..m {
                    scores[(l, c)] = own[(row, c)];
                }
            }
        }
        let folds = lessons.iter().map(|lesson| lesson.held_out.clone());
        Partition {
            scores,
            folds: folds.collect(),
        }
    }

    /// Sharpness and forecast of standardised scores, decided by the largest; densities are told in units of the rule
    /// of all samples.
    pub(super) fn verdict(&self, held_out: HeldOut, unit: f64) -> (f64, Forecast, Judgements) {
        let judgements = self.decided(held_out, Calibration::of_slope, true);
        let judged = divided(&judgements.repeats[0].scores, 1.0 / unit);
        let densities = densities(&judged, &judgements.class);
        let forecast = from_judgements(&judgements, self.stakes(), densities);
        (judgements.calibration.slope, forecast, judgements)
    }

    /// Calibration with offsets, forecast and verdicts of class scores in the proportions of training.
    pub(super) fn calibrated(&self, held_out: HeldOut) -> (Forecast, Judgements) {
        let judgements = self.decided(held_out, Calibration::of_scores, false);
        let densities = densities(&judgements.scores(), &judgements.class);
        let forecast = from_judgements(&judgements, self.stakes(), densities);
        (forecast, judgements)
    }

    /// Verdicts of class scores: each fold is decided for by a calibration of the others.
    fn decided(&self, held_out: HeldOut, fit: Fit, by_name: bool) -> Judgements {
        let HeldOut {
            class,
            importance,
            repeats,
            half,
            kept,
        } = held_out;
        let all: Vec<&Mat<f64>> = repeats.iter().map(|one| &one.scores).collect();
        let (scores, classes, weights) = stacked(&all, &class, &importance);
        let calibration = fit(&scores, &classes, &weights, all.len());
        let calibration = calibration.with_twin(&scores, &classes, &weights, all.len());
        let without = |scores: &Mat<f64>, fold: &Vec<usize>| {
            let others: Vec<usize> = (0..class.len())
                .filter(|l| fold.binary_search(l).is_err())
                .collect();
            if others.is_empty() {
                return calibration.clone();
            }
            let own: Vec<usize> = others.iter().map(|&l| class[l]).collect();
            let weights = importance.among(&others);
            fit(&rows(scores, &others), &own, &weights, 1)
        };
        let judgement = |partition: Partition| {
            let Partition { scores, folds } = partition;
            let calibrations = match class.len() <= MOST_CALIBRATED {
                true => folds.iter().map(|fold| without(&scores, fold)).collect(),
                false => Vec::new(),
            };
            let undecided = Judgement {
                scores,
                decisions: Vec::new(),
                folds,
                calibrations,
            };
            undecided.decided(&calibration, self.stakes())
        };
        Judgements {
            groups: self.groups(),
            repeats: repeats.into_iter().map(judgement).collect(),
            half: half.map(judgement),
            kept,
            calibration,
            by_name,
            class,
            importance,
        }
    }
}

/// Class scores about their mean, in units of the mean margin, so that one temperature fits all folds. Those beyond
/// the farthest are shortened together, so that their order stays.
fn standardised(scores: &Mat<f64>, unit: f64) -> Mat<f64> {
    let m = scores.ncols();
    let middle = |l: usize| (0..m).map(|c| scores[(l, c)]).sum::<f64>() / m as f64;
    let mut standard = Mat::from_fn(scores.nrows(), m, |l, c| {
        (scores[(l, c)] - middle(l)) / unit
    });
    for row in standard.row_iter_mut() {
        let most = row.norm_max();
        if most > FARTHEST {
            row.iter_mut().for_each(|x| *x *= FARTHEST / most);
        }
    }
    standard
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

/// The mean of the right class's score less the mean of the others, whatever its sign: the unit of a rule's scores.
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
    let margin = (total / class.len() as f64).abs();
    margin.max(1e-9 * size).max(1e-300)
}

/// Scores in units.
pub(super) fn divided(scores: &Mat<f64>, unit: f64) -> Mat<f64> {
    Mat::from_fn(scores.nrows(), scores.ncols(), |l, c| scores[(l, c)] / unit)
}
