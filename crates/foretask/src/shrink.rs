//! Leave-one-out moments shrunk toward those of a theory.

use faer::{Mat, MatRef};

use crate::data::Importance;
use crate::moments::{Moments, class_means, residuals};
use crate::numerics::{Spectrum, dense};

impl Moments {
    /// Leave-one-out moments shrunk toward those of the theory (`docs/2-the-theory.md#leave-one-out-moments`).
    ///
    /// The covariance goes to a multiple of the theory's by Ledoit and Wolf's rule, in coordinates
    /// where the theory's is the identity; the contrasts between class means go to a multiple of
    /// the theory's by the positive-part James-Stein rule, in the metric of that covariance. If
    /// nothing survives, the theory's contrasts stay.
    pub(crate) fn shrunk(responses: MatRef<'_, f64>, class: &[usize], theory: &Moments) -> Self {
        let classes = theory.mean.nrows();
        let cells = responses.ncols();
        // The theory that moments are shrunk toward knows no weights.
        let everyone = Importance::default();
        let (means, counts) = class_means(responses, class, classes, &everyone);
        let average = Mat::from_fn(cells, cells, |i, j| {
            theory.covariance.iter().map(|s| s[(i, j)]).sum::<f64>() / classes as f64
        });
        let range = match Spectrum::of(average.as_ref()) {
            Some(range) if range.rank() > 0 => range,
            _ => return theory.clone(),
        };
        let d = range.rank();
        let whiten = range.columns(|x, value| x / value.sqrt());
        let colour = range.columns(|x, value| x * value.sqrt());

        // Covariance, in whitened coordinates.
        let residuals = dense::times(
            residuals(responses, class, &means).as_ref(),
            whiten.as_ref(),
        );
        let n = class.len() as f64;
        let freedom = (n - classes as f64).max(1.0);
        let mut sample = dense::times(residuals.transpose(), residuals.as_ref());
        sample
            .col_iter_mut()
            .for_each(|column| column.iter_mut().for_each(|x| *x /= freedom));
        let level = (0..d).map(|i| sample[(i, i)]).sum::<f64>() / d as f64;
        let spread = (0..d)
            .flat_map(|i| (0..d).map(move |j| (i, j)))
            .map(|(i, j)| (sample[(i, j)] - if i == j { level } else { 0.0 }).powi(2))
            .sum::<f64>()
            / d as f64;
        let fourth: f64 = residuals
            .row_iter()
            .map(|e| e.squared_norm_l2().powi(2))
            .sum::<f64>()
            * (n / freedom).powi(2);
        let cross: f64 = {
            let product = dense::times(residuals.as_ref(), sample.as_ref());
            (0..residuals.nrows())
                .map(|l| {
                    (0..d)
                        .map(|i| product[(l, i)] * residuals[(l, i)])
                        .sum::<f64>()
                })
                .sum()
        };
        let noise = (fourth - 2.0 * (n / freedom) * cross + n * sample.squared_norm_l2())
            / (n * n)
            / d as f64;
        let weight = if spread > 0.0 {
            (noise / spread).min(1.0)
        } else {
            1.0
        };
        let blended = Mat::from_fn(d, d, |i, j| {
            (1.0 - weight) * sample[(i, j)] + if i == j { weight * level } else { 0.0 }
        });

        // Contrasts, in the metric of the blended covariance: with L Lᵀ its Cholesky factor, x L⁻ᵀ.
        let Some(factor) = dense::small_cholesky(blended.as_ref()) else {
            return theory.clone();
        };
        let to_metric = |x: MatRef<'_, f64>| {
            let mut white = dense::times(x, whiten.as_ref()).transpose().to_owned();
            dense::solve_lower(factor.L(), white.as_mut());
            white
        };
        let total: f64 = counts.iter().sum();
        let centred = |x: Mat<f64>| {
            let mean: Vec<f64> = (0..d)
                .map(|i| (0..classes).map(|c| counts[c] / total * x[(i, c)]).sum())
                .collect();
            Mat::from_fn(d, classes, |i, c| x[(i, c)] - mean[i])
        };
        let seen = centred(to_metric(means.as_ref()));
        let foretold = centred(to_metric(theory.mean.as_ref()));
        let inner = |a: &Mat<f64>, b: &Mat<f64>| -> f64 {
            (0..classes)
                .map(|c| counts[c] * (0..d).map(|i| a[(i, c)] * b[(i, c)]).sum::<f64>())
                .sum()
        };
        let slope = (inner(&seen, &foretold) / inner(&foretold, &foretold).max(1e-300)).max(0.0);
        let rest = Mat::from_fn(d, classes, |i, c| seen[(i, c)] - slope * foretold[(i, c)]);
        let freedom = ((classes - 1) * d) as f64 - 1.0;
        let allowance = if freedom > 2.0 {
            freedom - 2.0
        } else {
            freedom
        };
        let keep = (1.0 - allowance / inner(&rest, &rest).max(1e-300)).max(0.0);
        let mut contrasts = Mat::from_fn(d, classes, |i, c| {
            slope * foretold[(i, c)] + keep * rest[(i, c)]
        });
        let size = foretold.norm_max();
        if contrasts.norm_max() <= 1e-12 * (1.0 + size) {
            contrasts = foretold;
        }
        let back = dense::times(
            dense::times(colour.as_ref(), factor.L()).as_ref(),
            contrasts.as_ref(),
        );
        let mean = Mat::from_fn(classes, cells, |c, cell| {
            (0..classes)
                .map(|c| counts[c] / total * means[(c, cell)])
                .sum::<f64>()
                + back[(cell, c)]
        });
        let covariance = dense::times(
            dense::times(colour.as_ref(), blended.as_ref()).as_ref(),
            colour.transpose(),
        );
        Self {
            mean,
            covariance: vec![covariance; classes],
        }
    }
}
