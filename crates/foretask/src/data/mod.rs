//! Data and what is kept of them: names and counts by cell, rows, and mergeable statistics.

pub(crate) mod cells;
pub(crate) mod coupling;
pub(crate) mod rows;
pub(crate) mod statistics;
pub(crate) mod tasks;
