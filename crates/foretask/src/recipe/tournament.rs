//! Which coupling and which labels: all of them, weighted by how well they do on samples they have
//! not seen (`docs/4-when-to-trust-a-forecast.md#the-average`).
//!
//! Every candidate a has PRESS_a, the share of the label variance its leave-one-out scores miss, and ν_a, how many
//! independent errors that is made of. Its weight is
//!
//! ```text
//! w_a ∝ π_view π_sign (π_f / N_f) [ PRESS_a exp(2 √(2/(ν_a (m - 1)))) ]^(-η n_t (m - 1)/2),     η = 0.4,
//! ```
//!
//! with π_f the prior of its family and N_f the family's size in the view. The exponential is what a standard error
//! of ln PRESS makes of two: near interpolation PRESS is small by luck. The scores of the weighted average are still
//! linear in each view of x. For the forecast, everything is chosen again without each of several folds (`nested.rs`),
//! so that no sample has a say in the rule that is tested on it.
//!
//! Where samples come in groups, these are left out together, and n_t and ν are at most the number of groups.
//!
//! Where samples have weights, PRESS is that of the weighted errors, and n_t is (Σ w)²/Σ w².
//!
//! Where every class of the target has one sample, leaving it out decides nothing: the pooled candidates of the
//! linear views have equal weights (without sources, all).

use std::sync::Arc;

use faer::Mat;
use rayon::prelude::*;

use super::families::{Candidate, Family, Samples, Sign, Wanted};
use super::folds::Folds;
use super::in_folds::InFolds;
use super::theory_labels::TheoryLabels;
use crate::data::{Cells, Coupling, Groups, Importance, Joined, classes_in_order};
use crate::error::Result;
use crate::solve::{self, Fitted, Grid, GridPoint, Reduced};
use crate::stop::Stop;
use crate::views::View;

/// η: how sharply weights follow the leave-one-out error.
const SHARPNESS: f64 = 0.4;
/// Standard errors of ln PRESS that are added to it.
const DOUBT: f64 = 2.0;
/// A candidate this many nats behind the best, counted with half the samples, cannot matter in any
/// fold and is dropped on the way.
const HOPELESS: f64 = 40.0;
/// The same for a candidate behind the best of its family in its view, which may be asked for by name.
const HOPELESS_BY_NAME: f64 = 7.0;

/// A candidate with the coupling it was fitted at.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) candidate: Candidate,
    pub(crate) view: View,
    pub(crate) point: GridPoint,
    pub(crate) fitted: usize,
    /// PRESS.
    pub(crate) press: f64,
    /// ν.
    pub(super) effective: f64,
}

impl Entry {
    /// Whether all tasks share one weight vector and the labels that it is trained with.
    pub(crate) fn is_pooled(&self) -> bool {
        self.is(Family::Pooled)
    }

    /// Whether it is the candidate of a family as it was fitted.
    pub(crate) fn is(&self, family: Family) -> bool {
        self.candidate.family == family && self.candidate.sign != Sign::Mirrored
    }

    /// ln PRESS of a share of the samples, with its standard errors.
    fn doubted(&self, press: f64, share: f64, classes: usize) -> f64 {
        let independent = self.effective * share * (classes - 1) as f64;
        ln(press) + DOUBT * (2.0 / independent).sqrt()
    }
}

/// All candidates that matter, and the fits behind them.
#[derive(Debug)]
pub(crate) struct Tournament {
    /// Those of the columns, where sources are joined.
    pub(crate) cells: Cells,
    /// The columns that sources share, where they are many.
    pub(crate) joined: Option<Arc<Joined>>,
    pub(crate) target: usize,
    pub(crate) entries: Vec<Entry>,
    pub(crate) fitted: Vec<Fitted>,
    /// The view of each fit.
    pub(super) seen: Vec<View>,
    /// The theory's labels, by view.
    pub(super) labels: Vec<(View, TheoryLabels)>,
    /// The coupling, if it is given.
    pub(super) coupling: Option<Coupling>,
    /// The number of samples.
    samples: usize,
    /// The class of each; none in folds.
    pub(crate) class: Vec<usize>,
    /// Samples that are left out together.
    pub(crate) groups: Groups,
    /// How much each sample counts.
    pub(crate) importance: Importance,
    /// What tells the samples apart.
    pub(crate) keys: Vec<f64>,
    pub(super) classes: usize,
    /// How many candidates of each family were tried, by view.
    pub(super) tried: Vec<(View, [usize; Family::ALL.len()])>,
    /// Whether every class has one sample.
    single: bool,
    /// Σ |y - ȳ|² per sample; not needed in folds.
    label_squares: Vec<f64>,
    /// Where rows are many, folds stand for samples.
    pub(crate) folds: Option<InFolds>,
}

