//! [`Population`]: class means and covariances as one of the theories sees them, the same for every coupling.

use std::sync::{Arc, OnceLock};

use faer::Mat;

use super::covariance;
use super::gram::{self, MeansApart};
use crate::data::{Cells, Coupling, Statistics, pairs};
use crate::error::{Error, Result};
use crate::moments::{Moments, Provenance};
use crate::numerics::{NORMAL_95, dense};
use crate::theory::pairs::{Member, joint_law};
use crate::theory::{Common, Corrections, Covariances, Theory};

/// Up to so many cells theories, and rules and labels by name, are to be had: they weigh every cell against every
/// other.
pub(crate) const MOST_BY_NAME: usize = 2000;

/// Class means and covariances as one of the theories sees them.
#[derive(Clone, Debug)]
pub(crate) struct Population {
    pub(crate) cells: Cells,
    pub(crate) features: usize,
    pub(crate) provenance: Provenance,
    /// Inner products of the class means, unbiased; made when they are first asked for, out of the means.
    gram: OnceLock<Mat<f64>>,
    means: Arc<MeansApart>,
    /// Within-class variance per feature of each cell, after scaling.
    alpha: Vec<f64>,
    shape: Shape,
    /// Cheaper knowledge to choose a coupling by.
    guide: Option<Box<Population>>,
}

/// The covariances of the cells.
#[derive(Clone, Debug)]
enum Shape {
    /// Multiples of the identity.
    Spherical,
    /// Multiples of one matrix, with the class means of the samples, whose noise the theory takes out.
    Common(Common),
    /// Each its own, with the class means of the samples (p x C).
    General {
        covariances: Covariances,
        means: Mat<f64>,
    },
}

impl Population {
    /// For the isotropic theory: needs nothing but class means and variances.
    pub(crate) fn isotropic(statistics: &Statistics<'_>, scales: &[f64]) -> Self {
        let cells = statistics.cells();
        let within = statistics.scales();
        Self {
            cells: cells.clone(),
            features: statistics.features(),
            provenance: Provenance::Isotropic,
            gram: OnceLock::new(),
            means: Arc::new(MeansApart::new(statistics, scales)),
            alpha: (0..cells.len())
                .map(|cell| (within[cells.task_of(cell)] / scales[cells.task_of(cell)]).powi(2))
                .collect(),
            shape: Shape::Spherical,
            guide: None,
        }
    }

    /// For the theory of one variance per class.
    pub(crate) fn spherical(statistics: &Statistics<'_>, scales: &[f64]) -> Self {
        Self {
            provenance: Provenance::Spherical,
            alpha: covariance::spherical(statistics, scales),
            ..Self::isotropic(statistics, scales)
        }
    }

    /// For the theory of one covariance shape, if there is one.
    ///
    /// # Errors
    /// If no class varies within itself.
    pub(crate) fn common(
        statistics: &Statistics<'_>,
        scales: &[f64],
        shape: Option<&Common>,
    ) -> Result<Self> {
        let Some(shape) = shape else {
            return Err(Error::Setting {
                setting: "theory",
                value: "common".into(),
                expected: "no class varies within itself, so that there is no covariance to pool; use leave-one-out",
            });
        };
        Ok(Self {
            provenance: Provenance::Common,
            shape: Shape::Common(shape.clone()),
            ..Self::isotropic(statistics, scales)
        })
    }

    /// For the theory of one covariance per class; couplings are chosen by that of one shape.
    ///
    /// # Errors
    /// If no class varies within itself.
    pub(crate) fn general(
        statistics: &Statistics<'_>,
        scales: &[f64],
        covariances: Covariances,
        shape: Option<&Common>,
    ) -> Result<Self> {
        Ok(Self {
            provenance: Provenance::General,
            shape: Shape::General {
                covariances,
                means: covariance::means(statistics, scales),
            },
            guide: Some(Box::new(Self::common(statistics, scales, shape)?)),
            ..Self::isotropic(statistics, scales)
        })
    }

    fn gram(&self) -> &Mat<f64> {
        self.gram.get_or_init(|| self.means.estimate())
    }

    /// What to choose a coupling by.
    pub(crate) fn guide(&self) -> &Self {
        self.guide.as_deref().unwrap_or(self)
    }

    /// The theory at one coupling.
    pub(crate) fn theory(&self, coupling: &Coupling) -> Result<Theory> {
        let (cells, p) = (&self.cells, self.features);
        match &self.shape {
            Shape::Spherical => Theory::spherical(
                cells,
                p,
                coupling,
                self.gram(),
                Some(&self.alpha),
                Corrections::DegreesOfFreedom,
            ),
            Shape::Common(raw) => Theory::common(cells, p, coupling, raw, Corrections::SampleMeans),
            Shape::General { covariances, means } => Theory::general(
                cells,
                coupling,
                covariances,
                means,
                Corrections::SampleMeans,
            ),
        }
    }

    pub(crate) fn moments(&self, coupling: &Coupling, target: usize) -> Result<Moments> {
        Ok(self.theory(coupling)?.moments(target))
    }

