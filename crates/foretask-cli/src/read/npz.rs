//! NumPy `.npz` archives: a zip file of `.npy` arrays.
//!
//! The features are one array, `X` unless the user names another, of shape (rows, …); axes beyond
//! the second are flattened in C order, as `X.reshape(len(X), -1)` does. They have no names, so they
//! are called `f0`, `f1`, …; against a model only their number is compared. The arrays are read side by
//! side, some rows at a time; one in Fortran order has no rows before its end, and is read whole.
//!
//! An archive may be damaged or hostile: sizes in a header are believed only as far as the bytes
//! that are stored, and every array is read to its end so that its checksum is verified (`member.rs`).

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use foretask::prepare::{Column, Frame, number_name, single_name, text_name};
use npyz::half::f16;
use npyz::{DType, Deserialize, NpyFile, NpyHeader, Order, TypeChar};
use zip::ZipArchive;

use super::batch::{Batches, Meter, rows_of};
use super::builder::Categories;
use super::category::Category;
use super::error::{Names, Place, ReadError};
use super::member::{Member, Stored};
use super::packed::{TOO_MUCH, is_too_much};
use super::roles::Request;
use super::table::{Kept, Origin, Table};

/// The format's name in messages.
pub const FORMAT: &str = "NumPy .npz";

/// The feature array when the user names none.
const FEATURE_ARRAY: &str = "X";

/// The label arrays that are looked for when the user names none, best first.
const LABEL_ARRAYS: [&str; 4] = ["y", "label", "class", "target"];

/// Bytes that the header of an array may have, as in NumPy: most have about a hundred.
const MOST_HEADER: usize = 10_000;

/// How deep brackets may be in a header, the outermost of which are braces: a record of arrays has four. Each level
/// doubles, or worse, what it takes to parse.
const MOST_NESTED: usize = 4;

/// Opens the file once more: each array is read at a place of its own.
pub type Opener = Box<dyn Fn() -> io::Result<Box<dyn Stored>>>;

/// The rows of an archive, some at a time.
pub struct Arrays<'a> {
    request: &'a Request<'a>,
    names: Vec<String>,
    features: Features,
    labels: Option<Labels>,
    tasks: Option<Labels>,
    groups: Option<Labels>,
    rows: usize,
    row: usize,
    bytes: u64,
    meter: Meter,
}

impl<'a> Arrays<'a> {
    /// Reads the headers.
    pub fn open(open: Opener, request: &'a Request<'a>, meter: &Meter) -> Result<Self, ReadError> {
        let mut archive = Archive::open(open, request)?;
        let roles = archive.roles()?;
        let array = archive.array(&roles.features)?;
        let (rows, width) = array.rows_and_width()?;
        let (names, slots) = feature_names(width, &roles.features, request)?;
        let features = array.into_features(width, slots)?;
        let mut labels = |name: Option<String>, role: &'static str| match name {
            Some(name) => {
                let array = archive.array(&name)?;
                array.into_labels(role, rows, &roles.features).map(Some)
            }
            None => Ok(None),
        };
        let (label, task) = (labels(roles.label, "label")?, labels(roles.task, "task")?);
        Ok(Self {
            request,
            names,
            features,
            labels: label,
            tasks: task,
            groups: labels(roles.group, "group")?,
            rows,
            row: 0,
            bytes: archive.bytes,
            meter: meter.clone(),
        })
    }
}

impl Batches for Arrays<'_> {
    fn next(&mut self, values: usize) -> Result<Option<Table>, ReadError> {
        if self.row == self.rows {
            return Ok(None);
        }
        let before = self.row;
        let rows = rows_of(values, self.names.len()).min(self.rows - before);
        let columns = self.features.next(before, rows, &self.names)?;
        let named = |array: &mut Option<Labels>| match array {
            Some(array) => array.next(before, rows).map(Some),
            None => Ok(None),
        };
        let (labels, tasks) = (named(&mut self.labels)?, named(&mut self.tasks)?);
        let kept = match (named(&mut self.groups)?, &self.groups) {
            (Some(cells), Some(array)) => vec![Kept {
                name: array.name.clone(),
                cells: cells.iter().map(|cell| cell.as_ref().to_owned()).collect(),
            }],
            _ => Vec::new(),
        };
        self.row += rows;
        if self.row == self.rows {
            self.features.end()?;
            let labels = [&mut self.labels, &mut self.tasks, &mut self.groups];
            labels.into_iter().flatten().try_for_each(Labels::end)?;
        }
        let share = self.row as f64 / self.rows as f64;
        self.meter.set((self.bytes as f64 * share) as u64);
        let frame = Frame::new(self.names.clone(), columns, rows)
            .map_err(|error| damaged(self.request.file, &error))?;
        Ok(Some(Table {
            frame,
            labels,
            tasks,
            array: true,
            kept,
            origin: Origin {
                before,
                ..Origin::default()
            },
            ..Table::default()
        }))
    }
}

