//! The coupling grid of a target that is in folds: its weights without each of them, and what the rows of that fold
//! would respond, from portions alone (`docs/3-the-solver.md#folds-of-statistics`).
//!
//! With w̃ the weights of a coupling without fold f, a row of f responds φ = w̃ᵀ (x - x̄)/(s √p), less ȳ; x̄ and ȳ are
//! those of all rows, so that class sizes have no say. What candidates ask of the responses are sums of φ yᵀ and of
//! φ φᵀ over the fold: those of m + C *summary rows* stand for them,
//!
//! ```text
//! √n_c φ̄_c  with label  √n_c (e_c - ȳ),  c = 1 … m,      and the rows of Lᵀ with label 0,  L Lᵀ = w̃ᵀ W w̃/(s² p).
//! ```
//!
//! Time, per γ, that of one more target for each fold (`path.rs`), the sources' share once; p² C for the summary of
//! a fold at a coupling. Memory p C per fold and coupling.

use std::sync::Arc;

use faer::Mat;
use rayon::prelude::*;

use super::block::Block;
use super::factor::Factor;
use super::fitted::Fitted;
use super::grid::{Grid, GridPoint};
use super::path::{Leg, Path, Side};
use super::reduced::Reduced;
use super::weights::{Coordinates, Weights};
use crate::data::{Joined, Portion};
use crate::error::Result;
use crate::numerics::dense;
use crate::stop::Stop;

/// A spread below this share of the largest is rounding, which a root would make large.
const ROUNDING: f64 = 1e-13;

/// A target in folds, in the units of training.
pub(crate) struct FoldedTarget<'p> {
    portions: &'p [Portion],
    /// W of each, both triangles.
    within: Vec<Mat<f64>>,
    /// All but each.
    without: Vec<Portion>,
    /// x̄ of all rows.
    mean: Vec<f64>,
    /// 1/(s √p).
    unit: f64,
}

impl<'p> FoldedTarget<'p> {
    /// `mean` and `scale` are those of all rows.
    pub(crate) fn new(portions: &'p [Portion], mean: Vec<f64>, scale: f64) -> Self {
        let within = portions.iter().map(|portion| {
            let mut within = portion.within.clone();
            dense::mirror(&mut within);
            within
        });
        Self {
            within: within.collect(),
            without: Portion::all_but_each(portions),
            portions,
            unit: 1.0 / (scale * (mean.len() as f64).sqrt()),
            mean,
        }
    }

    /// Z̃ᵀ y without a fold, for the unit labels of the target's cells.
    fn right(&self, portion: &Portion) -> Mat<f64> {
        let mean = portion.mean();
        Mat::from_fn(mean.len(), portion.counts.len(), |feature, class| {
            let apart = portion.means[(feature, class)] - mean[feature];
            portion.counts[class] as f64 * apart * self.unit
        })
    }

    fn block(&self, portion: &Portion) -> Block<'static> {
        Block::Scatter {
            scatter: Arc::new(portion.scatter()),
            scale: self.unit * self.unit,
        }
    }

    /// The summary rows of a fold ((m + C) x C) for weights without it.
    fn summary(&self, fold: usize, weights: &Mat<f64>) -> Option<Mat<f64>> {
        let Portion { counts, means, .. } = &self.portions[fold];
        let (m, c) = (counts.len(), weights.ncols());
        let apart = Mat::from_fn(means.nrows(), m, |feature, class| {
            let root = (counts[class] as f64).sqrt() * self.unit;
            root * (means[(feature, class)] - self.mean[feature])
        });
        let of_means = dense::times(apart.transpose(), weights.as_ref());
        let half = dense::times(self.within[fold].as_ref(), weights.as_ref());
        let spread = dense::times(weights.transpose(), half.as_ref());
        let (values, vectors) = dense::symmetric_eigen(spread.as_ref())?;
        let faintest = ROUNDING * values.last().copied().unwrap_or(0.0);
        let root = |i: usize| {
            if values[i] > faintest {
                values[i].sqrt()
            } else {
                0.0
            }
        };
        Some(Mat::from_fn(m + c, c, |row, cell| {
            match row.checked_sub(m) {
                None => of_means[(row, cell)],
                Some(i) => self.unit * root(i) * vectors[(cell, i)],
            }
        }))
    }
}

/// What the sources add to every path of a γ.
struct Sources {
    sum: Mat<f64>,
    gathered: Mat<f64>,
    g: f64,
}