    /// The same with the classes of a task closer together or farther apart.
    pub(crate) fn stretched(&self, task: usize, factor: f64) -> Self {
        let mut stretched = self.clone();
        let cells = &self.cells;
        stretched.gram = gram::with_stretched_task(self.gram(), cells, task, factor).into();
        match &mut stretched.shape {
            Shape::Spherical => {}
            Shape::Common(raw) => stretch(&mut raw.means, cells, task, factor),
            Shape::General { means, .. } => stretch(means, cells, task, factor),
        }
        stretched
    }

    /// By which factors the distances between a task's classes may be off: the ends of a 90 % interval.
    /// Empty if the distance cannot be told from zero.
    pub(crate) fn distance_factors(&self, task: usize) -> Vec<f64> {
        let cells = &self.cells;
        let range = cells.of_task(task);
        let m = range.len() as f64;
        let pairs: Vec<(usize, usize)> = pairs(range.len())
            .map(|(a, b)| (range.start + a, range.start + b))
            .collect();
        let mean = |of: &dyn Fn(usize, usize) -> f64| {
            pairs.iter().map(|&(a, b)| of(a, b)).sum::<f64>() / pairs.len() as f64
        };
        let g = self.gram();
        let squared = mean(&|a, b| g[(a, a)] - 2.0 * g[(a, b)] + g[(b, b)]);
        if squared <= 0.0 {
            return Vec::new();
        }
        let inverse_count = mean(&|a, b| 1.0 / cells.count(a) as f64 + 1.0 / cells.count(b) as f64);
        let variance = gram::squared_distance_variance(
            self.features as f64,
            squared,
            self.alpha[range.start],
            inverse_count,
        );
        // All pairs share the noise of m means.
        let deviation = (variance * 2.0 / m).sqrt();
        [1.0, -1.0]
            .map(|sign| ((squared + sign * NORMAL_95 * deviation).max(0.0) / squared).sqrt())
            .to_vec()
    }

    /// Whether the joint law of classifiers on different samples is known.
    pub(crate) fn knows_pairs(&self) -> bool {
        !matches!(self.shape, Shape::General { .. })
    }

    /// The theory of a classifier on some of the cells.
    pub(crate) fn pair_theory(&self, member: &Member) -> Result<Theory> {
        let own = self.shape_for_pairs()?.restricted(&member.cells);
        Theory::common(
            &member.tasks,
            self.features,
            &member.coupling,
            &own,
            Corrections::DegreesOfFreedom,
        )
    }

    /// The joint law of the scores of classifiers on different samples.
    pub(crate) fn pairs_law(&self, target: usize, members: &[Member]) -> Result<Moments> {
        joint_law(
            &self.cells,
            self.features,
            &self.shape_for_pairs()?,
            target,
            members,
            Corrections::DegreesOfFreedom,
        )
    }

    fn shape_for_pairs(&self) -> Result<Common> {
        match &self.shape {
            Shape::Spherical => Ok(of_gram(self.gram(), &self.alpha, self.features)),
            // The joint law has no correction for the noise of the means, so that is shrunk.
            Shape::Common(raw) => Ok(raw.shrunk(&self.cells)),
            Shape::General { .. } => Err(Error::Setting {
                setting: "theory",
                value: "general".into(),
                expected: "the joint law of one-versus-one scores is known for isotropic, spherical and pooled covariances; use one of these, or leave-one-out",
            }),
        }
    }
}

/// Spherical classes as a common shape: coordinates of the means from their inner products, and all other
/// directions in one.
fn of_gram(gram: &Mat<f64>, alpha: &[f64], features: usize) -> Common {
    let (values, vectors) =
        dense::symmetric_eigen(gram.as_ref()).unwrap_or_else(|| (Vec::new(), Mat::new()));
    let kept: Vec<usize> = (0..values.len()).filter(|&i| values[i] > 0.0).collect();
    let p = features as f64;
    let each = (p / kept.len().max(1) as f64).min(1.0);
    let mut means = Mat::zeros(kept.len() + 1, alpha.len());
    for (l, &i) in kept.iter().enumerate() {
        for cell in 0..alpha.len() {
            means[(l, cell)] = values[i].sqrt() * vectors[(cell, i)];
        }
    }
    let mut multiplicity = vec![each; kept.len()];
    multiplicity.push(p - each * kept.len() as f64);
    Common {
        values: vec![1.0; kept.len() + 1],
        multiplicity,
        alpha: alpha.to_vec(),
        means,
    }
}

/// Moves the columns of a task away from their average, or toward it.
fn stretch(means: &mut Mat<f64>, cells: &Cells, task: usize, factor: f64) {
    let range = cells.of_task(task);
    for i in 0..means.nrows() {
        let middle = range.clone().map(|c| means[(i, c)]).sum::<f64>() / range.len() as f64;
        for c in range.clone() {
            means[(i, c)] = middle + factor * (means[(i, c)] - middle);
        }
    }
}
