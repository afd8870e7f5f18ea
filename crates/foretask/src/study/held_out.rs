//! Step 3a, first half: class scores and responses of samples by fits without their fold.

use faer::Mat;

use super::fits::Fits;
use super::learn::moments_of;
use super::target::Target;
use crate::data::{Importance, classes_in_order};
use crate::error::Result;
use crate::moments::Moments;
use crate::recipe::{Entry, Folds, Nested, Split, Tournament, folds_of, rows};
use crate::solve::correct_mass;

/// Folds where a class has one sample only.
const FEWEST_FOLDS: usize = 5;

/// Class scores of all samples by rules without their fold.
pub(super) struct Partition {
    pub(super) scores: Mat<f64>,
    pub(super) folds: Vec<Vec<usize>>,
}

/// The same for several partitions into folds, and for halves.
pub(super) struct HeldOut {
    /// Of the samples.
    pub(super) class: Vec<usize>,
    pub(super) importance: Importance,
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
    pub(super) importance: Importance,
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
        moments_of(
            &self.responses,
            &self.class,
            &everyone,
            classes,
            &self.importance,
            self.theory.as_ref(),
        )
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
    pub(super) fn held_out(
        &self,
        fits: &Fits<'_>,
        qualifies: &dyn Fn(&Entry) -> bool,
    ) -> Result<HeldOut> {
        if let Some(folded) = &fits.folded {
            return self.held_out_folds(fits, folded, qualifies);
        }
        self.without_folds(
            fits,
            &|folds| fits.tournament.cross_fitted(folds, qualifies),
            &|split| split.scores(qualifies),
        )
    }

    /// Class scores by one candidate, chosen again without each fold; `best` is that of all samples.
    pub(super) fn held_out_by(
        &self,
        fits: &Fits<'_>,
        best: usize,
        choose: &dyn Fn(&Tournament) -> Option<usize>,
    ) -> Result<HeldOut> {
        self.without_folds(
            fits,
            &|_| fits.tournament.entries[best].candidate.scores.clone(),
            &|split| split.scores_by(choose),
        )
    }

    /// Class scores, from those less ȳ: by leave-one-out where the hat matrices are not known, or of each partition.
    fn without_folds(
        &self,
        fits: &Fits<'_>,
        plain: &dyn Fn(&Folds) -> Mat<f64>,
        of_split: &dyn Fn(&Split) -> Mat<f64>,
    ) -> Result<HeldOut> {
        let Some(nested) = self.nested(fits)? else {
            let folds = self.plain_folds(fits);
            return Ok(HeldOut {
                class: self.class(),
                importance: self.importance(),
                repeats: vec![Partition {
                    scores: self.with_shares(plain(&folds)),
                    folds: folds
                        .into_iter()
                        .map(|fold| fold.held_out.clone())
                        .collect(),
                }],
                half: None,
                kept: 1.0,
            });
        };
        let partition = |split: &Split| Partition {
            scores: self.with_shares(of_split(split)),
            folds: split
                .parts
                .iter()
                .map(|part| part.held_out.clone())
                .collect(),
        };
        Ok(HeldOut {
            class: self.class(),
            importance: self.importance(),
            repeats: nested.repeats.iter().map(partition).collect(),
            half: Some(partition(&nested.half)),
            kept: self.kept(&fits.tournament),
        })
    }

    /// Everything without each fold, unless it is a rehearsal.
    fn nested<'f>(&self, fits: &'f Fits<'_>) -> Result<Option<&'f Nested>> {
        match self.plan.light {
            true => Ok(None),
            false => fits.nested(&self.settings().stop),
        }
    }

    /// The share of samples that is left without a fold.
    fn kept(&self, tournament: &Tournament) -> f64 {
        let folds = folds_of(&tournament.class, self.classes(), &tournament.groups);
        folds.map_or(1.0, |folds| 1.0 - 1.0 / folds as f64)
    }

    /// Folds of samples whose hat matrix is not known.
    pub(super) fn plain_folds(&self, fits: &Fits<'_>) -> Folds {
        let class = &fits.tournament.class;
        let groups = &fits.tournament.groups;
        let folds = folds_of(class, self.classes(), groups).unwrap_or(FEWEST_FOLDS);
        Folds::balanced(
            class,
            self.classes(),
            folds,
            groups,
            &fits.tournament.keys,
            0,
        )
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
        let Some(nested) = self.nested(fits)? else {
            let everyone: Vec<usize> = (0..class.len()).collect();
            let folds = self.plain_folds(fits);
            let lessons = folds.into_iter().map(|fold| {
                // Where the others lack a class everyone has a say.
                let others = fold.others.as_ref().unwrap_or(&everyone);
                Lesson {
                    held_out: fold.held_out.clone(),
                    class: others.iter().map(|&l| class[l]).collect(),
                    importance: tournament.importance.among(others),
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
                self.settings().stop.check()?;
                let entry = part.tournament.entries.get(choose(&part.tournament));
                let Some(entry) = entry else {
                    continue;
                };
                let (held_out, others) = (&part.held_out, &part.others);
                let left = tournament.without(entry.fitted, held_out, others, &part.cells);
                let Some(mut left) = left else {
                    continue;
                };
                let class = classes_in_order(&part.cells.tasks()[self.index()]);
                let importance = tournament.importance.among(others);
                if whole.corrected {
                    let groups = tournament.groups.among(others);
                    correct_mass(
                        &mut left.others,
                        &class,
                        &groups,
                        &importance,
                        &part.cells,
                        self.index(),
                    );
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
                    importance,
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
}
