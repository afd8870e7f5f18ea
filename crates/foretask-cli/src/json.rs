//! The machine-readable reports as text.

pub use foretask_page::json::{by_class, confusion, forecast, relatedness, study};
use serde_json::{Map, Value};

use crate::failure::Failure;

/// The text of a report.
pub fn text(report: Map<String, Value>) -> Result<String, Failure> {
    let mut text = serde_json::to_string_pretty(&Value::Object(report))?;
    text.push('\n');
    Ok(text)
}
