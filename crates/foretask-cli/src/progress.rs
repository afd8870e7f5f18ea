//! A progress bar on standard error: only on a terminal, and only once the wait is noticeable.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work that is done sooner needs no bar.
const PATIENCE: Duration = Duration::from_millis(400);
const STEPS: u64 = 1000;

/// The bar of one piece of work; it disappears when dropped.
pub struct Progress {
    bar: ProgressBar,
    started: Instant,
}

impl Progress {
    /// A bar that nobody sees yet.
    pub fn new(what: &'static str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::hidden())
            .with_message(what);
        if let Ok(style) = ProgressStyle::with_template("{msg} {bar:40} {percent:>3} %") {
            bar.set_style(style);
        }
        Self {
            bar,
            started: Instant::now(),
        }
    }

    /// Shows the share that is done, from 0 to 1.
    pub fn tell(&self, share: f64) {
        if self.bar.is_hidden() && self.started.elapsed() > PATIENCE {
            // This target draws nothing unless standard error is a terminal.
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_position((share * STEPS as f64) as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
