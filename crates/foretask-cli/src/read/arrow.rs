//! Record batches, as Parquet and Arrow files give them, appended to the columns of a table.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema};
use foretask::prepare::{Column, Texts, number_name, single_name, text_name};

use super::batch::rows_of;
use super::builder::{self, Categories, Expected, untold};
use super::category::{Category, Memo};
use super::error::{Place, ReadError};
use super::roles::{Request, Roles};
use super::table::{Kept, Origin, Table};
use super::vectors::{Layout, for_entries};

/// The table as it grows.
pub struct Growing<'a> {
    request: &'a Request<'a>,
    format: &'static str,
    header: Vec<String>,
    roles: Roles,
    /// The decoded columns in file order, which is their order in a batch.
    decoded: Vec<usize>,
    features: Vec<Column>,
    /// The codes of texts, of each feature that holds some.
    known: Vec<Memo<u32>>,
    label_names: Categories,
    labels: Vec<Option<Category>>,
    task_names: Categories,
    tasks: Vec<Category>,
    /// Rows that were read, and those of them that were taken.
    rows: usize,
    taken: usize,
    kept: Vec<Kept>,
    /// The first row of each row group.
    groups: Option<Arc<[usize]>>,
    /// The field of each column of the header.
    fields: Vec<usize>,
    vectors: Vec<Vector>,
    /// Entries of vectors that were read since the last time.
    entries: usize,
}

/// A field of vectors.
struct Vector {
    /// A column of it.
    column: usize,
    field: String,
    /// The feature that each entry is, if it is one.
    slots: Vec<Option<usize>>,
}

/// What an entry of a vector takes, in values.
const ENTRY: usize = 2;

impl<'a> Growing<'a> {
    pub fn new(
        schema: &Schema,
        layout: Layout,
        roles: Roles,
        request: &'a Request<'a>,
        format: &'static str,
    ) -> Self {
        let Layout { header, fields } = layout;
        let feature = |(own, &column): (usize, &usize)| match fields[column] {
            (_, Some(_)) => no_entries(),
            (field, None) => {
                let expected = request.expected(&header[column], own);
                empty(schema.field(field).data_type(), expected)
            }
        };
        let vectors = vectors(schema, &fields, &roles);
        let fields: Vec<usize> = fields.iter().map(|&(field, _)| field).collect();
        let kept = |&column: &usize| Kept {
            name: header[column].clone(),
            cells: Vec::new(),
        };
        let features = roles.features.iter().copied();
        let mut decoded: Vec<usize> = features
            .chain(roles.label)
            .chain(roles.task)
            .chain(roles.kept.iter().copied())
            .map(|column| fields[column])
            .collect();
        decoded.sort_unstable();
        decoded.dedup();
        Self {
            request,
            format,
            decoded,
            features: roles.features.iter().enumerate().map(feature).collect(),
            known: roles.features.iter().map(|_| Memo::default()).collect(),
            label_names: Categories::default(),
            labels: Vec::new(),
            task_names: Categories::default(),
            tasks: Vec::new(),
            rows: 0,
            taken: 0,
            kept: roles.kept.iter().map(kept).collect(),
            groups: None,
            fields,
            vectors,
            entries: 0,
            header,
            roles,
        }
    }

    /// With the first row of each row group, for messages.
    pub fn in_groups(mut self, groups: Arc<[usize]>) -> Self {
        self.groups = Some(groups);
        self
    }

    /// The cells of a row that are kept in memory; vectors are counted by their entries.
    pub fn width(&self) -> usize {
        let is_entry = |column: &&Column| matches!(column, Column::Sparse { .. });
        let entries = self.features.iter().filter(is_entry).count();
        (self.features.len() - entries + self.kept.len()).max(1)
    }

    /// Whether rows may have very many values.
    pub fn has_vectors(&self) -> bool {
        !self.vectors.is_empty()
    }

    /// Whether as many values wait as may be held.
    pub fn is_full(&self, values: usize) -> bool {
        let most = rows_of(values, self.width());
        self.waiting() >= most || ENTRY * self.entries >= values
    }

