//! [`Ground`]: what the studies of all targets stand on.

use std::sync::OnceLock;

use crate::cells::Cells;
use crate::coupling::Coupling;
use crate::error::Result;
use crate::solve::path::{Fitted, Grid, GridPoint, Reduced};
use crate::solve::{Scaling, System, needs_rows};
use crate::statistics::{RowBlock, Statistics};
use crate::tune::Tournament;

/// The data, and what is computed from them once.
#[derive(Debug)]
pub(super) struct Ground<'a> {
    pub(super) statistics: Statistics<'a>,
    pub(super) scaling: Scaling,
    pub(super) scales: Vec<f64>,
    space: OnceLock<Reduced<'a>>,
}

impl<'a> Ground<'a> {
    pub(super) fn new(statistics: Statistics<'a>, scaling: Scaling) -> Self {
        Self {
            scales: scaling.scales(&statistics),
            statistics,
            scaling,
            space: OnceLock::new(),
        }
    }

    pub(super) fn cells(&self) -> &Cells {
        self.statistics.cells()
    }

    /// The tasks in few coordinates; made when first asked for.
    pub(super) fn space(&self) -> Result<&Reduced<'a>> {
        if let Some(space) = self.space.get() {
            return Ok(space);
        }
        let made = Reduced::new(self.statistics.clone(), self.scaling)?;
        Ok(self.space.get_or_init(|| made))
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
            let grid = Grid::default_for(self.cells().tasks().len());
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
        let k = self.cells().tasks().len() as f64;
        let source = coupling
            .gamma()
            .iter()
            .enumerate()
            .find(|(task, _)| *task != target)
            .map_or(0.0, |(_, g)| g / k);
        let point = GridPoint {
            source,
            target: coupling.gamma()[target] / k,
            shared: coupling.lambda() / k,
        };
        Ok(Fitted {
            point,
            responses,
            weights: system.weights(target),
        })
    }
}
