//! JSON lines: an object a line, whose keys are columns.
//!
//! Which keys there are is known at the end of the file, so that it is read twice: for its keys, and for its values,
//! some rows at a time.

use std::collections::HashSet;
use std::fmt;
use std::io::BufRead;

use foretask::prepare::number_name;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::batch::{Batches, rows_of};
use super::category::Category;
use super::error::ReadError;
use super::growing::Growing;
use super::roles::Request;
use super::source::Twice;
use super::table::Table;

/// The objects of a file, some at a time. A key that a line lacks is a missing value.
pub struct Objects<'a> {
    request: &'a Request<'a>,
    lines: Lines,
    columns: Growing<'a>,
    row: usize,
    is_over: bool,
}

impl<'a> Objects<'a> {
    /// Looks for the keys.
    pub fn open(mut source: Twice, request: &'a Request<'a>) -> Result<Self, ReadError> {
        let mut lines = Lines::new(source.pass()?, request);
        let mut keys = Keys::default();
        let mut rows = 0;
        while let Some((line, text)) = lines.next()? {
            let mut object = serde_json::Deserializer::from_str(text);
            (object.deserialize_map(&mut keys))
                .and_then(|()| object.end())
                .map_err(|error| no_object(request, line, &error))?;
            rows += 1;
        }
        if rows == 0 {
            return Err(ReadError::NoRows {
                file: request.file.to_owned(),
            });
        }
        let roles = request.assign(&keys.header)?;
        Ok(Self {
            request,
            lines: Lines::new(source.pass()?, request),
            columns: Growing::new(keys.header, roles, false, request),
            row: 0,
            is_over: false,
        })
    }
}

impl Batches for Objects<'_> {
    fn next(&mut self, values: usize) -> Result<Option<Table>, ReadError> {
        if self.is_over {
            return Ok(None);
        }
        let before = self.row;
        let most = rows_of(values, self.columns.width());
        while self.row - before < most {
            let Some((line, text)) = self.lines.next()? else {
                self.is_over = true;
                self.columns.check()?;
                break;
            };
            let object = serde_json::from_str(text);
            let object = object.map_err(|error| no_object(self.request, line, &error))?;
            self.row += 1;
            self.columns.push_object(&object, self.row)?;
        }
        self.columns.take(before).map(Some)
    }
}

/// Lines that are not blank, and their numbers.
struct Lines {
    source: Box<dyn BufRead>,
    file: String,
    number: usize,
    text: String,
}

impl Lines {
    fn new(source: Box<dyn BufRead>, request: &Request) -> Self {
        Self {
            source,
            file: request.file.to_owned(),
            number: 0,
            text: String::new(),
        }
    }

    fn next(&mut self) -> Result<Option<(usize, &str)>, ReadError> {
        loop {
            self.text.clear();
            self.number += 1;
            let read = self.source.read_line(&mut self.text);
            match read {
                Ok(0) => return Ok(None),
                Ok(_) if self.text.trim().is_empty() => {}
                Ok(_) => return Ok(Some((self.number, &self.text))),
                Err(error) => {
                    return Err(ReadError::Line {
                        file: self.file.clone(),
                        line: self.number,
                        why: error.to_string(),
                    });
                }
            }
        }
    }
}

fn no_object(request: &Request, line: usize, error: &serde_json::Error) -> ReadError {
    ReadError::Line {
        file: request.file.to_owned(),
        line,
        why: format!("is not a JSON object: {error}"),
    }
}

/// The keys of objects in the order in which they come; values are not looked at.
#[derive(Default)]
struct Keys {
    header: Vec<String>,
    known: HashSet<String>,
}

impl<'de> Visitor<'de> for &mut Keys {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            map.next_value::<IgnoredAny>()?;
            if !self.known.contains(&*key) {
                self.header.push(key.clone().into_owned());
                self.known.insert(key.into_owned());
            }
        }
        Ok(())
    }
}

impl Growing<'_> {
    fn push_object(&mut self, object: &Map<String, Value>, row: usize) -> Result<(), ReadError> {
        if let Some(column) = self.roles.label {
            let label = self.name(object, column, "label")?;
            if !self.push_label(label, row) {
                return Ok(());
            }
        }
        if let Some(column) = self.roles.task {
            let task = self.name(object, column, "task")?;
            self.push_task(task, row, column)?;
        }
        let file = self.request.file;
        for (feature, &column) in self.features.iter_mut().zip(&self.roles.features) {
            match object.get(&self.header[column]) {
                None | Some(Value::Null) => feature.push_number(f64::NAN, file, row)?,
                Some(Value::Number(number)) => {
                    feature.push_number(number.as_f64().unwrap_or(f64::NAN), file, row)?;
                }
                Some(Value::Bool(flag)) => {
                    feature.push_number(f64::from(u8::from(*flag)), file, row)?;
                }
                Some(Value::String(text)) => feature.push_text(text, file, row)?,
                Some(Value::Array(_) | Value::Object(_)) => feature.push_nested(),
            }
        }
        for (kept, &column) in self.kept.iter_mut().zip(&self.roles.kept) {
            kept.cells.push(match object.get(&self.header[column]) {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            });
        }
        self.rows += 1;
        Ok(())
    }

    /// The name of a class or task; none if it is missing.
    fn name(
        &mut self,
        object: &Map<String, Value>,
        column: usize,
        role: &'static str,
    ) -> Result<Option<Category>, ReadError> {
        let names = match role {
            "label" => &mut self.label_names,
            _ => &mut self.task_names,
        };
        match object.get(&self.header[column]) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(names.of(text)),
            Some(Value::Bool(flag)) => Ok(Some(flag.to_string().into())),
            Some(Value::Number(number)) => {
                Ok(number.as_f64().and_then(number_name).map(Category::from))
            }
            Some(Value::Array(_) | Value::Object(_)) => Err(ReadError::NotCategory {
                file: self.request.file.to_owned(),
                role,
                column: self.header[column].clone(),
                found: "lists or objects".to_owned(),
            }),
        }
    }
}
