//! Parquet files.
//!
//! Only the columns that have a role are decoded, a batch of rows at a time. The Arrow schema that some writers store
//! beside the Parquet schema is ignored, so that a pandas category or a dictionary-encoded column is read as the plain
//! type that is behind it.

use std::sync::Arc;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use ::parquet::file::reader::ChunkReader;

use super::arrow::Growing;
use super::batch::{Batches, Meter, rows_of};
use super::error::ReadError;
use super::pages;
use super::roles::Request;
use super::table::Table;
use super::vectors::{Layout, Shared};

/// The format's name in messages.
pub const FORMAT: &str = "Parquet";

/// Rows that are decoded at a time: enough to amortise a batch, little beside the table.
const BATCH_ROWS: usize = 4096;

/// Rows with vectors that are decoded at a time.
const VECTORS: usize = 256;

/// Values that are decoded at a time, at most.
const BATCH_VALUES: usize = 1 << 19;

/// The rows of a Parquet table.
pub struct Groups<'a> {
    batches: ParquetRecordBatchReader,
    columns: Growing<'a>,
    request: &'a Request<'a>,
    rows: usize,
    bytes: u64,
    meter: Meter,
    /// Whether the first rows were given.
    is_begun: bool,
}

impl<'a> Groups<'a> {
    /// Reads the schema.
    pub fn open(
        file: impl ChunkReader + 'static,
        request: &'a Request<'a>,
        meter: &Meter,
    ) -> Result<Self, ReadError> {
        let bytes = file.len();
        let file = Shared::new(file);
        let damaged = |error: &dyn std::fmt::Display| damaged(request, error);
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let told = ArrowReaderMetadata::load(&file, options).map_err(|error| damaged(&error))?;
        let schema = Arc::clone(told.schema());
        let layout = Layout::look(&file, &told, damaged)?;
        let roles = request.assign(&layout.header)?;
        let mut rows: usize = 0;
        let starts = told.metadata().row_groups().iter().map(|group| {
            let start = rows;
            rows = rows.saturating_add(usize::try_from(group.num_rows()).unwrap_or(0));
            start
        });
        let starts: Arc<[usize]> = starts.collect();
        let columns = Growing::new(&schema, layout, roles, request, FORMAT).in_groups(starts);
        let decoded = columns.decoded().iter().copied();
        let mask = ProjectionMask::roots(told.parquet_schema(), decoded);
        pages::check(&file, told.metadata(), |leaf| mask.leaf_included(leaf))
            .map_err(|reason| damaged(&reason))?;
        let most = match columns.has_vectors() {
            true => VECTORS,
            false => BATCH_ROWS,
        };
        let batch = rows_of(BATCH_VALUES, columns.width()).min(most);
        let batches = ParquetRecordBatchReaderBuilder::new_with_metadata(file, told)
            .with_batch_size(batch)
            .with_projection(mask)
            .build()
            .map_err(|error| damaged(&error))?;
        Ok(Self {
            batches,
            columns,
            request,
            rows,
            bytes,
            meter: meter.clone(),
            is_begun: false,
        })
    }
}

impl Batches for Groups<'_> {
    fn next(&mut self, values: usize) -> Result<Option<Table>, ReadError> {
        while !self.columns.is_full(values) {
            let Some(batch) = self.batches.next() else {
                break;
            };
            let batch = batch.map_err(|error| damaged(self.request, &error))?;
            self.columns.append(&batch)?;
        }
        let share = self.columns.rows() as f64 / self.rows.max(1) as f64;
        self.meter.set((self.bytes as f64 * share) as u64);
        if self.columns.waiting() == 0 && self.is_begun {
            return Ok(None);
        }
        self.is_begun = true;
        self.columns.take().map(Some)
    }
}

fn damaged(request: &Request, error: &dyn std::fmt::Display) -> ReadError {
    ReadError::Damaged {
        file: request.file.to_owned(),
        format: FORMAT,
        reason: error.to_string(),
    }
}
