//! [`Stop`]: a switch that ends a long computation from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

/// A switch that another thread may throw: long computations look at it between couplings, folds and sources, and
/// end with [`Error::Interrupted`]. Copies are the same switch.
///
/// ```
/// use foretask::{Error, Rows, Settings, Study, Tasks};
/// # let values: Vec<f64> = (0..40).map(|i| ((i * 37) % 11) as f64).collect();
/// # let class: Vec<&str> = (0..20).map(|i| if i % 2 == 0 { "bike" } else { "mug" }).collect();
/// let tasks = Tasks::new(Rows::row_major(&values, 2)?, &["webcam"; 20], &class)?;
/// let settings = Settings::default();
/// let switch = settings.stop.clone();
/// switch.throw();
/// assert!(matches!(Study::new(&tasks, &settings), Err(Error::Interrupted)));
/// switch.reset();
/// assert!(Study::new(&tasks, &settings).is_ok());
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Ends what looks at it.
    pub fn throw(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// As before it was thrown.
    pub fn reset(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// # Errors
    /// If it was thrown.
    pub(crate) fn check(&self) -> Result<()> {
        match self.0.load(Ordering::Relaxed) {
            true => Err(Error::Interrupted),
            false => Ok(()),
        }
    }
}

/// A switch changes no result: settings that differ in it alone are the same.
impl PartialEq for Stop {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
