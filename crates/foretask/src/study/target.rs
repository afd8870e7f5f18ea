//! [`Target`]: one target with all that its rule is made from, as every step of a study sees it.

use crate::data::{Cells, Coupling, Groups, Importance, classes_in_order};
use crate::error::Result;
use crate::estimate::Population;
use crate::forecast::{FEW, Note};
use crate::settings::Settings;
use crate::settings::check::Plan;
use crate::solve::GridPoint;
use crate::stakes::Stakes;

use super::shared::Shared;

/// A target, its plan, and what all targets share.
#[derive(Clone, Copy)]
pub(super) struct Target<'s, 'a> {
    pub(super) shared: &'s Shared<'a>,
    pub(super) population: &'s Population,
    pub(super) plan: &'s Plan,
}

impl<'s> Target<'s, '_> {
    pub(super) fn cells(&self) -> &'s Cells {
        self.shared.cells()
    }

    pub(super) fn settings(&self) -> &'s Settings {
        &self.plan.settings
    }

    pub(super) fn stakes(&self) -> &'s Stakes {
        &self.plan.stakes
    }

    /// Its index among the tasks.
    pub(super) fn index(&self) -> usize {
        self.plan.target
    }

    /// The class of each of its samples.
    pub(super) fn class(&self) -> Vec<usize> {
        classes_in_order(&self.cells().tasks()[self.index()])
    }

    /// Those of its samples that are left out together.
    pub(super) fn groups(&self) -> Groups {
        self.shared.statistics.groups_of(self.index())
    }

    /// How much each of its samples counts.
    pub(super) fn importance(&self) -> Importance {
        self.shared.statistics.importance_of(self.index())
    }

    /// The number of its classes.
    pub(super) fn classes(&self) -> usize {
        self.stakes().priors.len()
    }

    pub(super) fn coupling_of(&self, point: GridPoint) -> Result<Coupling> {
        point.coupling(self.cells().tasks().len(), self.index())
    }

    /// Notes that every forecast carries.
    pub(super) fn notes(&self) -> Vec<Note> {
        let task = &self.cells().tasks()[self.index()];
        let fewest = task.counts.iter().enumerate().min_by_key(|(_, n)| **n);
        match fewest {
            Some((class, &samples)) if samples < FEW => vec![Note::FewSamples {
                class: task.classes[class].clone(),
                samples,
            }],
            _ => Vec::new(),
        }
    }
}
