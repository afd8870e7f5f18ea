//! Training: the arrowhead system, all C right-hand sides at once.
//!
//! Every sample of cell r gets the label y_r. With Z_i the centred and scaled rows of task i, the
//! method minimises (`docs/2-the-theory.md#objective-and-solution`)
//!
//! ```text
//! ½ Σ_i |Y_i - Z_i w_i - 1 b_iᵀ|² + (kp/2) [ |w_0|²/λ + Σ_i |w_i - w_0|²/γ_i ]
//! ```
//!
//! The solution is linear in the labels, so [`System`] solves for the C unit labels e_r once and
//! every classifier is a combination of the C *responses*. With B_i = Z_iᵀ Z_i/(kp),
//! r_i = Z_iᵀ y/(kp) (`docs/3-the-solver.md#the-arrowhead`):
//!
//! ```text
//! F_i = (I + γ_i B_i)⁻¹,   H = I + λ Σ_i F_i B_i,
//! w_0 = λ H⁻¹ Σ_i F_i r_i,   w_i = F_i (γ_i r_i + w_0),   b_i = mean label of task i.
//! ```
//!
//! No kp x kp matrix exists. Where the rows of all tasks together are few, the same solution comes
//! from one n x n system, K = A\[t, t'\] z·z'/(kp) + I. The cheaper is chosen by counting
//! multiplications:
//!
//! | form | multiplications | memory (doubles) |
//! |---|---|---|
//! | arrowhead | Σ_i (n_i p²/2 + p³/2) + p³/6; a task with few rows 3/2 n_i² p + n_i³/2 + n_i p²/2 | (k + 2) p² |
//! | one dual | n² p/2 + n³/6 | 2 n² |

pub(crate) mod fitted;
pub(crate) mod fold_grid;
pub(crate) mod grid;
pub(crate) mod leave_fold_out;
pub(crate) mod leave_one_out;
pub(crate) mod path;
pub(crate) mod reduced;
pub(crate) mod scaling;
pub(crate) mod system;
pub(crate) mod weights;

mod arrow;
mod block;
mod block_tridiagonal;
mod dual;
mod effective;
mod factor;
mod row_grid;
mod row_space;

pub(crate) use fitted::Fitted;
pub(crate) use fold_grid::FoldedTarget;
pub(crate) use grid::{Grid, GridPoint};
pub(crate) use leave_fold_out::{FoldLeftOut, HAT_ROWS};
pub use leave_one_out::LeaveOneOut;
pub(crate) use leave_one_out::{correct_mass, needs_rows, stratify};
pub(crate) use reduced::Reduced;
pub use scaling::Scaling;
pub use system::System;
pub(crate) use weights::{Coordinates, Weights};
