//! A target with many rows is studied by folds: its cost is that of the scatters, and no more memory is needed than
//! for them (`docs/3-the-solver.md#folds-of-statistics`).

use std::borrow::Cow;
use std::sync::Arc;

use super::shared::Shared;
use crate::data::{
    Dealt, FOLDS, Importance, Joined, Portion, RowBlock, Statistics, are_many, classes_in_order,
};
use crate::error::{Error, Result};
use crate::recipe::{Tournament, alike, grid};
use crate::settings::Evidence;
use crate::settings::check::Plan;
use crate::solve::FoldedTarget;
use crate::views::Map;

/// A target by fold.
#[derive(Debug)]
pub(super) struct Folded<'a> {
    /// The rows of each fold as they are, summed up.
    portions: Portions,
    /// Rows that errors are counted among: all, or a sample of what came in parts.
    pub(super) rows: RowBlock<'a>,
    pub(super) class: Vec<usize>,
    /// How many rows each stands for.
    pub(super) importance: Importance,
    /// Those of each fold.
    pub(super) members: Vec<Vec<usize>>,
}

#[derive(Debug)]
enum Portions {
    Own(Vec<Portion>),
    Dealt(Arc<Dealt>),
}

impl Portions {
    fn all(&self) -> &[Portion] {
        match self {
            Self::Own(portions) => portions,
            Self::Dealt(dealt) => &dealt.portions,
        }
    }
}

impl<'a> Folded<'a> {
    /// Whether a plan is carried out by folds: the default, where its target has many rows that nobody grouped.
    pub(super) fn suits(statistics: &Statistics<'_>, plan: &Plan) -> bool {
        let (cells, target) = (statistics.cells(), plan.target);
        let rows = cells.samples(target);
        // With many classes summaries of folds are larger than what they sum up.
        let summaries = FOLDS * (cells.of_task(target).len() + alike::columns(cells, target));
        let wanted = match plan.settings.evidence {
            Evidence::Auto => {
                let many = are_many(rows, statistics.features()) && rows >= summaries;
                many || statistics.dealt(target).is_some()
            }
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
        let at_hand = statistics.rows_of(plan.target).is_some();
        if rows < FOLDS.max(statistics.features())
            || !at_hand && statistics.dealt(plan.target).is_none()
        {
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

    /// None where neither the rows are at hand nor folds.
    pub(super) fn new(statistics: &Statistics<'a>, target: usize) -> Option<Self> {
        let task = &statistics.cells().tasks()[target];
        if let Some(rows) = statistics.rows_of(target) {
            let members = statistics.deal(target, FOLDS)?;
            return Some(Self {
                portions: Portions::Own(statistics.portions(target, &members)?),
                rows: rows.clone(),
                class: classes_in_order(task),
                importance: Importance::default(),
                members,
            });
        }
        let dealt = statistics.dealt(target)?;
        let sample = &dealt.sample;
        Some(Self {
            rows: sample.rows.clone(),
            class: sample.class(),
            importance: sample.importance(&task.counts),
            members: sample.members(),
            portions: Portions::Dealt(dealt.clone()),
        })
    }

    /// Its tournament, without candidates.
    pub(super) fn tournament(
        &self,
        statistics: &Statistics<'_>,
        joined: Option<Arc<Joined>>,
        target: usize,
    ) -> Tournament {
        let portions = self.portions.all().iter();
        let counts = portions.map(|portion| portion.counts.clone());
        Tournament::in_folds(statistics.cells(), joined, target, counts.collect())
    }
}

impl Shared<'_> {
    /// The candidates of a target in folds, in this view, enter its tournament.
    pub(super) fn enter_folds(
        &self,
        tournament: &mut Tournament,
        folded: &Folded<'_>,
        plan: &Plan,
        progress: &dyn Fn(f64),
    ) -> Result<()> {
        let target = tournament.target;
        let portions: Cow<'_, [Portion]> = match &self.map {
            Map::Raw => Cow::Borrowed(folded.portions.all()),
            // Exact, and no row is looked at again.
            Map::Standard(columns) => {
                let portions = folded.portions.all().iter();
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
