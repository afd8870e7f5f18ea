//! Parquet files.
//!
//! Only the columns that have a role are decoded, a batch of rows at a time: memory is the table and one batch. The
//! Arrow schema that some writers store beside the Parquet schema is ignored, so that a pandas category or a
//! dictionary-encoded column is read as the plain type that is behind it.

use std::sync::Arc;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use ::parquet::file::reader::ChunkReader;

use super::arrow::{Growing, header};
use super::error::ReadError;
use super::roles::Request;
use super::table::Table;

/// The format's name in messages.
pub const FORMAT: &str = "Parquet";

/// Rows that are decoded at a time: enough to amortise a batch, little beside the table.
const BATCH_ROWS: usize = 4096;

/// Reads a Parquet table.
pub fn read(file: impl ChunkReader + 'static, request: &Request) -> Result<Table, ReadError> {
    let damaged = |reason: String| ReadError::Damaged {
        file: request.file.to_owned(),
        format: FORMAT,
        reason,
    };
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options)
        .map_err(|error| damaged(error.to_string()))?;
    let schema = Arc::clone(builder.schema());
    let header = header(&schema);
    let roles = request.assign(&header)?;
    let mut columns = Growing::new(&schema, &header, &roles, request, FORMAT);
    let decoded = columns.decoded().iter().copied();
    let mask = ProjectionMask::roots(builder.parquet_schema(), decoded);
    let batches = builder
        .with_batch_size(BATCH_ROWS)
        .with_projection(mask)
        .build()
        .map_err(|error| damaged(error.to_string()))?;
    for batch in batches {
        columns.append(&batch.map_err(|error| damaged(error.to_string()))?)?;
    }
    columns.finish()
}
