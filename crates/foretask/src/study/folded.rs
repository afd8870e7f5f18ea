//! A target with many rows is studied by folds: its cost is that of the scatters, and no more memory is needed than
//! for them (`docs/3-the-solver.md#folds-of-statistics`).

use std::borrow::Cow;
use std::sync::Arc;

use super::shared::Shared;
use crate::data::{
    Dealt, Importance, Joined, Portion, RowBlock, Sample, Statistics, are_many, by_class,
    classes_in_order, complete, other_folds,
};
use crate::error::{Error, Result};
use crate::forecast::Note;
use crate::recipe::{Tournament, alike, grid};
use crate::settings::Evidence;
use crate::settings::check::Plan;
use crate::solve::FoldedTarget;
use crate::views::Map;

/// Numbers that are drawn in the place of rows, at most.
const MOST_DRAWN: usize = 1 << 22;

/// A target by fold.
#[derive(Debug)]
pub(super) struct Folded<'a> {
    /// The rows of each fold as they are, summed up.
    portions: Portions,
    /// Rows that errors are counted among: all, or a sample of what came in parts. None where no row was kept: samples
    /// are drawn then.
    pub(super) rows: Option<RowBlock<'a>>,
    pub(super) class: Vec<usize>,
    /// How many rows each stands for.
    pub(super) importance: Importance,
    /// Those of each fold.
    pub(super) members: Vec<Vec<usize>>,
    /// Which of them the rows that were dealt to each number are in.
    pub(super) place: Vec<usize>,
    /// That folds were joined, if they were.
    pub(super) joined: Option<Note>,
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
        let folds = Self::number(statistics, plan);
        let summaries = folds * (cells.of_task(target).len() + alike::columns(cells, target));
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

    /// How many folds are asked for.
    pub(super) fn number(statistics: &Statistics<'_>, plan: &Plan) -> usize {
        plan.settings.folds.unwrap_or_else(|| statistics.folds())
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
        if rows < Self::number(statistics, plan).max(statistics.features())
            || !at_hand && statistics.dealt(plan.target).is_none()
        {
            return Some("a target needs rows at hand, and more of them than features");
        }
        None
    }

    /// # Errors
    /// If folds were asked for and cannot be had.
    pub(super) fn check(statistics: &Statistics<'_>, plan: &Plan) -> Result<()> {
        let asked = Self::number(statistics, plan);
        if let Some(dealt) = statistics.dealt(plan.target)
            && dealt.portions.len() != asked
        {
            return Err(other_folds(dealt.portions.len(), asked));
        }
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
    pub(super) fn new(statistics: &Statistics<'a>, plan: &Plan) -> Option<Self> {
        let target = plan.target;
        let task = &statistics.cells().tasks()[target];
        if let Some(rows) = statistics.rows_of(target) {
            let members = statistics.deal(target, Self::number(statistics, plan))?;
            let folded = Self {
                portions: Portions::Own(statistics.portions(target, &members)?),
                rows: Some(rows.clone()),
                class: classes_in_order(task),
                importance: Importance::default(),
                place: (0..members.len()).collect(),
                members,
                joined: None,
            };
            return Some(folded.completed(&task.classes));
        }
        let dealt = statistics.dealt(target)?;
        let sample = &dealt.sample;
        let (rows, counts, members) = match dealt.is_bare() {
            true => {
                let (counts, members) = drawn(&dealt.portions, &task.counts);
                (None, counts, members)
            }
            false => {
                let members = sample.members(dealt.portions.len());
                (Some(sample.rows.clone()), sample.counts.clone(), members)
            }
        };
        let folded = Self {
            rows,
            class: by_class(&counts),
            importance: Sample::importance(&counts, &task.counts),
            place: (0..members.len()).collect(),
            members,
            portions: Portions::Dealt(dealt.clone()),
            joined: None,
        };
        Some(folded.completed(&task.classes))
    }

    /// The rows of each fold, summed up.
    pub(super) fn portions(&self) -> &[Portion] {
        self.portions.all()
    }

    /// Folds that lack a class are joined with others.
    fn completed(mut self, classes: &[String]) -> Self {
        let portions = self.portions.all();
        let counts: Vec<Vec<usize>> = portions.iter().map(|own| own.counts.clone()).collect();
        let groups = complete(&counts);
        if groups.len() == counts.len() {
            return self;
        }
        let holders = |class: usize| counts.iter().filter(|own| own[class] > 0).count();
        // Classes of one fold have no say in it.
        let rare = (0..classes.len()).filter(|&class| holders(class) > 1);
        let rarest = rare.min_by_key(|&class| holders(class));
        self.joined = rarest.map(|class| Note::FoldsJoined {
            class: classes[class].clone(),
            folds: counts.len(),
            left: groups.len(),
        });
        let joined = Portion::joined(portions, &groups);
        self.portions = Portions::Own(joined);
        let members = |group: &Vec<usize>| {
            let folds = group.iter().flat_map(|&fold| &self.members[fold]);
            let mut all: Vec<usize> = folds.copied().collect();
            all.sort_unstable();
            all
        };
        self.members = groups.iter().map(members).collect();
        for (place, group) in groups.iter().enumerate() {
            group.iter().for_each(|&fold| self.place[fold] = place);
        }
        self
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

/// How many samples of each class are drawn in the place of rows, and those of each fold: as many as a sample of rows
/// would have, class by class and fold by fold.
fn drawn(portions: &[Portion], counts: &[usize]) -> (Vec<usize>, Vec<Vec<usize>>) {
    let m = counts.len();
    let most = Sample::most(m).min((MOST_DRAWN / (m * m)).max(1));
    let taken: Vec<usize> = counts.iter().map(|&count| count.min(most)).collect();
    let mut members = vec![Vec::new(); portions.len()];
    let mut start = 0;
    for (class, (&all, &taken)) in counts.iter().zip(&taken).enumerate() {
        let (mut before, mut first) = (0_usize, 0);
        for (own, portion) in members.iter_mut().zip(portions) {
            before += portion.counts[class];
            let last = (before as f64 * taken as f64 / all.max(1) as f64).round() as usize;
            own.extend(start + first..start + last);
            first = last;
        }
        start += taken;
    }
    (taken, members)
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