/// Numbers as they are read.
type Numbers<V> = Box<dyn Iterator<Item = io::Result<V>>>;

/// The rows of the features.
struct Features {
    values: Values,
    /// Where the columns of the file go, in the order of the file.
    slots: Vec<usize>,
    member: Member,
    file: String,
    array: String,
}

enum Values {
    Singles(Numbers<f32>),
    Doubles(Numbers<f64>),
}

impl Features {
    /// The columns of the next rows.
    fn next(
        &mut self,
        before: usize,
        rows: usize,
        names: &[String],
    ) -> Result<Vec<Column>, ReadError> {
        let (file, array, slots) = (&self.file, &self.array, &self.slots);
        let place = |row: usize, slot: usize| Place {
            file: file.clone(),
            row: before + row + 1,
            column: names.get(slot).cloned().unwrap_or_default(),
        };
        let unreadable = |error: io::Error| damaged_array(file, array, &error);
        Ok(match &mut self.values {
            Values::Singles(next) => {
                let columns = filled(next, rows, slots, unreadable, place)?;
                columns.into_iter().map(Column::Singles).collect()
            }
            Values::Doubles(next) => {
                let columns = filled(next, rows, slots, unreadable, place)?;
                columns.into_iter().map(Column::Numbers).collect()
            }
        })
    }

    fn end(&mut self) -> Result<(), ReadError> {
        let end = self.member.verify();
        end.map_err(|error| damaged_array(&self.file, &self.array, &error))
    }
}

/// The next rows, column by column.
fn filled<V: Copy + Into<f64>>(
    next: &mut Numbers<V>,
    rows: usize,
    slots: &[usize],
    unreadable: impl Fn(io::Error) -> ReadError,
    place: impl Fn(usize, usize) -> Place,
) -> Result<Vec<Vec<V>>, ReadError> {
    let mut columns: Vec<Vec<V>> = slots.iter().map(|_| Vec::new()).collect();
    for column in &mut columns {
        if column.try_reserve_exact(rows).is_err() {
            return Err(unreadable(io::Error::other("it does not fit in memory")));
        }
    }
    for row in 0..rows {
        for &slot in slots {
            let value = next.next().unwrap_or_else(too_short).map_err(&unreadable)?;
            let wide: f64 = value.into();
            if !wide.is_finite() {
                return Err(ReadError::NotFinite {
                    place: place(row, slot),
                    value: wide.to_string(),
                });
            }
            if let Some(column) = columns.get_mut(slot) {
                column.push(value);
            }
        }
    }
    Ok(columns)
}

/// The header of an array, of which the text is looked at before it is parsed.
fn header(member: &mut impl Read) -> io::Result<NpyHeader> {
    let wrong = |has: String| {
        let why = format!("the header of an array has {has}");
        io::Error::new(io::ErrorKind::InvalidData, why)
    };
    let mut bytes = vec![0; 10];
    member.read_exact(&mut bytes)?;
    // Magic, version, and the length of the text in two bytes, or in four from version 2 on.
    if bytes[6] > 1 {
        bytes.resize(12, 0);
        member.read_exact(&mut bytes[10..])?;
    }
    let start = bytes.len();
    let digits = bytes[8..].iter().rev();
    let length = digits.fold(0, |length, &byte| 256 * length + usize::from(byte));
    if length > MOST_HEADER {
        return Err(wrong(format!("more than {MOST_HEADER} bytes")));
    }
    bytes.resize(start + length, 0);
    member.read_exact(&mut bytes[start..])?;
    let mut depth = 0usize;
    for byte in &bytes[start..] {
        let inside = depth > 0;
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MOST_NESTED || (inside && *byte == b'{') {
            return Err(wrong("brackets in brackets".to_owned()));
        }
    }
    NpyHeader::from_reader(bytes.as_slice())
}

