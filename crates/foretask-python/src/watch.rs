//! Long work on a thread of its own, while the calling one listens: to Ctrl-C, and for what is done.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::marker::Ungil;
use pyo3::prelude::*;

use crate::errors::{caught, mistake, room};

/// How often the calling thread looks up: a person takes a tenth of a second for at once.
const PERIOD: Duration = Duration::from_millis(50);
/// The stack of a main thread, which work had before it moved.
const STACK: usize = 8 << 20;

/// The share of the work that is done.
pub struct Share(AtomicU64);

impl Share {
    /// Tells it.
    pub fn tell(&self, share: f64) {
        self.0.store(share.to_bits(), Ordering::Relaxed);
    }

    fn told(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }
}

/// Runs `work` while other Python threads run. Meanwhile signals are looked at, and `tell`, a function of Python,
/// is told the share that is done; if either raises, `switch` is thrown and the exception is that of the call.
pub fn watched<T: Ungil + Send>(
    py: Python<'_>,
    switch: &AtomicBool,
    tell: Option<&Py<PyAny>>,
    work: impl FnOnce(&Share) -> foretask::Result<T> + Ungil + Send,
) -> PyResult<T> {
    room()?;
    switch.store(false, Ordering::Relaxed);
    let share = Share(AtomicU64::new(0f64.to_bits()));
    let share = &share;
    let listen = |last: &mut f64| {
        Python::attach(|py| {
            py.check_signals()?;
            let told = share.told();
            if let Some(tell) = tell.filter(|_| told != *last) {
                *last = told;
                tell.call1(py, (told,))?;
            }
            Ok(())
        })
    };
    py.detach(|| {
        std::thread::scope(|scope| {
            let (done, finished) = channel();
            let own = std::thread::Builder::new().stack_size(STACK);
            let worker = own.spawn_scoped(scope, move || {
                let result = caught(|| work(share));
                // Nobody listens any more only if the calling thread is gone, and we with it.
                let _ = done.send(result);
            });
            worker.map_err(PyErr::from)?;
            let (mut last, mut raised) = (f64::NAN, None);
            loop {
                match finished.recv_timeout(PERIOD) {
                    Ok(result) => return raised.map_or(result, Err),
                    Err(RecvTimeoutError::Disconnected) => return Err(mistake()),
                    Err(RecvTimeoutError::Timeout) if raised.is_some() => {}
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(error) = listen(&mut last) {
                            switch.store(true, Ordering::Relaxed);
                            raised = Some(error);
                        }
                    }
                }
            }
        })
    })
}
