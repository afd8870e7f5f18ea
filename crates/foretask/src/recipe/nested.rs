//! [`Nested`]: the whole default without each of several folds, in closed form
//! (`docs/4-when-to-trust-a-forecast.md#what-the-number-is`).
//!
//! At every coupling the hat matrix gives the responses of all samples without a fold (`solve/leave_fold_out.rs`).
//! From those of the others come candidates, their PRESS and their weights, as from all samples; they are applied to
//! the fold. Folds have equally many samples of each class. There are two partitions into folds, and one into
//! halves, which tells how fast the error falls with labels.
//!
//! Time, per fold and coupling, that of fitting the candidates and n |F| (|F| + C); memory one score per sample,
//! class and candidate.

use faer::Mat;
use rayon::prelude::*;

use super::families::{Family, Samples, Wanted};
use super::folds::{Fold, Folds, MOST_FOLDS};
use super::theory_labels::{Level, TheoryLabels};
use super::tournament::{Entry, Tournament};
use crate::data::{Cells, Groups};
use crate::error::Result;
use crate::numerics::dense;
use crate::solve::{FoldLeftOut, stratify};
use crate::stop::Stop;
use crate::views::View;

/// Partitions into folds, while samples are few.
const REPEATS: u64 = 2;
/// With more samples one partition will do.
const MOST_REPEATED: usize = 100;

/// All partitions.
#[derive(Debug)]
pub(crate) struct Nested {
    pub(crate) repeats: Vec<Split>,
    pub(crate) half: Split,
}

/// One partition of the samples.
#[derive(Debug)]
pub(crate) struct Split {
    pub(crate) parts: Vec<Part>,
}

/// A fold, and the tournament of the others; its entries have the scores of the fold.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) held_out: Vec<usize>,
    pub(crate) others: Vec<usize>,
    /// Of the others.
    pub(crate) cells: Cells,
    pub(crate) tournament: Tournament,
}

/// How many samples of each class are left, and the theory of the used fits for so many.
type Levels = (Vec<usize>, Vec<Option<Level>>);

/// How many folds a forecast is made with; none where a class has one sample, or all have two: half of them would tell
/// nothing about what all can do. Where samples come in groups, groups count.
pub(crate) fn folds_of(class: &[usize], classes: usize, groups: &Groups) -> Option<usize> {
    let counts = groups.with_class(class, classes);
    let (fewest, most) = (counts.iter().min()?, counts.iter().max()?);
    match (*fewest, *most) {
        (0 | 1, _) | (_, 2) => None,
        // Unequal classes have no folds that are alike.
        (_, most) => Some(most.min(MOST_FOLDS)),
    }
}

impl Tournament {
    /// None where a class has one sample, or the hat matrices were not kept.
    ///
    /// # Errors
    /// If it is to stop.
    pub(crate) fn nested(&self, stop: &Stop) -> Result<Option<Nested>> {
        let Some(folds) = folds_of(&self.class, self.classes, &self.groups) else {
            return Ok(None);
        };
        let mut wanted = vec![Wanted::NONE; self.fitted.len()];
        let near = self.near_the_best_of_its_kind();
        for (entry, _) in self.entries.iter().zip(near).filter(|(_, near)| *near) {
            wanted[entry.fitted].add(entry.candidate.family);
        }
        let used: Vec<(usize, Wanted)> = wanted
            .into_iter()
            .enumerate()
            .filter(|(_, wanted)| !wanted.is_empty())
            .collect();
        if used
            .iter()
            .any(|&(index, _)| self.fitted[index].hat.is_none())
        {
            return Ok(None);
        }
        let split = |folds: usize, repeat: u64| {
            Folds::balanced(
                &self.class,
                self.classes,
                folds,
                &self.groups,
                &self.keys,
                repeat,
            )
        };
        let repeats = if self.class.len() > MOST_REPEATED {
            1
        } else {
            REPEATS
        };
        let mut splits: Vec<Folds> = (0..repeats).map(|repeat| split(folds, repeat)).collect();
        splits.push(split(2, REPEATS));
        let tasks: Vec<(usize, &Fold)> = splits
            .iter()
            .enumerate()
            .flat_map(|(number, folds)| folds.into_iter().map(move |fold| (number, fold)))
            .collect();
        let levels = self.levels(tasks.iter().map(|(_, fold)| *fold), &used, stop)?;
        let parts: Vec<(usize, Option<Part>)> = tasks
            .into_par_iter()
            .map(|(number, fold)| Ok((number, self.part(fold, &used, &levels, stop)?)))
            .collect::<Result<_>>()?;
        let mut by_split: Vec<Split> = splits.iter().map(|_| Split { parts: Vec::new() }).collect();
        for (number, part) in parts {
            let Some(part) = part else {
                return Ok(None);
            };
            by_split[number].parts.push(part);
        }
        let half = by_split.pop();
        Ok(half.map(|half| Nested {
            repeats: by_split,
            half,
        }))
    }

    /// How many samples of each class are left without a fold.
    fn counts_without(&self, fold: &Fold) -> Vec<usize> {
        let mut counts = vec![0; self.classes];
        let others = fold.others.iter().flatten();
        others.for_each(|&l| counts[self.class[l]] += 1);
        counts
    }

