//! Vectors of Spark in Parquet: a struct `type, size, indices, values` a row, as `VectorUDT` of `pyspark.ml` writes it.
//!
//! The column `features` becomes the columns `features[0]`, `features[1]`, …; how many they are is not in the schema and
//! is told by the first row that has a vector. A sparse one (`type` 0) has indices that ascend, and a value for each; a
//! dense one (`type` 1) has all values, and its zeros are not stored either.

use std::sync::Arc;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use ::parquet::file::reader::{ChunkReader, Length};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int8Type, Int32Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Schema};
use bytes::Bytes;

use super::error::{Place, ReadError};
use super::pages;

/// Entries of all vectors together, at most, and one more for each byte of the file. Each is a column, which costs its name and
/// some 150 bytes; Spark hashes words into as many, if not told otherwise.
const MOST_ENTRIES: u64 = 1 << 18;

/// Rows that are looked at at a time for one that has a vector.
const LOOK: usize = 64;

/// What the columns of a file are called, and where each is: its field, and its entry if that holds vectors.
pub struct Layout {
    pub header: Vec<String>,
    pub fields: Vec<(usize, Option<usize>)>,
}

impl Layout {
    /// Fields that are a column each.
    pub fn plain(schema: &Schema) -> Self {
        Self::of(schema, &[])
    }

    /// Some fields hold vectors of so many entries.
    fn of(schema: &Schema, sizes: &[(usize, usize)]) -> Self {
        let (mut header, mut fields) = (Vec::new(), Vec::new());
        for (place, field) in schema.fields().iter().enumerate() {
            match sizes.iter().find(|(own, _)| *own == place) {
                Some(&(_, size)) => {
                    header.extend((0..size).map(|entry| format!("{}[{entry}]", field.name())));
                    fields.extend((0..size).map(|entry| (place, Some(entry))));
                }
                None => {
                    header.push(field.name().clone());
                    fields.push((place, None));
                }
            }
        }
        Self { header, fields }
    }

    /// Looks into a file for the sizes of its vectors.
    pub fn look<F: ChunkReader + 'static>(
        file: &Shared<F>,
        told: &ArrowReaderMetadata,
        damaged: impl Fn(&dyn std::fmt::Display) -> ReadError,
    ) -> Result<Self, ReadError> {
        let (schema, mut sizes) = (told.schema(), Vec::new());
        let most = MOST_ENTRIES.saturating_add(file.len());
        let mut entries = 0_u64;
        for (place, field) in schema.fields().iter().enumerate() {
            if !is_vector(field.data_type()) {
                continue;
            }
            let mask = ProjectionMask::roots(told.parquet_schema(), [place]);
            pages::check(file, told.metadata(), |leaf| mask.leaf_included(leaf))
                .map_err(|reason| damaged(&reason))?;
            let builder =
                ParquetRecordBatchReaderBuilder::new_with_metadata(file.clone(), told.clone());
            let batches = builder.with_projection(mask).with_batch_size(LOOK).build();
            for batch in batches.map_err(|error| damaged(&error))? {
                let batch = batch.map_err(|error| damaged(&error))?;
                let size = batch.columns().first().and_then(first_size);
                if let Some(size) = size {
                    entries = entries.saturating_add(size as u64);
                    if entries > most {
                        return Err(damaged(&format!(
                            "column '{}' has vectors of {size} entries, and all vectors of such a file have {most} at most",
                            field.name()
                        )));
                    }
                    sizes.push((place, size));
                    break;
                }
            }
        }
        Ok(Self::of(schema, &sizes))
    }
}

/// Whether a column holds vectors of Spark.
fn is_vector(kind: &DataType) -> bool {
    let DataType::Struct(fields) = kind else {
        return false;
    };
    let is_list = |kind: &DataType, of: &DataType| matches!(kind, DataType::List(field) if field.data_type() == of);
    let kind = |name: &str| fields.find(name).map(|(_, field)| field.data_type());
    fields.len() == 4
        && matches!(kind("type"), Some(DataType::Int8 | DataType::Int32))
        && kind("size") == Some(&DataType::Int32)
        && kind("indices").is_some_and(|own| is_list(own, &DataType::Int32))
        && kind("values").is_some_and(|own| is_list(own, &DataType::Float64))
}

/// The size of the first vector.
fn first_size(array: &ArrayRef) -> Option<usize> {
    let vectors = Vectors::of(array)?;
    let row = (0..array.len()).find(|&row| array.is_valid(row))?;
    Some(match vectors.is_dense(row) {
        true => vectors.range(vectors.values, row).len(),
        false => usize::try_from(vectors.size(row)?).ok()?,
    })
}

