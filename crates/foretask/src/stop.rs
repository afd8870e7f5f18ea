//! [`Stop`]: a switch that ends a long computation from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

/// A switch that another thread may throw: long computations look at it between couplings, folds and sources, and
/// end with [`Error::Interrupted`] where it is true. Copies are the same switch; by default nobody holds another.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// use foretask::{Error, Rows, Settings, Study, Tasks};
/// # let values: Vec<f64> = (0..40).map(|i| ((i * 37) % 11) as f64).collect();
/// # let class: Vec<&str> = (0..20).map(|i| if i % 2 == 0 { "bike" } else { "mug" }).collect();
/// let tasks = Tasks::new(Rows::row_major(&values, 2)?, &["webcam"; 20], &class)?;
/// let switch = Arc::new(AtomicBool::new(true));
/// let settings = Settings { stop: switch.clone().into(), ..Settings::default() };
/// assert!(matches!(Study::new(&tasks, &settings), Err(Error::Interrupted)));
/// switch.store(false, Ordering::Relaxed);
/// assert!(Study::new(&tasks, &settings).is_ok());
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// # Errors
    /// If it was thrown.
    pub(crate) fn check(&self) -> Result<()> {
        match self.0.load(Ordering::Relaxed) {
            true => Err(Error::Interrupted),
            false => Ok(()),
        }
    }
}

impl From<Arc<AtomicBool>> for Stop {
    fn from(switch: Arc<AtomicBool>) -> Self {
        Self(switch)
    }
}

/// A switch changes no result: settings that differ in it alone are the same.
impl PartialEq for Stop {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