fn too_short<T>() -> io::Result<T> {
    Err(io::ErrorKind::UnexpectedEof.into())
}

/// The name of each row, as it is read; none if it has none.
struct Labels {
    next: Box<dyn Iterator<Item = io::Result<Option<String>>>>,
    /// A task may be a single name, for every row.
    single: Option<Category>,
    known: Categories,
    role: &'static str,
    member: Member,
    file: String,
    name: String,
}

impl Labels {
    fn next(&mut self, before: usize, rows: usize) -> Result<Vec<Category>, ReadError> {
        if let Some(single) = &self.single {
            return Ok(vec![single.clone(); rows]);
        }
        (before..before + rows).map(|row| self.one(row)).collect()
    }

    fn one(&mut self, row: usize) -> Result<Category, ReadError> {
        let place = || Place {
            file: self.file.clone(),
            row: row + 1,
            column: self.name.clone(),
        };
        let next = self.next.next().unwrap_or_else(too_short);
        match next {
            Ok(Some(name)) if !name.is_empty() => Ok(self.known.exactly(&name)),
            Ok(_) => Err(ReadError::EmptyCategory {
                place: place(),
                role: self.role,
            }),
            Err(error) if error.kind() == io::ErrorKind::InvalidData && is_utf8(&error) => {
                Err(ReadError::NotUtf8 { place: place() })
            }
            Err(error) => Err(damaged_array(&self.file, &self.name, &error)),
        }
    }

    fn end(&mut self) -> Result<(), ReadError> {
        let end = self.member.verify();
        end.map_err(|error| damaged_array(&self.file, &self.name, &error))
    }
}

/// Whether bytes were no text.
fn is_utf8(error: &io::Error) -> bool {
    let inner = error.get_ref();
    inner.is_some_and(|inner| inner.is::<std::string::FromUtf8Error>())
}

/// The names of the arrays in their roles.
struct ArrayRoles {
    features: String,
    label: Option<String>,
    task: Option<String>,
    group: Option<String>,
}

/// The names of the features, and for each column of the array the column of the table it goes to.
fn feature_names(
    width: usize,
    array: &str,
    request: &Request,
) -> Result<(Vec<String>, Vec<usize>), ReadError> {
    if let Some(model) = request.preparation() {
        let model: Vec<String> = model
            .columns
            .iter()
            .map(|column| column.name.clone())
            .collect();
        if model.len() != width {
            let (file, array) = (request.file.to_owned(), array.to_owned());
            return Err(ReadError::FeatureCount {
                file,
                array,
                expected: model.len(),
                got: width,
            });
        }
        return Ok((model, (0..width).collect()));
    }
    let names: Vec<String> = (0..width).map(|column| format!("f{column}")).collect();
    let order = request.in_first_order((0..width).collect(), &names)?;
    let mut slots = vec![0; width];
    for (slot, &column) in order.iter().enumerate() {
        slots[column] = slot;
    }
    Ok((
        order.iter().map(|&column| names[column].clone()).collect(),
        slots,
    ))
}

/// An open archive.
struct Archive<'a> {
    open: Opener,
    zip: ZipArchive<BufReader<Box<dyn Stored>>>,
    names: Vec<String>,
    /// What the whole of it takes.
    bytes: u64,
    request: &'a Request<'a>,
}

impl<'a> Archive<'a> {
    fn open(open: Opener, request: &'a Request<'a>) -> Result<Self, ReadError> {
        let damaged = |error: &dyn std::fmt::Display| damaged(request.file, error);
        let mut file = open().map_err(|error| damaged(&error))?;
        let bytes = file
            .seek(SeekFrom::End(0))
            .map_err(|error| damaged(&error))?;
        let zip = ZipArchive::new(BufReader::new(file)).map_err(|error| damaged(&error))?;
        let mut names = Vec::new();
        let mut other = None;
        for name in zip.file_names() {
            let name = name.map_err(|error| damaged(&error))?;
            match npyz::npz::array_name_from_file_name(&name) {
                Some(array) => names.push(array.to_owned()),
                None => other = other.or(Some(name.into_owned())),
            }
        }
        if let (Some(held), true) = (other, names.is_empty()) {
            return Err(ReadError::Zipped {
                file: request.file.to_owned(),
                held,
            });
        }
        Ok(Self {
            open,
            zip,
            names,
            bytes,
            request,
        })
    }

