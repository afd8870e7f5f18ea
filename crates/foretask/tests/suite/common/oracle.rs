//! The definition, taken literally: Proposition 1 with its kp x kp and n x n matrices
//! (`docs/2-the-theory.md#objective-and-solution`), elimination without any structure, leave-one-out by leaving
//! one out.

use faer::Mat;

use super::{Problem, Responses};

/// Weights, biases and means of every task, in the order of the problem.
pub struct Trained {
    /// p x q per task.
    pub weights: Vec<Mat<f64>>,
    /// q per task.
    pub bias: Vec<Vec<f64>>,
    pub means: Vec<Vec<f64>>,
}

/// Trains on the labels of the samples (n x q, task after task):
/// Z = blockdiag(Z_iᵀ), Q = (Zᵀ (A ⊗ I) Z/kp + I)⁻¹, w = (A ⊗ I) Z Q y₀/kp.
pub fn train(problem: &Problem, labels: &Mat<f64>) -> Trained {
    let (k, p, q) = (problem.tasks.len(), problem.features, labels.ncols());
    let kp = (k * p) as f64;
    let n = labels.nrows();
    let means: Vec<Vec<f64>> = problem
        .tasks
        .iter()
        .map(|task| mean(&task.rows, p))
        .collect();

    let mut z = Mat::zeros(k * p, n);
    let mut centred = labels.clone();
    let mut bias = Vec::new();
    let mut start = 0;
    for (index, task) in problem.tasks.iter().enumerate() {
        let own = task.rows.len();
        for (l, x) in task.rows.iter().enumerate() {
            for feature in 0..p {
                z[(index * p + feature, start + l)] = x[feature] - means[index][feature];
            }
        }
        let own_bias: Vec<f64> = (0..q)
            .map(|c| (start..start + own).map(|l| labels[(l, c)]).sum::<f64>() / own as f64)
            .collect();
        for l in start..start + own {
            (0..q).for_each(|c| centred[(l, c)] -= own_bias[c]);
        }
        bias.push(own_bias);
        start += own;
    }
    let coupling = Mat::from_fn(k * p, k * p, |a, b| {
        if a % p != b % p {
            return 0.0;
        }
        problem.lambda
            + if a == b {
                problem.tasks[a / p].gamma
            } else {
                0.0
            }
    });
    let az = &coupling * &z;
    let zaz = z.transpose() * &az;
    let system = Mat::from_fn(n, n, |i, j| zaz[(i, j)] / kp + f64::from(u8::from(i == j)));
    let alpha = solve(system, centred);
    let w = &az * &alpha;
    let weights = (0..k)
        .map(|task| Mat::from_fn(p, q, |feature, c| w[(task * p + feature, c)] / kp))
        .collect();
    Trained {
        weights,
        bias,
        means,
    }
}

impl Trained {
    /// w_iᵀ (x - x̄_i) + b_i.
    pub fn score(&self, task: usize, x: &[f64]) -> Vec<f64> {
        let w = &self.weights[task];
        (0..w.ncols())
            .map(|c| {
                (0..x.len())
                    .map(|f| w[(f, c)] * (x[f] - self.means[task][f]))
                    .sum::<f64>()
                    + self.bias[task][c]
            })
            .collect()
    }
}

/// The unit labels of all cells (n x C, task after task; cells as in [`Problem::cells`]).
pub fn unit_labels(problem: &Problem) -> Mat<f64> {
    let cells = problem.cells();
    let samples: Vec<(String, String)> = problem
        .tasks
        .iter()
        .flat_map(|task| {
            task.class
                .iter()
                .map(|class| (task.name.clone(), class.clone()))
        })
        .collect();
    Mat::from_fn(samples.len(), cells.len(), |l, cell| {
        f64::from(u8::from(samples[l] == cells[cell]))
    })
}

/// The responses of every task at its probes.
pub fn responses(problem: &Problem) -> Responses {
    let trained = train(problem, &unit_labels(problem));
    let mut all = Responses::new();
    for (index, task) in problem.tasks.iter().enumerate() {
        let scores: Vec<Vec<f64>> = task
            .probes
            .iter()
            .map(|x| trained.score(index, x))
            .collect();
        for (cell, (cell_task, class)) in problem.cells().into_iter().enumerate() {
            all.insert(
                (task.name.clone(), cell_task, class),
                scores.iter().map(|score| score[cell]).collect(),
            );
        }
    }
    all
}

/// The responses of every sample's own task when the sample is left out, by training without it.
pub fn leave_one_out(problem: &Problem) -> Responses {
    let mut all = Responses::new();
    for (index, task) in problem.tasks.iter().enumerate() {
        for (cell_task, class) in problem.cells() {
            all.insert((task.name.clone(), cell_task, class), Vec::new());
        }
        for row in 0..task.rows.len() {
            for (key, response) in left_out(problem, index, row) {
                all.entry(key).or_default().push(response);
            }
        }
    }
    all
}

/// The responses of one sample's own task when it is left out. A cell of which it was the only
/// sample is gone; its label has no effect on the others.
pub fn left_out(
    problem: &Problem,
    task: usize,
    row: usize,
) -> Vec<((String, String, String), f64)> {
    let name = &problem.tasks[task].name;
    let rest = responses(&problem.leaving_out(task, row));
    let key = |cell: (String, String)| (name.clone(), cell.0, cell.1);
    let response = |key: &(String, String, String)| rest.get(key).map_or(0.0, |values| values[0]);
    problem
        .cells()
        .into_iter()
        .map(key)
        .map(|key| (key.clone(), response(&key)))
        .collect()
}

pub fn mean(rows: &[Vec<f64>], p: usize) -> Vec<f64> {
    (0..p)
        .map(|feature| rows.iter().map(|x| x[feature]).sum::<f64>() / rows.len() as f64)
        .collect()
}

/// Gaussian elimination with row pivoting.
pub fn solve(mut a: Mat<f64>, mut b: Mat<f64>) -> Mat<f64> {
    let n = a.nrows();
    for step in 0..n {
        let pivot = (step..n)
            .max_by(|&i, &j| a[(i, step)].abs().total_cmp(&a[(j, step)].abs()))
            .unwrap();
        for j in 0..n {
            (a[(step, j)], a[(pivot, j)]) = (a[(pivot, j)], a[(step, j)]);
        }
        for c in 0..b.ncols() {
            (b[(step, c)], b[(pivot, c)]) = (b[(pivot, c)], b[(step, c)]);
        }
        let factors: Vec<f64> = (step + 1..n)
            .map(|i| a[(i, step)] / a[(step, step)])
            .collect();
        for j in step..n {
            let top = a[(step, j)];
            factors
                .iter()
                .enumerate()
                .for_each(|(i, factor)| a[(step + 1 + i, j)] -= factor * top);
        }
        for c in 0..b.ncols() {
            let top = b[(step, c)];
            factors
                .iter()
                .enumerate()
                .for_each(|(i, factor)| b[(step + 1 + i, c)] -= factor * top);
        }
    }
    for c in 0..b.ncols() {
        for i in (0..n).rev() {
            let known: f64 = (i + 1..n).map(|j| a[(i, j)] * b[(j, c)]).sum();
            b[(i, c)] = (b[(i, c)] - known) / a[(i, i)];
        }
    }
    b
}
