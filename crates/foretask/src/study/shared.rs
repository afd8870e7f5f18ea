//! [`Shared`]: what the studies of all targets stand on, computed once.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use faer::Mat;

use crate::data::cells::Cells;
use crate::data::coupling::Coupling;
use crate::data::statistics::{RowBlock, Statistics};
use crate::error::Result;
use crate::estimate::covariance;
use crate::estimate::pooled::pooled;
use crate::estimate::population::Population;
use crate::recipe::grid::grid;
use crate::recipe::tournament::Tournament;
use crate::settings::words::Evidence;
use crate::solve::grid::GridPoint;
use crate::solve::leave_one_out::needs_rows;
use crate::solve::path::Fitted;
use crate::solve::reduced::Reduced;
use crate::solve::scaling::Scaling;
use crate::solve::system::System;
use crate::solve::weights::{Coordinates, Weights};
use crate::theory::Common;

/// The data, and what is made of them once.
#[derive(Debug)]
pub(super) struct Shared<'a> {
    pub(super) statistics: Statistics<'a>,
    pub(super) scaling: Scaling,
    pub(super) scales: Vec<f64>,
    space: OnceLock<Reduced<'a>>,
    common: OnceLock<Option<Common>>,
    populations: Mutex<Vec<(Evidence, Arc<Population>)>>,
}

impl<'a> Shared<'a> {
    pub(super) fn new(statistics: Statistics<'a>, scaling: Scaling) -> Self {
        Self {
            scales: scaling.scales(&statistics),
            statistics,
            scaling,
            space: OnceLock::new(),
            common: OnceLock::new(),
            populations: Mutex::new(Vec::new()),
        }
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
        let name = &self.cells().tasks()[target].name;
        let rows = self.statistics.rows_of(target);
        rows.ok_or_else(|| needs_rows(name))
    }

    /// All candidates of each of the targets (ascending): at the coupling given, or on the whole grid.
    pub(super) fn tournaments(
        &self,
        targets: &[usize],
        coupling: Option<&Coupling>,
        progress: &dyn Fn(f64),
    ) -> Result<Vec<Tournament>> {
        let Some(coupling) = coupling else {
            let grid = grid(self.cells().tasks().len());
            return Tournament::run(self.space()?, targets, &grid, progress);
        };
        let system = self.system(coupling)?;
        targets
            .iter()
            .map(|&target| {
                let fitted = self.fit(&system, coupling, target)?;
                Ok(Tournament::at(self.cells(), target, fitted))
            })
            .collect()
    }

    /// A target's fit at the coupling of a trained system.
    pub(super) fn fit(
        &self,
        system: &System<'_>,
        coupling: &Coupling,
        target: usize,
    ) -> Result<Fitted> {
        let responses = system
            .leave_one_out_of(self.rows_of(target)?, target)
            .stratified(self.cells())
            .responses;
        Ok(Fitted {
            point: GridPoint::of(coupling, target),
            responses,
            weights: Weights {
                coordinates: Coordinates::Features,
                values: system.weights(target),
            },
        })
    }

    /// Weights on the centred and scaled features of a target.
    pub(super) fn to_features(&self, weights: &Weights) -> Result<Mat<f64>> {
        match weights.coordinates {
            Coordinates::Features => Ok(weights.values.clone()),
            Coordinates::Reduced => Ok(self.space()?.to_features(&weights.values)),
        }
    }
}
