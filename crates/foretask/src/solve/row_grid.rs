//! The fits of a whole grid where features outnumber rows: by the inner products of the rows
//! (`docs/3-the-solver.md#more-features-than-rows`).
//!
//! With K = Z̃ Z̃ᵀ the residuals of labels Y are α = M⁻¹ Y, M = I + A∘K, where A is l between tasks and l + g inside
//! of one. What is asked of a target t are its residuals and its block of M⁻¹, which is I - H but for the intercept.
//! The sources s are eliminated first, once for all that the target may be free to do:
//!
//! ```text
//! M_ss = L Lᵀ,   [X, V] = L⁻¹ [l K_st, Y_s],   S = I + (l + g_t) K_tt - XᵀX = (M⁻¹)_tt⁻¹,
//! α_t = S⁻¹ (Y_t - Xᵀ V),   α_s = L⁻ᵀ (V - X α_t),   w̃ = Z̃ᵀ (l α_s, (l + g_t) α_t).
//! ```
//!
//! M is at least I: nothing is divided by anything faint, and no eigenvalue is needed. All is Cholesky factors and
//! products, at full speed. One source alone has M_ss = I + (l + g) K_ss: one reduction K_ss = Q T Qᵀ
//! (`block_tridiagonal.rs`) serves all couplings, with L = Q L_T.
//!
//! Time: n_s³/6 + n_s² n_t/2 + n_s n_t²/2 for each l and each γ of the sources (one source: 2/3 n_s³ + n_s² n_t once, and
//! n_s n_t²/2 each), n_t³/2 for each coupling. Memory: n² for K, n_s² + 2 n_s n_t + 3 n_t² at work; K is let go before
//! where there is one source.

use std::ops::Range;
use std::sync::Arc;

use faer::{Accum, Mat};
use rayon::prelude::*;

use super::block_tridiagonal::{BlockTridiagonal, Shifted};
use super::effective::{Operator, PROBED_ROWS, Probes, unfitted};
use super::fitted::{Fitted, LeftOut, Sampled};
use super::grid::{Grid, GridPoint};
use super::leave_fold_out::left_out;
use super::reduced::{Kernel, Reduced};
use crate::data::{Joined, classes_in_order};
use crate::error::Result;
use crate::numerics::dense;
use crate::stop::Stop;

/// Up to so many rows the couplings of a step are worked on side by side; beyond, each has all threads, and memory is
/// that of one.
const SIDE_BY_SIDE: usize = 1000;

impl Reduced<'_> {
    /// [`Reduced::grid`] by rows: the targets alone, then one γ of the sources after the other.
    pub(super) fn grid_by_rows(
        &self,
        kernel: &Kernel<'_>,
        grid: &Grid,
        targets: &[(usize, Option<&Joined>)],
        stop: &Stop,
        each: &mut dyn FnMut(Vec<Vec<Fitted>>, f64) -> Result<()>,
    ) -> Result<()> {
        let gram = kernel.gram();
        let own = |&(task, joined)| OwnRows::new(self, &gram, task, joined, stop);
        let own: Vec<OwnRows<'_>> = targets.iter().map(own).collect::<Result<_>>()?;
        // Who needs all of it holds it.
        drop(gram);
        kernel.let_go();
        let steps = steps(grid);
        for (number, step) in steps.iter().enumerate() {
            let fits = own.iter().map(|own| own.at(self, grid, step, stop));
            let fits: Vec<Vec<Fitted>> = fits.collect::<Result<_>>()?;
            each(fits, (number + 1) as f64 / steps.len() as f64)?;
        }
        Ok(())
    }
}

/// Couplings that have the γ of the sources in common.
enum Step {
    /// No source counts.
    Alone,
    /// The γ of the sources, and those of the target.
    Shared { source: f64, target: Vec<f64> },
}