impl Tournament {
    /// Without candidates; `keys` tell the target's samples apart. `joined` are the columns that many sources share.
    pub(crate) fn new(
        cells: &Cells,
        joined: Option<Arc<Joined>>,
        target: usize,
        groups: Groups,
        importance: Importance,
        keys: Vec<f64>,
    ) -> Self {
        let cells = columns_of(cells, joined.as_deref()).clone();
        let class = classes_in_order(&cells.tasks()[target]);
        Self {
            keys,
            joined,
            ..Self::of_samples(cells, target, class, groups, importance)
        }
    }

    /// The same of a target that is in folds, of so many samples of each class.
    pub(crate) fn in_folds(
        cells: &Cells,
        joined: Option<Arc<Joined>>,
        target: usize,
        counts: Vec<Vec<usize>>,
    ) -> Self {
        let cells = columns_of(cells, joined.as_deref()).clone();
        let folds = InFolds::new(&cells, target, counts);
        Self {
            folds: Some(folds),
            samples: cells.samples(target),
            joined,
            ..Self::of_samples(
                cells,
                target,
                Vec::new(),
                Groups::default(),
                Importance::default(),
            )
        }
    }

    /// Fits the grid and all families on it in a view that was looked through; the candidates of each of the targets
    /// (ascending) enter its tournament.
    pub(crate) fn enter_grid(
        tournaments: &mut [&mut Self],
        view: View,
        reduced: &Reduced<'_>,
        targets: &[usize],
        grid: &Grid,
        stop: &Stop,
        done: &dyn Fn(f64),
    ) -> Result<()> {
        let joined: Vec<Option<Arc<Joined>>> = tournaments
            .iter()
            .map(|tournament| tournament.joined.clone())
            .collect();
        let joined = joined.iter().map(Option::as_deref);
        let targets: Vec<_> = targets.iter().copied().zip(joined).collect();
        reduced.grid(grid, &targets, stop, &mut |fitted, share| {
            for (tournament, fitted) in tournaments.iter_mut().zip(fitted) {
                tournament.enter(view, fitted, stop)?;
            }
            done(share);
            Ok(())
        })
    }

    /// The same for a target in folds.
    pub(crate) fn enter_fold_grid(
        &mut self,
        view: View,
        reduced: &Reduced<'_>,
        folds: &solve::FoldedTarget<'_>,
        grid: &Grid,
        stop: &Stop,
        done: &dyn Fn(f64),
    ) -> Result<()> {
        self.tried.push((view, [0; Family::ALL.len()]));
        let joined = self.joined.clone();
        let target = (self.target, joined.as_deref());
        reduced.fold_grid(grid, target, folds, stop, &mut |fitted, share| {
            self.enter(view, fitted, stop)?;
            done(share);
            Ok(())
        })
    }

    /// Fits all families at one given coupling, in a view that was looked through.
    pub(crate) fn enter_one(
        &mut self,
        view: View,
        fitted: Fitted,
        coupling: &Coupling,
        stop: &Stop,
    ) -> Result<()> {
        self.coupling = Some(coupling.clone());
        let fitted = match &self.joined {
            None => fitted,
            Some(joined) => fitted.joined(joined),
        };
        self.enter(view, vec![fitted], stop)
    }

    /// Of the samples that `cells` count.
    pub(super) fn of_samples(
        cells: Cells,
        target: usize,
        class: Vec<usize>,
        groups: Groups,
        importance: Importance,
    ) -> Self {
        let samples = Samples::new(&cells, target, &class, &groups, &importance);
        let label_squares = (0..class.len())
            .map(|l| samples.labels.row(l).squared_norm_l2())
            .collect();
        let single = samples.are_single();
        Self {
            joined: None,
            entries: Vec::new(),
            fitted: Vec::new(),
            seen: Vec::new(),
            labels: Vec::new(),
            coupling: None,
            classes: cells.of_task(target).len(),
            tried: Vec::new(),
            single,
            label_squares,
            folds: None,
            samples: class.len(),
            class,
            groups,
            importance,
            keys: Vec::new(),
            cells,
            target,
        }
    }

