//! Parquet files.
//!
//! Only the columns that have a role are decoded, a batch of rows at a time, and each batch is
//! written transposed into the row-major values: memory is the table and one batch. The Arrow
//! schema that some writers store beside the Parquet schema is ignored, so that a pandas category
//! or a dictionary-encoded column is read as the plain type that is behind it.

use std::fs::File;
use std::sync::Arc;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema};

use super::category;
use super::error::{Place, ReadError};
use super::roles::{Request, Roles};
use super::table::{Table, Values};

/// The format's name in messages.
pub const FORMAT: &str = "Parquet";

/// Rows that are decoded at a time: enough to amortise a batch, little beside the table.
const BATCH_ROWS: usize = 4096;

/// Reads a Parquet table.
pub fn read(file: File, request: &Request) -> Result<Table, ReadError> {
    let damaged = |reason: String| ReadError::Damaged {
        file: request.file.to_owned(),
        format: FORMAT,
        reason,
    };
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options)
        .map_err(|error| damaged(error.to_string()))?;
    let schema = Arc::clone(builder.schema());
    let header: Vec<String> = schema
        .fields()
        .iter()
        .map(|field| field.name().clone())
        .collect();
    let roles = request.assign(&header)?;
    let mut columns = FileColumns::new(&schema, &header, &roles, request)?;

    let mask = ProjectionMask::roots(builder.parquet_schema(), columns.decoded.iter().copied());
    let batches = builder
        .with_batch_size(BATCH_ROWS)
        .with_projection(mask)
        .build()
        .map_err(|error| damaged(error.to_string()))?;
    for batch in batches {
        columns.append(&batch.map_err(|error| damaged(error.to_string()))?)?;
    }
    let features = roles
        .features
        .iter()
        .map(|&column| header[column].clone())
        .collect();
    let FileColumns {
        values,
        labels,
        tasks,
        rows,
        ..
    } = columns;
    Ok(Table {
        features,
        values,
        labels,
        tasks,
        rows,
    })
}

/// The table as it grows, and where its columns are in a batch.
struct FileColumns<'a> {
    request: &'a Request<'a>,
    header: &'a [String],
    roles: &'a Roles,
    /// The decoded columns in file order, which is their order in a batch.
    decoded: Vec<usize>,
    values: Values,
    labels: Option<Vec<String>>,
    tasks: Option<Vec<String>>,
    rows: usize,
}

impl<'a> FileColumns<'a> {
    fn new(
        schema: &Schema,
        header: &'a [String],
        roles: &'a Roles,
        request: &'a Request<'a>,
    ) -> Result<Self, ReadError> {
        let kind = |column: usize| schema.field(column).data_type();
        if let Some(&column) = roles
            .features
            .iter()
            .find(|&&column| !is_numeric(kind(column)))
        {
            return Err(ReadError::NonNumericColumn {
                file: request.file.to_owned(),
                column: header[column].clone(),
                example: format!("it holds {}", kind(column)),
            });
        }
        let single = roles
            .features
            .iter()
            .all(|&column| *kind(column) == DataType::Float32);
        let mut decoded: Vec<usize> = roles
            .features
            .iter()
            .copied()
            .chain(roles.label)
            .chain(roles.task)
            .collect();
        decoded.sort_unstable();
        decoded.dedup();
        Ok(Self {
            request,
            header,
            roles,
            decoded,
            values: if single {
                Values::F32(Vec::new())
            } else {
                Values::F64(Vec::new())
            },
            labels: roles.label.map(|_| Vec::new()),
            tasks: roles.task.map(|_| Vec::new()),
            rows: 0,
        })
    }

    fn append(&mut self, batch: &RecordBatch) -> Result<(), ReadError> {
        let batch = Batch {
            batch,
            decoded: &self.decoded,
            file: self.request.file,
            header: self.header,
            rows_before: self.rows,
        };
        match &mut self.values {
            Values::F32(values) => {
                batch.append_features(&self.roles.features, values, |column, slot| {
                    column.store_single(slot)
                })?
            }
            Values::F64(values) => {
                batch.append_features(&self.roles.features, values, |column, slot| {
                    column.store_double(slot)
                })?
            }
        }
        if let (Some(column), Some(labels)) = (self.roles.label, &mut self.labels) {
            batch.append_categories(column, "label", labels)?;
        }
        if let (Some(column), Some(tasks)) = (self.roles.task, &mut self.tasks) {
            batch.append_categories(column, "task", tasks)?;
        }
        self.rows += batch.batch.num_rows();
        Ok(())
    }
}