    /// Rows that were read since the last time.
    pub fn waiting(&self) -> usize {
        self.rows - self.taken
    }

    /// Rows that were read.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The columns that batches must hold, in the order of the file.
    pub fn decoded(&self) -> &[usize] {
        &self.decoded
    }

    /// Appends a batch of the decoded columns.
    pub fn append(&mut self, batch: &RecordBatch) -> Result<(), ReadError> {
        let groups = self.groups.clone();
        self.append_cells(batch).map_err(|mut error| {
            if let Some(place) = error.place_mut() {
                let origin = Origin {
                    groups,
                    ..Origin::default()
                };
                place.file = origin.in_group(&place.file, place.row - 1);
            }
            error
        })
    }

    fn append_cells(&mut self, batch: &RecordBatch) -> Result<(), ReadError> {
        let mut features = std::mem::take(&mut self.features);
        let mut known = std::mem::take(&mut self.known);
        let columns = features.iter_mut().zip(&mut known);
        for ((feature, known), &column) in columns.zip(&self.roles.features) {
            if !matches!(feature, Column::Sparse { .. }) {
                self.cells(batch, column)?.append_to(feature, known)?;
            }
        }
        let mut entries = self.entries;
        for vector in &self.vectors {
            let cells = Cells {
                name: &vector.field,
                ..self.cells(batch, vector.column)?
            };
            let waiting = self.waiting();
            let size = vector.slots.len();
            for_entries(
                cells.array,
                size,
                |row| cells.place(row),
                |row, entry, value| {
                    let slot = vector.slots.get(entry).copied().flatten();
                    let feature = slot.and_then(|slot| features.get_mut(slot));
                    if let Some(Column::Sparse { at, values, .. }) = feature {
                        at.push((waiting + row) as u32);
                        values.push(value);
                        entries += 1;
                    }
                },
            )?;
        }
        self.entries = entries;
        (self.features, self.known) = (features, known);
        if let Some(column) = self.roles.label {
            let mut names = std::mem::take(&mut self.label_names);
            let labels = self.cells(batch, column)?.categories("label", &mut names)?;
            self.labels.extend(labels);
            self.label_names = names;
        }
        if let Some(column) = self.roles.task {
            let mut names = std::mem::take(&mut self.task_names);
            let cells = self.cells(batch, column)?;
            let tasks: Result<Vec<_>, _> = (cells.categories("task", &mut names)?.into_iter())
                .enumerate()
                .map(|(row, task)| {
                    task.ok_or_else(|| ReadError::EmptyCategory {
                        place: cells.place(row),
                        role: "task",
                    })
                })
                .collect();
            self.tasks.extend(tasks?);
            self.task_names = names;
        }
        for (slot, &column) in self.roles.kept.iter().enumerate() {
            let cells = self.cells(batch, column)?;
            let texts: Result<Vec<_>, _> =
                (0..batch.num_rows()).map(|row| cells.text(row)).collect();
            self.kept[slot].cells.extend(texts?);
        }
        self.rows += batch.num_rows();
        Ok(())
    }

