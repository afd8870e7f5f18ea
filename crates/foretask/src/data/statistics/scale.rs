//! One scale per task, so that tasks are comparable.

use super::{NO_SPREAD, Statistics, distance};

/// Variances per feature of a task.
struct Variances {
    /// Within its classes; none where they have no spread, or one sample each.
    within: Option<f64>,
    /// About the mean of the task; none where all rows are alike.
    total: Option<f64>,
}

impl Statistics<'_> {
    /// The scale of each task, s_i = sqrt(Σ_j tr W_ij / ((n_i - m_i) p)), so that x / s_i has unit
    /// average within-class variance per feature (`docs/2-the-theory.md#scale`).
    ///
    /// A task whose classes have no spread (or one sample each) takes the mean squared scale of the others. Where
    /// no task has one, the spread about the task means takes its place; where that is zero too (all rows alike)
    /// the scale is 1.
    pub(crate) fn scales(&self) -> Vec<f64> {
        let tasks = 0..self.cells.tasks().len();
        let variances: Vec<Variances> = tasks.map(|task| self.variances(task)).collect();
        let mean = |of: fn(&Variances) -> Option<f64>| {
            let known: Vec<f64> = variances.iter().filter_map(of).collect();
            (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
        };
        let rest = mean(|of| of.within).or_else(|| mean(|of| of.total));
        let scale = |variances: &Variances| {
            let variance = variances.within.or(rest).map_or(1.0, f64::sqrt);
            if variance > 0.0 && variance.is_finite() {
                variance
            } else {
                1.0
            }
        };
        variances.iter().map(scale).collect()
    }

    fn variances(&self, task: usize) -> Variances {
        let range = self.cells.of_task(task);
        let weigh = |of: &dyn Fn(usize) -> f64| -> f64 {
            let cells = range.clone();
            cells.map(|cell| self.cells.mass(cell) * of(cell)).sum()
        };
        let mean = self.task_mean(task);
        let cell_trace = |cell: usize| self.within.col(cell).iter().sum::<f64>();
        let within: f64 = range.clone().map(cell_trace).sum();
        let between = weigh(&|cell| distance(&self.means, cell, &mean));
        // What rounding of the means alone would leave is no spread.
        let size = weigh(&|cell| self.means.col(cell).squared_norm_l2());
        let real = |trace: f64| trace > NO_SPREAD * NO_SPREAD * size;
        let per_feature = |trace: f64, freedom: f64| {
            (freedom > 0.0 && real(trace)).then(|| trace / (freedom * self.features as f64))
        };
        let freedom = |cell: usize| self.cells.freedom(cell..cell + 1);
        Variances {
            within: per_feature(within, range.clone().map(freedom).sum()),
            total: per_feature(within + between, self.cells.freedom(range)),
        }
    }
}