    fn roles(&self) -> Result<ArrayRoles, ReadError> {
        let request = self.request;
        let name = |position: usize| self.names[position].clone();
        let features = name(self.feature_array()?);
        let label = match request.needs_label() {
            true => Some(name(request.find_label(&self.names, &LABEL_ARRAYS)?)),
            false => None,
        };
        let task = match request.needs_task() {
            true => request.find_task(&self.names)?.map(name),
            false => None,
        };
        if label.as_ref() == Some(&features) {
            return Err(request.two_roles(&features, "the label", "the features"));
        }
        if task.as_ref() == Some(&features) {
            return Err(request.two_roles(&features, "the task", "the features"));
        }
        if task.is_some() && task == label {
            return Err(request.two_roles(
                label.as_deref().unwrap_or_default(),
                "the label",
                "the task",
            ));
        }
        Ok(ArrayRoles {
            features,
            label,
            task,
            group: request.find_group(&self.names)?.map(name),
        })
    }

    fn feature_array(&self) -> Result<usize, ReadError> {
        match self.request.columns.features.as_deref() {
            None => self.request.find(&self.names, FEATURE_ARRAY, "feature"),
            Some([name]) => self.request.find(&self.names, name, "feature"),
            Some(_) => Err(ReadError::SeveralArrays {
                file: self.request.file.to_owned(),
                available: Names(self.names.clone()),
            }),
        }
    }

    /// Opens an array and checks that its header promises no more than is stored.
    fn array(&mut self, name: &str) -> Result<Array<'a>, ReadError> {
        let file = self.request.file;
        let entry = self
            .zip
            .by_name(&npyz::npz::file_name_from_array_name(name))
            .map_err(|error| damaged(file, &error))?;
        if is_too_much(entry.compressed_size().min(self.bytes), entry.size()) {
            return Err(damaged_array(file, name, &TOO_MUCH));
        }
        let again = (self.open)().map_err(|error| damaged(file, &error))?;
        let mut member =
            Member::new(again, &entry).map_err(|error| damaged_array(file, name, &error))?;
        let header = header(&mut member).map_err(|error| damaged(file, &error))?;
        let array = Array {
            shape: Vec::new(),
            member,
            header,
            file,
            name: name.to_owned(),
        };
        if array.header.uses_pickled_array() {
            return Err(array.damaged(
                "it holds Python objects; save it with a plain dtype, such as astype(str)",
            ));
        }
        let size = |axes: &[usize]| {
            axes.iter()
                .try_fold(1usize, |product, &axis| product.checked_mul(axis))
        };
        let shape: Option<Vec<usize>> = array
            .header
            .shape()
            .iter()
            .map(|&axis| usize::try_from(axis).ok())
            .collect();
        let bytes = shape
            .as_deref()
            .and_then(size)
            .and_then(|count| count.checked_mul(array.header.dtype().num_bytes()?));
        match (shape, bytes) {
            (Some(shape), Some(bytes)) if bytes as u64 <= array.member.left() => {
                Ok(Array { shape, ..array })
            }
            _ => Err(array.damaged("its header promises more than is stored")),
        }
    }
}

/// One array of an archive, its header read.
struct Array<'a> {
    member: Member,
    header: NpyHeader,
    shape: Vec<usize>,
    file: &'a str,
    name: String,
}