    /// The rows since the last time, without those that have no label.
    pub fn take(&mut self) -> Result<Table, ReadError> {
        let named = |column: Option<usize>| column.map(|column| self.header[column].clone());
        let (label, task) = (named(self.roles.label), named(self.roles.task));
        let rows = self.waiting();
        let before = std::mem::replace(&mut self.taken, self.rows);
        self.entries = 0;
        let is_entry = |column: &Column| matches!(column, Column::Sparse { .. });
        let array = !self.features.is_empty() && self.features.iter().all(is_entry);
        let columns = self.features.iter_mut().map(|column| {
            if let Column::Sparse { rows: own, .. } = column {
                *own = rows;
            }
            let next = match column {
                Column::Numbers(_) => Column::Numbers(Vec::new()),
                Column::Sparse { .. } => no_entries(),
                Column::Singles(_) => Column::Singles(Vec::new()),
                Column::Texts(_) => Column::Texts(Texts::default()),
                Column::Untold(_, why) => Column::Untold(0, *why),
            };
            std::mem::replace(column, next)
        });
        let columns = columns.collect();
        // Codes are those of the texts that go.
        self.known
            .iter_mut()
            .for_each(|known| *known = Memo::default());
        let frame = self
            .request
            .frame(&self.header, &self.roles, columns, rows)?;
        let labels = std::mem::take(&mut self.labels);
        let labelled: Vec<bool> = labels.iter().map(Option::is_some).collect();
        let skipped: Vec<usize> = (0..labelled.len()).filter(|&row| !labelled[row]).collect();
        let unlabelled = skipped.len();
        let tasks = std::mem::take(&mut self.tasks);
        let mut table = Table {
            frame,
            labels: self
                .roles
                .label
                .map(|_| labels.into_iter().map(Option::unwrap_or_default).collect()),
            tasks: self.roles.task.map(|_| tasks),
            label,
            task,
            unlabelled,
            // Vectors are features already.
            array,
            kept: self.kept.iter_mut().map(Kept::take).collect(),
            origin: Origin {
                before,
                skipped,
                groups: self.groups.clone(),
            },
        };
        if unlabelled > 0 {
            table.retain(&labelled);
        }
        Ok(table)
    }

    fn cells<'b>(&'b self, batch: &'b RecordBatch, column: usize) -> Result<Cells<'b>, ReadError> {
        let slot = self.decoded.binary_search(&self.fields[column]).ok();
        match slot.and_then(|slot| batch.columns().get(slot)) {
            Some(array) => Ok(Cells {
                file: self.request.file,
                rows_before: self.rows,
                array,
                name: &self.header[column],
            }),
            None => Err(ReadError::Damaged {
                file: self.request.file.to_owned(),
                format: self.format,
                reason: format!("column '{}' was not stored", self.header[column]),
            }),
        }
    }
}

/// The fields of vectors, and which features their entries are.
fn vectors(schema: &Schema, fields: &[(usize, Option<usize>)], roles: &Roles) -> Vec<Vector> {
    let mut vectors: Vec<(usize, Vector)> = Vec::new();
    for (slot, &column) in roles.features.iter().enumerate() {
        let (field, Some(entry)) = fields[column] else {
            continue;
        };
        let place = match vectors.iter().position(|(own, _)| *own == field) {
            Some(place) => place,
            None => {
                let size = fields.iter().filter(|(own, _)| *own == field).count();
                let vector = Vector {
                    column,
                    field: schema.field(field).name().clone(),
                    slots: vec![None; size],
                };
                vectors.push((field, vector));
                vectors.len() - 1
            }
        };
        vectors[place].1.slots[entry] = Some(slot);
    }
    vectors.into_iter().map(|(_, vector)| vector).collect()
}

/// A column of zeros.
fn no_entries() -> Column {
    Column::Sparse {
        rows: 0,
        at: Vec::new(),
        values: Vec::new(),
    }
}

/// A column of the kind that a type becomes.
fn empty(kind: &DataType, expected: Expected) -> Column {
    match kind {
        _ if is_text(kind) => Column::Texts(Texts::default()),
        _ if is_numeric(kind) && expected == Expected::Texts => Column::Texts(Texts::default()),
        DataType::Float32 => Column::Singles(Vec::new()),
        _ if is_numeric(kind) => Column::Numbers(Vec::new()),
        DataType::Null => Column::Numbers(Vec::new()),
        kind => untold(0, kind.is_temporal()),
    }
}

fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_text(values),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Binary => true,
        _ => false,
    }
}

fn is_numeric(kind: &DataType) -> bool {
    kind.is_integer()
        || kind.is_floating()
        || matches!(kind, DataType::Boolean | DataType::Decimal128(..))
}

/// One column of a batch.
struct Cells<'a> {
    file: &'a str,
    rows_before: usize,
    array: &'a ArrayRef,
    name: &'a str,
}

