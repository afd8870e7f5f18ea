//! Covariances, means and variances of classes from the rows of their tasks.
//!
//! The scatter W of a class about its own mean is formed from panels of rows and pulled toward a
//! multiple of the identity, Σ̂ = (1 - ρ) S + ρ (tr S/p) I with S = W/(n - 1):
//!
//! ```text
//! Sample      ρ = 0
//! Oas         ρ = ((1 - 2/p) tr S² + tr² S) / ((n - 2/p) (tr S² - tr² S/p))
//! LedoitWolf  ρ = (Σ_l |z_l|⁴/n - |S_n|²) / (n |S_n - (tr S_n/p) I|²),     S_n = W/n
//! ```
//!
//! at most 1 (Chen, Wiesel, Eldar and Hero 2010 with n - 1 degrees of freedom; Ledoit and Wolf 2004).
//! Time n p²/2 multiplications; memory one p x p matrix per class and one panel of rows.

use faer::Mat;

use super::gram::traces_of_covariances;
use crate::data::{Cells, NO_SPREAD, RowBlock, Statistics};
use crate::error::{Error, Result};
use crate::numerics::dense::{self, trace_of_product};
use crate::stop::Stop;
use crate::theory::{Covariances, check};

/// How a covariance is estimated from few samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Estimate {
    /// The sample covariance; with fewer samples than features it is rank-deficient.
    Sample,
    /// Shrunk by the oracle-approximating rule.
    Oas,
    /// Shrunk by Ledoit and Wolf's rule.
    LedoitWolf,
}

/// More features than this are refused: each covariance would take 200 MB, and the theory minutes.
const MOST_FEATURES: usize = 5_000;

/// The covariance of every class of every task, of the data divided by `scales` (as in
/// [`Statistics::scales`]). The statistics must have the rows of every task.
///
/// # Errors
/// If rows are not kept, a class has fewer than two samples or no variance, or the features are more
/// than 5000.
pub(crate) fn estimate(
    statistics: &Statistics<'_>,
    scales: &[f64],
    estimate: Estimate,
) -> Result<Covariances> {
    let cells = statistics.cells();
    check("scales (one per task)", cells.tasks().len(), scales.len())?;
    check_size(cells, statistics.features())?;
    let mut covariances = Vec::with_capacity(cells.len());
    for task in 0..cells.tasks().len() {
        let rows = statistics.rows_of(task).ok_or_else(|| Error::RowsNotKept {
            what: "the general theory",
            task: cells.tasks()[task].name.clone(),
            instead: "use the isotropic, spherical or pooled theory",
        })?;
        let mut start = 0;
        for cell in cells.of_task(task) {
            let own = start..start + cells.count(cell);
            start = own.end;
            let refuse = |why| Error::NoCovariance {
                task: cells.tasks()[task].name.clone(),
                class: cells.tasks()[task].classes[cell - cells.of_task(task).start].clone(),
                why,
            };
            match own.len() {
                0 => return Err(refuse("has no sample: its covariance needs at least two")),
                1 => return Err(refuse("has one sample: its covariance needs at least two")),
                _ => {}
            }
            let mean: Vec<f64> = statistics.means().col(cell).iter().copied().collect();
            let size = own.len() as f64 * mean.iter().map(|x| x * x).sum::<f64>();
            let trace = statistics.within_traces()[cell];
            if trace <= NO_SPREAD * NO_SPREAD * size {
                return Err(refuse("does not vary in any feature: it has no covariance"));
            }
            let own = rows.select(own);
            let scale = 1.0 / scales[task];
            covariances.push(of_class(&own, &mean, scale, estimate, statistics.stop())?);
        }
    }
    let of_cell = (0..covariances.len()).collect();
    Ok(Covariances::checked(covariances, of_cell).stopped_by(statistics.stop()))
}

