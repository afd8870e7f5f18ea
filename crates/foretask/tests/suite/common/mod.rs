//! What the integration tests share: whole problems, their evaluation by the crate, comparisons.
//!
//! A [`Problem`] knows tasks and classes by name, and results are keyed by name too, so that a test
//! can rename, reorder or transform a problem and still say what must come out.

pub mod drawn;
pub mod generate;
pub mod golden;
pub mod oracle;
pub mod simulation;
pub mod theory;
pub mod unlike;

use std::collections::BTreeMap;

use faer::Mat;
use foretask::{Cells, Coupling, LeaveOneOut, Rows, Scaling, Statistics, System, Tasks};

/// One task of a problem: its training rows, and points at which its responses are compared.
#[derive(Clone, Debug)]
pub struct TaskData {
    pub name: String,
    pub gamma: f64,
    pub rows: Vec<Vec<f64>>,
    /// The class of each row.
    pub class: Vec<String>,
    pub probes: Vec<Vec<f64>>,
}

/// Data and hyper-parameters of all tasks.
#[derive(Clone, Debug)]
pub struct Problem {
    pub features: usize,
    pub lambda: f64,
    pub tasks: Vec<TaskData>,
}

/// A problem as a user has it: one row-major table, the tasks interleaved.
#[derive(Clone, Debug)]
pub struct Table {
    pub features: usize,
    pub values: Vec<f64>,
    pub task: Vec<String>,
    pub class: Vec<String>,
    /// The (task, row) of the problem each row of the table came from.
    pub origin: Vec<(usize, usize)>,
}

/// (task that responds, task of the cell, class of the cell) -> one response per point.
pub type Responses = BTreeMap<(String, String, String), Vec<f64>>;

impl Problem {
    pub fn table(&self) -> Table {
        let mut table = Table {
            features: self.features,
            values: Vec::new(),
            task: Vec::new(),
            class: Vec::new(),
            origin: Vec::new(),
        };
        let longest = self
            .tasks
            .iter()
            .map(|task| task.rows.len())
            .max()
            .unwrap_or(0);
        for row in 0..longest {
            for (index, task) in self
                .tasks
                .iter()
                .enumerate()
                .filter(|(_, task)| row < task.rows.len())
            {
                table.values.extend_from_slice(&task.rows[row]);
                table.task.push(task.name.clone());
                table.class.push(task.class[row].clone());
                table.origin.push((index, row));
            }
        }
        table
    }

    /// The coupling with γ in the order of `cells`.
    pub fn coupling(&self, cells: &Cells) -> Coupling {
        let gamma = cells
            .tasks()
            .iter()
            .map(|task| self.task(&task.name).gamma)
            .collect();
        Coupling::new(self.lambda, gamma).unwrap()
    }

    pub fn task(&self, name: &str) -> &TaskData {
        self.tasks.iter().find(|task| task.name == name).unwrap()
    }

    /// The (task, class) names of all cells.
    pub fn cells(&self) -> Vec<(String, String)> {
        let mut cells: Vec<_> = self
            .tasks
            .iter()
            .flat_map(|task| {
                task.class
                    .iter()
                    .map(|class| (task.name.clone(), class.clone()))
            })
            .collect();
        cells.sort();
        cells.dedup();
        cells
    }

    /// Every row and probe of every task replaced by a function of it.
    pub fn map_points(&self, map: impl Fn(usize, &[f64]) -> Vec<f64>) -> Self {
        let mut mapped = self.clone();
        for (index, task) in mapped.tasks.iter_mut().enumerate() {
            task.rows
                .iter_mut()
                .chain(&mut task.probes)
                .for_each(|x| *x = map(index, x));
            mapped.features = task.rows[0].len();
        }
        mapped
    }

    /// γ and λ times `factor`.
    pub fn times_coupling(mut self, factor: f64) -> Self {
        self.lambda *= factor;
        self.tasks.iter_mut().for_each(|task| task.gamma *= factor);
        self
    }

    /// Without one row, which becomes the only probe.
    pub fn leaving_out(&self, task: usize, row: usize) -> Self {
        let mut rest = self.clone();
        rest.tasks.iter_mut().for_each(|task| task.probes.clear());
        let own = &mut rest.tasks[task];
        own.class.remove(row);
        let left_out = own.rows.remove(row);
        own.probes.push(left_out);
        rest
    }

    /// The training rows as probes.
    pub fn probing_rows(mut self) -> Self {
        self.tasks
            .iter_mut()
            .for_each(|task| task.probes = task.rows.clone());
        self
    }
}

