//! A least-squares SVM that ignores the source, and one that ignores that there are two domains. Their one
//! parameter is chosen by leave-one-out on the target's training rows.

use faer::Mat;
use foretask::{
    Coupling, Labels, Model, Rows, Scaling, Settings, Statistics, Study, System, Tasks,
};

use super::{Baseline, Labelled, Problem};
use crate::error::{Error, Result};
use crate::population::{TARGET, class_name};

/// The target's rows only.
#[derive(Clone, Copy, Debug)]
pub struct SingleTask;

/// One weight vector for source and target, each centred and scaled by itself.
#[derive(Clone, Copy, Debug)]
pub struct Pooled;

impl Baseline for SingleTask {
    fn name(&self) -> &str {
        "single task"
    }

    fn predict(&self, problem: &Problem, _seed: u64) -> Result<Vec<usize>> {
        let Labelled { values, class } = &problem.target;
        let names: Vec<String> = class.iter().map(|&class| class_name(class)).collect();
        let rows = Rows::row_major(values, problem.features)?;
        let tasks = Tasks::new(rows, &vec![TARGET; class.len()], &names)?;
        let settings = Settings {
            labels: Labels::Alone,
            ..Settings::default()
        };
        let model = Study::new(&tasks, &settings)?.model()?;
        decide(&model, problem, self.name())
    }
}

impl Baseline for Pooled {
    fn name(&self) -> &str {
        "pooled"
    }

    fn predict(&self, problem: &Problem, _seed: u64) -> Result<Vec<usize>> {
        let values = [&problem.source.values[..], &problem.target.values].concat();
        let task: Vec<&str> = [
            ("source", problem.source.class.len()),
            (TARGET, problem.target.class.len()),
        ]
        .iter()
        .flat_map(|&(name, rows)| std::iter::repeat_n(name, rows))
        .collect();
        let class = problem.source.class.iter().chain(&problem.target.class);
        let names: Vec<String> = class.map(|&class| class_name(class)).collect();
        let rows = Rows::row_major(&values, problem.features)?;
        let tasks = Tasks::new(rows, &task, &names)?;
        let mut best = (f64::INFINITY, LAMBDAS[0]);
        for lambda in LAMBDAS {
            let missed = missed(&tasks, lambda)?;
            if missed < best.0 {
                best = (missed, lambda);
            }
        }
        let settings = Settings {
            target: Some(TARGET.into()),
            labels: Labels::Classical,
            coupling: Some((best.1, vec![0.0])),
            ..Settings::default()
        };
        let model = Study::new(&tasks, &settings)?.model()?;
        decide(&model, problem, self.name())
    }
}

/// What is tried for λ: the library's grid, for two tasks.
const LAMBDAS: [f64; 5] = [0.02, 0.2, 2.0, 20.0, 200.0];

/// The share of the label variance that leave-one-out scores of the target's rows miss, at their best
/// multiple, with one weight vector for all tasks (γ = 0).
fn missed(tasks: &Tasks<'_>, lambda: f64) -> Result<f64> {
    let cells = tasks.cells();
    let target = cells.find_task(TARGET)?;
    let (own, aligned) = (cells.of_task(target), cells.aligned(target));
    let coupling = Coupling::uniform(lambda, 0.0, cells.tasks().len())?;
    let system = System::new(Statistics::of(tasks), Scaling::default(), &coupling)?;
    let unseen = system
        .leave_one_out(tasks, target)
        .stratified(cells)
        .mass_corrected(cells);
    let mut scores = Mat::<f64>::zeros(unseen.class.len(), own.len());
    let (mut squares, mut products, mut labels) = (0.0, 0.0, 0.0);
    for (sample, &class) in unseen.class.iter().enumerate() {
        for cell in 0..cells.len() {
            if let Some(class) = aligned[cell] {
                scores[(sample, class)] += unseen.responses[(sample, cell)];
            }
        }
        for c in 0..own.len() {
            let share = cells.share(own.start + c);
            let score = scores[(sample, c)] - share;
            let label = f64::from(u8::from(c == class)) - share;
            squares += score * score;
            products += score * label;
            labels += label * label;
        }
    }
    Ok(1.0 - products * products / (squares * labels))
}

fn decide(model: &Model, problem: &Problem, name: &str) -> Result<Vec<usize>> {
    if model.classes().len() != problem.classes {
        return Err(Error::Baseline {
            baseline: name.to_owned(),
            what: format!(
                "the target has rows of {} classes and should have {}",
                model.classes().len(),
                problem.classes
            ),
        });
    }
    // Class names sort as their numbers do.
    Ok(model.predict(Rows::row_major(&problem.test, problem.features)?)?)
}
