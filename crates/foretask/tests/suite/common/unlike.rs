//! Two classes of unlike covariance, and an unrestricted search for the labels that part them.

use faer::Mat;
use foretask::Moments;

use super::generate::normals;

/// Moments of `cells` cells whose two covariances have random axes and variances over 2 `spread`
/// decades; class means about `separation` apart in each cell.
pub fn unlike_moments(seed: u64, cells: usize, spread: f64, separation: f64) -> Moments {
    let covariance = |seed: u64| {
        let rows = normals(seed, cells, cells + 1);
        let root = Mat::from_fn(cells, cells, |i, j| {
            rows[i][j] * 10_f64.powf(0.5 * spread * rows[cells][j].clamp(-2.0, 2.0))
        });
        &root * root.transpose() + faer::Scale(0.05) * Mat::<f64>::identity(cells, cells)
    };
    let means = normals(seed ^ 1, cells, 2);
    Moments {
        mean: Mat::from_fn(2, cells, |class, cell| separation * means[class][cell]),
        covariance: vec![covariance(seed ^ 2), covariance(seed ^ 3)],
    }
}

/// The least value that Nelder and Mead's simplexes find from `starts` random points, each restarted
/// where it stopped, with the point.
pub fn least_of_simplexes(
    f: impl Fn(&[f64]) -> f64,
    dimensions: usize,
    starts: usize,
    seed: u64,
) -> (f64, Vec<f64>) {
    const RESTARTS: usize = 4;
    normals(seed, dimensions, starts)
        .into_iter()
        .map(|start| {
            (0..RESTARTS).fold((f(&start), start), |(_, best), _| {
                nelder_mead(&f, &best, 400 * dimensions)
            })
        })
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .unwrap()
}

fn nelder_mead(f: impl Fn(&[f64]) -> f64, start: &[f64], steps: usize) -> (f64, Vec<f64>) {
    let d = start.len();
    let size = start.iter().map(|x| x * x).sum::<f64>().sqrt();
    let mut simplex: Vec<(f64, Vec<f64>)> = (0..=d)
        .map(|corner| {
            let mut point = start.to_vec();
            if corner > 0 {
                point[corner - 1] += 0.3 * size;
            }
            (f(&point), point)
        })
        .collect();
    for _ in 0..steps {
        simplex.sort_by(|a, b| a.0.total_cmp(&b.0));
        let centre: Vec<f64> = (0..d)
            .map(|i| simplex[..d].iter().map(|(_, x)| x[i]).sum::<f64>() / d as f64)
            .collect();
        let worst = simplex[d].clone();
        let towards = |share: f64| {
            let point: Vec<f64> = (0..d)
                .map(|i| centre[i] + share * (worst.1[i] - centre[i]))
                .collect();
            (f(&point), point)
        };
        let reflected = towards(-1.0);
        let next = if reflected.0 < simplex[0].0 {
            let expanded = towards(-2.0);
            if expanded.0 < reflected.0 {
                expanded
            } else {
                reflected
            }
        } else if reflected.0 < simplex[d - 1].0 {
            reflected
        } else {
            towards(if reflected.0 < worst.0 { -0.5 } else { 0.5 })
        };
        if next.0 < worst.0 {
            simplex[d] = next;
        } else {
            let best = simplex[0].1.clone();
            for (value, point) in &mut simplex[1..] {
                point
                    .iter_mut()
                    .zip(&best)
                    .for_each(|(x, b)| *x = 0.5 * (*x + b));
                *value = f(point);
            }
        }
    }
    simplex
        .into_iter()
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .unwrap()
}