impl Table {
    pub fn rows(&self) -> Rows<'_> {
        Rows::row_major(&self.values, self.features).unwrap()
    }

    pub fn tasks(&self) -> Tasks<'_> {
        Tasks::new(self.rows(), &self.task, &self.class).unwrap()
    }

    /// The rows for which `keep` is true.
    pub fn filter(&self, keep: impl Fn(usize) -> bool) -> Self {
        let kept: Vec<usize> = (0..self.task.len()).filter(|&row| keep(row)).collect();
        Self {
            features: self.features,
            values: kept
                .iter()
                .flat_map(|&row| self.row(row).to_vec())
                .collect(),
            task: kept.iter().map(|&row| self.task[row].clone()).collect(),
            class: kept.iter().map(|&row| self.class[row].clone()).collect(),
            origin: kept.iter().map(|&row| self.origin[row]).collect(),
        }
    }

    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.features..(row + 1) * self.features]
    }

    /// Statistics that own their rows.
    pub fn statistics(&self) -> Statistics<'static> {
        let mut statistics = Statistics::new(self.features);
        statistics
            .add(self.rows(), &self.task, &self.class)
            .unwrap();
        statistics
    }
}

/// The responses of every task at its probes, trained by the crate.
pub fn responses(problem: &Problem, scaling: Scaling) -> Responses {
    let table = problem.table();
    let tasks = table.tasks();
    let system = System::new(
        Statistics::of(&tasks),
        scaling,
        &problem.coupling(tasks.cells()),
    )
    .unwrap();
    responses_of(&system, problem)
}

/// The responses of a trained system at the problem's probes.
pub fn responses_of(system: &System<'_>, problem: &Problem) -> Responses {
    let mut all = Responses::new();
    for (index, task) in system.cells().tasks().iter().enumerate() {
        let probes: Vec<f64> = problem.task(&task.name).probes.concat();
        let rows = Rows::row_major(&probes, problem.features).unwrap();
        insert(
            &mut all,
            system.cells(),
            index,
            &system.responses(index, rows).unwrap(),
            |point| point,
        );
    }
    all
}

/// The leave-one-out responses of every training row, in the order of the problem's rows.
pub fn leave_one_out(problem: &Problem, scaling: Scaling) -> Responses {
    leave_one_out_with(problem, scaling, |loo, _| loo)
}

/// [`leave_one_out`] with a further step.
pub fn leave_one_out_with(
    problem: &Problem,
    scaling: Scaling,
    step: impl Fn(LeaveOneOut, &Cells) -> LeaveOneOut,
) -> Responses {
    let table = problem.table();
    let tasks = table.tasks();
    let system = System::new(
        Statistics::of(&tasks),
        scaling,
        &problem.coupling(tasks.cells()),
    )
    .unwrap();
    let mut all = Responses::new();
    for task in 0..tasks.cells().tasks().len() {
        let loo = step(system.leave_one_out(&tasks, task), tasks.cells());
        insert(&mut all, tasks.cells(), task, &loo.responses, |sample| {
            table.origin[tasks.rows_of(task)[sample]].1
        });
    }
    all
}

fn insert(
    all: &mut Responses,
    cells: &Cells,
    task: usize,
    responses: &Mat<f64>,
    position: impl Fn(usize) -> usize,
) {
    for (cell_task, entry) in cells.tasks().iter().enumerate() {
        for (class, cell) in entry.classes.iter().zip(cells.of_task(cell_task)) {
            let mut values = vec![0.0; responses.nrows()];
            (0..responses.nrows())
                .for_each(|point| values[position(point)] = responses[(point, cell)]);
            all.insert(
                (
                    cells.tasks()[task].name.clone(),
                    entry.name.clone(),
                    class.clone(),
                ),
                values,
            );
        }
    }
}

/// Responses under other names: `rename` maps a key of the old problem to one of the new.
pub fn rekeyed(
    responses: Responses,
    rename: impl Fn((String, String, String)) -> (String, String, String),
) -> Responses {
    responses
        .into_iter()
        .map(|(key, values)| (rename(key), values))
        .collect()
}

/// All responses agree to `tolerance`, relative to the largest (at least 1, the size of a label).
#[track_caller]
pub fn assert_same(actual: &Responses, expected: &Responses, tolerance: f64) {
    assert!(
        actual.keys().eq(expected.keys()),
        "cells differ: {:?} and {:?}",
        actual.keys(),
        expected.keys()
    );
    let size = expected
        .values()
        .flatten()
        .fold(1.0, |size: f64, x| size.max(x.abs()));
    for ((key, actual), expected) in actual.iter().zip(expected.values()) {
        assert_eq!(actual.len(), expected.len(), "{key:?}");
        for (point, (a, e)) in actual.iter().zip(expected).enumerate() {
            assert!(
                (a - e).abs() <= tolerance * size,
                "{key:?}, point {point}: {a} instead of {e} (largest {size})"
            );
        }
    }
}

/// Two matrices agree to `tolerance`, relative to the largest entry expected.
#[track_caller]
pub fn assert_close(actual: &Mat<f64>, expected: &Mat<f64>, tolerance: f64) {
    assert_eq!(actual.shape(), expected.shape());
    let size = expected.norm_max();
    for i in 0..expected.nrows() {
        for j in 0..expected.ncols() {
            let (a, e) = (actual[(i, j)], expected[(i, j)]);
            assert!(
                (a - e).abs() <= tolerance * size,
                "({i}, {j}): {a} instead of {e} (largest {size})"
            );
        }
    }
}

/// One column of numbers as a matrix.
pub fn column(values: &[f64]) -> Mat<f64> {
    Mat::from_fn(values.len(), 1, |i, _| values[i])
}
