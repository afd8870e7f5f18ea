//! [`RowBlock`]: the rows of one task, wherever they are.

use std::ops::Range;
use std::sync::Arc;

use faer::{MatMut, MatRef};

use crate::data::rows::Rows;

/// Some rows of a table, in an order of their own; clones share the values.
#[derive(Clone, Debug)]
pub(crate) struct RowBlock<'a> {
    table: Table<'a>,
    index: Arc<[usize]>,
}

#[derive(Clone, Debug)]
enum Table<'a> {
    /// The user's.
    Borrowed(Rows<'a>),
    /// A copy, one row after the other.
    Owned {
        values: Arc<Vec<f64>>,
        features: usize,
    },
}

impl<'a> RowBlock<'a> {
    /// The rows `index` of the user's table.
    pub(crate) fn borrowed(rows: Rows<'a>, index: &[usize]) -> Self {
        Self {
            table: Table::Borrowed(rows),
            index: index.into(),
        }
    }

    /// Rows stored one after the other, in this order.
    pub(crate) fn owned(values: Vec<f64>, features: usize) -> Self {
        let rows = values.len().checked_div(features).unwrap_or(0);
        Self {
            table: Table::Owned {
                values: Arc::new(values),
                features,
            },
            index: (0..rows).collect(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    /// The table that the rows are in.
    pub(crate) fn table(&self) -> Rows<'_> {
        match &self.table {
            Table::Borrowed(rows) => *rows,
            Table::Owned { values, features } => {
                let rows = values.len().checked_div(*features).unwrap_or(0);
                MatRef::from_row_major_slice(values.as_slice(), rows, *features).into()
            }
        }
    }

    /// Which rows of the table they are.
    pub(crate) fn index(&self) -> &[usize] {
        &self.index
    }

    /// Some of the rows, by position.
    pub(crate) fn select(&self, samples: impl Iterator<Item = usize>) -> Self {
        Self {
            table: self.table.clone(),
            index: samples.map(|sample| self.index[sample]).collect(),
        }
    }

    /// (x - shift) * scale of some samples and features, one sample a column.
    pub(crate) fn pack(
        &self,
        samples: Range<usize>,
        features: Range<usize>,
        shift: &[f64],
        scale: f64,
        panel: MatMut<'_, f64>,
    ) {
        let index = &self.index[samples];
        self.table().pack(index, features, |_| shift, scale, panel);
    }

    /// Calls `each` with panels of (x - shift) * scale (features x samples), in order, and the first
    /// sample of each; no more than one panel exists at a time.
    pub(crate) fn for_panels(
        &self,
        shift: &[f64],
        scale: f64,
        each: impl FnMut(usize, MatRef<'_, f64>),
    ) {
        self.table().for_panels(&self.index, |_| shift, scale, each);
    }

    /// The values of all rows, one after the other.
    pub(crate) fn values(&self) -> Vec<f64> {
        let features = self.table().features();
        let mut values = vec![0.0; self.len() * features];
        let columns = MatMut::from_column_major_slice_mut(&mut values, features, self.len());
        self.pack(
            0..self.len(),
            0..features,
            &vec![0.0; features],
            1.0,
            columns,
        );
        values
    }

    /// The same rows in a table of their own, unless they have one.
    pub(crate) fn to_owned(&self) -> RowBlock<'static> {
        match &self.table {
            Table::Borrowed(rows) => RowBlock::owned(self.values(), rows.features()),
            Table::Owned { values, features } => RowBlock {
                table: Table::Owned {
                    values: values.clone(),
                    features: *features,
                },
                index: self.index.clone(),
            },
        }
    }
}

impl RowBlock<'static> {
    /// These rows and those of another block; `runs` are runs of positions to take next from these
    /// (`true`) or from the others. Values are added at the end, so that a stream copies each row once.
    pub(super) fn joined(self, other: &RowBlock<'_>, runs: &[(bool, Range<usize>)]) -> Self {
        let features = self.table().features();
        let (mut values, index) = match self.table {
            Table::Borrowed(_) => (Arc::new(self.values()), (0..self.len()).collect()),
            Table::Owned { values, .. } => (values, self.index),
        };
        let offset = values.len().checked_div(features).unwrap_or(0);
        Arc::make_mut(&mut values).extend(other.values());
        let positions = |(own, run): &(bool, Range<usize>)| -> Vec<usize> {
            match own {
                true => index[run.clone()].to_vec(),
                false => run.clone().map(|sample| offset + sample).collect(),
            }
        };
        Self {
            index: runs.iter().flat_map(positions).collect(),
            table: Table::Owned { values, features },
        }
    }
}
