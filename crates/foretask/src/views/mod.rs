//! [`View`]: ways to look at the features. Each is a map of the rows; the default averages what it learns in all of
//! them (`docs/3-the-solver.md#views`).
//!
//! | view | map | prior |
//! |---|---|---|
//! | raw | the features as they are | 1 |
//! | standard | each feature over its spread: free of units | 1 |
//! | cosine | each row over its length | ¼ |
//! | rbf | a Gaussian kernel on the standard view | ¼ |
//!
//! Standard divides by √(v_j + 0.01 max_l (x_lj - x̄_ij)²), v_j being the variance about the task means: the second
//! term keeps a feature that is zero in nearly all rows from becoming larger than ten in the others.
//! Raw and standard are linear: a model of them has one weight per feature.

pub(crate) mod kernel;
mod landmarks;
mod nystrom;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use faer::Mat;
use rayon::prelude::*;

use crate::data::rows::panel_samples;
use crate::data::{PANEL, RowBlock, Statistics};
use crate::error::Error;
use crate::words::{Word, words};

pub(crate) use kernel::Kernel;
pub(crate) use nystrom::KernelFeatures;
use nystrom::NoKernel;

words! {
    /// A way to look at the features.
    pub enum View("view") {
        /// The features as they are
        Raw = "raw",
        /// Each feature over its spread, so that units do not matter
        Standard = "standard",
        /// Each row over its length
        Cosine = "cosine",
        /// A Gaussian kernel of the standard view, for classes that no plane separates
        Rbf = "rbf",
    }
}

impl View {
    /// Its weight before any data are seen.
    pub(crate) fn prior(self) -> f64 {
        match self {
            Self::Raw | Self::Standard => 1.0,
            Self::Cosine | Self::Rbf => 0.25,
        }
    }

    /// Whether its scores are linear in the features.
    pub(crate) fn is_linear(self) -> bool {
        matches!(self, Self::Raw | Self::Standard)
    }
}

words! {
    /// Why a view was left out.
    pub enum Skipped("skipped") {
        /// it needs the rows of every task, and some were not kept
        Streamed = "streamed",
        /// all rows have the same length, or there are three features or fewer
        EqualLengths = "equal-lengths",
        /// all rows are alike
        Alike = "alike",
        /// the data have more rows than a kernel can hold, and too few of them are of sources
        FewSources = "few-sources",
        /// the data have so many rows that it costs too much
        Costly = "costly",
        /// the rows are sparse, and so many and so long that they would not be kept in full
        Sparse = "sparse",
    }
}

/// The views that a default is averaged over.
///
/// ```
/// use foretask::{View, Views};
/// assert_eq!("linear".parse::<Views>()?, Views(vec![View::Raw, View::Standard]));
/// assert_eq!("rbf,raw".parse::<Views>()?.to_string(), "raw,rbf");
/// # Ok::<(), foretask::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Views(pub Vec<View>);

impl Default for Views {
    /// All of them.
    fn default() -> Self {
        Self(View::ALL.iter().map(|named| named.value).collect())
    }
}

impl Views {
    /// Those whose scores are linear in the features.
    pub fn linear() -> Self {
        Self(vec![View::Raw, View::Standard])
    }

    /// The one that theories and rules by name look through; none if no linear one is among them.
    pub(crate) fn base(&self) -> Option<View> {
        self.0.iter().copied().find(|view| view.is_linear())
    }
}

impl FromStr for Views {
    type Err = Error;

    /// `auto`, `linear`, or views with commas between.
    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "auto" => return Ok(Self::default()),
            "linear" => return Ok(Self::linear()),
            _ => {}
        }
        let known = |word: &str| View::from_word(word.trim());
        let views: Option<Vec<View>> = text.split(',').map(known).collect();
        let mut views = views.ok_or_else(|| Error::Setting {
            setting: "views",
            value: text.to_owned(),
            expected: "auto, linear, or some of raw, standard, cosine, rbf with commas between",
        })?;
        views.sort_unstable();
        views.dedup();
        Ok(Self(views))
    }
}

impl fmt::Display for Views {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = self.0.iter().map(|view| view.word()).collect();
        formatter.write_str(&words.join(","))
    }
}

/// The map of a view, fitted to data.
#[derive(Clone, Debug)]
pub(crate) enum Map {
    Raw,
    /// What each feature is multiplied by.
    Standard(Arc<[f64]>),
    Cosine,
    /// What each feature is multiplied by; where the target's rows lie and how large they are in that view.
    Rbf {
        columns: Arc<[f64]>,
        centre: Vec<f64>,
        scale: f64,
        features: Arc<KernelFeatures>,
    },
}

/// Data as seen in a view.
#[derive(Clone, Debug)]
pub(crate) struct Viewed<'a> {
    pub(crate) map: Map,
    pub(crate) statistics: Statistics<'a>,
}

