//! Leave-one-out responses of the target and its weights for every coupling of a grid, from one reduction per
//! γ (`docs/3-the-solver.md#the-coupling-grid`).
//!
//! A grid point (g, l) is γ = k g, λ = k l of the paper's scaling, so that adding a task does not change the
//! penalty. Everything but the asymmetric path and the samples that are left out is the same for every target.
//! Several targets share it, γ by γ, and get the very bits that each would get alone.
//!
//! Where features outnumber rows, `row_grid.rs` does the same.
//!
//! Time, with r = p: per γ the factorisations of `factor.rs`, 2/3 r³ for the symmetric path and 2/3 r³ per target for its asymmetric one, and n_t r² for its samples; a further λ costs
//! O(r b n_t + r² C), b the size of a block.
//! Memory (k + 2) r² doubles and 2 r² more per target at most (a task with few rows needs none of its
//! own), n_t² + n_t C + r C per coupling (n_t² up to [`HAT_ROWS`] rows only).

use std::borrow::Cow;

use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

use super::block::CentredRows;
use super::block_tridiagonal::{BlockTridiagonal, Shifted};
use super::effective::{PROBED_ROWS, Residuals};
use super::factor::Factor;
use super::fitted::{Fitted, LeftOut};
use super::grid::{Grid, GridPoint};
use super::leave_fold_out::{HAT_ROWS, dot};
use super::leave_one_out::needs_rows;
use super::reduced::Reduced;
use crate::data::{Cells, Joined};
use crate::error::{Error, Result};
use crate::numerics::dense;
use crate::stop::Stop;

