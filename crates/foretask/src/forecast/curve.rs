//! [`CurvePoint`]: what more labels would bring.

/// A point of a learning curve.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct CurvePoint {
    /// Labels added to each class of the target.
    pub added: usize,
    /// Expected error then.
    pub error: f64,
    /// 90 % interval.
    pub interval: [f64; 2],
}
