//! Threads that survive a fork.
//!
//! A forked process has the memory of its parent but none of its threads: work given to the pool that the parent
//! started would wait for ever, as `multiprocessing` with "fork" does to every library that keeps threads. A process
//! that is not the one that loaded this module gets a pool of its own.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// The process that loaded the module.
static HOME: OnceLock<u32> = OnceLock::new();
/// The pool of a forked process. Nothing at home takes this lock, so that no fork can come upon it locked.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Remembers the process that loads the module.
pub fn remember() {
    HOME.get_or_init(std::process::id);
}

/// Runs `work` on threads of this process.
pub fn here<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let own = std::process::id();
    if HOME.get().is_none_or(|home| *home == own) {
        return work();
    }
    match pool(own) {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

fn pool(own: u32) -> Option<Arc<ThreadPool>> {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    match &*pool {
        Some((process, pool)) if *process == own => Some(pool.clone()),
        _ => {
            let new = Arc::new(ThreadPoolBuilder::new().build().ok()?);
            if let Some((_, old)) = pool.replace((own, new.clone())) {
                // Its threads are those of the parent: there is nobody to wait for.
                std::mem::forget(old);
            }
            Some(new)
        }
    }
}
