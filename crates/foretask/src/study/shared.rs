//! [`Shared`]: what the studies of all targets stand on, computed once.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use faer::Mat;

use crate::data::{Cells, Coupling, RowBlock, Statistics};
use crate::error::{Error, Result};
use crate::estimate::{Population, covariance, pooled};
use crate::model::{Scores, Term, to_raw};
use crate::numerics::dense;
use crate::recipe::{self, Tournament, coarse_grid, grid};
use crate::settings::Evidence;
use crate::settings::check::Plan;
use crate::solve::{Coordinates, Fitted, GridPoint, Reduced, Scaling, System, Weights, needs_rows};
use crate::theory::Common;
use crate::views::{Map, Skipped, View, Viewed};

/// The data in one view, and what is made of them once.
#[derive(Debug)]
pub(super) struct Shared<'a> {
    /// The data as they are.
    pub(super) raw: Statistics<'a>,
    pub(super) view: View,
    pub(super) map: Map,
    pub(super) statistics: Statistics<'a>,
    pub(super) scaling: Scaling,
    pub(super) scales: Vec<f64>,
    space: OnceLock<Reduced<'a>>,
    common: OnceLock<Option<Common>>,
    populations: Mutex<Vec<(Evidence, Arc<Population>)>>,
}

impl<'a> Shared<'a> {
    /// The kernel's view is that of one target.
    pub(super) fn new(
        raw: Statistics<'a>,
        scaling: Scaling,
        view: View,
        target: usize,
    ) -> std::result::Result<Self, Skipped> {
        let Viewed { map, statistics } = view.of(&raw, target)?;
        Ok(Self {
            scales: scaling.scales(&statistics),
            raw,
            view,
            map,
            statistics,
            scaling,
            space: OnceLock::new(),
            common: OnceLock::new(),
            populations: Mutex::new(Vec::new()),
        })
    }

    /// The same with some of a target's samples only.
    pub(super) fn among(&self, target: usize, samples: &[usize]) -> Result<Self> {
        let some = self.statistics.with_samples(target, samples);
        let statistics = some.ok_or_else(|| needs_rows(&self.cells().tasks()[target].name))?;
        Ok(Self {
            raw: self.raw.clone(),
            view: self.view,
            map: self.map.clone(),
            scales: self.scaling.scales(&statistics),
            statistics,
            scaling: self.scaling,
            space: OnceLock::new(),
            common: OnceLock::new(),
            populations: Mutex::new(Vec::new()),
        })
    }

    pub(super) fn cells(&self) -> &Cells {
        self.statistics.cells()
    }