impl Cells<'_> {
    fn append_to(&self, column: &mut Column, known: &mut Memo<u32>) -> Result<(), ReadError> {
        match column {
            Column::Singles(values) => self.append_numbers::<Float32Type, _>(values, |value| value),
            Column::Numbers(values) => self.append_doubles(values),
            Column::Texts(texts) => {
                for row in 0..self.array.len() {
                    let text = self.str(row);
                    if let Some(code) = text.and_then(|text| known.get(text.as_bytes())) {
                        texts.repeat(code);
                        continue;
                    }
                    let name = self.name(row, "feature")?;
                    let name = name.filter(|name| !builder::is_missing(name));
                    let code = texts.push(name.as_deref());
                    if let Some(text) = text {
                        known.insert(text.as_bytes(), code);
                    }
                }
                Ok(())
            }
            Column::Sparse { rows, .. } | Column::Untold(rows, _) => {
                *rows += self.array.len();
                Ok(())
            }
        }
    }

    fn append_doubles(&self, values: &mut Vec<f64>) -> Result<(), ReadError> {
        match *self.array.data_type() {
            DataType::Float16 => self.append_numbers::<Float16Type, _>(values, f64::from),
            DataType::Float32 => self.append_numbers::<Float32Type, _>(values, f64::from),
            DataType::Float64 => self.append_numbers::<Float64Type, _>(values, |value| value),
            DataType::Int8 => self.append_numbers::<Int8Type, _>(values, f64::from),
            DataType::Int16 => self.append_numbers::<Int16Type, _>(values, f64::from),
            DataType::Int32 => self.append_numbers::<Int32Type, _>(values, f64::from),
            DataType::Int64 => self.append_numbers::<Int64Type, _>(values, |value| value as f64),
            DataType::UInt8 => self.append_numbers::<UInt8Type, _>(values, f64::from),
            DataType::UInt16 => self.append_numbers::<UInt16Type, _>(values, f64::from),
            DataType::UInt32 => self.append_numbers::<UInt32Type, _>(values, f64::from),
            DataType::UInt64 => self.append_numbers::<UInt64Type, _>(values, |value| value as f64),
            DataType::Decimal128(_, scale) => {
                let unit = 10f64.powi(i32::from(scale));
                self.append_numbers::<Decimal128Type, _>(values, |value| value as f64 / unit)
            }
            DataType::Boolean => {
                let array = self.array.as_boolean();
                values.extend(array.iter().map(|value| match value {
                    Some(value) => f64::from(u8::from(value)),
                    None => f64::NAN,
                }));
                Ok(())
            }
            _ => {
                values.resize(values.len() + self.array.len(), f64::NAN);
                Ok(())
            }
        }
    }

    fn append_numbers<T: ArrowPrimitiveType, V: num_like::Number>(
        &self,
        values: &mut Vec<V>,
        convert: impl Fn(T::Native) -> V,
    ) -> Result<(), ReadError> {
        let Some(array) = self.array.as_primitive_opt::<T>() else {
            values.resize(values.len() + self.array.len(), V::NAN);
            return Ok(());
        };
        let start = values.len();
        match array.null_count() {
            0 => values.extend(array.values().iter().map(|&value| convert(value))),
            _ => values.extend(array.iter().map(|value| value.map_or(V::NAN, &convert))),
        }
        let infinite = values[start..].iter().position(|value| value.is_infinite());
        match infinite {
            None => Ok(()),
            Some(row) => Err(ReadError::NotFinite {
                place: self.place(row),
                value: values[start + row].to_string(),
            }),
        }
    }

    /// The text of a row, where the column is stored as plain text and the row has one.
    fn str(&self, row: usize) -> Option<&str> {
        if self.array.is_null(row) {
            return None;
        }
        match self.array.data_type() {
            DataType::Utf8 => Some(self.array.as_string::<i32>().value(row)),
            DataType::LargeUtf8 => Some(self.array.as_string::<i64>().value(row)),
            DataType::Utf8View => Some(self.array.as_string_view().value(row)),
            _ => None,
        }
    }

    /// The names of classes or tasks; none where they are missing.
    fn categories(
        &self,
        role: &'static str,
        names: &mut Categories,
    ) -> Result<Vec<Option<Category>>, ReadError> {
        (0..self.array.len())
            .map(|row| match self.str(row) {
                Some(text) => Ok(names.of(text)),
                None => Ok(self.name(row, role)?.and_then(|name| names.of(&name))),
            })
            .collect()
    }

    /// The name of a class, task or level; none if it is missing.
    fn name(&self, row: usize, role: &'static str) -> Result<Option<String>, ReadError> {
        let array = self.array;
        if array.is_null(row) {
            return Ok(None);
        }
        let text = |text: &str| match role {
            "feature" => Some(text_name(text)),
            _ => builder::category(text).map(|name| name.to_string()),
        };
        Ok(match array.data_type() {
            DataType::Utf8 => text(array.as_string::<i32>().value(row)),
            DataType::LargeUtf8 => text(array.as_string::<i64>().value(row)),
            DataType::Utf8View => text(array.as_string_view().value(row)),
            DataType::Binary => {
                let bytes = array.as_binary::<i32>().value(row);
                text(std::str::from_utf8(bytes).map_err(|_| ReadError::NotUtf8 {
                    place: self.place(row),
                })?)
            }
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                let key = dictionary.normalized_keys().get(row).copied().unwrap_or(0);
                let values = Cells {
                    array: dictionary.values(),
                    ..*self
                };
                match key < values.array.len() {
                    true => values.name(key, role)?,
                    false => None,
                }
            }
            DataType::Boolean => Some(array.as_boolean().value(row).to_string()),
            DataType::Int8 => Some(array.as_primitive::<Int8Type>().value(row).to_string()),
            DataType::Int16 => Some(array.as_primitive::<Int16Type>().value(row).to_string()),
            DataType::Int32 => Some(array.as_primitive::<Int32Type>().value(row).to_string()),
            DataType::Int64 => Some(array.as_primitive::<Int64Type>().value(row).to_string()),
            DataType::UInt8 => Some(array.as_primitive::<UInt8Type>().value(row).to_string()),
            DataType::UInt16 => Some(array.as_primitive::<UInt16Type>().value(row).to_string()),
            DataType::UInt32 => Some(array.as_primitive::<UInt32Type>().value(row).to_string()),
            DataType::UInt64 => Some(array.as_primitive::<UInt64Type>().value(row).to_string()),
            DataType::Float32 => single_name(array.as_primitive::<Float32Type>().value(row)),
            DataType::Float64 => number_name(array.as_primitive::<Float64Type>().value(row)),
            DataType::Decimal128(_, scale) => {
                let value = array.as_primitive::<Decimal128Type>().value(row) as f64;
                number_name(value / 10f64.powi(i32::from(*scale)))
            }
            other => {
                return Err(ReadError::NotCategory {
                    file: self.file.to_owned(),
                    role,
                    column: self.name.to_owned(),
                    found: other.to_string(),
                });
            }
        })
    }

    /// The cell as text, as it is copied to the output.
    fn text(&self, row: usize) -> Result<String, ReadError> {
        let text = |text: &str| Ok(text.to_owned());
        match self.array.data_type() {
            _ if self.array.is_null(row) => Ok(String::new()),
            DataType::Utf8 => text(self.array.as_string::<i32>().value(row)),
            DataType::LargeUtf8 => text(self.array.as_string::<i64>().value(row)),
            DataType::Utf8View => text(self.array.as_string_view().value(row)),
            _ => Ok(self.name(row, "kept")?.unwrap_or_default()),
        }
    }

    fn place(&self, row: usize) -> Place {
        Place {
            file: self.file.to_owned(),
            row: self.rows_before + row + 1,
            column: self.name.to_owned(),
        }
    }
}

/// What both precisions have in common.
mod num_like {
    pub trait Number: Copy + ToString {
        const NAN: Self;
        fn is_infinite(self) -> bool;
    }

    impl Number for f32 {
        const NAN: Self = f32::NAN;
        fn is_infinite(self) -> bool {
            f32::is_infinite(self)
        }
    }

    impl Number for f64 {
        const NAN: Self = f64::NAN;
        fn is_infinite(self) -> bool {
            f64::is_infinite(self)
        }
    }
}
