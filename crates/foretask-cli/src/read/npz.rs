//! NumPy `.npz` archives: a zip file of `.npy` arrays.
//!
//! The features are one array, `X` unless the user names another, of shape (rows, …); axes beyond
//! the second are flattened in C order, as `X.reshape(len(X), -1)` does. They have no names, so they
//! are called `f0`, `f1`, …; against a model only their number is compared. Elements are read one
//! at a time into their final place, whatever the dtype and the order of the axes: memory is the
//! table and a buffer.
//!
//! An archive may be damaged or hostile: sizes in a header are believed only as far as the bytes
//! that are stored, and every array is read to its end so that its checksum is verified.

use std::collections::HashMap;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use foretask::prepare::{Column, Frame, number_name, single_name, text_name};
use npyz::half::f16;
use npyz::{DType, Deserialize, NpyFile, NpyHeader, Order, TypeChar};
use zip::ZipArchive;
use zip::read::ZipFile;

use super::category::Category;
use super::error::{Names, Place, ReadError};
use super::packed::{TOO_MUCH, is_too_much};
use super::roles::Request;
use super::table::{Kept, Table};

/// The format's name in messages.
pub const FORMAT: &str = "NumPy .npz";

/// The feature array when the user names none.
const FEATURE_ARRAY: &str = "X";

/// The label arrays that are looked for when the user names none, best first.
const LABEL_ARRAYS: [&str; 4] = ["y", "label", "class", "target"];

/// Bytes that are decompressed at a time.
const BUFFER_BYTES: usize = 1 << 16;

/// Bytes that can be read from any place.
pub trait Stored: Read + Seek {}

impl<T: Read + Seek> Stored for T {}

/// Reads an archive.
pub fn read(file: impl Stored + 'static, request: &Request) -> Result<Table, ReadError> {
    let mut archive = Archive::open(file, request)?;
    let roles = archive.roles()?;

    let array = archive.array(&roles.features)?;
    let (rows, width) = array.rows_and_width()?;
    let (features, slots) = feature_names(width, &roles.features, request)?;
    let columns = array.into_values(width, &slots, &features)?.columns(width);

    let labels = match roles.label {
        Some(name) => Some(archive.array(&name)?.into_categories(
            "label",
            rows,
            &roles.features,
        )?),
        None => None,
    };
    let tasks = match roles.task {
        Some(name) => Some(
            archive
                .array(&name)?
                .into_categories("task", rows, &roles.features)?,
        ),
        None => None,
    };
    let kept = match roles.group {
        Some(name) => {
            let array = archive.array(&name)?;
            let cells = array.into_categories("group", rows, &roles.features)?;
            vec![Kept { name, cells }]
        }
        None => Vec::new(),
    };
    let frame =
        Frame::new(features, columns, rows).map_err(|error| damaged(request.file, &error))?;
    Ok(Table {
        frame,
        labels: labels.map(shared),
        tasks: tasks.map(shared),
        array: true,
        kept,
        ..Table::default()
    })
}

/// Rows with the same name share it.
fn shared(names: Vec<String>) -> Vec<Category> {
    let mut known: HashMap<String, Category> = HashMap::new();
    let category = |name: String| match known.get(&name) {
        Some(category) => category.clone(),
        None => {
            let category = Category::from(name.as_str());
            known.insert(name, category.clone());
            category
        }
    };
    names.into_iter().map(category).collect()
}

/// The values of an array, row by row.
enum Values {
    F32(Vec<f32>),
    F64(Vec<f64>),
}

impl Values {
    /// The columns of an array of some width.
    fn columns(self, width: usize) -> Vec<Column> {
        fn every<T: Copy>(values: &[T], start: usize, step: usize) -> Vec<T> {
            values.iter().skip(start).step_by(step).copied().collect()
        }
        (0..width)
            .map(|column| match &self {
                Self::F32(values) => Column::Singles(every(values, column, width)),
                Self::F64(values) => Column::Numbers(every(values, column, width)),
            })
            .collect()
    }
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
    zip: ZipArchive<BufReader<Box<dyn Stored>>>,
    names: Vec<String>,
    /// What the whole of it takes.
    bytes: u64,
    request: &'a Request<'a>,
}

