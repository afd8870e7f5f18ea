//! Step 3a: judge a rule by samples that had no say in it. The rule is made again without each of several folds, its
//! coupling included.

use faer::Mat;

use super::fits::Fits;
use super::learn::{NamedRule, moments_of};
use super::target::Target;
use crate::data::{Coupling, classes_in_order};
use crate::decision::{Decision, Discriminant, judged_score};
use crate::error::Result;
use crate::forecast::count::from_judgements;
use crate::forecast::{Calibration, Density, Forecast, Judgement, Judgements, stacked};
use crate::moments::Moments;
use crate::numerics::dense;
use crate::recipe::{Entry, Folds, Nested, Split, Tournament, folds_of, rows};
use crate::solve::correct_mass;

/// Standardised scores beyond this are as certain as can be.
pub(super) const FARTHEST: f64 = 50.0;
/// Folds where a class has one sample only.
const FEWEST_FOLDS: usize = 5;
/// Up to so many samples the calibration that decides for a fold has not seen it.
const MOST_CALIBRATED: usize = 2000;

/// A rule with its verdict.
pub(super) struct Judged {
    pub(super) discriminant: Discriminant,
    pub(super) slope: f64,
    pub(super) forecast: Forecast,
    /// None from a theory.
    pub(super) judgements: Option<Judgements>,
}

/// Class scores of all samples by rules without their fold.
pub(super) struct Partition {
    pub(super) scores: Mat<f64>,
    pub(super) folds: Vec<Vec<usize>>,
}

/// The same for several partitions into folds, and for halves.
pub(super) struct HeldOut {
    pub(super) repeats: Vec<Partition>,
    pub(super) half: Option<Partition>,
    /// The share of the samples that rules were made of.
    pub(super) kept: f64,
}

/// What a rule by name is learnt from, and the fold that it is tested on.
pub(super) struct Lesson {
    pub(super) held_out: Vec<usize>,
    /// Of those it is learnt from.
    pub(super) class: Vec<usize>,
    pub(super) responses: Mat<f64>,
    /// Of the fold.
    pub(super) tested: Mat<f64>,
    /// The moments that those of the responses are shrunk toward.
    pub(super) theory: Option<Moments>,
}

impl Lesson {
    /// The moments of the responses.
    pub(super) fn moments(&self, classes: usize) -> Moments {
        let everyone: Vec<usize> = (0..self.class.len()).collect();
        let theory = self.theory.as_ref();
        moments_of(&self.responses, &self.class, &everyone, classes, theory)
    }
}

/// The lessons of several partitions, and of halves.
pub(super) struct Lessons {
    pub(super) repeats: Vec<Vec<Lesson>>,
    pub(super) half: Option<Vec<Lesson>>,
    pub(super) kept: f64,
}

/// What a rule by name is learnt from, of all samples.
pub(super) struct Whole<'w> {
    /// Whether responses are corrected for the mass of the sample left out.
    pub(super) corrected: bool,
    /// Leave-one-out responses, corrected.
    pub(super) responses: &'w Mat<f64>,
    pub(super) theory: Option<&'w Moments>,
}

impl Target<'_, '_> {
    /// Class scores by the weighted candidates that qualify, made again without each fold.
    pub(super) fn held_out(&self, fits: &Fits<'_>, qualifies: &dyn Fn(&Entry) -> bool) -> HeldOut {
        let tournament = &fits.tournament;
        let Some(nested) = self.nested(fits) else {
            let folds = self.plain_folds(fits);
            return HeldOut {
                repeats: vec![Partition {
                    scores: self.with_shares(tournament.cross_fitted(&folds, qualifies)),
                    folds: folds
                        .into_iter()
                        .map(|fold| fold.held_out.clone())
                        .collect(),
                }],
                half: None,
                kept: 1.0,
            };
        };
        let partition = |split: &Split| Partition {
            scores: self.with_shares(split.scores(qualifies)),
            folds: split
                .parts
                .iter()
                .map(|part| part.held_out.clone())
                .collect(),
        };
        HeldOut {
            repeats: nested.repeats.iter().map(partition).collect(),
            half: Some(partition(&nested.half)),
            kept: self.kept(tournament),
        }
    }

