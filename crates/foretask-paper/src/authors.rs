//! The theory as the authors computed it, for isotropic data: what the printed numbers need.
//!
//! Wherever a trace is taken (τ and κ) their theory has I + m mᵀ for the covariance of a class, m being the
//! class mean centred by counts. That is a relative change of 1/p, does not improve accuracy, and is left out
//! of the library ([`foretask::theory`]). It makes the covariances of the classes unequal in the third digit,
//! which is what the third digit of the one-versus-all figure shows.

use faer::Mat;
use faer::linalg::solvers::Solve;
use foretask::{Cells, Coupling, Moments, Task};

/// The fixed point contracts by a constant factor; far fewer rounds would do.
const ROUNDS: usize = 200;

/// Mean and covariance of the responses of each class of the target. `gram` holds the inner products of the
/// class means; the feature space has at least as many dimensions as there are cells.
pub fn moments(
    cells: &Cells,
    features: usize,
    coupling: &Coupling,
    gram: &Mat<f64>,
    target: usize,
) -> Moments {
    let c = cells.len();
    let normaliser = (cells.tasks().len() * features) as f64;
    let of_cells = |of: &dyn Fn(usize, &Task) -> Vec<f64>| -> Vec<f64> {
        let tasks = cells.tasks().iter().enumerate();
        tasks.flat_map(|(index, task)| of(index, task)).collect()
    };
    let counts = of_cells(&|_, task| task.counts.iter().map(|&n| n as f64).collect());
    let owner = of_cells(&|index, task| vec![index as f64; task.counts.len()]);
    let shares = of_cells(&|_, task| {
        let all = task.samples() as f64;
        task.counts.iter().map(|&n| n as f64 / all).collect()
    });
    let task = |r: usize| owner[r] as usize;
    let count = |r: usize| counts[r];
    let centring = Mat::from_fn(c, c, |a, b| {
        let own = f64::from(u8::from(a == b));
        own - if task(a) == task(b) { shares[b] } else { 0.0 }
    });
    let products = &centring * gram * centring.transpose();
    // Rows are the centred means in C coordinates; the other p - C directions have none.
    let means = root(&products);
    let sigma: Vec<Mat<f64>> = (0..c)
        .map(|r| Mat::<f64>::identity(c, c) + means.row(r).transpose() * means.row(r))
        .collect();
    let one = vec![Mat::<f64>::identity(1, 1); c];
    let others = features as f64 - c as f64;
    let block = |r: &Mat<f64>, a: usize, b: usize| {
        Mat::from_fn(c, c, |i, j| r[(task(a) * c + i, task(b) * c + j)])
    };
    let trace = |m: Mat<f64>| (0..c).map(|i| m[(i, i)]).sum::<f64>();
    let mut tau = vec![0.0; c];
    let (mut within, mut without) = (Mat::new(), Mat::new());
    let mut delta = Vec::new();
    for _ in 0..ROUNDS {
        delta = (0..c)
            .map(|r| count(r) / (normaliser * (1.0 + tau[r])))
            .collect::<Vec<f64>>();
        within = resolvent(cells, coupling, &sigma, &delta);
        without = resolvent(cells, coupling, &one, &delta);
        tau = (0..c)
            .map(|r| {
                let own = trace(&sigma[r] * block(&within, r, r));
                (own + others * without[(task(r), task(r))]) / normaliser
            })
            .collect();
    }
    let weighted = Mat::from_fn(c, c, |a, b| {
        let through = block(&within, a, b) * &sigma[b] * block(&within, b, a);
        let other = others * without[(task(a), task(b))].powi(2);
        (trace(&sigma[a] * through) + other) * count(b) / (normaliser * (1.0 + tau[b])).powi(2)
    });
    let identity = Mat::<f64>::identity(c, c);
    let kappa = solve(&identity - &weighted, &weighted);
    let r = |a: usize, b: usize| without[(task(a), task(b))];
    let alignment = Mat::from_fn(c, c, |a, b| r(a, b) * products[(a, b)] * delta[b]);
    let residual = solve(&identity + alignment, &centring);
    let covariance = |q: usize| {
        let noise = Mat::from_fn(c, c, |a, b| {
            let through = |s: usize| r(a, s) * r(s, b);
            let spread: f64 = through(q) + (0..c).map(|s| kappa[(q, s)] * through(s)).sum::<f64>();
            let own = if a == b { kappa[(q, a)] } else { 0.0 };
            own + delta[a] * spread * products[(a, b)] * delta[b]
        });
        residual.transpose() * noise * &residual
    };
    let range = cells.of_task(target);
    Moments {
        mean: Mat::from_fn(range.len(), c, |class, cell| {
            identity[(range.start + class, cell)] - residual[(range.start + class, cell)]
        }),
        covariance: range.map(covariance).collect(),
    }
}

/// (A⁻¹ ⊗ I + diag(Σ_r δ_r Σ_r))⁻¹ with A = diag(γ) + λ 1 1ᵀ, written without A⁻¹:
/// (A ⊗ I) (I + diag(Σ_r δ_r Σ_r) (A ⊗ I))⁻¹.
fn resolvent(cells: &Cells, coupling: &Coupling, sigma: &[Mat<f64>], delta: &[f64]) -> Mat<f64> {
    let (k, d) = (cells.tasks().len(), sigma[0].nrows());
    let tasks = Mat::from_fn(k * d, k * d, |i, j| {
        let own = if i / d == j / d {
            coupling.gamma()[i / d]
        } else {
            0.0
        };
        if i % d == j % d {
            own + coupling.lambda()
        } else {
            0.0
        }
    });
    let mut system = Mat::<f64>::identity(k * d, k * d);
    for i in 0..k * d {
        for j in 0..k * d {
            let inner: f64 = (0..d)
                .map(|l| {
                    let b: f64 = cells
                        .of_task(i / d)
                        .map(|cell| delta[cell] * sigma[cell][(i % d, l)])
                        .sum();
                    b * tasks[(i / d * d + l, j)]
                })
                .sum();
            system[(i, j)] += inner;
        }
    }
    // A (I + B A)⁻¹ is symmetric: solve the transposed system.
    solve(system.transpose().to_owned(), &tasks)
}

/// L with L Lᵀ the positive semi-definite matrix given.
fn root(of: &Mat<f64>) -> Mat<f64> {
    match of.self_adjoint_eigen(faer::Side::Lower) {
        Ok(eigen) => Mat::from_fn(of.nrows(), of.ncols(), |i, j| {
            eigen.U()[(i, j)] * eigen.S()[j].max(0.0).sqrt()
        }),
        // Finite matrices have eigenvalues; without them nothing is related.
        Err(_) => Mat::zeros(of.nrows(), of.ncols()),
    }
}

fn solve(matrix: Mat<f64>, right: &Mat<f64>) -> Mat<f64> {
    matrix.partial_piv_lu().solve(right)
}
