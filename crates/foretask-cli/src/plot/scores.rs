//! [`ScorePlot`]: what is drawn.

/// The scores of a decision and what was forecast for them.
#[derive(Debug, Clone)]
pub struct ScorePlot<'a> {
    /// The headline.
    pub title: &'a str,
    /// A line under it, in smaller type; may be empty.
    pub subtitle: &'a str,
    /// What the horizontal axis measures.
    pub axis: &'a str,
    /// The classes, in the order of the legend.
    pub classes: Vec<ClassScores<'a>>,
    /// Where the decision changes, if it is a threshold on the score.
    pub threshold: Option<f64>,
}

/// The scores of one class.
#[derive(Debug, Clone)]
pub struct ClassScores<'a> {
    /// The name of the class.
    pub name: &'a str,
    /// The measured scores of its samples; may be empty.
    pub scores: &'a [f64],
    /// The forecast density as (score, density), by increasing score; may be empty.
    pub density: Vec<(f64, f64)>,
}
