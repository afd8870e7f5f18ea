//! Data and what is kept of them: names and counts by cell, rows, and mergeable statistics.

pub(crate) mod cells;
pub(crate) mod coupling;
pub(crate) mod groups;
pub(crate) mod importance;
pub(crate) mod joined;
pub mod prepare;
pub(crate) mod rows;
pub(crate) mod statistics;
pub(crate) mod tasks;

pub(crate) use cells::pairs;
pub use cells::{Cells, Task};
pub use coupling::Coupling;
pub(crate) use groups::Groups;
pub(crate) use importance::Importance;
pub(crate) use joined::{Joined, Place};
pub(crate) use rows::PANEL;
pub use rows::{Element, Rows};
pub use statistics::Statistics;
pub(crate) use statistics::{
    Dealt, NO_SPREAD, Portion, RowBlock, Sample, Second, are_many, by_class, check_folds, complete,
    other_folds, rows_by_fold, weighed,
};
pub use tasks::Tasks;
pub(crate) use tasks::{classes_in_order, group};
