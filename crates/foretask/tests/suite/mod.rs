//! Everything, in the program of the library's own tests: they see what users do not, and another
//! program would build and link the numerical library once more.
//! One file alone: `cargo test -p foretask --lib orthants::`; real data with the
//! tables that are printed: `cargo test -p foretask --lib real_data -- --nocapture`.

// A failure here is a failed test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod all_targets;
mod common;
mod dealt;
mod degenerate;
mod edge_cases;
mod exactness;
mod false_alarm;
mod false_alarm_rates;
mod folded;
mod forecasts;
mod from_statistics;
mod general_theory;
mod golden_default;
mod golden_theory;
mod golden_training;
mod groups;
mod invariants;
mod leave_fold_out;
mod left_out;
mod many_classes;
mod many_tasks;
mod model_files;
mod named_rules;
mod names;
mod normal_points;
mod one_vs_one;
mod optimal_labels;
mod orthants;
mod parts;
mod pooled;
mod prepare;
mod real_data;
mod recipe;
mod recount;
mod rule_simulation;
mod simulation;
mod sparse;
mod statements;
mod statistics;
mod stop;
mod tally;
mod theory_invariants;
mod views;
mod weights;