fn steps(grid: &Grid) -> Vec<Step> {
    let mut sources = grid.symmetric.clone();
    if !grid.asymmetric.is_empty() {
        sources.push(0.0);
    }
    sources.sort_by(f64::total_cmp);
    sources.dedup();
    let shared = sources.into_iter().map(|source| {
        let symmetric = grid.symmetric.iter().filter(|&&g| g == source);
        let asymmetric = grid.asymmetric.iter().filter(|_| source == 0.0);
        Step::Shared {
            source,
            target: symmetric.chain(asymmetric).copied().collect(),
        }
    });
    let alone = (!grid.alone.is_empty()).then_some(Step::Alone);
    alone.into_iter().chain(shared).collect()
}

/// A target among all rows.
struct OwnRows<'r> {
    sampled: Sampled<'r>,
    /// Its rows.
    range: Range<usize>,
    /// The task of each row.
    task: Vec<usize>,
    /// K, or K_tt alone where there is one source, lower triangle;
    gram: Arc<Mat<f64>>,
    /// where the rows of the target begin in it.
    first: usize,
    /// The centred unit labels, times the roots of weights, of all rows (n x C).
    labels: Mat<f64>,
    /// [K_st, Y_s], the rows of the sources without a gap; times Qᵀ where there is one source.
    across: Mat<f64>,
    /// K_ss of one source.
    reduction: Option<BlockTridiagonal>,
    /// Unless its rows are many.
    probes: Option<Probes>,
}

/// What eliminating the sources leaves at one coupling of theirs.
struct Eliminated {
    lambda: f64,
    factor: Root,
    /// X and V.
    half: Mat<f64>,
    /// XᵀX, lower triangle.
    taken: Mat<f64>,
}

/// L.
enum Root {
    Cholesky(Mat<f64>),
    /// Of I + (l + g) T: coordinates are rotated.
    Rotated(Shifted),
}

impl<'r> OwnRows<'r> {
    fn new(
        reduced: &'r Reduced<'_>,
        gram: &Arc<Mat<f64>>,
        target: usize,
        joined: Option<&'r Joined>,
        stop: &Stop,
    ) -> Result<Self> {
        let cells = &reduced.cells;
        let counts: Vec<usize> = (0..cells.tasks().len())
            .map(|task| cells.samples(task))
            .collect();
        let start: usize = counts[..target].iter().sum();
        let range = start..start + counts[target];
        let task: Vec<usize> = (counts.iter().enumerate())
            .flat_map(|(task, &count)| std::iter::repeat_n(task, count))
            .collect();
        let sampled = reduced.sampled(target, joined);
        let mut labels = Mat::zeros(task.len(), sampled.cells.len());
        let mut row = 0;
        for (number, task) in cells.tasks().iter().enumerate() {
            for (l, class) in classes_in_order(task).into_iter().enumerate() {
                let root = reduced.importance[number].root(l);
                for (own, cell) in cells.of_task(number).enumerate() {
                    let label = f64::from(u8::from(own == class)) - cells.share(cell);
                    let column = joined.map_or(cell, |joined| joined.column(cell));
                    labels[(row, column)] += root * label;
                }
                row += 1;
            }
        }
        let (n, c) = (task.len(), labels.ncols());
        let mut across = Mat::zeros(n - range.len(), range.len() + c);
        for source in 0..range.start {
            let column = &gram.col_as_slice(source)[range.clone()];
            let entries = column.iter().enumerate();
            entries.for_each(|(own, x)| across[(source, own)] = *x);
        }
        for own in 0..range.len() {
            let column = &gram.col_as_slice(range.start + own)[range.end..];
            across.col_as_slice_mut(own)[range.start..].copy_from_slice(column);
        }
        for j in 0..c {
            let from = labels.col_as_slice(j);
            let (before, after) = across
                .col_as_slice_mut(range.len() + j)
                .split_at_mut(range.start);
            before.copy_from_slice(&from[..range.start]);
            after.copy_from_slice(&from[range.end..]);
        }
        let reduction = if counts.len() == 2 {
            let first = if target == 0 { range.end } else { 0 };
            let sources = n - range.len();
            let own = gram.submatrix(first, first, sources, sources).to_owned();
            let reduction = BlockTridiagonal::new(own, stop)?;
            reduction.rotate(across.as_mut());
            Some(reduction)
        } else {
            None
        };
        let small = range.len() <= PROBED_ROWS || sampled.groups.members().is_some();
        let probes = small.then(|| {
            let lengths: Vec<f64> = range.clone().map(|row| gram[(row, row)]).collect();
            Probes::new(&lengths)
        });
        let (gram, first) = match reduction {
            Some(_) => {
                let own = gram.submatrix(range.start, range.start, range.len(), range.len());
                (Arc::new(own.to_owned()), 0)
            }
            None => (gram.clone(), range.start),
        };
        Ok(Self {
            sampled,
            range,
            task,
            gram,
            first,
            labels,
            across,
            reduction,
            probes,
        })
    }