impl Array<'_> {
    /// The first axis, and the product of the others.
    fn rows_and_width(&self) -> Result<(usize, usize), ReadError> {
        match self.shape.split_first() {
            None => Err(ReadError::ArrayShape {
                file: self.file.to_owned(),
                array: self.name.clone(),
            }),
            Some((0, _)) => Err(ReadError::NoRows {
                file: self.file.to_owned(),
            }),
            Some((&rows, rest)) => match rest.iter().product() {
                0 => Err(ReadError::NoFeatures {
                    file: self.file.to_owned(),
                    available: Names(vec![self.name.clone()]),
                }),
                width => Ok((rows, width)),
            },
        }
    }

    /// The rows, one after the other.
    fn into_features(self, width: usize, slots: Vec<usize>) -> Result<Features, ReadError> {
        let is_single = scalar(&self.header) == Some((TypeChar::Float, 4));
        let values = match is_single {
            true => Values::Singles(self.in_rows(self.elements(|value: f32| value)?, width)?),
            false => Values::Doubles(self.in_rows(self.doubles()?, width)?),
        };
        Ok(Features {
            values,
            slots,
            file: self.file.to_owned(),
            array: self.name,
            member: self.member,
        })
    }

    fn doubles(&self) -> Result<Numbers<f64>, ReadError> {
        match scalar(&self.header) {
            Some((TypeChar::Float, 2)) => self.elements(|value: f16| f64::from(value)),
            Some((TypeChar::Float, 8)) => self.elements(|value: f64| value),
            Some((TypeChar::Int, 1)) => self.elements(|value: i8| f64::from(value)),
            Some((TypeChar::Int, 2)) => self.elements(|value: i16| f64::from(value)),
            Some((TypeChar::Int, 4)) => self.elements(|value: i32| f64::from(value)),
            Some((TypeChar::Int, 8)) => self.elements(|value: i64| value as f64),
            Some((TypeChar::Uint, 1)) => self.elements(|value: u8| f64::from(value)),
            Some((TypeChar::Uint, 2)) => self.elements(|value: u16| f64::from(value)),
            Some((TypeChar::Uint, 4)) => self.elements(|value: u32| f64::from(value)),
            Some((TypeChar::Uint, 8)) => self.elements(|value: u64| value as f64),
            Some((TypeChar::Bool, _)) => self.elements(|value: bool| f64::from(u8::from(value))),
            _ => Err(ReadError::NonNumericColumn {
                file: self.file.to_owned(),
                column: self.name.clone(),
                example: format!("its dtype is {}", self.header.dtype().descr()),
            }),
        }
    }

    /// The elements row by row; those of an array in Fortran order are all read first.
    fn in_rows<V: Copy + Default + 'static>(
        &self,
        mut elements: Numbers<V>,
        width: usize,
    ) -> Result<Numbers<V>, ReadError> {
        if self.header.order() == Order::C {
            return Ok(elements);
        }
        let rows = self.shape[0];
        let mut values = Vec::new();
        if values.try_reserve_exact(rows * width).is_err() {
            return Err(self.damaged("it does not fit in memory"));
        }
        values.resize(rows * width, V::default());
        for position in 0..width {
            let column = c_position(position, &self.shape[1..]);
            for row in 0..rows {
                let value = elements.next().unwrap_or_else(too_short);
                values[row * width + column] =
                    value.map_err(|error| damaged_array(self.file, &self.name, &error))?;
            }
        }
        Ok(Box::new(values.into_iter().map(Ok)))
    }

    /// One name per row; a task may also be a single name, for every row.
    fn into_labels(
        self,
        role: &'static str,
        rows: usize,
        features: &str,
    ) -> Result<Labels, ReadError> {
        let is_single = role == "task" && self.shape.is_empty();
        let count: usize = self.shape.iter().product();
        if !is_single && (count != rows || self.shape.first() != Some(&rows)) {
            let axes: Vec<String> = self.shape.iter().map(usize::to_string).collect();
            return Err(ReadError::ArrayLength {
                file: self.file.to_owned(),
                array: self.name,
                shape: format!("({})", axes.join(", ")),
                features: features.to_owned(),
                rows,
            });
        }
        let next = match scalar(&self.header) {
            Some((TypeChar::Bool, _)) => self.elements(|value: bool| Some(value.to_string())),
            Some((TypeChar::Int, 1)) => self.elements(|value: i8| Some(value.to_string())),
            Some((TypeChar::Int, 2)) => self.elements(|value: i16| Some(value.to_string())),
            Some((TypeChar::Int, 4)) => self.elements(|value: i32| Some(value.to_string())),
            Some((TypeChar::Int, 8)) => self.elements(|value: i64| Some(value.to_string())),
            Some((TypeChar::Uint, 1)) => self.elements(|value: u8| Some(value.to_string())),
            Some((TypeChar::Uint, 2)) => self.elements(|value: u16| Some(value.to_string())),
            Some((TypeChar::Uint, 4)) => self.elements(|value: u32| Some(value.to_string())),
            Some((TypeChar::Uint, 8)) => self.elements(|value: u64| Some(value.to_string())),
            Some((TypeChar::Float, 2)) => self.elements(|value: f16| number_name(value.into())),
            Some((TypeChar::Float, 4)) => self.elements(single_name),
            Some((TypeChar::Float, 8)) => self.elements(number_name),
            Some((TypeChar::UnicodeStr, _)) => self.elements(|text: String| Some(text_name(&text))),
            Some((TypeChar::ByteStr, _)) => self.try_elements(|bytes: Vec<u8>| {
                let text = String::from_utf8(bytes);
                let text = text.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error));
                Ok(Some(text_name(&text?)))
            }),
            _ => Err(ReadError::NotCategory {
                file: self.file.to_owned(),
                role,
                column: self.name.clone(),
                found: format!("dtype {}", self.header.dtype().descr()),
            }),
        }?;
        let mut labels = Labels {
            next,
            single: None,
            known: Categories::default(),
            role,
            file: self.file.to_owned(),
            name: self.name,
            member: self.member,
        };
        if is_single {
            labels.single = Some(labels.one(0)?);
        }
        Ok(labels)
    }

    /// The elements in the order of the file, as what they are converted to.
    fn elements<T: Deserialize + 'static, V: 'static>(
        &self,
        convert: impl Fn(T) -> V + 'static,
    ) -> Result<Numbers<V>, ReadError>
    where
        T::TypeReader: 'static,
    {
        self.try_elements(move |element| Ok(convert(element)))
    }

    fn try_elements<T: Deserialize + 'static, V: 'static>(
        &self,
        convert: impl Fn(T) -> io::Result<V> + 'static,
    ) -> Result<Numbers<V>, ReadError>
    where
        T::TypeReader: 'static,
    {
        let elements = NpyFile::with_header(self.header.clone(), self.member.clone())
            .data::<T>()
            .map_err(|error| damaged_array(self.file, &self.name, &error))?;
        Ok(Box::new(
            elements.map(move |element| element.and_then(&convert)),
        ))
    }

    fn damaged(&self, reason: &str) -> ReadError {
        damaged_array(self.file, &self.name, &reason)
    }
}

