//! Exact leave-one-out responses of every training sample, from the factorisation at hand.
//!
//! Centring each task and fitting its intercept is a free, unpenalised intercept, so that leaving a
//! sample out, with the refit of intercepts, label means and centring, is closed-form (THEORY 3.3):
//!
//! ```text
//! G_ll = 1 - z_lᵀ R_ii z_l/(kp) - 1/n_i,    z R z = γ zᵀ F z + λ |L_H⁻¹ F z|²
//! Φ_l  = J_l - α_l / G_ll,                   α_l the residuals of the C unit labels
//! ```
//!
//! Φ_l is the response of the model that never saw sample l; its score for labels y is Φ_l·y. Only
//! the scale of the data is not refitted, an O(1/(n_i p)) effect.

use faer::{Accum, Mat};

use super::{Form, System};
use crate::cells::Cells;
use crate::dense;
use crate::error::Error;
use crate::statistics::RowBlock;
use crate::tasks::{PANEL, Tasks, classes_in_order};

/// G_ll is a variance ratio in (0, 1); below this a sample determines its own fit and leaving it out
/// says nothing.
pub(crate) const SMALLEST_G: f64 = 1e-12;

/// The leave-one-out responses of one task's samples, in the order of its cells.
#[derive(Clone, Debug)]
pub struct LeaveOneOut {
    /// Φ, n_i x C.
    pub responses: Mat<f64>,
    /// The class of each sample (index within the task).
    pub class: Vec<usize>,
    task: usize,
}

impl System<'_> {
    /// The exact leave-one-out responses of all samples of one task (n_i x C).
    ///
    /// `tasks` must be the data the system was trained on. Costs n_i p² (arrowhead) or n³/3 (dual).
    pub fn leave_one_out(&self, tasks: &Tasks<'_>, task: usize) -> LeaveOneOut {
        let rows = RowBlock::borrowed(tasks.rows(), tasks.rows_of(task));
        self.leave_one_out_of(&rows, task)
    }

    /// The same, given the task's rows.
    pub(crate) fn leave_one_out_of(&self, rows: &RowBlock<'_>, task: usize) -> LeaveOneOut {
        let class = classes_in_order(&self.cells.tasks()[task]);
        let first = self.cells.of_task(task).start;
        let n = class.len();
        let (mut responses, g) = match &self.form {
            Form::Arrow { .. } => self.residuals_arrow(rows, task, &class),
            Form::Dual {
                kernel,
                alpha,
                rows,
            } => {
                let start: usize = rows[..task].iter().map(|block| block.rows.len()).sum();
                // (K⁻¹)_ll is the squared norm of column l of L⁻¹.
                let inverse = dense::invert_lower(kernel.as_ref());
                let g = (start..start + n)
                    .map(|sample| inverse.col(sample).squared_norm_l2() - 1.0 / n as f64)
                    .collect();
                (alpha.subrows(start, n).to_owned(), g)
            }
        };
        for sample in 0..n {
            let g: f64 = g[sample];
            for cell in 0..self.cells.len() {
                let indicator = f64::from(u8::from(cell == first + class[sample]));
                responses[(sample, cell)] =
                    indicator - responses[(sample, cell)] / g.max(SMALLEST_G);
            }
        }
        LeaveOneOut {
            responses,
            class,
            task,
        }
    }

    /// Residuals α (n_i x C) and the G_ll.
    fn residuals_arrow(
        &self,
        rows: &RowBlock<'_>,
        task: usize,
        class: &[usize],
    ) -> (Mat<f64>, Vec<f64>) {
        let Form::Arrow { factors, head, .. } = &self.form else {
            return (Mat::new(), Vec::new());
        };
        let (p, n) = (self.features, class.len());
        let normaliser = (self.cells.tasks().len() * p) as f64;
        let (lambda, gamma) = (self.coupling.lambda(), self.coupling.gamma()[task]);
        let mean = self.task_mean(task);
        let weights = self.weights(task);
        let range = self.cells.of_task(task);
        let mut residuals = Mat::from_fn(n, self.cells.len(), |sample, cell| {
            let share = if range.contains(&cell) {
                self.cells.share(cell)
            } else {
                0.0
            };
            f64::from(u8::from(cell == range.start + class[sample])) - share
        });
        let mut g = Vec::with_capacity(n);
        for start in (0..n).step_by(PANEL) {
            let count = PANEL.min(n - start);
            let mut z = Mat::zeros(p, count);
            rows.pack(
                start..start + count,
                0..p,
                &mean,
                1.0 / (self.scales[task] * normaliser.sqrt()),
                z.as_mut(),
            );
            dense::product(
                residuals.as_mut().subrows_mut(start, count),
                Accum::Add,
                z.transpose(),
                weights.as_ref(),
                -normaliser.sqrt(),
            );
            let mut fz = factors[task].apply_to_samples(start, z.as_ref());
            let own: Vec<f64> = (0..count).map(|l| dot(z.col(l), fz.col(l))).collect();
            if lambda > 0.0 {
                dense::solve_lower(head.as_ref(), fz.as_mut());
            }
            for (l, own) in own.iter().enumerate() {
                let quadratic = gamma * own
                    + if lambda > 0.0 {
                        lambda * fz.col(l).squared_norm_l2()
                    } else {
                        0.0
                    };
                g.push(1.0 - quadratic - 1.0 / n as f64);
            }
        }
        (residuals, g)
    }
}