    /// The fits of one step.
    fn at(
        &self,
        reduced: &Reduced<'_>,
        grid: &Grid,
        step: &Step,
        stop: &Stop,
    ) -> Result<Vec<Fitted>> {
        let failed = || reduced.failed(self.sampled.task);
        let fits = |lambda: f64| -> Result<Vec<Fitted>> {
            stop.check()?;
            let Step::Shared { source, target } = step else {
                let fit = self.fit(None, lambda, lambda);
                return fit.map(|fit| vec![fit]).ok_or_else(failed);
            };
            let eliminated = self.eliminate(*source, lambda).ok_or_else(failed)?;
            let fit = |&g: &f64| {
                stop.check()?;
                let fit = self.fit(Some(&eliminated), *source, g);
                fit.ok_or_else(failed)
            };
            target.iter().map(fit).collect()
        };
        let couplings = match step {
            Step::Alone => &grid.alone,
            Step::Shared { .. } => &grid.shared,
        };
        let fits: Vec<Vec<Fitted>> = if self.task.len() <= SIDE_BY_SIDE {
            let couplings = couplings.par_iter();
            couplings.map(|&value| fits(value)).collect::<Result<_>>()?
        } else {
            let couplings = couplings.iter();
            couplings.map(|&value| fits(value)).collect::<Result<_>>()?
        };
        Ok(fits.into_iter().flatten().collect())
    }

