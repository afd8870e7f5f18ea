//! A progress bar on standard error: only on a terminal, and only once the wait is noticeable.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work that is done sooner needs no bar.
const PATIENCE: Duration = Duration::from_millis(400);
/// From here on people like to know what would be faster.
const LONG: Duration = Duration::from_secs(8);
/// How often the time is brought up to date.
const TICK: Duration = Duration::from_millis(250);
const STEPS: u64 = 1000;

/// The bar of one piece of work; it disappears when dropped.
pub struct Progress {
    bar: ProgressBar,
    /// Dropped, it ends the watch.
    over: Option<Sender<()>>,
    watch: Option<JoinHandle<()>>,
}

impl Progress {
    /// A bar that nobody sees yet, with the share that is done and the time that is left.
    pub fn new(what: &'static str) -> Self {
        Self::with_hint(what, None)
    }

    /// The same, with what to say if it takes long.
    pub fn with_hint(what: &'static str, hint: Option<&'static str>) -> Self {
        let style = "{msg} {bar:40} {percent:>3} %, {eta} left";
        let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::hidden())
            .with_message(what);
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        let (over, end) = mpsc::channel::<()>();
        let shown = bar.clone();
        // Work may say nothing for a while, so somebody else looks at the clock.
        let watch = thread::Builder::new().spawn(move || {
            if end.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            // This target draws nothing unless standard error is a terminal.
            shown.set_draw_target(ProgressDrawTarget::stderr());
            shown.enable_steady_tick(TICK);
            if end.recv_timeout(LONG - PATIENCE) == Err(RecvTimeoutError::Timeout)
                && let Some(hint) = hint
            {
                shown.println(hint);
            }
        });
        Self {
            bar,
            over: Some(over),
            // Without a thread there is no bar, which is no failure.
            watch: watch.ok(),
        }
    }

    /// Shows the share that is done, from 0 to 1.
    pub fn tell(&self, share: f64) {
        self.bar.set_position((share * STEPS as f64) as u64);
    }
}

/// A bar for files that are read one after the other, with the rows and bytes so far.
pub struct Reading {
    bar: Progress,
    what: &'static str,
    /// The bytes of all files, and of those that are done.
    all: u64,
    done: u64,
    rows: usize,
}

impl Reading {
    /// Of files with so many bytes together.
    pub fn new(what: &'static str, all: u64) -> Self {
        let bar = Progress::new(what);
        let (done, rows) = (0, 0);
        Self {
            bar,
            what,
            all,
            done,
            rows,
        }
    }

    /// Tells of so many more rows, `bytes` into the present file.
    pub fn tell(&mut self, rows: usize, bytes: u64) {
        self.rows += rows;
        let read = (self.done + bytes).min(self.all);
        let (rows, what) = (HumanCount(self.rows as u64), self.what);
        let (read_shown, all) = (HumanBytes(read), HumanBytes(self.all));
        self.bar
            .bar
            .set_message(format!("{what}: {rows} rows, {read_shown} of {all}"));
        if self.all > 0 {
            self.bar.tell(read as f64 / self.all as f64);
        }
    }

    /// The present file, of so many bytes, is done.
    pub fn next(&mut self, bytes: u64) {
        self.done += bytes;
        self.tell(0, 0);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.over = None;
        if let Some(watch) = self.watch.take() {
            // It has nothing to tell, and cannot have panicked in a way that matters here.
            let _ = watch.join();
        }
        self.bar.finish_and_clear();
    }
}