    /// Class scores by one candidate, chosen again without each fold; `best` is that of all samples.
    pub(super) fn held_out_by(
        &self,
        fits: &Fits<'_>,
        best: usize,
        choose: &dyn Fn(&Tournament) -> Option<usize>,
    ) -> HeldOut {
        let tournament = &fits.tournament;
        let Some(nested) = self.nested(fits) else {
            let folds = self.plain_folds(fits);
            return HeldOut {
                repeats: vec![Partition {
                    scores: self.with_shares(tournament.entries[best].candidate.scores.clone()),
                    folds: folds
                        .into_iter()
                        .map(|fold| fold.held_out.clone())
                        .collect(),
                }],
                half: None,
                kept: 1.0,
            };
        };
        let partition = |split: &Split| Partition {
            scores: self.with_shares(split.scores_by(choose)),
            folds: split
                .parts
                .iter()
                .map(|part| part.held_out.clone())
                .collect(),
        };
        HeldOut {
            repeats: nested.repeats.iter().map(partition).collect(),
            half: Some(partition(&nested.half)),
            kept: self.kept(tournament),
        }
    }

    /// Everything without each fold, unless it is a rehearsal.
    fn nested<'f>(&self, fits: &'f Fits<'_>) -> Option<&'f Nested> {
        if self.plan.light { None } else { fits.nested() }
    }

    /// The share of samples that is left without a fold.
    fn kept(&self, tournament: &Tournament) -> f64 {
        let folds = folds_of(&tournament.class, self.classes());
        folds.map_or(1.0, |folds| 1.0 - 1.0 / folds as f64)
    }

    /// Folds of samples whose hat matrix is not known.
    pub(super) fn plain_folds(&self, fits: &Fits<'_>) -> Folds {
        let class = &fits.tournament.class;
        let folds = folds_of(class, self.classes()).unwrap_or(FEWEST_FOLDS);
        Folds::balanced(class, self.classes(), folds, &fits.keys, 0)
    }