/// The kind and size of the elements, unless they are records.
fn scalar(header: &NpyHeader) -> Option<(TypeChar, u64)> {
    match header.dtype() {
        DType::Plain(kind) => Some((kind.type_char(), kind.size_field())),
        _ => None,
    }
}

/// The C-order position of the element that is at `position` in Fortran order.
fn c_position(mut position: usize, axes: &[usize]) -> usize {
    let mut stride: usize = axes.iter().product();
    let mut result = 0;
    for &axis in axes {
        stride /= axis;
        result += position % axis * stride;
        position /= axis;
    }
    result
}

fn damaged(file: &str, reason: &dyn std::fmt::Display) -> ReadError {
    ReadError::Damaged {
        file: file.to_owned(),
        format: FORMAT,
        reason: reason.to_string(),
    }
}

fn damaged_array(file: &str, array: &str, reason: &dyn std::fmt::Display) -> ReadError {
    damaged(file, &format!("array '{array}': {reason}"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn headers_that_take_for_ever_to_parse_are_refused() {
        let header = |text: &str| {
            let mut bytes = b"\x93NUMPY\x02\x00".to_vec();
            bytes.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
            bytes.extend(text.as_bytes());
            super::header(&mut bytes.as_slice())
        };
        let plain = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }\n";
        assert_eq!(header(plain).unwrap().shape(), [3, 4]);
        let record = "{'descr': [('a', '<f8', (2, 2))], 'fortran_order': False, 'shape': (3,), }";
        header(record).unwrap();
        for text in [
            "{".repeat(40),
            "[".repeat(40),
            format!("{{{}", "[1],".repeat(5000)),
        ] {
            let error = header(&text).err().unwrap().to_string();
            assert!(error.starts_with("the header of an array has"), "{error}");
        }
    }
}
