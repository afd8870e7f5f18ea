//! What is asked of a study beyond its forecast.

/// What is asked of a study.
pub struct Questions<'q> {
    /// Labels per class that are added.
    pub added: &'q [usize],
    /// Errors to reach.
    pub reach: &'q [f64],
    /// Labels to spread.
    pub budget: Option<usize>,
    /// How the decision is made.
    pub details: bool,
    /// Nothing that takes more studies.
    pub no_details: bool,
    /// Other rules.
    pub compare: bool,
    /// Whether a machine asks.
    pub json: bool,
}