/// The class means of the data divided by `scales`, one a column (p x C).
pub(crate) fn means(statistics: &Statistics<'_>, scales: &[f64]) -> Mat<f64> {
    let (means, cells) = (statistics.means(), statistics.cells());
    Mat::from_fn(means.nrows(), means.ncols(), |feature, cell| {
        means[(feature, cell)] / scales[cells.task_of(cell)]
    })
}

/// α_r = tr W_r/((n_r - 1) p) of the data divided by `scales`: the variance of every class as a
/// sphere. A class of one sample has that of its task, a task of such classes that of all.
pub(crate) fn spherical(statistics: &Statistics<'_>, scales: &[f64]) -> Vec<f64> {
    traces_of_covariances(statistics, scales)
        .into_iter()
        .map(|trace| trace / statistics.features() as f64)
        .collect()
}

fn check_size(cells: &Cells, features: usize) -> Result<()> {
    if features <= MOST_FEATURES {
        return Ok(());
    }
    let bytes = std::mem::size_of::<f64>() * features * features * cells.len();
    Err(Error::TooManyFeatures {
        features,
        most: MOST_FEATURES,
        classes: cells.len(),
        gigabytes: bytes as f64 / 1e9,
    })
}

fn of_class(
    rows: &RowBlock<'_>,
    mean: &[f64],
    scale: f64,
    estimate: Estimate,
    stop: &Stop,
) -> Result<Mat<f64>> {
    let (p, n) = (mean.len(), rows.len() as f64);
    let mut covariance = Mat::zeros(p, p);
    let mut fourth = 0.0;
    rows.for_panels(mean, scale, |_, panel| {
        if stop.check().is_err() {
            return;
        }
        dense::add_outer(covariance.as_mut(), panel, 1.0 / (n - 1.0));
        fourth += panel
            .col_iter()
            .map(|sample| sample.squared_norm_l2().powi(2))
            .sum::<f64>();
    });
    stop.check()?;
    let trace: f64 = (0..p).map(|i| covariance[(i, i)]).sum();
    let squares = trace_of_product(covariance.as_ref(), covariance.as_ref());
    let weight = match estimate {
        Estimate::Sample => 0.0,
        Estimate::Oas => oas(p as f64, n - 1.0, trace, squares),
        Estimate::LedoitWolf => ledoit_wolf(p as f64, n, trace, squares, fourth),
    };
    let level = trace / p as f64;
    for j in 0..p {
        for i in j..p {
            covariance[(i, j)] *= 1.0 - weight;
        }
        covariance[(j, j)] += weight * level;
    }
    dense::mirror(&mut covariance);
    Ok(covariance)
}

/// The weight of the identity by the oracle-approximating rule, for a covariance with `freedom`
/// degrees of freedom, given tr S and tr S².
pub(super) fn oas(features: f64, freedom: f64, trace: f64, squares: f64) -> f64 {
    let excess = squares - trace * trace / features;
    if excess > 0.0 {
        let signal = (1.0 - 2.0 / features) * squares + trace * trace;
        (signal / ((freedom + 1.0 - 2.0 / features) * excess)).min(1.0)
    } else {
        1.0
    }
}