    /// The rows of the sources, in order.
    fn sources(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.range.start).chain(self.range.end..self.task.len())
    }

    /// `None` if M_ss is not definite (overflow).
    fn eliminate(&self, g: f64, lambda: f64) -> Option<Eliminated> {
        let own = self.range.len();
        let factor = match &self.reduction {
            Some(reduction) => Root::Rotated(reduction.factor(lambda + g)?),
            None => Root::Cholesky(self.factorise(g, lambda)?),
        };
        let mut half = self.across.clone();
        let across = half.subcols_mut(0, own).col_iter_mut();
        across.for_each(|column| column.iter_mut().for_each(|x| *x *= lambda));
        match &factor {
            Root::Cholesky(l) => dense::solve_lower(l.as_ref(), half.as_mut()),
            Root::Rotated(shifted) => shifted.forward(half.as_mut()),
        }
        let mut taken = Mat::zeros(own, own);
        dense::add_outer(taken.as_mut(), half.subcols(0, own).transpose(), 1.0);
        Some(Eliminated {
            lambda,
            factor,
            half,
            taken,
        })
    }

    /// The Cholesky factor of M_ss.
    fn factorise(&self, g: f64, lambda: f64) -> Option<Mat<f64>> {
        let sources = self.task.len() - self.range.len();
        let mut factor = Mat::zeros(sources, sources);
        for (j, row) in self.sources().enumerate() {
            let from = self.gram.col_as_slice(row);
            let task = self.task[row];
            let column = &mut factor.col_as_slice_mut(j)[j..];
            for (to, other) in column.iter_mut().zip(self.sources().skip(j)) {
                let inside = if self.task[other] == task { g } else { 0.0 };
                *to = (lambda + inside) * from[other];
            }
            column[0] += 1.0;
        }
        dense::cholesky(factor.as_mut())?;
        Some(factor)
    }

    /// The target at γ_t = `g`, given what its sources leave. `None` if S is not definite (overflow).
    fn fit(&self, sources: Option<&Eliminated>, source: f64, g: f64) -> Option<Fitted> {
        let Self {
            sampled,
            range,
            gram,
            first,
            ..
        } = self;
        let (n, c) = (range.len(), self.labels.ncols());
        let lambda = sources.map_or(0.0, |sources| sources.lambda);
        let mut s = Mat::from_fn(n, n, |i, j| {
            if i < j {
                return 0.0;
            }
            let taken = sources.map_or(0.0, |sources| sources.taken[(i, j)]);
            let unit = f64::from(u8::from(i == j));
            unit + (lambda + g) * gram[(first + i, first + j)] - taken
        });
        dense::cholesky(s.as_mut())?;
        let root = dense::invert_lower(s.as_ref());
        let mut q = s;
        q.fill(0.0);
        dense::add_inverse_outer(q.as_mut(), root.as_ref(), 1.0);
        dense::mirror(&mut q);

        let mut right = self.labels.subrows(range.start, n).to_owned();
        if let Some(Eliminated { half, .. }) = sources {
            let (x, v) = (half.subcols(0, n), half.subcols(n, c));
            dense::product(right.as_mut(), Accum::Add, x.transpose(), v, -1.0);
        }
        let alpha = dense::times(q.as_ref(), right.as_ref());

        // What each row counts in the weights.
        let mut weights = Mat::zeros(self.task.len(), c);
        for j in 0..c {
            let to = &mut weights.col_as_slice_mut(j)[range.clone()];
            let entries = to.iter_mut().zip(alpha.col_as_slice(j));
            entries.for_each(|(to, alpha)| *to = (lambda + g) * alpha);
        }
        if let Some(Eliminated { factor, half, .. }) = sources {
            let mut others = half.subcols(n, c).to_owned();
            let x = half.subcols(0, n);
            dense::product(others.as_mut(), Accum::Add, x, alpha.as_ref(), -1.0);
            match factor {
                Root::Cholesky(l) => dense::solve_lower_transposed(l.as_ref(), others.as_mut()),
                Root::Rotated(shifted) => {
                    shifted.backward(others.as_mut());
                    let reduction = self.reduction.as_ref()?;
                    reduction.rotate_back(others.as_mut());
                }
            }
            for j in 0..c {
                let to = weights.col_as_slice_mut(j);
                let entries = self.sources().zip(others.col_as_slice(j));
                entries.for_each(|(row, alpha)| to[row] = lambda * alpha);
            }
        }

        let importance = sampled.importance;
        let total = sampled.cells.total(sampled.task);
        // I - H: the intercept takes its share.
        for j in 0..n {
            for i in 0..n {
                let unit = f64::from(u8::from(i == j));
                q[(i, j)] += unfitted(importance, total, i, j) - unit;
            }
        }
        let left: Vec<f64> = (0..n).map(|l| q[(l, l)]).collect();
        let responses = Mat::from_fn(n, c, |l, cell| {
            let residual = alpha[(l, cell)] / importance.root(l);
            left_out(cell == sampled.cell(l), residual, left[l])
        });
        let operator = Operator::Explicit(q);
        Some(sampled.fitted(LeftOut {
            point: GridPoint {
                source,
                target: g,
                shared: lambda,
            },
            responses,
            left,
            operator: self.probes.as_ref().map(|probes| (operator, probes)),
            weights,
        }))
    }
}
