//! [`Growing`]: a table of text as it grows, row by row, and is handed on some rows at a time.

use super::builder::{Builder, Categories};
use super::category::Category;
use super::error::{Place, ReadError};
use super::roles::{Request, Roles};
use super::table::{Kept, Origin, Table};

/// The table as it grows.
pub struct Growing<'a> {
    pub(super) request: &'a Request<'a>,
    pub(super) header: Vec<String>,
    pub(super) roles: Roles,
    pub(super) features: Vec<Builder>,
    pub(super) label_names: Categories,
    labels: Vec<Category>,
    pub(super) task_names: Categories,
    tasks: Vec<Category>,
    /// Rows of the file without a label.
    skipped: Vec<usize>,
    pub(super) rows: usize,
    pub(super) kept: Vec<Kept>,
}

impl<'a> Growing<'a> {
    /// No row yet.
    pub fn new(
        header: Vec<String>,
        roles: Roles,
        decimal_comma: bool,
        request: &'a Request<'a>,
    ) -> Self {
        let feature = |(own, &column): (usize, &usize)| {
            let name = &header[column];
            Builder::new(name, request.expected(name, own), decimal_comma)
        };
        let kept = |&column: &usize| Kept {
            name: header[column].clone(),
            cells: Vec::new(),
        };
        Self {
            request,
            features: roles.features.iter().enumerate().map(feature).collect(),
            label_names: Categories::default(),
            labels: Vec::new(),
            task_names: Categories::default(),
            tasks: Vec::new(),
            skipped: Vec::new(),
            rows: 0,
            kept: roles.kept.iter().map(kept).collect(),
            header,
            roles,
        }
    }

    /// The cells of a row that are kept in memory.
    pub fn width(&self) -> usize {
        self.features.len() + self.kept.len()
    }

    /// The cells of a row of the file.
    pub fn cells(&self) -> usize {
        self.header.len()
    }

    /// Adds the label of a row, and says whether it has one; a row without is left out.
    pub(super) fn push_label(&mut self, label: Option<Category>, row: usize) -> bool {
        match label {
            Some(label) => self.labels.push(label),
            None => {
                self.skipped.push(row - 1);
                return false;
            }
        }
        true
    }

    /// Adds the task of a row, which must have one.
    pub(super) fn push_task(
        &mut self,
        task: Option<Category>,
        row: usize,
        column: usize,
    ) -> Result<(), ReadError> {
        self.tasks
            .push(task.ok_or_else(|| ReadError::EmptyCategory {
                place: self.place(row, column),
                role: "task",
            })?);
        Ok(())
    }

    /// Whether all cells of the file make columns.
    pub fn check(&self) -> Result<(), ReadError> {
        let mut features = self.features.iter();
        features.try_for_each(|feature| feature.check(self.request.file))
    }

    /// The rows since the last time, before which the file has so many.
    pub fn take(&mut self, before: usize) -> Result<Table, ReadError> {
        let named = |column: Option<usize>| column.map(|column| self.header[column].clone());
        let (label, task) = (named(self.roles.label), named(self.roles.task));
        let columns = self.features.iter_mut().map(Builder::take).collect();
        let rows = std::mem::take(&mut self.rows);
        let frame = self
            .request
            .frame(&self.header, &self.roles, columns, rows)?;
        let (labels, tasks) = (
            std::mem::take(&mut self.labels),
            std::mem::take(&mut self.tasks),
        );
        let mut skipped = std::mem::take(&mut self.skipped);
        skipped.iter_mut().for_each(|row| *row -= before);
        Ok(Table {
            frame,
            labels: self.roles.label.map(|_| labels),
            tasks: self.roles.task.map(|_| tasks),
            label,
            task,
            unlabelled: skipped.len(),
            array: false,
            kept: self.kept.iter_mut().map(Kept::take).collect(),
            origin: Origin {
                before,
                skipped,
                groups: None,
            },
        })
    }

    pub(super) fn place(&self, row: usize, column: usize) -> Place {
        Place {
            file: self.request.file.to_owned(),
            row,
            column: self.header[column].clone(),
        }
    }
}