    /// Begins a view: the theory's labels in it, for which the tasks are needed in few coordinates. `keys` tell the
    /// target's samples apart in this view, where it does not do to look at the raw features.
    pub(crate) fn look_through(&mut self, view: View, reduced: &Reduced<'_>, keys: Option<&[f64]>) {
        let keys = keys.unwrap_or(&self.keys);
        // The theory knows no joined tasks.
        let labels = match self.joined {
            None => TheoryLabels::new(reduced, self.target, &self.class, &self.groups, keys),
            Some(_) => None,
        };
        self.labels.extend(labels.map(|labels| (view, labels)));
        self.tried.push((view, [0; Family::ALL.len()]));
    }

    /// The coupling that is given, or that of a point of the grid.
    pub(super) fn coupling_at(&self, point: GridPoint) -> Option<Coupling> {
        match &self.coupling {
            Some(coupling) => Some(coupling.clone()),
            None => {
                let coupling = point.coupling(self.cells.tasks().len(), self.target);
                coupling.ok()
            }
        }
    }

    /// The theory's labels in a view, where a fit at this point shares anything.
    pub(super) fn labels_in(&self, view: View, point: GridPoint) -> Option<&TheoryLabels> {
        let own = self.labels.iter().find(|(known, _)| *known == view);
        own.filter(|_| point.shared > 0.0).map(|(_, labels)| labels)
    }

