//! Arrow IPC files, which Feather files are.

use std::io::{Read, Seek};

use arrow_ipc::reader::FileReader;

use super::arrow::{Growing, header};
use super::batch::{Batches, rows_of};
use super::error::ReadError;
use super::roles::Request;
use super::table::Table;

/// The format's name in messages.
pub const FORMAT: &str = "Arrow";

/// The rows of an Arrow table.
pub struct Messages<'a, R: Read + Seek> {
    reader: FileReader<R>,
    columns: Growing<'a>,
    request: &'a Request<'a>,
    /// Whether the first rows were given.
    is_begun: bool,
}

impl<'a, R: Read + Seek> Messages<'a, R> {
    /// Reads the schema.
    pub fn open(file: R, request: &'a Request<'a>) -> Result<Self, ReadError> {
        let reader = FileReader::try_new(file, None).map_err(|error| damaged(request, &error))?;
        let schema = reader.schema();
        let header = header(&schema);
        let roles = request.assign(&header)?;
        let columns = Growing::new(&schema, header, roles, request, FORMAT);
        Ok(Self {
            reader,
            columns,
            request,
            is_begun: false,
        })
    }
}

impl<R: Read + Seek> Batches for Messages<'_, R> {
    fn next(&mut self, values: usize) -> Result<Option<Table>, ReadError> {
        let most = rows_of(values, self.columns.width());
        while self.columns.waiting() < most {
            let Some(batch) = self.reader.next() else {
                break;
            };
            let batch = batch.and_then(|batch| batch.project(self.columns.decoded()));
            let batch = batch.map_err(|error| damaged(self.request, &error))?;
            self.columns.append(&batch)?;
        }
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