impl<'a> Archive<'a> {
    fn open(mut file: impl Stored + 'static, request: &'a Request<'a>) -> Result<Self, ReadError> {
        let end = file.seek(SeekFrom::End(0));
        let bytes = end.map_err(|error| damaged(request.file, &error))?;
        let zip = ZipArchive::new(BufReader::new(Box::new(file) as Box<dyn Stored>))
            .map_err(|error| damaged(request.file, &error))?;
        let mut names = Vec::new();
        for name in zip.file_names() {
            let name = name.map_err(|error| damaged(request.file, &error))?;
            names.extend(npyz::npz::array_name_from_file_name(&name).map(str::to_owned));
        }
        Ok(Self {
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
    fn array(&mut self, name: &str) -> Result<Array<'_>, ReadError> {
        let file = self.request.file;
        let entry = self
            .zip
            .by_name(&npyz::npz::file_name_from_array_name(name))
            .map_err(|error| damaged(file, &error))?;
        let stored = entry.size();
        if is_too_much(entry.compressed_size().min(self.bytes), stored) {
            return Err(damaged_array(file, name, &TOO_MUCH));
        }
        let mut reader = BufReader::with_capacity(BUFFER_BYTES, entry);
        let header = NpyHeader::from_reader(&mut reader).map_err(|error| damaged(file, &error))?;
        let array = Array {
            shape: Vec::new(),
            reader,
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
            (Some(shape), Some(bytes)) if bytes as u64 <= stored => Ok(Array { shape, ..array }),
            _ => Err(array.damaged("its header promises more than is stored")),
        }
    }
}

/// One array of an archive, its header read.
struct Array<'a> {
    reader: BufReader<ZipFile<'a, BufReader<Box<dyn Stored>>>>,
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

    fn into_values(
        self,
        width: usize,
        slots: &[usize],
        names: &[String],
    ) -> Result<Values, ReadError> {
        // Which column of the table each column of the file is, in the order of the file.
        let columns = match self.header.order() {
            Order::C => slots.to_vec(),
            Order::Fortran => (0..width)
                .map(|column| slots[c_position(column, &self.shape[1..])])
                .collect(),
        };
        match scalar(&self.header) {
            Some((TypeChar::Float, 4)) => self
                .fill(&columns, names, |value: f32| value)
                .map(Values::F32),
            Some((TypeChar::Float, 2)) => {
                self.doubles(&columns, names, |value: f16| f64::from(value))
            }
            Some((TypeChar::Float, 8)) => self.doubles(&columns, names, |value: f64| value),
            Some((TypeChar::Int, 1)) => self.doubles(&columns, names, |value: i8| f64::from(value)),
            Some((TypeChar::Int, 2)) => {
                self.doubles(&columns, names, |value: i16| f64::from(value))
            }
            Some((TypeChar::Int, 4)) => {
                self.doubles(&columns, names, |value: i32| f64::from(value))
            }
            Some((TypeChar::Int, 8)) => self.doubles(&columns, names, |value: i64| value as f64),
            Some((TypeChar::Uint, 1)) => {
                self.doubles(&columns, names, |value: u8| f64::from(value))
            }
            Some((TypeChar::Uint, 2)) => {
                self.doubles(&columns, names, |value: u16| f64::from(value))
            }
            Some((TypeChar::Uint, 4)) => {
                self.doubles(&columns, names, |value: u32| f64::from(value))
            }
            Some((TypeChar::Uint, 8)) => self.doubles(&columns, names, |value: u64| value as f64),
            Some((TypeChar::Bool, _)) => {
                self.doubles(&columns, names, |value: bool| f64::from(u8::from(value)))
            }
            _ => Err(ReadError::NonNumericColumn {
                file: self.file.to_owned(),
                column: self.name,
                example: format!("its dtype is {}", self.header.dtype().descr()),
            }),
        }
    }

    fn doubles<T: Deserialize>(
        self,
        columns: &[usize],
        names: &[String],
        convert: impl Fn(T) -> f64,
    ) -> Result<Values, ReadError> {
        self.fill(columns, names, convert).map(Values::F64)
    }

    /// Reads every element into its place of the row-major values.
    fn fill<T: Deserialize, V: Copy + Default + Into<f64>>(
        mut self,
        columns: &[usize],
        names: &[String],
        convert: impl Fn(T) -> V,
    ) -> Result<Vec<V>, ReadError> {
        let (rows, width) = (self.shape[0], columns.len());
        let mut values = Vec::new();
        if values.try_reserve_exact(rows * width).is_err() {
            return Err(self.damaged("it does not fit in memory"));
        }
        values.resize(rows * width, V::default());
        let (file, array) = (self.file, self.name.clone());
        let mut put = |row: usize, column: usize, element: io::Result<T>| {
            let value = convert(element.map_err(|error| damaged_array(file, &array, &error))?);
            let wide: f64 = value.into();
            if !wide.is_finite() {
                let place = Place {
                    file: file.to_owned(),
                    row: row + 1,
                    column: names[column].clone(),
                };
                return Err(ReadError::NotFinite {
                    place,
                    value: wide.to_string(),
                });
            }
            values[row * width + column] = value;
            Ok(())
        };
        let order = self.header.order();
        {
            let mut elements = self.elements::<T>()?;
            let mut next = || {
                elements
                    .next()
                    .unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into()))
            };
            match order {
                Order::C => {
                    for row in 0..rows {
                        for &column in columns {
                            put(row, column, next())?;
                        }
                    }
                }
                Order::Fortran => {
                    for &column in columns {
                        for row in 0..rows {
                            put(row, column, next())?;
                        }
                    }
                }
            }
        }
        self.verify_checksum()?;
        Ok(values)
    }

    /// One name per row; a task may also be a single name, for every row.
    fn into_categories(
        mut self,
        role: &'static str,
        rows: usize,
        features: &str,
    ) -> Result<Vec<String>, ReadError> {
        let single = role == "task" && self.shape.is_empty();
        let count: usize = self.shape.iter().product();
        if !single && (count != rows || self.shape.first() != Some(&rows)) {
            let axes: Vec<String> = self.shape.iter().map(usize::to_string).collect();
            return Err(ReadError::ArrayLength {
                file: self.file.to_owned(),
                array: self.name,
                shape: format!("({})", axes.join(", ")),
                features: features.to_owned(),
                rows,
            });
        }
        let names = match scalar(&self.header) {
            Some((TypeChar::Bool, _)) => self.names(role, |value: bool| Some(value.to_string())),
            Some((TypeChar::Int, 1)) => self.names(role, |value: i8| Some(value.to_string())),
            Some((TypeChar::Int, 2)) => self.names(role, |value: i16| Some(value.to_string())),
            Some((TypeChar::Int, 4)) => self.names(role, |value: i32| Some(value.to_string())),
            Some((TypeChar::Int, 8)) => self.names(role, |value: i64| Some(value.to_string())),
            Some((TypeChar::Uint, 1)) => self.names(role, |value: u8| Some(value.to_string())),
            Some((TypeChar::Uint, 2)) => self.names(role, |value: u16| Some(value.to_string())),
            Some((TypeChar::Uint, 4)) => self.names(role, |value: u32| Some(value.to_string())),
            Some((TypeChar::Uint, 8)) => self.names(role, |value: u64| Some(value.to_string())),
            Some((TypeChar::Float, 2)) => self.names(role, |value: f16| number_name(value.into())),
            Some((TypeChar::Float, 4)) => self.names(role, single_name),
            Some((TypeChar::Float, 8)) => self.names(role, number_name),
            Some((TypeChar::UnicodeStr, _)) => {
                self.names(role, |text: String| Some(text_name(&text)))
            }
            Some((TypeChar::ByteStr, _)) => self.byte_names(role),
            _ => Err(ReadError::NotCategory {
                file: self.file.to_owned(),
                role,
                column: self.name.clone(),
                found: format!("dtype {}", self.header.dtype().descr()),
            }),
        }?;
        self.verify_checksum()?;
        if single {
            Ok(names.iter().cycle().take(rows).cloned().collect())
        } else {
            Ok(names)
        }
    }

    fn names<T: Deserialize>(
        &mut self,
        role: &'static str,
        name: impl Fn(T) -> Option<String>,
    ) -> Result<Vec<String>, ReadError> {
        self.each_name(role, |element, _| Ok(name(element)))
    }

    fn byte_names(&mut self, role: &'static str) -> Result<Vec<String>, ReadError> {
        self.each_name(role, |bytes: Vec<u8>, place| {
            let text = std::str::from_utf8(&bytes).map_err(|_| ReadError::NotUtf8 {
                place: place.clone(),
            })?;
            Ok(Some(text_name(text)))
        })
    }

    fn each_name<T: Deserialize>(
        &mut self,
        role: &'static str,
        name: impl Fn(T, &Place) -> Result<Option<String>, ReadError>,
    ) -> Result<Vec<String>, ReadError> {
        let (file, array) = (self.file, self.name.clone());
        let mut place = Place {
            file: file.to_owned(),
            row: 0,
            column: array.clone(),
        };
        let mut names = Vec::new();
        for element in self.elements::<T>()? {
            place.row += 1;
            let element = element.map_err(|error| damaged_array(file, &array, &error))?;
            match name(element, &place)? {
                Some(name) if !name.is_empty() => names.push(name),
                _ => return Err(ReadError::EmptyCategory { place, role }),
            }
        }
        Ok(names)
    }

    fn elements<T: Deserialize>(
        &mut self,
    ) -> Result<impl Iterator<Item = io::Result<T>>, ReadError> {
        let (file, name) = (self.file, &self.name);
        NpyFile::with_header(self.header.clone(), &mut self.reader)
            .data::<T>()
            .map_err(|error| damaged_array(file, name, &error))
    }

    /// Reads what is left: the zip reader compares the checksum when it reaches the end.
    fn verify_checksum(&mut self) -> Result<(), ReadError> {
        match io::copy(&mut self.reader, &mut io::sink()) {
            Ok(_) => Ok(()),
            Err(error) => Err(damaged_array(self.file, &self.name, &error)),
        }
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
