//! A target with many rows is studied by folds: its cost is that of the scatters, and no more memory is needed than
//! for them (`docs/3-the-solver.md#folds-of-statistics`).

use std::borrow::Cow;

use super::shared::Shared;
use crate::data::{Portion, Statistics};
use crate::error::{Error, Result};
use crate::recipe::{Tournament, grid};
use crate::settings::Evidence;
use crate::settings::check::Plan;
use crate::solve::FoldedTarget;
use crate::views::Map;

/// Folds of a target with many rows.
const FOLDS: usize = 10;
/// Fewer rows than this are left out one by one.
const MANY_ROWS: usize = 4000;
/// So are rows fewer than this many times the features: a fold costs as many factorisations as the target.
const ROWS_PER_FEATURE: usize = 12;

/// A target's samples by fold.
#[derive(Debug)]
pub(super) struct Folded {
    /// The samples of each fold.
    pub(super) members: Vec<Vec<usize>>,
    /// The rows of each fold as they are.
    portions: Vec<Portion>,
}

impl Folded {
    /// Whether a plan is carried out by folds: the default, where its target has many rows that nobody grouped.
    pub(super) fn suits(statistics: &Statistics<'_>, plan: &Plan) -> bool {
        let rows = statistics.cells().samples(plan.target);
        let many = MANY_ROWS.max(ROWS_PER_FEATURE * statistics.features());
        let wanted = match plan.settings.evidence {
            Evidence::Auto => rows >= many,
            Evidence::LeaveFoldOut => true,
            _ => false,
        };
        wanted && !plan.light && Self::refusal(statistics, plan).is_none()
    }

    /// Why a plan cannot be carried out by folds.
    fn refusal(statistics: &Statistics<'_>, plan: &Plan) -> Option<&'static str> {
        if !plan.is_averaged() || plan.coupling.is_some() {
            return Some(
                "folds are of the default: leave the rule, the labels and the coupling at auto",
            );
        }
        if statistics.are_grouped() {
            return Some("groups are left out one by one: leave out the groups, or this");
        }
        if statistics.cells().are_weighed() {
            return Some(
                "weighted samples are left out one by one: leave out the weights, or this",
            );
        }
        let rows = statistics.cells().samples(plan.target);
        if rows < FOLDS.max(statistics.features()) || statistics.rows_of(plan.target).is_none() {
            return Some("a target needs rows at hand, and more of them than features");
        }
        None
    }

    /// # Errors
    /// If folds were asked for and cannot be had.
    pub(super) fn check(statistics: &Statistics<'_>, plan: &Plan) -> Result<()> {
        match (plan.settings.evidence, Self::refusal(statistics, plan)) {
            (Evidence::LeaveFoldOut, Some(expected)) => Err(Error::Setting {
                setting: "theory",
                value: Evidence::LeaveFoldOut.to_string(),
                expected,
            }),
            _ => Ok(()),
        }
    }

    /// None where the rows are not at hand.
    pub(super) fn new(statistics: &Statistics<'_>, target: usize) -> Option<Self> {
        let members = statistics.deal(target, FOLDS)?;
        Some(Self {
            portions: statistics.portions(target, &members)?,
            members,
        })
    }

    /// Its tournament, without candidates.
    pub(super) fn tournament(&self, statistics: &Statistics<'_>, target: usize) -> Tournament {
        let counts = self.portions.iter().map(|portion| portion.counts.clone());
        Tournament::in_folds(statistics.cells(), target, counts.collect())
    }
}

impl Shared<'_> {
    /// The candidates of a target in folds, in this view, enter its tournament.
    pub(super) fn enter_folds(
        &self,
        tournament: &mut Tournament,
        folded: &Folded,
        plan: &Plan,
        progress: &dyn Fn(f64),
    ) -> Result<()> {
        let target = tournament.target;
        let portions: Cow<'_, [Portion]> = match &self.map {
            Map::Raw => Cow::Borrowed(&folded.portions),
            // Exact, and no row is looked at again.
            Map::Standard(columns) => {
                let portions = folded.portions.iter();
                let scaled = portions.map(|portion| portion.with_columns(columns));
                Cow::Owned(scaled.collect())
            }
            Map::Cosine | Map::Rbf { .. } => {
                let portions = self.statistics.portions(target, &folded.members);
                Cow::Owned(portions.ok_or_else(|| self.needs_rows(target))?)
            }
        };
        let mean = self.statistics.task_mean(target);
        let folds = FoldedTarget::new(&portions, mean, self.scales[target]);
        let grid = grid(self.cells().tasks().len());
        let stop = &plan.settings.stop;
        tournament.enter_fold_grid(self.view, self.space()?, &folds, &grid, stop, progress)
    }
}
