//! A panic inside a decoder becomes an error.
//!
//! A damaged file must end in a message, but the Parquet and `.npy` decoders assert what a sound
//! file guarantees (a changed byte is enough: "offset + len out of bounds"). Their panics are caught
//! here, silently on the decoding thread and untouched everywhere else. This needs the default
//! `panic = "unwind"`.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use super::error::ReadError;

thread_local! {
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Runs a decoder of `format` on `file`.
pub fn guarded<T>(
    file: &str,
    format: &'static str,
    decode: impl FnOnce() -> Result<T, ReadError>,
) -> Result<T, ReadError> {
    silence_decoding_threads();
    DECODING.set(true);
    // Nothing that the decoder may have left half done outlives this call.
    let outcome = panic::catch_unwind(AssertUnwindSafe(decode));
    DECODING.set(false);
    outcome.unwrap_or_else(|panic| {
        let reason = format!("the decoder gave up: {}", message(panic.as_ref()));
        Err(ReadError::Damaged {
            file: file.to_owned(),
            format,
            reason,
        })
    })
}

/// Wraps the panic hook once, so that a panic that will be reported as an error is not also printed.
fn silence_decoding_threads() {
    static WRAPPED: Once = Once::new();
    WRAPPED.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !DECODING.get() {
                usual(panic);
            }
        }));
    });
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("for an unknown reason")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_that_names_the_file() {
        let decode = || -> Result<(), ReadError> { panic!("level {} is too high", 7) };
        let message = guarded("a.parquet", "Parquet", decode).map_err(|error| error.to_string());
        assert!(
            message.is_err_and(
                |text| text.contains("a.parquet") && text.contains("level 7 is too high")
            )
        );
        assert!(!DECODING.get());
    }
}