    /// What a rule by name is learnt from and tested on; `choose` tells its entry in a tournament.
    pub(super) fn lessons(
        &self,
        fits: &Fits<'_>,
        whole: &Whole<'_>,
        choose: &dyn Fn(&Tournament) -> usize,
    ) -> Result<Lessons> {
        let tournament = &fits.tournament;
        let class = &tournament.class;
        let Some(nested) = self.nested(fits) else {
            let everyone: Vec<usize> = (0..class.len()).collect();
            let folds = self.plain_folds(fits);
            let lessons = folds.into_iter().map(|fold| {
                // Where the others lack a class everyone has a say.
                let others = fold.others.as_ref().unwrap_or(&everyone);
                Lesson {
                    held_out: fold.held_out.clone(),
                    class: others.iter().map(|&l| class[l]).collect(),
                    responses: rows(whole.responses, others),
                    tested: rows(whole.responses, &fold.held_out),
                    theory: whole.theory.cloned(),
                }
            });
            return Ok(Lessons {
                repeats: vec![lessons.collect()],
                half: None,
                kept: 1.0,
            });
        };
        let of_split = |split: &Split| -> Result<Vec<Lesson>> {
            let mut lessons = Vec::with_capacity(split.parts.len());
            for part in &split.parts {
                let entry = &part.tournament.entries[choose(&part.tournament)];
                let (held_out, others) = (&part.held_out, &part.others);
                let left = tournament.without(entry.fitted, held_out, others, &part.cells);
                let Some(mut left) = left else {
                    continue;
                };
                let class = classes_in_order(&part.cells.tasks()[self.index()]);
                if whole.corrected {
                    correct_mass(&mut left.others, &class, &part.cells, self.index());
                }
                let theory = match whole.theory {
                    None => None,
                    Some(_) => {
                        let coupling = match &self.plan.coupling {
                            Some(coupling) => coupling.clone(),
                            None => self.coupling_of(entry.point)?,
                        };
                        Some(self.moments_among(others, &coupling)?)
                    }
                };
                lessons.push(Lesson {
                    held_out: held_out.clone(),
                    class,
                    responses: left.others,
                    tested: left.held_out,
                    theory,
                });
            }
            Ok(lessons)
        };
        Ok(Lessons {
            repeats: nested
                .repeats
                .iter()
                .map(of_split)
                .collect::<Result<Vec<_>>>()?,
            half: Some(of_split(&nested.half)?),
            kept: self.kept(tournament),
        })
    }

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
            correct_mass(&mut responses, &class, self.cells(), self.index());
        }
        let theory = self.prior_moments(named.labels, coupling)?;
        let shares = &self.stakes().shares;
        let everyone: Vec<usize> = (0..class.len()).collect();
        let moments = moments_of(&responses, &class, &everyone, m, theory.as_ref());
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
            repeats: lessons.repeats.iter().map(partition).collect(),
            half: lessons.half.as_ref().map(partition),
            kept: lessons.kept,
        };
        let (sharpness, forecast, judgements) = self.verdict(held_out, &class, unit);
        Ok(Judged {
            discriminant,
            slope: sharpness / unit,
            forecast,
            judgements: Some(judgements),
        })
    }

    /// What deciding for the commonest class will do.
    pub(super) fn commonest(&self, class: &[usize]) -> (Forecast, Judgements) {
        let held_out = HeldOut {
            repeats: vec![Partition {
                scores: self.with_shares(Mat::zeros(class.len(), self.classes())),
                folds: Vec::new(),
            }],
            half: None,
            kept: 1.0,
        };
        let (_, forecast, judgements) = self.verdict(held_out, class, 1.0);
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
    pub(super) fn verdict(
        &self,
        held_out: HeldOut,
        class: &[usize],
        unit: f64,
    ) -> (f64, Forecast, Judgements) {
        let judgements = self.decided(held_out, class, &|scores, class, partitions| {
            Calibration::of_slope(scores, class, partitions)
        });
        let judged = divided(&judgements.repeats[0].scores, 1.0 / unit);
        let forecast = from_judgements(&judgements, self.stakes(), densities(&judged, class));
        (judgements.calibration.slope, forecast, judgements)
    }

    /// Calibration with offsets, forecast and verdicts of class scores in the proportions of training.
    pub(super) fn calibrated(&self, held_out: HeldOut, class: &[usize]) -> (Forecast, Judgements) {
        let judgements = self.decided(held_out, class, &|scores, class, partitions| {
            Calibration::of_scores(scores, class, partitions)
        });
        let densities = densities(&judgements.scores(), class);
        let forecast = from_judgements(&judgements, self.stakes(), densities);
        (forecast, judgements)
    }

    /// Verdicts of class scores: each fold is decided for by a calibration of the others.
    fn decided(
        &self,
        held_out: HeldOut,
        class: &[usize],
        fit: &dyn Fn(&Mat<f64>, &[usize], usize) -> Calibration,
    ) -> Judgements {
        let all: Vec<&Mat<f64>> = held_out.repeats.iter().map(|one| &one.scores).collect();
        let (scores, classes) = stacked(&all, class);
        let calibration = fit(&scores, &classes, all.len()).with_twin(&scores, &classes, all.len());
        let decide = |calibration: &Calibration, scores: &Mat<f64>| {
            let Calibration { slope, offsets, .. } = calibration;
            Decision::of_class_scores(*slope, offsets, self.stakes()).decide(scores)
        };
        let judgement = |partition: Partition| {
            let Partition { scores, folds } = partition;
            let mut decisions = decide(&calibration, &scores);
            if class.len() <= MOST_CALIBRATED {
                for fold in &folds {
                    let others: Vec<usize> = (0..class.len())
                        .filter(|l| fold.binary_search(l).is_err())
                        .collect();
                    if others.is_empty() {
                        continue;
                    }
                    let own: Vec<usize> = others.iter().map(|&l| class[l]).collect();
                    let calibration = fit(&rows(&scores, &others), &own, 1);
                    let decided = decide(&calibration, &rows(&scores, fold));
                    let both = fold.iter().zip(decided);
                    both.for_each(|(&l, decision)| decisions[l] = decision);
                }
            }
            Judgement { scores, decisions }
        };
        Judgements {
            class: class.to_vec(),
            repeats: held_out.repeats.into_iter().map(judgement).collect(),
            half: held_out.half.map(judgement),
            kept: held_out.kept,
            calibration,
        }
    }
}

/// Class scores about their mean, in units of the mean margin, so that one temperature fits all folds.
fn standardised(scores: &Mat<f64>, unit: f64) -> Mat<f64> {
    let m = scores.ncols();
    let middle = |l: usize| (0..m).map(|c| scores[(l, c)]).sum::<f64>() / m as f64;
    Mat::from_fn(scores.nrows(), m, |l, c| {
        ((scores[(l, c)] - middle(l)) / unit).clamp(-FARTHEST, FARTHEST)
    })
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