    /// The tasks in few coordinates.
    pub(super) fn space(&self) -> Result<&Reduced<'a>> {
        if let Some(space) = self.space.get() {
            return Ok(space);
        }
        let made = Reduced::new(self.statistics.clone(), self.scaling)?;
        Ok(self.space.get_or_init(|| made))
    }

    /// The covariance shape that all classes have in common, if they vary.
    pub(super) fn common(&self) -> Result<Option<&Common>> {
        let space = self.space()?;
        Ok(self.common.get_or_init(|| pooled(space)).as_ref())
    }

    /// Means and covariances as a theory sees them; the isotropic one if none is asked for.
    pub(super) fn population(&self, evidence: Evidence) -> Result<Arc<Population>> {
        let mut made = self
            .populations
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some((_, population)) = made.iter().find(|(own, _)| *own == evidence) {
            return Ok(population.clone());
        }
        let (statistics, scales) = (&self.statistics, &self.scales);
        let population = Arc::new(match (evidence, evidence.estimate()) {
            (_, Some(estimate)) => {
                let covariances = covariance::estimate(statistics, scales, estimate)?;
                Population::general(statistics, scales, covariances, self.common()?)?
            }
            (Evidence::Spherical, _) => Population::spherical(statistics, scales),
            (Evidence::Common, _) => Population::common(statistics, scales, self.common()?)?,
            _ => Population::isotropic(statistics, scales),
        });
        made.push((evidence, population.clone()));
        Ok(population)
    }

    /// Trains all tasks at one coupling.
    pub(super) fn system(&self, coupling: &Coupling) -> Result<System<'a>> {
        System::new(self.statistics.clone(), self.scaling, coupling)
    }

    /// The rows of a target, which leave-one-out needs.
    pub(super) fn rows_of(&self, target: usize) -> Result<&RowBlock<'a>> {
        let rows = self.statistics.rows_of(target);
        rows.ok_or_else(|| self.needs_rows(target))
    }

    /// That the rows of a target are not at hand.
    pub(super) fn needs_rows(&self, target: usize) -> Error {
        needs_rows(&self.cells().tasks()[target].name)
    }

    /// The candidates of each of the targets (ascending) in this view enter its tournament: at the coupling of the
    /// plan, or on the whole grid.
    pub(super) fn enter(
        &self,
        tournaments: &mut [&mut Tournament],
        targets: &[usize],
        plan: &Plan,
        progress: &dyn Fn(f64),
    ) -> Result<()> {
        let (space, stop) = (self.space()?, &plan.settings.stop);
        for (tournament, &target) in tournaments.iter_mut().zip(targets) {
            stop.check()?;
            // Lengths of rows must not matter to a view without them.
            let keys = match self.view {
                View::Cosine => self.statistics.rows_of(target),
                _ => None,
            };
            let keys = keys.map(|rows| recipe::keys(rows, &self.statistics.pooled_variances()));
            tournament.look_through(self.view, space, keys.as_deref());
        }
        let Some(coupling) = &plan.coupling else {
            let tasks = self.cells().tasks().len();
            let grid = if plan.light {
                coarse_grid(tasks)
            } else {
                grid(tasks)
            };
            return Tournament::enter_grid(
                tournaments,
                self.view,
                space,
                targets,
                &grid,
                stop,
                progress,
            );
        };
        let system = self.system(coupling)?;
        for (tournament, &target) in tournaments.iter_mut().zip(targets) {
            stop.check()?;
            let fitted = self.fit(&system, coupling, target)?;
            tournament.enter_one(self.view, fitted, coupling, stop)?;
        }
        Ok(())
    }

    /// A target's fit at the coupling of a trained system.
    pub(super) fn fit(
        &self,
        system: &System<'_>,
        coupling: &Coupling,
        target: usize,
    ) -> Result<Fitted> {
        let groups = self.statistics.groups_of(target);
        let importance = self.statistics.importance_of(target);
        let rows = self.rows_of(target)?;
        let left_out = system.leave_one_out_of(rows, target, true, &groups, &importance);
        Ok(Fitted {
            point: GridPoint::of(coupling, target),
            effective: left_out.effective,
            hat: left_out.hat.clone(),
            responses: left_out.stratified(self.cells()).responses,
            weights: Weights {
                coordinates: Coordinates::Features,
                values: system.weights(target),
            },
            without: Vec::new(),
        })
    }

    /// What weights on the centred and scaled features of a target add to scores of the raw features.
    pub(super) fn to_raw(&self, weights: Mat<f64>, bias: Vec<f64>, target: usize) -> Scores {
        let mean = self.statistics.task_mean(target);
        let (weights, intercept) = to_raw(weights, bias, &mean, self.scales[target]);
        let (weights, terms) = match &self.map {
            Map::Raw => (Some(weights), Vec::new()),
            Map::Standard(columns) => (Some(on_columns(weights, columns)), Vec::new()),
            Map::Cosine => (None, vec![Term::Cosine { weights }]),
            Map::Rbf {
                columns,
                centre,
                scale,
                features,
            } => {
                let over = |of: &[f64]| of.iter().map(|x| x / scale).collect();
                let term = Term::Rbf {
                    columns: over(columns),
                    centre: over(centre),
                    kernel: features.kernel.clone(),
                    weights: dense::times(features.basis.as_ref(), weights.as_ref()),
                };
                (None, vec![term])
            }
        };
        let zero = || Mat::zeros(self.raw.features(), intercept.len());
        Scores {
            weights: weights.unwrap_or_else(zero),
            intercept,
            terms,
        }
    }

    /// Weights on the raw features from weights on those of a linear view.
    pub(super) fn to_columns(&self, weights: Mat<f64>) -> Mat<f64> {
        match &self.map {
            Map::Standard(columns) => on_columns(weights, columns),
            _ => weights,
        }
    }

    /// Weights on the centred and scaled features of a target.
    pub(super) fn to_features(&self, weights: &Weights) -> Result<Mat<f64>> {
        match weights.coordinates {
            Coordinates::Features => Ok(weights.values.clone()),
            Coordinates::Reduced => Ok(self.space()?.to_features(&weights.values)),
        }
    }
}

fn on_columns(mut weights: Mat<f64>, columns: &[f64]) -> Mat<f64> {
    for j in 0..weights.ncols() {
        let column = weights.col_mut(j).iter_mut().zip(columns);
        column.for_each(|(weight, factor)| *weight *= factor);
    }
    weights
}
