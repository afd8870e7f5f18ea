//! [`RowBlock`]: the rows of one task, wherever they are.

use std::ops::Range;
use std::sync::Arc;

use faer::{Mat, MatMut, MatRef};

use crate::data::rows::{PANEL, Rows, panel_samples};
use crate::numerics::dense;
use crate::numerics::sparse::Sparse;

/// Some rows of a table, in an order of their own; clones share the values.
#[derive(Clone, Debug)]
pub(crate) struct RowBlock<'a> {
    table: Table<'a>,
    index: Arc<[usize]>,
    /// What each feature is multiplied by, if by anything.
    columns: Option<Arc<[f64]>>,
    /// What each of the rows is multiplied by, if by anything.
    lengths: Option<Arc<[f64]>>,
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
    /// A copy of sparse rows.
    Entries(Arc<Sparse>),
}

impl<'a> RowBlock<'a> {
    /// The rows `index` of the user's table.
    pub(crate) fn borrowed(rows: Rows<'a>, index: &[usize]) -> Self {
        Self {
            table: Table::Borrowed(rows),
            index: index.into(),
            columns: None,
            lengths: None,
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
            columns: None,
            lengths: None,
        }
    }

    /// The same with every feature multiplied by a number of its own; nothing is copied.
    pub(crate) fn with_columns(&self, columns: &Arc<[f64]>) -> Self {
        Self {
            columns: Some(columns.clone()),
            ..self.clone()
        }
    }

    /// The same with every row multiplied by a number of its own; nothing is copied.
    pub(crate) fn with_lengths(&self, lengths: Vec<f64>) -> Self {
        Self {
            lengths: Some(lengths.into()),
            ..self.clone()
        }
    }

    pub(crate) fn features(&self) -> usize {
        self.table().features()
    }

    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether zeros are left out.
    pub(crate) fn is_sparse(&self) -> bool {
        self.table().is_sparse()
    }

    /// The entries of sparse rows that are not zero.
    pub(crate) fn add_entries_to(&self, to: &mut Sparse) {
        let table = self.table();
        for (sample, &row) in self.index.iter().enumerate() {
            let length = self.lengths.as_ref().map_or(1.0, |own| own[sample]);
            table.for_entries(row, |column, value| {
                let factor = self
                    .columns
                    .as_ref()
                    .map_or(1.0, |own| own[column as usize]);
                to.push(column, value * length * factor);
            });
            to.end_row();
        }
    }

    /// The scatter of sparse rows about the means of their classes (lower triangle), Xᵀ X - Σ n_c μ_c μ_cᵀ. Where most
    /// entries are zero means are small, so that little is lost in the difference.
    pub(super) fn sparse_scatter(&self, class: &[usize], means: &[Vec<f64>]) -> Mat<f64> {
        let mut entries = Sparse::new(self.features());
        self.add_entries_to(&mut entries);
        let mut scatter = entries.transposed().outer(&entries);
        let mut counts = vec![0_usize; means.len()];
        class.iter().for_each(|&class| counts[class] += 1);
        let between = Mat::from_fn(self.features(), means.len(), |feature, class| {
            (counts[class] as f64).sqrt() * means[class][feature]
        });
        dense::add_outer(scatter.as_mut(), between.as_ref(), -1.0);
        // What rounding leaves of nothing is nothing.
        for j in 0..scatter.ncols() {
            scatter[(j, j)] = scatter[(j, j)].max(0.0);
        }
        scatter
    }

