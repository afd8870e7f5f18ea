//! [`Scores`]: what the panel of scores shows.

/// The scores of a decision and what was foretold of them.
#[derive(Debug, Clone)]
pub struct Scores {
    /// The headline.
    pub title: String,
    /// What the horizontal axis measures.
    pub axis: String,
    /// The classes, in the order of the legend.
    pub classes: Vec<ClassScores>,
    /// Where the decision changes, if it is a threshold on the score.
    pub threshold: Option<f64>,
}

/// The scores of one class.
#[derive(Debug, Clone)]
pub struct ClassScores {
    /// The name of the class.
    pub name: String,
    /// The measured scores of its samples; may be empty.
    pub scores: Vec<f64>,
    /// The foretold density as (score, density), by increasing score; may be empty.
    pub density: Vec<(f64, f64)>,
}