impl Reduced<'_> {
    /// Fits every coupling of the grid for a target in folds, one γ after the other; `each` takes the fits at a γ and
    /// the share of the work that is done.
    ///
    /// # Errors
    /// If a factorisation fails, or it is to stop.
    pub(crate) fn fold_grid(
        &self,
        grid: &Grid,
        target: (usize, Option<&Joined>),
        folds: &FoldedTarget<'_>,
        stop: &Stop,
        each: &mut dyn FnMut(Vec<Fitted>, f64) -> Result<()>,
    ) -> Result<()> {
        let gammas = grid.gammas();
        for (step, &g) in gammas.iter().enumerate() {
            let fitted = self.folds_at(g, grid, target, folds, stop)?;
            each(fitted, (step + 1) as f64 / gammas.len() as f64)?;
        }
        Ok(())
    }

    /// All couplings with γ_target = g.
    fn folds_at(
        &self,
        g: f64,
        grid: &Grid,
        target: (usize, Option<&Joined>),
        folds: &FoldedTarget<'_>,
        stop: &Stop,
    ) -> Result<Vec<Fitted>> {
        let (target, joined) = target;
        let mut sources = Vec::new();
        if grid.symmetric.contains(&g) {
            sources.push(self.sources(target, g, stop)?);
        }
        if grid.asymmetric.contains(&g) {
            sources.push(self.sources(target, 0.0, stop)?);
        }
        let alone = grid.alone.contains(&g);
        let fit = |block: Block<'_>, right: Mat<f64>| -> Result<Vec<(GridPoint, Mat<f64>)>> {
            stop.check()?;
            let r = right.nrows();
            let mut product = Mat::zeros(r, r);
            let weight = f64::from(u8::from(!sources.is_empty()));
            let factor = Factor::new(block, g, weight, product.as_mut())
                .ok_or_else(|| self.failed(target))?;
            let mut own = right;
            factor.apply(own.as_mut());
            let side = Side {
                task: target,
                joined,
                factor,
                own,
                product: None,
            };
            let mut fits = Vec::new();
            if alone {
                fits.extend(points(g, side.cells(self).len(), &self.alone(g, &side)));
            }
            for Sources {
                sum,
                gathered,
                g: of_sources,
            } in &sources
            {
                stop.check()?;
                let mut sum = sum.clone();
                dense::add_lower(sum.as_mut(), product.as_ref(), 1.0);
                let mut gathered = gathered.clone();
                self.gather(&mut gathered, target, &side.own);
                let path = Path::new(sum, gathered, *of_sources, stop)?;
                let leg = self.along(&path, g, &grid.shared, &side)?;
                fits.extend(points(g, side.cells(self).len(), &leg));
            }
            Ok(fits)
        };
        let whole = || {
            fit(
                self.space().blocks[target].clone(),
                self.space().right[target].clone(),
            )
        };
        let parts = || -> Result<Vec<_>> {
            let parts = folds.without.par_iter();
            parts
                .map(|part| fit(folds.block(part), folds.right(part)))
                .collect()
        };
        let (whole, parts) = rayon::join(whole, parts);
        let (whole, parts) = (whole?, parts?);
        let effective = self.cells.samples(target) as f64;
        whole
            .into_par_iter()
            .enumerate()
            .map(|(index, (point, weights))| {
                let without: Vec<Mat<f64>> =
                    parts.iter().map(|part| part[index].1.clone()).collect();
                let summaries: Vec<Mat<f64>> = without
                    .iter()
                    .enumerate()
                    .map(|(fold, weights)| folds.summary(fold, weights))
                    .collect::<Option<_>>()
                    .ok_or_else(|| self.failed(target))?;
                Ok(Fitted {
                    point,
                    responses: stacked(&summaries, weights.ncols()),
                    // Leverages are small where rows are many.
                    effective,
                    hat: None,
                    weights: Weights {
                        coordinates: Coordinates::Reduced,
                        values: weights,
                    },
                    without,
                })
            })
            .collect()
    }

    /// Σ F_i B_i and F_i Z̃_iᵀ y of all tasks but the target, for γ_i = g.
    fn sources(&self, target: usize, g: f64, stop: &Stop) -> Result<Sources> {
        let r = self.space().right[target].nrows();
        let mut sum = Mat::zeros(r, r);
        let mut gathered = Mat::zeros(r, self.cells.len());
        for (task, block) in self.space().blocks.iter().enumerate() {
            if task == target {
                continue;
            }
            stop.check()?;
            let factor = Factor::new(block.clone(), g, 1.0, sum.as_mut())
                .ok_or_else(|| self.failed(task))?;
            let mut own = self.space().right[task].clone();
            factor.apply(own.as_mut());
            self.gather(&mut gathered, task, &own);
        }
        Ok(Sources { sum, gathered, g })
    }
}

/// The couplings of a leg with their weights, so many columns each.
fn points(g: f64, columns: usize, leg: &Leg<'_>) -> Vec<(GridPoint, Mat<f64>)> {
    let lambdas = leg.lambdas().into_iter().enumerate();
    lambdas
        .map(|(index, shared)| {
            let point = GridPoint {
                source: leg.source,
                target: g,
                shared,
            };
            let weights = leg.weights.subcols(index * columns, columns);
            (point, weights.to_owned())
        })
        .collect()
}

/// One above the other.
fn stacked(parts: &[Mat<f64>], columns: usize) -> Mat<f64> {
    let mut all = Mat::zeros(parts.iter().map(Mat::nrows).sum(), columns);
    let mut start = 0;
    for part in parts {
        let mut to = all.as_mut().subrows_mut(start, part.nrows());
        to.copy_from(part);
        start += part.nrows();
    }
    all
}