    /// The table that the rows are in.
    fn table(&self) -> Rows<'_> {
        match &self.table {
            Table::Borrowed(rows) => *rows,
            Table::Entries(entries) => Rows::of_entries(entries),
            Table::Owned { values, features } => {
                let rows = values.len().checked_div(*features).unwrap_or(0);
                MatRef::from_row_major_slice(values.as_slice(), rows, *features).into()
            }
        }
    }

    /// Some of the rows, by position.
    pub(crate) fn select(&self, samples: impl Iterator<Item = usize>) -> Self {
        let samples: Vec<usize> = samples.collect();
        let lengths = self.lengths.as_ref();
        Self {
            table: self.table.clone(),
            index: samples.iter().map(|&sample| self.index[sample]).collect(),
            columns: self.columns.clone(),
            lengths: lengths.map(|own| samples.iter().map(|&sample| own[sample]).collect()),
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
        self.pack_each(samples, features, |_| shift, scale, panel);
    }

    /// The same with a shift for each sample, by position.
    pub(super) fn pack_each<'s>(
        &self,
        samples: Range<usize>,
        features: Range<usize>,
        shift: impl Fn(usize) -> &'s [f64] + Sync,
        scale: f64,
        mut panel: MatMut<'_, f64>,
    ) {
        let start = samples.start;
        let index = &self.index[samples];
        if self.columns.is_none() && self.lengths.is_none() {
            let shift = |sample: usize| shift(start + sample);
            return self.table().pack(index, features, shift, scale, panel);
        }
        let zero = vec![0.0; self.features()];
        let table = self.table();
        table.pack(index, features.clone(), |_| &zero, 1.0, panel.as_mut());
        for sample in 0..index.len() {
            let length = self.lengths.as_ref().map_or(1.0, |own| own[start + sample]);
            let shift = &shift(start + sample)[features.clone()];
            let column = panel.as_mut().col_mut(sample).iter_mut();
            match &self.columns {
                Some(factors) => {
                    let factors = &factors[features.clone()];
                    for ((x, factor), shift) in column.zip(factors).zip(shift) {
                        *x = (*x * length * factor - shift) * scale;
                    }
                }
                None => {
                    for (x, shift) in column.zip(shift) {
                        *x = (*x * length - shift) * scale;
                    }
                }
            }
        }
    }

    /// Calls `each` with panels of (x - shift) * scale (features x samples), in order, and the first
    /// sample of each; no more than one panel exists at a time.
    pub(crate) fn for_panels(
        &self,
        shift: &[f64],
        scale: f64,
        each: impl FnMut(usize, MatRef<'_, f64>),
    ) {
        self.for_panels_each(|_| shift, scale, each);
    }

    /// The same with a shift for each sample.
    pub(crate) fn for_panels_each<'s>(
        &self,
        shift: impl Fn(usize) -> &'s [f64] + Sync,
        scale: f64,
        mut each: impl FnMut(usize, MatRef<'_, f64>),
    ) {
        let (n, p) = (self.len(), self.features());
        let samples = panel_samples(PANEL, p);
        let mut panel = Mat::zeros(p, samples.min(n));
        for start in (0..n).step_by(samples) {
            let end = (start + samples).min(n);
            let mut part = panel.as_mut().subcols_mut(0, end - start);
            self.pack_each(start..end, 0..p, &shift, scale, part.as_mut());
            each(start, part.as_ref());
        }
    }

    /// The values of all rows, one after the other.
    pub(crate) fn values(&self) -> Vec<f64> {
        let features = self.features();
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
            Table::Owned { values, features }
                if self.columns.is_none() && self.lengths.is_none() =>
            {
                RowBlock {
                    table: Table::Owned {
                        values: values.clone(),
                        features: *features,
                    },
                    index: self.index.clone(),
                    columns: None,
                    lengths: None,
                }
            }
            _ if self.is_sparse() => {
                let mut entries = Sparse::new(self.features());
                self.add_entries_to(&mut entries);
                RowBlock::of_entries(entries)
            }
            _ => RowBlock::owned(self.values(), self.features()),
        }
    }
}

impl RowBlock<'static> {
    /// Sparse rows, in this order.
    fn of_entries(entries: Sparse) -> Self {
        Self {
            index: (0..entries.rows()).collect(),
            table: Table::Entries(Arc::new(entries)),
            columns: None,
            lengths: None,
        }
    }

    /// The rows in `order`, each one of these (`true`) or of another block. Those of the other block take the places of
    /// those that are not asked for any more, and others are not copied.
    pub(super) fn exchanged(self, other: &RowBlock<'_>, order: &[(bool, usize)]) -> Self {
        let features = self.features();
        let plain = self.columns.is_none() && self.lengths.is_none();
        let (mut values, index) = match self.table {
            Table::Owned { values, .. } if plain => (values, self.index),
            _ => (Arc::new(self.values()), (0..self.len()).collect()),
        };
        let places = values.len().checked_div(features).unwrap_or(0);
        let mut free = vec![true; places];
        let stay = order.iter().filter(|(own, _)| *own);
        stay.for_each(|&(_, row)| free[index[row]] = false);
        let mut free = (0..places).filter(|&place| free[place]).chain(places..);
        let index: Arc<[usize]> = order
            .iter()
            .filter_map(|&(own, row)| if own { Some(index[row]) } else { free.next() })
            .collect();
        let all = Arc::make_mut(&mut values);
        let places = index.iter().max().map_or(0, |&last| last + 1);
        all.resize(all.len().max(places * features), 0.0);
        let zero = vec![0.0; features];
        for (&(own, row), &place) in order.iter().zip(index.iter()) {
            if !own {
                let to = &mut all[place * features..(place + 1) * features];
                let to = MatMut::from_column_major_slice_mut(to, features, 1);
                other.pack(row..row + 1, 0..features, &zero, 1.0, to);
            }
        }
        Self {
            index,
            table: Table::Owned { values, features },
            columns: None,
            lengths: None,
        }
    }

    /// These rows and those of another block; `runs` are runs of positions to take next from these
    /// (`true`) or from the others. Values are added at the end, so that a stream copies each row once.
    pub(super) fn joined(self, other: &RowBlock<'_>, runs: &[(bool, Range<usize>)]) -> Self {
        if self.is_sparse() && other.is_sparse() {
            let mut entries = Sparse::new(self.features());
            for (own, run) in runs {
                match own {
                    true => self.select(run.clone()).add_entries_to(&mut entries),
                    false => other.select(run.clone()).add_entries_to(&mut entries),
                }
            }
            return Self::of_entries(entries);
        }
        let features = self.table().features();
        let plain = self.columns.is_none() && self.lengths.is_none();
        let (mut values, index) = match self.table {
            Table::Owned { values, .. } if plain => (values, self.index),
            _ => (Arc::new(self.values()), (0..self.len()).collect()),
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
            columns: None,
            lengths: None,
        }
    }
}
