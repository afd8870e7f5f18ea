//! [`SourceValue`]: what a source is worth.

/// The forecast without one source.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SourceValue {
    /// The source.
    pub task: String,
    /// Expected error without it.
    pub error_without: f64,
    /// 90 % interval.
    pub interval: [f64; 2],
}