    fn view_of_samples(&self) -> Samples<'_> {
        let Self {
            cells,
            class,
            groups,
            importance,
            ..
        } = self;
        Samples::new(cells, self.target, class, groups, importance)
    }

    fn enter(&mut self, view: View, fitted: Vec<Fitted>, stop: &Stop) -> Result<()> {
        let new: Vec<(Vec<Candidate>, f64)> = match &self.folds {
            Some(folds) => {
                let of = |fitted: &Fitted| folds.candidates(&self.cells, self.target, fitted);
                fitted.par_iter().map(of).collect()
            }
            None => {
                let samples = self.view_of_samples();
                let of = |fitted: &Fitted| {
                    stop.check()?;
                    let point = fitted.point;
                    let labels = self.labels_in(view, point).zip(self.coupling_at(point));
                    let labels = labels.map(|(labels, coupling)| labels.at(&coupling));
                    let labels = labels.as_ref();
                    let own = samples.candidates(point, &fitted.responses, labels, Wanted::ALL);
                    Ok((own, samples.total))
                };
                fitted.par_iter().map(of).collect::<Result<_>>()?
            }
        };
        for (fitted, (candidates, total)) in fitted.into_iter().zip(new) {
            let index = self.fitted.len();
            for candidate in candidates {
                if candidate.sign != Sign::Mirrored {
                    let tried = self.tried.iter_mut().filter(|(known, _)| *known == view);
                    tried.for_each(|(_, tried)| tried[candidate.family as usize] += 1);
                }
                let press = candidate.squared_errors.iter().sum::<f64>() / total;
                self.entries.push(Entry {
                    candidate,
                    view,
                    point: fitted.point,
                    fitted: index,
                    press,
                    effective: self.at_most(fitted.effective),
                });
            }
            self.fitted.push(fitted);
            self.seen.push(view);
        }
        self.drop_hopeless();
        Ok(())
    }

    /// Gives up candidates that cannot matter, and their fits. Those near to the best of their family in their view
    /// stay, so that it can be asked for by name.
    fn drop_hopeless(&mut self) {
        if self.single {
            return;
        }
        let (strength, classes) = (self.half_strength(), self.classes);
        let cost = |entry: &Entry| strength * entry.doubted(entry.press, 1.0, classes);
        let least = self.entries.iter().map(cost).fold(f64::INFINITY, f64::min);
        let near = self.near_the_best_of_its_kind();
        let mut near = near.iter();
        self.entries.retain(|entry| {
            let near = near.next().is_some_and(|near| *near);
            cost(entry) - least < HOPELESS || near
        });
        let mut needed = vec![false; self.fitted.len()];
        self.entries
            .iter()
            .for_each(|entry| needed[entry.fitted] = true);
        for (fitted, needed) in self.fitted.iter_mut().zip(needed) {
            if !needed {
                fitted.responses = Mat::new();
                fitted.weights.values = Mat::new();
                fitted.hat = None;
                fitted.without = Vec::new();
            }
        }
    }

    /// The exponent with half of the samples.
    fn half_strength(&self) -> f64 {
        0.5 * exponent(self.worth(self.samples), self.classes)
    }

    /// As many independent samples as some of them are worth: where they come in groups, no more than groups, and
    /// where they have weights, (Σ w)²/Σ w².
    fn worth(&self, samples: usize) -> f64 {
        let share = samples as f64 / self.samples as f64;
        let fewer = self.independent().map(|fewer| fewer * share);
        fewer.unwrap_or(samples as f64)
    }

    /// ν, which groups are the most of, and samples of equal weight.
    pub(super) fn at_most(&self, effective: f64) -> f64 {
        let most = self.independent();
        most.map_or(effective, |most| effective.min(most))
    }

    /// As many as all samples are worth, where that is not their number.
    fn independent(&self) -> Option<f64> {
        self.groups
            .independent()
            .or_else(|| self.importance.independent())
    }

    /// Whether each entry may matter, in some fold, among those of its family in its view.
    pub(super) fn near_the_best_of_its_kind(&self) -> Vec<bool> {
        let strength = self.half_strength();
        let costs = self.entries.iter().map(|entry| {
            let cost = strength * entry.doubted(entry.press, 1.0, self.classes);
            (entry.view, entry.candidate.family, cost, entry.press)
        });
        let costs: Vec<(View, Family, f64, f64)> = costs.collect();
        let mut best: Vec<(View, Family, f64, f64)> = Vec::new();
        for &(view, family, cost, press) in &costs {
            match best
                .iter_mut()
                .find(|(v, f, ..)| *v == view && *f == family)
            {
                Some((.., least, least_press)) => {
                    *least = least.min(cost);
                    *least_press = least_press.min(press);
                }
                None => best.push((view, family, cost, press)),
            }
        }
        let near = |(view, family, cost, press): &(View, Family, f64, f64)| {
            let mut own = best.iter().filter(|(v, f, ..)| v == view && f == family);
            own.any(|(.., least, least_press)| {
                cost - least < HOPELESS_BY_NAME || press <= least_press
            })
        };
        costs.iter().map(near).collect()
    }

    /// Whether every class has one sample.
    pub(crate) fn is_single(&self) -> bool {
        self.single
    }

    /// The number of candidates tried.
    pub(crate) fn tried(&self) -> usize {
        self.tried.iter().flat_map(|(_, tried)| tried).sum()
    }

    /// Those of one view.
    pub(crate) fn tried_in(&self, view: View) -> usize {
        let own = self.tried.iter().filter(|(known, _)| *known == view);
        own.flat_map(|(_, tried)| tried).sum()
    }

    /// Weights of all entries from all samples; they sum to one.
    pub(crate) fn weights(&self) -> Vec<f64> {
        self.weights_among(&|_| true)
    }

    /// The same where only some entries qualify; the others weigh nothing.
    pub(crate) fn weights_among(&self, qualifies: &dyn Fn(&Entry) -> bool) -> Vec<f64> {
        self.weigh(self.samples, &|entry| entry.press, qualifies)
    }

    /// Weights from what candidates miss in all folds but one.
    pub(crate) fn weights_without(
        &self,
        fold: usize,
        qualifies: &dyn Fn(&Entry) -> bool,
    ) -> Vec<f64> {
        let Some(folds) = &self.folds else {
            return self.weights_among(qualifies);
        };
        let press = |entry: &Entry| folds.press_without(fold, &entry.candidate);
        self.weigh(folds.samples_without(fold), &press, qualifies)
    }

    /// Weights by PRESS over so many of the samples.
    fn weigh(
        &self,
        samples: usize,
        press: &dyn Fn(&Entry) -> f64,
        qualifies: &dyn Fn(&Entry) -> bool,
    ) -> Vec<f64> {
        if self.single {
            return self.equal_weights(qualifies);
        }
        let share = samples as f64 / self.samples as f64;
        let strength = exponent(self.worth(samples), self.classes);
        let cost: Vec<f64> = self
            .entries
            .iter()
            .map(|entry| strength * entry.doubted(press(entry), share, self.classes))
            .collect();
        let both = || self.entries.iter().zip(&cost);
        let qualified = both().filter(|(entry, _)| qualifies(entry));
        let least = qualified
            .map(|(_, cost)| *cost)
            .fold(f64::INFINITY, f64::min);
        let weight = |(entry, cost): (&Entry, &f64)| match qualifies(entry) {
            true => self.prior(entry) * (least - cost).exp(),
            false => 0.0,
        };
        normalised(both().map(weight).collect())
    }

    fn prior(&self, entry: &Entry) -> f64 {
        let Candidate { family, sign, .. } = entry.candidate;
        let own = self.tried.iter().find(|(view, _)| *view == entry.view);
        let tried = own.map_or(1, |(_, tried)| tried[family as usize]);
        entry.view.prior() * sign.prior() * family.prior() / tried.max(1) as f64
    }

    /// Those of the pooled candidates with a positive slope in the linear views; where none of them qualifies, those
    /// of pooled ones in any view, of the target alone, of classical labels, or of whatever there is.
    fn equal_weights(&self, qualifies: &dyn Fn(&Entry) -> bool) -> Vec<f64> {
        let of = |entry: &Entry, family: Family| {
            let Candidate {
                family: own, sign, ..
            } = entry.candidate;
            own == family && sign != Sign::Swapped
        };
        let choices: [&dyn Fn(&Entry) -> bool; 5] = [
            &|entry| of(entry, Family::Pooled) && entry.view.is_linear(),
            &|entry| of(entry, Family::Pooled),
            &|entry| of(entry, Family::Alone),
            &|entry| of(entry, Family::Classical),
            &|_| true,
        ];
        let chosen = choices.map(|choice| -> Vec<f64> {
            let entries = self.entries.iter();
            entries
                .map(|entry| f64::from(u8::from(qualifies(entry) && choice(entry))))
                .collect()
        });
        let any = chosen.into_iter().find(|w| w.iter().any(|w| *w > 0.0));
        normalised(any.unwrap_or_default())
    }

    /// Leave-one-out class scores less ȳ (n_t x m), each sample by weights it had no say in; of the entries that
    /// qualify. What is left of a sample is its part in the responses of the others.
    pub(crate) fn cross_fitted(
        &self,
        folds: &Folds,
        qualifies: &dyn Fn(&Entry) -> bool,
    ) -> Mat<f64> {
        let mut scores = Mat::zeros(self.class.len(), self.classes);
        for fold in folds {
            let samples: Vec<usize> = (0..self.class.len())
                .filter(|&l| !fold.holds_out(l))
                .collect();
            let total: f64 = samples.iter().map(|&l| self.label_squares[l]).sum();
            let press = |entry: &Entry| {
                let errors = samples.iter().map(|&l| entry.candidate.squared_errors[l]);
                errors.sum::<f64>() / total
            };
            let weights = self.weigh(samples.len(), &press, qualifies);
            for (entry, weight) in self.entries.iter().zip(weights) {
                for &l in &fold.held_out {
                    for c in 0..self.classes {
                        scores[(l, c)] += weight * entry.candidate.scores[(l, c)];
                    }
                }
            }
        }
        scores
    }

    /// The entry of least PRESS among those that qualify.
    pub(crate) fn best(&self, qualifies: impl Fn(&Entry) -> bool) -> Option<usize> {
        (0..self.entries.len())
            .filter(|&index| qualifies(&self.entries[index]))
            .min_by(|&a, &b| self.entries[a].press.total_cmp(&self.entries[b].press))
    }
}

/// The cells that responses have a column for: fewer than all where sources share them.
fn columns_of<'c>(cells: &'c Cells, joined: Option<&'c Joined>) -> &'c Cells {
    joined.map_or(cells, |joined| &joined.cells)
}

fn normalised(mut weights: Vec<f64>) -> Vec<f64> {
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= sum);
    weights
}

fn exponent(samples: f64, classes: usize) -> f64 {
    SHARPNESS * samples * (classes - 1) as f64 / 2.0
}

fn ln(x: f64) -> f64 {
    x.max(1e-300).ln()
}