/// Leave-one-out of a task whose rows are not kept.
pub(crate) fn needs_rows(task: &str) -> Error {
    Error::RowsNotKept {
        what: "leave-one-out",
        task: task.to_owned(),
        instead: "name a theory (isotropic, spherical or pooled)",
    }
}

pub(crate) fn dot(a: faer::ColRef<'_, f64>, b: faer::ColRef<'_, f64>) -> f64 {
    a.iter().zip(b.iter()).map(|(a, b)| a * b).sum()
}

impl LeaveOneOut {
    /// Leave-one-out weights with the full-sample intercept (THEORY 3.3).
    ///
    /// Plain leave-one-out changes the class proportions: leaving a sample out pulls the intercept
    /// toward the other classes, so that a weak model looks perfectly wrong. For moments and
    /// thresholds use
    ///
    /// ```text
    /// Φ_s = ȳ_i + (1 - 1/n_i) (Φ_l - ȳ_{i,-l})
    /// ```
    pub fn stratified(mut self, cells: &Cells) -> Self {
        stratify(&mut self.responses, &self.class, cells, self.task);
        self
    }

    /// The class-mass correction (RECIPE S3), for stratified responses of the target.
    ///
    /// Removing sample l of class c also removes 1/n_c of the mass of the label column e_c, so that
    /// its own-class response is too small by about (n_c - 1)/n_c. The correction uses the sample's
    /// own label: only rules that keep the one-hot columns whole may look at it.
    pub fn mass_corrected(mut self, cells: &Cells) -> Self {
        correct_mass(&mut self.responses, &self.class, cells, self.task);
        self
    }
}

pub(crate) fn stratify(responses: &mut Mat<f64>, class: &[usize], cells: &Cells, task: usize) {
    let n = class.len() as f64;
    let range = cells.of_task(task);
    for (sample, &class) in class.iter().enumerate() {
        for cell in 0..cells.len() {
            let share = if range.contains(&cell) {
                cells.share(cell)
            } else {
                0.0
            };
            let indicator = f64::from(u8::from(cell == range.start + class));
            let without = (n * share - indicator) / (n - 1.0);
            responses[(sample, cell)] =
                share + (1.0 - 1.0 / n) * (responses[(sample, cell)] - without);
        }
    }
}

pub(crate) fn correct_mass(responses: &mut Mat<f64>, class: &[usize], cells: &Cells, task: usize) {
    let first = cells.of_task(task).start;
    for (sample, &class) in class.iter().enumerate() {
        let own = first + class;
        let count = cells.count(own) as f64;
        if count > 1.0 {
            let share = cells.share(own);
            let response = &mut responses[(sample, own)];
            *response = share + count / (count - 1.0) * (*response - share);
        }
    }
}