/// One batch of decoded rows.
struct Batch<'a> {
    batch: &'a RecordBatch,
    decoded: &'a [usize],
    file: &'a str,
    header: &'a [String],
    rows_before: usize,
}

impl Batch<'_> {
    fn column(&self, column: usize) -> Result<Column<'_>, ReadError> {
        let array = self
            .decoded
            .binary_search(&column)
            .ok()
            .and_then(|slot| self.batch.columns().get(slot));
        match array {
            Some(array) => Ok(Column {
                batch: self,
                array,
                name: &self.header[column],
            }),
            None => Err(ReadError::Damaged {
                file: self.file.to_owned(),
                format: FORMAT,
                reason: format!("column '{}' was not stored", self.header[column]),
            }),
        }
    }

    /// Appends this batch's rows, zero at first, and lets `store` fill them column by column.
    fn append_features<V: Copy + Default>(
        &self,
        features: &[usize],
        values: &mut Vec<V>,
        store: impl Fn(&Column<'_>, Slot<'_, V>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let start = values.len();
        values.resize(start + self.batch.num_rows() * features.len(), V::default());
        for (position, &column) in features.iter().enumerate() {
            let slot = Slot {
                rows: &mut values[start..],
                position,
                width: features.len(),
            };
            store(&self.column(column)?, slot)?;
        }
        Ok(())
    }

    fn append_categories(
        &self,
        column: usize,
        role: &'static str,
        names: &mut Vec<String>,
    ) -> Result<(), ReadError> {
        let column = self.column(column)?;
        for row in 0..self.batch.num_rows() {
            names.push(column.category(row, role)?);
        }
        Ok(())
    }
}

/// Where the values of one column go: `position`, `position + width`, … of row-major rows.
struct Slot<'a, V> {
    rows: &'a mut [V],
    position: usize,
    width: usize,
}

/// One column of a batch.
struct Column<'a> {
    batch: &'a Batch<'a>,
    array: &'a ArrayRef,
    name: &'a str,
}