/// A feature may be this much of its largest squared distance from the mean, at least.
const RARE: f64 = 0.01;
/// Lengths that differ by less than this share are equal.
const EQUAL_LENGTHS: f64 = 1e-6;
/// With so few features a row over its length has lost what it was.
const FEWEST_FEATURES: usize = 4;
/// Rows that are each divided by their length, at most. Raw and standard rows share their products, cosine has its own:
/// half of the cost where rows are many, and a stream, which such data often come in, has none of it.
const COSINE_ROWS: usize = 200_000;
/// Values of sparse rows up to which a kernel keeps them in full.
const MOST_FULL: usize = 1 << 24;
/// A row shorter than this has no direction.
const NO_LENGTH: f64 = 1e-12;

impl View {
    /// The data in this view; the kernel's depends on the target.
    pub(crate) fn of<'a>(
        self,
        statistics: &Statistics<'a>,
        target: usize,
    ) -> Result<Viewed<'a>, Skipped> {
        match self {
            Self::Raw => Ok(Viewed {
                map: Map::Raw,
                statistics: statistics.clone(),
            }),
            Self::Standard => {
                let columns = spreads(statistics);
                Ok(Viewed {
                    statistics: statistics.with_columns(&columns),
                    map: Map::Standard(columns),
                })
            }
            Self::Cosine => cosine(statistics),
            Self::Rbf => rbf(statistics, target),
        }
    }
}

/// One over the spread of each feature; zero for a constant one.
fn spreads(statistics: &Statistics<'_>) -> Arc<[f64]> {
    let variances = statistics.pooled_variances();
    let both = variances.iter().zip(statistics.farthest());
    both.map(|(variance, farthest)| {
        let factor = 1.0 / (variance + RARE * farthest).sqrt();
        // The variance of a constant feature may be what rounding leaves of it.
        if farthest > 0.0 && factor.is_finite() {
            factor
        } else {
            0.0
        }
    })
    .collect()
}

fn cosine<'a>(statistics: &Statistics<'a>) -> Result<Viewed<'a>, Skipped> {
    let rows = statistics.all_rows().ok_or(Skipped::Streamed)?;
    let p = statistics.features();
    if rows.iter().map(|block| block.len()).sum::<usize>() > COSINE_ROWS {
        return Err(Skipped::Costly);
    }
    let lengths: Vec<Vec<f64>> = rows.iter().map(|block| lengths(block, p)).collect();
    let all = || lengths.iter().flatten().copied();
    let (least, most) = all().fold((f64::INFINITY, 0.0_f64), |(least, most), length| {
        (least.min(length), most.max(length))
    });
    if p < FEWEST_FEATURES || most - least <= EQUAL_LENGTHS * most {
        return Err(Skipped::EqualLengths);
    }
    let viewed = rows.iter().zip(&lengths).map(|(block, lengths)| {
        let factors = lengths.iter().map(|length| 1.0 / length.max(NO_LENGTH));
        block.with_lengths(factors.collect())
    });
    Ok(Viewed {
        statistics: statistics.with_rows(p, viewed.collect()),
        map: Map::Cosine,
    })
}

/// The lengths of rows, some at a time: each is the same whatever is done beside it.
fn lengths(rows: &RowBlock<'_>, p: usize) -> Vec<f64> {
    let panel = panel_samples(PANEL, p);
    let starts: Vec<usize> = (0..rows.len()).step_by(panel).collect();
    let parts = starts.into_par_iter().map(|start| {
        let own = start..(start + panel).min(rows.len());
        let mut panel = Mat::zeros(p, own.len());
        rows.pack(own, 0..p, &vec![0.0; p], 1.0, panel.as_mut());
        let lengths = panel.col_iter().map(|row| row.norm_l2());
        lengths.collect::<Vec<f64>>()
    });
    parts.collect::<Vec<_>>().concat()
}

fn rbf<'a>(statistics: &Statistics<'a>, target: usize) -> Result<Viewed<'a>, Skipped> {
    let columns = spreads(statistics);
    let standard = statistics.with_columns(&columns);
    let rows = standard.all_rows().ok_or(Skipped::Streamed)?;
    let total: usize = rows.iter().map(|block| block.len()).sum();
    let values = total.saturating_mul(statistics.features());
    if values > MOST_FULL && rows.iter().any(|block| block.is_sparse()) {
        return Err(Skipped::Sparse);
    }
    let made = nystrom::features(&standard, &rows, target);
    let (features, blocks) = made.map_err(|why| match why {
        NoKernel::Alike => Skipped::Alike,
        NoKernel::FewSources => Skipped::FewSources,
        NoKernel::Costly => Skipped::Costly,
    })?;
    Ok(Viewed {
        statistics: statistics.with_rows(features.basis.ncols(), blocks),
        map: Map::Rbf {
            columns,
            centre: standard.task_mean(target),
            scale: standard.scales()[target],
            features: Arc::new(features),
        },
    })
}
