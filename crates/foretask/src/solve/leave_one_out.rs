//! Exact leave-one-out responses of every training sample, from the factorisation at hand.
//!
//! Centring each task and fitting its intercept is a free, unpenalised intercept, so that leaving a
//! sample out, with the refit of intercepts, label means and centring, is closed-form
//! (`docs/3-the-solver.md#exact-leave-one-out`):
//!
//! ```text
//! G_ll = 1 - z_lᵀ R_ii z_l/(kp) - 1/n_i,    z R z = γ zᵀ F z + λ |L_H⁻¹ F z|²
//! Φ_l  = J_l - α_l / G_ll,                   α_l the residuals of the C unit labels
//! ```
//!
//! Where samples have weights w, α and z are multiplied by √w_l, and w_l/Σw takes the place of 1/n_i.
//!
//! Φ_l is the response of the model that never saw sample l; its score for labels y is Φ_l·y. Only
//! the scale of the data is not refitted, an O(1/(n_i p)) effect.

use faer::Mat;

use super::leave_fold_out::Hat;
use crate::data::{Cells, Groups, Importance};
use crate::error::Error;

/// Residuals α of a task's samples for the C unit labels (n_i x C), times the roots of their weights, and the G_ll.
pub(super) struct Residuals {
    pub(super) alpha: Mat<f64>,
    pub(super) g: Vec<f64>,
    /// I - H (n_i x n_i), if it was asked for.
    pub(super) q: Option<Mat<f64>>,
    /// Its block of each group, where samples come in groups.
    pub(super) blocks: Vec<Mat<f64>>,
}

/// The leave-one-out responses of one task's samples, in the order of its cells.
#[derive(Clone, Debug)]
pub struct LeaveOneOut {
    /// Φ, n_i x C.
    pub responses: Mat<f64>,
    /// The class of each sample (index within the task).
    pub class: Vec<usize>,
    /// Σ G: how many independent errors they hold, at most.
    pub(crate) effective: f64,
    /// What leaving out several samples at once needs, if it was asked for.
    pub(crate) hat: Option<Hat>,
    pub(super) task: usize,
    /// Samples that were left out together.
    pub(super) groups: Groups,
    /// How much each sample counts.
    pub(super) importance: Importance,
}

/// Leave-one-out of a task whose rows are not kept.
pub(crate) fn needs_rows(task: &str) -> Error {
    Error::RowsNotKept {
        what: "leave-one-out",
        task: task.to_owned(),
        instead: "name a theory (isotropic, spherical or pooled)",
    }
}

impl LeaveOneOut {
    /// Leave-one-out weights with the full-sample intercept (`docs/3-the-solver.md#stratified`).
    ///
    /// Plain leave-one-out changes the class proportions: leaving a sample out pulls the intercept
    /// toward the other classes, so that a weak model looks perfectly wrong. For moments and
    /// thresholds use
    ///
    /// ```text
    /// Φ_s = ȳ_i + (1 - 1/n_i) (Φ_l - ȳ_{i,-l})
    /// ```
    pub(crate) fn stratified(mut self, cells: &Cells) -> Self {
        stratify(
            &mut self.responses,
            &self.class,
            &self.groups,
            &self.importance,
            cells,
            self.task,
        );
        self
    }

    /// The class-mass correction (`docs/3-the-solver.md#mass-corrected`), for stratified responses of the target.
    ///
    /// Removing sample l of class c also removes 1/n_c of the mass of the label column e_c, so that
    /// its own-class response is too small by about (n_c - 1)/n_c. The correction uses the sample's
    /// own label: only rules that keep the one-hot columns whole may look at it.
    pub(crate) fn mass_corrected(mut self, cells: &Cells) -> Self {
        correct_mass(
            &mut self.responses,
            &self.class,
            &self.groups,
            &self.importance,
            cells,
            self.task,
        );
        self
    }
}

pub(crate) fn stratify(
    responses: &mut Mat<f64>,
    class: &[usize],
    groups: &Groups,
    importance: &Importance,
    cells: &Cells,
    task: usize,
) {
    let n = cells.total(task);
    let range = cells.of_task(task);
    if let Some(groups) = groups.members() {
        for members in groups {
            stratify_group(responses, class, members, cells, task);
        }
        return;
    }
    for cell in 0..cells.len() {
        let share = cells.share_in(task, cell);
        let own = cell.checked_sub(range.start);
        let column = responses.col_as_slice_mut(cell).iter_mut().zip(class);
        for (l, (response, &class)) in column.enumerate() {
            let weight = importance.of(l);
            let inside = weight * f64::from(u8::from(Some(class) == own));
            let without = (n * share - inside) / (n - weight);
            *response = share + (1.0 - weight / n) * (*response - without);
        }
    }
}

/// The same for a group G that was left out together. With Ψ_l = Φ_l - ȳ_{i,-G} the score about the centre without
/// the group,
///
/// ```text
/// Φ_s = ȳ_i + Ψ_l - (|G|/n_i) mean_G Ψ
/// ```
fn stratify_group(
    responses: &mut Mat<f64>,
    class: &[usize],
    members: &[usize],
    cells: &Cells,
    task: usize,
) {
    let n = class.len() as f64;
    let size = members.len() as f64;
    let range = cells.of_task(task);
    for cell in 0..cells.len() {
        let share = cells.share_in(task, cell);
        // A group that is all of the task leaves nothing to be judged by.
        if members.len() == class.len() {
            responses.col_mut(cell).fill(share);
            continue;
        }
        let own = cell.checked_sub(range.start);
        let inside = members.iter().filter(|&&l| Some(class[l]) == own).count();
        let without = (n * share - inside as f64) / (n - size);
        let column = responses.col_as_slice_mut(cell);
        let mean = members.iter().map(|&l| column[l] - without).sum::<f64>() / size;
        for &l in members {
            column[l] = share + column[l] - without - size / n * mean;
        }
    }
}

pub(crate) fn correct_mass(
    responses: &mut Mat<f64>,
    class: &[usize],
    groups: &Groups,
    importance: &Importance,
    cells: &Cells,
    task: usize,
) {
    let first = cells.of_task(task).start;
    if let Some(groups) = groups.members() {
        // A group takes the mass of each of its classes with it.
        for members in groups {
            for own in cells.of_task(task) {
                let inside = members.iter().filter(|&&l| first + class[l] == own).count();
                let (count, left) = (cells.count(own), cells.count(own).saturating_sub(inside));
                if inside > 0 && left > 0 {
                    let (share, factor) = (cells.share(own), count as f64 / left as f64);
                    for &l in members {
                        let response = &mut responses[(l, own)];
                        *response = share + factor * (*response - share);
                    }
                }
            }
        }
        return;
    }
    for (sample, &class) in class.iter().enumerate() {
        let own = first + class;
        if cells.count(own) > 1 {
            let (share, mass) = (cells.share(own), cells.mass(own));
            let response = &mut responses[(sample, own)];
            *response = share + mass / (mass - importance.of(sample)) * (*response - share);
        }
    }
}