impl Reduced<'_> {
    /// Fits every coupling of the grid for some targets, one γ after the other; `each` takes the fits of
    /// the targets (ascending) at a γ and the share of the work that is done. Where the sources of a target are joined,
    /// its responses and weights are those of the columns.
    ///
    /// # Errors
    /// If a factorisation fails, a target's rows are not at hand, or it is to stop.
    pub(crate) fn grid(
        &self,
        grid: &Grid,
        targets: &[(usize, Option<&Joined>)],
        stop: &Stop,
        each: &mut dyn FnMut(Vec<Vec<Fitted>>, f64) -> Result<()>,
    ) -> Result<()> {
        if let Some(kernel) = &self.kernel {
            return self.grid_by_rows(kernel, grid, targets, stop, each);
        }
        let gammas = grid.gammas();
        for (step, &g) in gammas.iter().enumerate() {
            let fitted = self.at_gamma(g, grid, targets, stop)?;
            each(fitted, (step + 1) as f64 / gammas.len() as f64)?;
        }
        Ok(())
    }

    /// All couplings with γ_target = g.
    fn at_gamma(
        &self,
        g: f64,
        grid: &Grid,
        targets: &[(usize, Option<&Joined>)],
        stop: &Stop,
    ) -> Result<Vec<Vec<Fitted>>> {
        let r = self.space().right[0].nrows();
        let (symmetric, asymmetric) = (grid.symmetric.contains(&g), grid.asymmetric.contains(&g));

        // Σ F_i B_i and F_i Z̃_iᵀ y of all tasks, in an order that no target changes.
        let mut sum = Mat::zeros(r, r);
        let mut gathered = Mat::zeros(r, self.cells.len());
        let mut sides: Vec<Side<'_>> = Vec::with_capacity(targets.len());
        let mut samples: Vec<&CentredRows<'_>> = Vec::with_capacity(targets.len());
        for (task, block) in self.space().blocks.iter().enumerate() {
            stop.check()?;
            let target = targets.iter().find(|(target, _)| *target == task);
            let rows = match target {
                Some((_, joined)) => Some((
                    self.space().samples[task]
                        .as_ref()
                        .ok_or_else(|| needs_rows(&self.cells.tasks()[task].name))?,
                    *joined,
                )),
                None if symmetric => None,
                None => continue,
            };
            let weight = f64::from(u8::from(symmetric || asymmetric));
            let mut product = Mat::zeros(r, r);
            let factor = Factor::new(block.clone(), g, weight, product.as_mut())
                .ok_or_else(|| self.failed(task))?;
            let mut own = self.space().right[task].clone();
            factor.apply(own.as_mut());
            if symmetric {
                dense::add_lower(sum.as_mut(), product.as_ref(), 1.0);
                self.gather(&mut gathered, task, &own);
            }
            if let Some((rows, joined)) = rows {
                samples.push(rows);
                sides.push(Side {
                    task,
                    joined,
                    factor,
                    own,
                    product: asymmetric.then_some(product),
                });
            }
        }

        stop.check()?;
        let (symmetric, asymmetric) = rayon::join(
            || symmetric.then(|| Path::new(sum, gathered, g, stop)),
            || -> Result<Vec<Option<Path>>> {
                let sides = sides.par_iter_mut();
                sides.map(|side| self.asymmetric_path(side, stop)).collect()
            },
        );
        let (symmetric, asymmetric) = (symmetric.transpose()?, asymmetric?);
        sides
            .into_iter()
            .zip(samples)
            .zip(asymmetric)
            .map(|((side, rows), asymmetric)| {
                let mut legs = Vec::new();
                if grid.alone.contains(&g) {
                    legs.push(self.alone(g, &side));
                }
                for path in symmetric.iter().chain(&asymmetric) {
                    stop.check()?;
                    legs.push(self.along(path, g, &grid.shared, &side)?);
                }
                self.left_out(g, &side, rows, legs, stop)
            })
            .collect()
    }

    /// The path of a target where no source differs from what is shared: F_t B_t + Σ B_i.
    fn asymmetric_path(&self, side: &mut Side<'_>, stop: &Stop) -> Result<Option<Path>> {
        let Some(mut sum) = side.product.take() else {
            return Ok(None);
        };
        let mut gathered = Mat::zeros(sum.nrows(), self.cells.len());
        for (task, block) in self.space().blocks.iter().enumerate() {
            if task == side.task {
                self.gather(&mut gathered, task, &side.own);
            } else {
                stop.check()?;
                // The scatter of the sources is added up anew: keeping it would cost more memory than
                // it saves time.
                block.add_to(1.0, sum.as_mut());
                self.gather(&mut gathered, task, &self.space().right[task]);
            }
        }
        Path::new(sum, gathered, 0.0, stop).map(Some)
    }

    /// The target alone: w̃ = g F r.
    pub(super) fn alone<'p>(&self, g: f64, side: &Side<'_>) -> Leg<'p> {
        let cells = side.cells(self);
        let mut weights = Mat::zeros(side.own.nrows(), cells.len());
        let first = cells.of_task(side.task).start;
        add_scaled(weights.as_mut(), first, &side.own, g);
        Leg {
            path: None,
            source: g,
            weights,
        }
    }

    /// The weights of a target along one path.
    pub(super) fn along<'p>(
        &self,
        path: &'p Path,
        g: f64,
        shared: &[f64],
        side: &Side<'_>,
    ) -> Result<Leg<'p>> {
        let shifted: Vec<Shifted> = shared
            .iter()
            .map(|&lambda| path.reduction.factor(lambda))
            .collect::<Option<_>>()
            .ok_or_else(|| self.failed(side.task))?;
        // w̃ = F (g r + λ H⁻¹ Σ F r), for all λ side by side.
        let cells = side.cells(self);
        let c = cells.len();
        let gathered = match side.joined {
            None => Cow::Borrowed(&path.gathered),
            Some(joined) => Cow::Owned(joined.sums(&path.gathered)),
        };
        let mut weights = Mat::zeros(gathered.nrows(), c * shifted.len());
        for (index, shifted) in shifted.iter().enumerate() {
            let mut part = weights.as_mut().subcols_mut(index * c, c);
            add_scaled(part.as_mut(), 0, &gathered, shifted.lambda);
            shifted.solve(part);
        }
        path.reduction.rotate_back(weights.as_mut());
        side.factor.apply(weights.as_mut());
        let first = cells.of_task(side.task).start;
        for index in 0..shifted.len() {
            add_scaled(weights.as_mut(), index * c + first, &side.own, g);
        }
        Ok(Leg {
            source: path.source,
            path: Some((&path.reduction, shifted)),
            weights,
        })
    }

    /// Puts what belongs to the cells of one task into its place among all.
    pub(super) fn gather(&self, gathered: &mut Mat<f64>, task: usize, own: &Mat<f64>) {
        let range = self.cells.of_task(task);
        gathered
            .as_mut()
            .subcols_mut(range.start, range.len())
            .copy_from(own);
    }

    pub(super) fn failed(&self, task: usize) -> Error {
        Error::Factorisation {
            task: self.cells.tasks()[task].name.clone(),
        }
    }

    /// The fits of all legs at one γ with their stratified leave-one-out responses. The target's samples are
    /// packed, and F z solved for, once.
    fn left_out(
        &self,
        g: f64,
        side: &Side<'_>,
        rows: &CentredRows<'_>,
        legs: Vec<Leg<'_>>,
        stop: &Stop,
    ) -> Result<Vec<Fitted>> {
        let sampled = self.sampled(side.task, side.joined);
        let (cells, importance) = (sampled.cells, sampled.importance);
        let (n, r, c) = (sampled.class.len(), side.own.nrows(), cells.len());
        let total = cells.total(side.task);
        // Q is formed, and what it solves for serves G.
        let explicit = n <= HAT_ROWS;
        // Panels are independent; each gives its samples' responses at all couplings of a leg side by side.
        let starts: Vec<usize> = (0..n).step_by(LEFT_OUT_PANEL).collect();
        let panel = |&start: &usize| -> Result<Panel> {
            stop.check()?;
            let count = LEFT_OUT_PANEL.min(n - start);
            let mut z = Mat::zeros(r, count);
            rows.pack(start..start + count, 0..r, z.as_mut());
            let fz = side.factor.apply_to_samples(start, z.as_ref());
            let own: Vec<f64> = (0..count).map(|l| g * dot(z.col(l), fz.col(l))).collect();
            let of_leg = |leg: &Leg<'_>| {
                let mut responses = dense::times(z.transpose(), leg.weights.as_ref());
                let rotated = leg.rotated(&fz);
                let left = match explicit {
                    true => Vec::new(),
                    false => {
                        let forms = leg.quadratic_forms(&own, rotated.as_ref());
                        let left_of =
                            |(l, q): (usize, &f64)| 1.0 - q - importance.of(start + l) / total;
                        let of = |forms: &Vec<f64>| -> Vec<f64> {
                            forms.iter().enumerate().map(left_of).collect()
                        };
                        forms.iter().map(of).collect()
                    }
                };
                for (index, left) in left.iter().enumerate() {
                    let own = responses.as_mut().subcols_mut(index * c, c);
                    sampled.leave_out(start, left, own);
                }
                PanelOfLeg {
                    responses,
                    left,
                    rotated,
                }
            };
            Ok(Panel {
                legs: legs.iter().map(of_leg).collect(),
                own,
                z,
                fz,
            })
        };
        let panels: Vec<Panel> = starts.par_iter().map(panel).collect::<Result<_>>()?;
        let small = n <= PROBED_ROWS || sampled.groups.members().is_some();
        let gather =
            |of: &dyn Fn(&Panel) -> MatRef<'_, f64>| side_by_side(panels.iter().map(of), r);
        let residuals = small.then(|| {
            let z = gather(&|panel| panel.z.as_ref());
            let fz = gather(&|panel| panel.fz.as_ref());
            Residuals::new(z, fz, g, importance.clone(), total)
        });
        let mut fitted = Vec::new();
        for (number, leg) in legs.iter().enumerate() {
            stop.check()?;
            let own = |panel: &'_ Panel| -> usize {
                panel.legs[number].rotated.as_ref().map_or(0, Mat::ncols)
            };
            let rotated = (small && panels.iter().any(|panel| own(panel) > 0)).then(|| {
                gather(&|panel| match &panel.legs[number].rotated {
                    Some(rotated) => rotated.as_ref(),
                    None => panel.z.as_ref().subcols(0, 0),
                })
            });
            let of_lambda = |(index, shared): (usize, f64)| {
                let mut responses = Mat::zeros(n, c);
                let mut left = Vec::with_capacity(n);
                for (&start, panel) in starts.iter().zip(&panels) {
                    let of_leg = &panel.legs[number];
                    let part = of_leg.responses.subcols(index * c, c);
                    let mut to = responses.as_mut().subrows_mut(start, part.nrows());
                    to.copy_from(part);
                    left.extend(of_leg.left.get(index).into_iter().flatten());
                }
                let shifted = leg.path.as_ref().map(|(_, shifted)| &shifted[index]);
                let (operator, forms) = residuals
                    .as_ref()
                    .map(|residuals| residuals.operator(shifted.zip(rotated.as_ref())))
                    .unzip();
                let probes = residuals.as_ref().map(|residuals| &residuals.probes);
                if explicit {
                    let forms = forms.flatten().unwrap_or_else(|| vec![0.0; n]);
                    let own = panels.iter().flat_map(|panel| &panel.own);
                    let both = own.zip(forms).enumerate();
                    left.extend(both.map(|(l, (own, form))| {
                        1.0 - (own + shared * form) - importance.of(l) / total
                    }));
                    sampled.leave_out(0, &left, responses.as_mut());
                }
                sampled.fitted(LeftOut {
                    point: GridPoint {
                        source: leg.source,
                        target: g,
                        shared,
                    },
                    responses,
                    left,
                    operator: operator.zip(probes),
                    weights: leg.weights.subcols(index * c, c).to_owned(),
                })
            };
            let lambdas: Vec<(usize, f64)> = leg.lambdas().into_iter().enumerate().collect();
            fitted.par_extend(lambdas.into_par_iter().map(of_lambda));
        }
        Ok(fitted)
    }
}