/// The weight of the identity by Ledoit and Wolf's rule, given tr S and tr S² of S = W/(n - 1), and
/// Σ_l |z_l|⁴.
fn ledoit_wolf(features: f64, samples: f64, trace: f64, squares: f64, fourth: f64) -> f64 {
    let to_maximum_likelihood = (samples - 1.0) / samples;
    let (trace, squares) = (
        trace * to_maximum_likelihood,
        squares * to_maximum_likelihood.powi(2),
    );
    let excess = squares - trace * trace / features;
    let noise = (fourth / samples - squares) / samples;
    if excess > 0.0 {
        (noise.max(0.0) / excess).min(1.0)
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::rows::Rows;
    use crate::data::tasks::Tasks;

    const FEATURES: usize = 5;
    /// The sine of another library may differ in the last place.
    const ROUNDING: f64 = 1e-12;

    fn value(sample: usize, feature: usize) -> f64 {
        let (l, i) = (sample as f64, feature as f64);
        (1.3 * l * l + 2.1 * i + 0.7 * l * i).sin() * (1.0 + i)
    }

    /// Eight samples of class "a", and more rows of others between them.
    fn first_row(how: Estimate) -> Vec<f64> {
        let (mut values, mut class) = (Vec::new(), Vec::new());
        for sample in 0..8 {
            values.extend((0..FEATURES).map(|feature| 2.0 * value(sample, feature) + 10.0));
            values.extend((0..FEATURES).map(|feature| value(feature, sample)));
            class.extend(["a", "b"]);
        }
        let rows = Rows::row_major(&values, FEATURES).unwrap();
        let tasks = Tasks::new(rows, &["t"; 16], &class).unwrap();
        let covariances = estimate(&Statistics::of(&tasks), &[2.0], how).unwrap();
        covariances.of(0).row(0).iter().copied().collect()
    }

    #[track_caller]
    fn assert_row(how: Estimate, expected: [f64; FEATURES]) {
        for (actual, expected) in first_row(how).iter().zip(expected) {
            assert!((actual - expected).abs() < ROUNDING, "{actual} {expected}");
        }
    }

    /// scikit-learn 1.x: `LedoitWolf().fit(X).covariance_[0] * 8 / 7` (it divides by n).
    #[test]
    fn ledoit_and_wolfs_estimate_is_that_of_scikit_learn() {
        assert_row(
            Estimate::LedoitWolf,
            [
                2.0530798894699185,
                -0.042437376331068095,
                -0.04505685239027256,
                -0.11568217636165823,
                -0.38586658555985304,
            ],
        );
    }

    /// The printed formula, computed in NumPy. scikit-learn's OAS leaves 2/p out and counts n for n - 1 degrees
    /// of freedom: its weight is 0.704, this one 0.734.
    #[test]
    fn the_oracle_approximating_estimate_is_the_printed_one() {
        assert_row(
            Estimate::Oas,
            [
                2.841208166103211,
                -0.021680741008283058,
                -0.02301899956540862,
                -0.05910062124023187,
                -0.1971345598749721,
            ],
        );
    }

    #[test]
    fn the_sample_covariance_divides_by_the_degrees_of_freedom() {
        let variance = first_row(Estimate::Sample)[0];
        assert!((variance - 0.5721981519361513).abs() < ROUNDING);
    }

    fn refusal(values: &[f64], class: &[&str]) -> String {
        let features = values.len() / class.len();
        let rows = Rows::row_major(values, features).unwrap();
        let tasks = Tasks::new(rows, &vec!["t"; class.len()], class).unwrap();
        estimate(&Statistics::of(&tasks), &[1.0], Estimate::Oas)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn classes_without_a_covariance_are_named() {
        assert_eq!(
            refusal(&[0.0, 1.0, 3.0], &["x", "y", "y"]),
            "class 'x' of task 't' has one sample: its covariance needs at least two; use the pooled theory"
        );
        assert_eq!(
            refusal(&[0.1, 0.2, 3.0, 3.0], &["x", "x", "y", "y"]),
            "class 'y' of task 't' does not vary in any feature: it has no covariance; use the pooled theory"
        );
    }

    #[test]
    fn too_many_features_are_refused_with_the_memory_they_need() {
        let values: Vec<f64> = (0..4 * 6_000).map(|i| (i % 7) as f64).collect();
        assert_eq!(
            refusal(&values, &["x", "x", "y", "y"]),
            "the covariances of 2 classes with 6000 features need 0.6 GB; at most 5000 features are taken (use the pooled theory)"
        );
    }

    #[test]
    fn a_class_of_one_sample_is_a_sphere_of_the_size_of_its_task() {
        let values = [0.0, 0.0, 1.0, 1.0, 5.0, 5.0];
        let rows = Rows::row_major(&values, 2).unwrap();
        let tasks = Tasks::new(rows, &["t"; 3], &["x", "x", "y"]).unwrap();
        assert_eq!(spherical(&Statistics::of(&tasks), &[2.0]), [0.125, 0.125]);
    }
}