/// A column of vectors.
struct Vectors<'a> {
    kinds: &'a ArrayRef,
    sizes: &'a ArrayRef,
    indices: &'a ArrayRef,
    values: &'a ArrayRef,
}

impl<'a> Vectors<'a> {
    fn of(array: &'a ArrayRef) -> Option<Self> {
        let vectors = array.as_struct_opt()?;
        Some(Self {
            kinds: vectors.column_by_name("type")?,
            sizes: vectors.column_by_name("size")?,
            indices: vectors.column_by_name("indices")?,
            values: vectors.column_by_name("values")?,
        })
    }

    fn is_dense(&self, row: usize) -> bool {
        match self.kinds.data_type() {
            DataType::Int8 => self.kinds.as_primitive::<Int8Type>().value(row) == 1,
            _ => self.kinds.as_primitive::<Int32Type>().value(row) == 1,
        }
    }

    fn size(&self, row: usize) -> Option<i32> {
        let sizes = self.sizes.as_primitive::<Int32Type>();
        sizes.is_valid(row).then(|| sizes.value(row))
    }

    /// Where the elements of a row are in a list; nowhere if it has none.
    fn range(&self, list: &ArrayRef, row: usize) -> std::ops::Range<usize> {
        if list.is_null(row) {
            return 0..0;
        }
        let ends = list.as_list::<i32>().value_offsets();
        let end = |place: usize| ends.get(place).map_or(0, |&end| end.max(0) as usize);
        end(row)..end(row + 1)
    }
}

/// Calls `each` with the row, the entry and the value of everything that is not zero in vectors of `size` entries.
pub fn for_entries(
    array: &ArrayRef,
    size: usize,
    place: impl Fn(usize) -> Place,
    mut each: impl FnMut(usize, usize, f64),
) -> Result<(), ReadError> {
    let wrong = |row: usize, why: &str| {
        Err(ReadError::Cell {
            place: place(row),
            why: why.to_owned(),
        })
    };
    let Some(vectors) = Vectors::of(array) else {
        return wrong(0, "vectors were expected");
    };
    let indices = vectors.indices.as_list::<i32>().values();
    let numbers = vectors.values.as_list::<i32>().values();
    if indices.null_count() + numbers.null_count() > 0 {
        return wrong(0, "vectors from this row on have missing entries");
    }
    let indices = indices.as_primitive::<Int32Type>().values();
    let numbers = numbers.as_primitive::<Float64Type>().values();
    for row in 0..array.len() {
        if array.is_null(row) {
            return wrong(row, "the vector is missing; drop the row");
        }
        let values = numbers.get(vectors.range(vectors.values, row));
        let values = values.unwrap_or_default();
        if let Some(value) = values.iter().find(|value| !value.is_finite()) {
            return Err(ReadError::NotFinite {
                place: place(row),
                value: value.to_string(),
            });
        }
        if vectors.is_dense(row) {
            if values.len() != size {
                let why = format!("the vector has {} entries, others {size}", values.len());
                return wrong(row, &why);
            }
            for (entry, &value) in values.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                each(row, entry, value);
            }
            continue;
        }
        let own = vectors.size(row).and_then(|own| usize::try_from(own).ok());
        if own != Some(size) {
            let own = own.map_or("no".to_owned(), |own| own.to_string());
            let why = format!("the vector has {own} entries, others {size}");
            return wrong(row, &why);
        }
        let places = indices.get(vectors.range(vectors.indices, row));
        let places = places.unwrap_or_default();
        if places.len() != values.len() {
            let (a, b) = (places.len(), values.len());
            return wrong(row, &format!("the vector has {a} indices and {b} values"));
        }
        if places.windows(2).any(|pair| pair[0] >= pair[1]) {
            let why = "the indices of the vector do not ascend (sort them; each may be there once)";
            return wrong(row, why);
        }
        for (&entry, &value) in places.iter().zip(values) {
            match usize::try_from(entry).ok().filter(|&entry| entry < size) {
                Some(entry) => each(row, entry, value),
                None => {
                    let why = format!("index {entry} is outside of the vector's {size} entries");
                    return wrong(row, &why);
                }
            }
        }
    }
    Ok(())
}

/// A file that is read by several readers.
pub struct Shared<F>(Arc<F>);

impl<F> Shared<F> {
    /// The file.
    pub fn new(file: F) -> Self {
        Self(Arc::new(file))
    }
}

impl<F> Clone for Shared<F> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<F: ChunkReader> Length for Shared<F> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<F: ChunkReader> ChunkReader for Shared<F> {
    type T = F::T;

    fn get_read(&self, start: u64) -> ::parquet::errors::Result<Self::T> {
        self.0.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> ::parquet::errors::Result<Bytes> {
        self.0.get_bytes(start, length)
    }
}