/// Some samples of a target at one γ: Z̃ᵀ, F Z̃ᵀ, and what each leg makes of them.
struct Panel {
    z: Mat<f64>,
    fz: Mat<f64>,
    /// g zᵀ F z of each.
    own: Vec<f64>,
    legs: Vec<PanelOfLeg>,
}

struct PanelOfLeg {
    /// Leave-one-out responses at all couplings side by side; by all samples where Q is formed.
    responses: Mat<f64>,
    /// G by coupling, unless Q is formed.
    left: Vec<Vec<f64>>,
    /// Qᵀ F Z̃ᵀ, where there is a path.
    rotated: Option<Mat<f64>>,
}

fn side_by_side<'m>(parts: impl Iterator<Item = MatRef<'m, f64>>, rows: usize) -> Mat<f64> {
    let parts: Vec<MatRef<'m, f64>> = parts.collect();
    let mut all = Mat::zeros(rows, parts.iter().map(|part| part.ncols()).sum());
    let mut start = 0;
    for part in parts {
        all.as_mut()
            .subcols_mut(start, part.ncols())
            .copy_from(part);
        start += part.ncols();
    }
    all
}

/// Samples whose leave-one-out responses are computed together; panels run in parallel.
const LEFT_OUT_PANEL: usize = 64;