impl Column<'_> {
    fn store_single(&self, slot: Slot<'_, f32>) -> Result<(), ReadError> {
        self.store::<Float32Type, _>(slot, |value| value)
    }

    fn store_double(&self, slot: Slot<'_, f64>) -> Result<(), ReadError> {
        match *self.array.data_type() {
            DataType::Float16 => self.store::<Float16Type, _>(slot, f64::from),
            DataType::Float32 => self.store::<Float32Type, _>(slot, f64::from),
            DataType::Float64 => self.store::<Float64Type, _>(slot, |value| value),
            DataType::Int8 => self.store::<Int8Type, _>(slot, f64::from),
            DataType::Int16 => self.store::<Int16Type, _>(slot, f64::from),
            DataType::Int32 => self.store::<Int32Type, _>(slot, f64::from),
            DataType::Int64 => self.store::<Int64Type, _>(slot, |value| value as f64),
            DataType::UInt8 => self.store::<UInt8Type, _>(slot, f64::from),
            DataType::UInt16 => self.store::<UInt16Type, _>(slot, f64::from),
            DataType::UInt32 => self.store::<UInt32Type, _>(slot, f64::from),
            DataType::UInt64 => self.store::<UInt64Type, _>(slot, |value| value as f64),
            DataType::Decimal128(_, scale) => {
                let unit = 10f64.powi(i32::from(scale));
                self.store::<Decimal128Type, _>(slot, |value| value as f64 / unit)
            }
            DataType::Boolean => self.store_booleans(slot),
            _ => Err(self.not_numeric()),
        }
    }

    fn store<T: ArrowPrimitiveType, V: Copy + Into<f64>>(
        &self,
        slot: Slot<'_, V>,
        convert: impl Fn(T::Native) -> V,
    ) -> Result<(), ReadError> {
        self.refuse_nulls()?;
        let array = self
            .array
            .as_primitive_opt::<T>()
            .ok_or_else(|| self.not_numeric())?;
        let places = slot.rows.iter_mut().skip(slot.position).step_by(slot.width);
        for (row, (place, &value)) in places.zip(array.values().iter()).enumerate() {
            *place = convert(value);
            let value: f64 = (*place).into();
            if !value.is_finite() {
                return Err(ReadError::NotFinite {
                    place: self.place(row),
                    value: value.to_string(),
                });
            }
        }
        Ok(())
    }

    fn store_booleans(&self, slot: Slot<'_, f64>) -> Result<(), ReadError> {
        self.refuse_nulls()?;
        let array = self
            .array
            .as_boolean_opt()
            .ok_or_else(|| self.not_numeric())?;
        let places = slot.rows.iter_mut().skip(slot.position).step_by(slot.width);
        for (place, value) in places.zip(array.values().iter()) {
            *place = f64::from(u8::from(value));
        }
        Ok(())
    }

    fn refuse_nulls(&self) -> Result<(), ReadError> {
        if self.array.null_count() == 0 {
            return Ok(());
        }
        match (0..self.array.len()).find(|&row| self.array.is_null(row)) {
            Some(row) => Err(ReadError::EmptyCell {
                place: self.place(row),
            }),
            None => Ok(()),
        }
    }

    fn category(&self, row: usize, role: &'static str) -> Result<String, ReadError> {
        let array = self.array;
        let name = if array.is_null(row) {
            None
        } else {
            match array.data_type() {
                DataType::Utf8 => Some(category::from_text(array.as_string::<i32>().value(row))),
                DataType::LargeUtf8 => {
                    Some(category::from_text(array.as_string::<i64>().value(row)))
                }
                DataType::Utf8View => Some(category::from_text(array.as_string_view().value(row))),
                DataType::Binary => Some(self.text(array.as_binary::<i32>().value(row), row)?),
                DataType::Boolean => Some(array.as_boolean().value(row).to_string()),
                DataType::Int8 => Some(array.as_primitive::<Int8Type>().value(row).to_string()),
                DataType::Int16 => Some(array.as_primitive::<Int16Type>().value(row).to_string()),
                DataType::Int32 => Some(array.as_primitive::<Int32Type>().value(row).to_string()),
                DataType::Int64 => Some(array.as_primitive::<Int64Type>().value(row).to_string()),
                DataType::UInt8 => Some(array.as_primitive::<UInt8Type>().value(row).to_string()),
                DataType::UInt16 => Some(array.as_primitive::<UInt16Type>().value(row).to_string()),
                DataType::UInt32 => Some(array.as_primitive::<UInt32Type>().value(row).to_string()),
                DataType::UInt64 => Some(array.as_primitive::<UInt64Type>().value(row).to_string()),
                DataType::Float32 => {
                    category::from_single(array.as_primitive::<Float32Type>().value(row))
                }
                DataType::Float64 => {
                    category::from_number(array.as_primitive::<Float64Type>().value(row))
                }
                other => {
                    return Err(ReadError::NotCategory {
                        file: self.batch.file.to_owned(),
                        role,
                        column: self.name.to_owned(),
                        found: other.to_string(),
                    });
                }
            }
        };
        name.filter(|name| !name.is_empty())
            .ok_or_else(|| ReadError::EmptyCategory {
                place: self.place(row),
                role,
            })
    }

    fn text(&self, bytes: &[u8], row: usize) -> Result<String, ReadError> {
        let text = std::str::from_utf8(bytes).map_err(|_| ReadError::NotUtf8 {
            place: self.place(row),
        })?;
        Ok(category::from_text(text))
    }

    fn not_numeric(&self) -> ReadError {
        ReadError::NonNumericColumn {
            file: self.batch.file.to_owned(),
            column: self.name.to_owned(),
            example: format!("it holds {}", self.array.data_type()),
        }
    }

    fn place(&self, row: usize) -> Place {
        Place {
            file: self.batch.file.to_owned(),
            row: self.batch.rows_before + row + 1,
            column: self.name.to_owned(),
        }
    }
}

/// Whether a column can be a feature.
fn is_numeric(kind: &DataType) -> bool {
    kind.is_integer()
        || kind.is_floating()
        || matches!(kind, DataType::Boolean | DataType::Decimal128(..))
}
