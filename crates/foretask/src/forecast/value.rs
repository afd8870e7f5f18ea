//! [`SourceValue`]: what a source is worth.

use super::paired::Paired;

/// The forecast without one source, or without all.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SourceValue {
    /// The source; none for all of them.
    pub task: Option<String>,
    /// Expected error without it.
    pub error_without: f64,
    /// 90 % interval.
    pub interval: [f64; 2],
    /// The difference that it makes, sample by sample. Where a false-alarm rate is held, to the share of the other
    /// class that is missed.
    pub paired: Paired,
}
