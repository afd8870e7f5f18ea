//! Arrow IPC files, which Feather files are.

use std::io::{Read, Seek};

use arrow_ipc::reader::FileReader;

use super::arrow::{Growing, header};
use super::error::ReadError;
use super::roles::Request;
use super::table::Table;

/// The format's name in messages.
pub const FORMAT: &str = "Arrow";

/// Reads an Arrow table.
pub fn read(file: impl Read + Seek, request: &Request) -> Result<Table, ReadError> {
    let damaged = |reason: String| ReadError::Damaged {
        file: request.file.to_owned(),
        format: FORMAT,
        reason,
    };
    let reader = FileReader::try_new(file, None).map_err(|error| damaged(error.to_string()))?;
    let schema = reader.schema();
    let header = header(&schema);
    let roles = request.assign(&header)?;
    let mut columns = Growing::new(&schema, &header, &roles, request, FORMAT);
    let decoded = columns.decoded().to_vec();
    for batch in reader {
        let batch = batch.and_then(|batch| batch.project(&decoded));
        columns.append(&batch.map_err(|error| damaged(error.to_string()))?)?;
    }
    columns.finish()
}
