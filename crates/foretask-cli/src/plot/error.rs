//! [`PlotError`]: why there is no picture.

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlotError {
    /// No class has a score or a density.
    #[error("there is nothing to plot: no class has a score or a foretold density")]
    Empty,
    /// A number that has no place on an axis.
    #[error("cannot plot {what} because it is not finite")]
    NotFinite { what: String },
    /// A name that does not say what kind of file it is.
    #[error("{file}: a picture is a file whose name ends in .svg, .png or .html")]
    Format { file: String },
    /// The drawing library failed.
    #[error("the figure could not be drawn: {reason}")]
    Drawing { reason: String },
}