/// The columns of `to` from `first` on += factor * term.
fn add_scaled(to: MatMut<'_, f64>, first: usize, term: &Mat<f64>, factor: f64) {
    let mut to = to.subcols_mut(first, term.ncols());
    for j in 0..term.ncols() {
        for i in 0..term.nrows() {
            to[(i, j)] += factor * term[(i, j)];
        }
    }
}

/// A target at one γ.
pub(super) struct Side<'a> {
    pub(super) task: usize,
    /// The columns that its sources share, where they are many.
    pub(super) joined: Option<&'a Joined>,
    pub(super) factor: Factor<'a>,
    /// F_t Z̃_tᵀ y, r x m_t.
    pub(super) own: Mat<f64>,
    /// F_t B_t, until the asymmetric path takes it.
    pub(super) product: Option<Mat<f64>>,
}

impl<'a> Side<'a> {
    /// Of the columns of its responses.
    pub(super) fn cells<'s>(&self, reduced: &'s Reduced<'_>) -> &'s Cells
    where
        'a: 's,
    {
        self.joined.map_or(&reduced.cells, |joined| &joined.cells)
    }
}

/// One γ, ready for any λ.
pub(super) struct Path {
    reduction: BlockTridiagonal,
    /// Qᵀ Σ_i F_i Z̃_iᵀ y, r x C.
    gathered: Mat<f64>,
    source: f64,
}

impl Path {
    pub(super) fn new(
        sum: Mat<f64>,
        mut gathered: Mat<f64>,
        source: f64,
        stop: &Stop,
    ) -> Result<Self> {
        let reduction = BlockTridiagonal::new(sum, stop)?;
        reduction.rotate(gathered.as_mut());
        Ok(Self {
            reduction,
            gathered,
            source,
        })
    }
}

/// The couplings of one path at one γ: the target alone, or every λ of the grid.
pub(super) struct Leg<'p> {
    path: Option<(&'p BlockTridiagonal, Vec<Shifted>)>,
    pub(super) source: f64,
    /// w̃ of the couplings, side by side.
    pub(super) weights: Mat<f64>,
}

impl Leg<'_> {
    pub(super) fn lambdas(&self) -> Vec<f64> {
        match &self.path {
            None => vec![0.0],
            Some((_, shifted)) => shifted.iter().map(|shifted| shifted.lambda).collect(),
        }
    }

    /// Qᵀ F z of some samples, where there is a path.
    fn rotated(&self, fz: &Mat<f64>) -> Option<Mat<f64>> {
        let (reduction, _) = self.path.as_ref()?;
        let mut rotated = fz.clone();
        reduction.rotate(rotated.as_mut());
        Some(rotated)
    }

    /// zᵀ R z of some samples at each coupling, from g zᵀ F z and Qᵀ F z.
    fn quadratic_forms(&self, own: &[f64], rotated: Option<&Mat<f64>>) -> Vec<Vec<f64>> {
        let (Some((_, shifted)), Some(rotated)) = (&self.path, rotated) else {
            return vec![own.to_vec()];
        };
        let forms = |shifted: &Shifted| {
            let forms = shifted.quadratic_forms(rotated.as_ref());
            let both = own.iter().zip(forms);
            both.map(|(own, form)| own + shifted.lambda * form)
                .collect()
        };
        shifted.iter().map(forms).collect()
    }
}