    /// The theory of the used fits, for every number of samples that folds leave.
    fn levels<'f>(
        &self,
        folds: impl Iterator<Item = &'f Fold>,
        used: &[(usize, Wanted)],
        stop: &Stop,
    ) -> Result<Vec<Levels>> {
        let mut counts: Vec<Vec<usize>> = folds.map(|fold| self.counts_without(fold)).collect();
        counts.sort_unstable();
        counts.dedup();
        let of_counts = |counts: Vec<usize>| {
            let cells = self.cells.with_counts(self.target, counts.clone());
            let level = |&(index, wanted): &(usize, Wanted)| {
                stop.check()?;
                let point = self.fitted[index].point;
                let labels = self.labels_in(self.seen[index], point);
                let labels = labels.filter(|_| wanted.has(Family::Optimal));
                let labels = labels.zip(self.coupling_at(point));
                Ok(labels.map(|(labels, coupling)| labels.level(&cells, &coupling)))
            };
            Ok((counts, used.iter().map(level).collect::<Result<_>>()?))
        };
        counts.into_par_iter().map(of_counts).collect()
    }

    fn part(
        &self,
        fold: &Fold,
        used: &[(usize, Wanted)],
        levels: &[Levels],
        stop: &Stop,
    ) -> Result<Option<Part>> {
        let Some(others) = fold.others.clone() else {
            return Ok(None);
        };
        let class: Vec<usize> = others.iter().map(|&l| self.class[l]).collect();
        let counts = self.counts_without(fold);
        let Some((_, levels)) = levels.iter().find(|(known, _)| *known == counts) else {
            return Ok(None);
        };
        let importance = self.importance.among(&others);
        let cells = self.cells.with_samples(self.target, &class, &importance);
        let groups = self.groups.among(&others);
        let mut tournament = Self::of_samples(
            cells.clone(),
            self.target,
            class.clone(),
            groups.clone(),
            importance.clone(),
        );
        tournament.tried.clone_from(&self.tried);
        let samples = Samples::new(&cells, self.target, &class, &groups, &importance);
        let labels: Vec<(View, TheoryLabels)> = self
            .labels
            .iter()
            .filter_map(|(view, labels)| Some((*view, labels.among(&cells, &others, &groups)?)))
            .collect();
        let share = others.len() as f64 / self.class.len() as f64;
        for (&(index, wanted), level) in used.iter().zip(levels) {
            let (fitted, view) = (&self.fitted[index], self.seen[index]);
            stop.check()?;
            let Some(mut left) = self.without(index, &fold.held_out, &others, &cells) else {
                return Ok(None);
            };
            for cell in cells.of_task(self.target) {
                let share = cells.share(cell);
                let column = left.held_out.col_as_slice_mut(cell).iter_mut();
                column.for_each(|x| *x -= share);
            }
            let own = labels.iter().find(|(known, _)| *known == view);
            let own = own.zip(level.as_ref());
            let own = own.map(|((_, labels), level)| labels.with(level));
            let candidates = samples.candidates(fitted.point, &left.others, own.as_ref(), wanted);
            for mut candidate in candidates {
                let press = candidate.squared_errors.iter().sum::<f64>() / samples.total;
                candidate.scores =
                    dense::times(left.held_out.as_ref(), candidate.label_scores.as_ref());
                candidate.squared_errors = Vec::new();
                candidate.label_scores = Mat::new();
                tournament.entries.push(Entry {
                    candidate,
                    view,
                    point: fitted.point,
                    fitted: index,
                    press,
                    effective: tournament.at_most(fitted.effective * share),
                });
            }
        }
        Ok(Some(Part {
            held_out: fold.held_out.clone(),
            others,
            cells,
            tournament,
        }))
    }

    /// Responses of a fit without a fold; those of the others are stratified.
    pub(crate) fn without(
        &self,
        fitted: usize,
        held_out: &[usize],
        others: &[usize],
        cells: &Cells,
    ) -> Option<FoldLeftOut> {
        let groups = self.groups.among(others);
        let hat = self.fitted[fitted].hat.as_ref()?;
        let mut left = hat.without(held_out, others, &groups);
        let class: Vec<usize> = others.iter().map(|&l| self.class[l]).collect();
        let importance = self.importance.among(others);
        stratify(
            &mut left.others,
            &class,
            &groups,
            &importance,
            cells,
            self.target,
        );
        Some(left)
    }
}

impl Split {
    /// Class scores less ȳ (n_t x m) of each fold by the others, of the entries that qualify.
    pub(crate) fn scores(&self, qualifies: &dyn Fn(&Entry) -> bool) -> Mat<f64> {
        self.weighted(&|part| part.weights_among(qualifies))
    }

    /// The same by one entry of each tournament.
    pub(crate) fn scores_by(&self, choose: &dyn Fn(&Tournament) -> Option<usize>) -> Mat<f64> {
        self.weighted(&|part| {
            let mut weights = vec![0.0; part.entries.len()];
            choose(part)
                .into_iter()
                .for_each(|entry| weights[entry] = 1.0);
            weights
        })
    }

    fn weighted(&self, weights: &dyn Fn(&Tournament) -> Vec<f64>) -> Mat<f64> {
        let samples = self.parts.iter().map(|part| part.held_out.len()).sum();
        let classes = self.parts.first().map_or(0, |part| part.tournament.classes);
        let mut scores = Mat::zeros(samples, classes);
        for Part {
            held_out,
            tournament,
            ..
        } in &self.parts
        {
            for (entry, weight) in tournament.entries.iter().zip(weights(tournament)) {
                if weight == 0.0 {
                    continue;
                }
                for (row, &l) in held_out.iter().enumerate() {
                    for c in 0..classes {
                        scores[(l, c)] += weight * entry.candidate.scores[(row, c)];
                    }
                }
            }
        }
        scores
    }
}
