//! Statistics as bytes: a safetensors file. Its only metadata entry names the format with its version and describes the
//! rest (features by name and order, tasks, classes, whose rows are kept, which parts are in it), so that the same
//! statistics are the same bytes; a checksum is over all of them. Of a scatter the lower triangle is stored, of sparse
//! rows their entries, and of any table that is mostly zeros the other numbers (`thin`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use faer::Mat;

use super::dealt::Sample;
use super::{Bounds, Dealt, Keep, Kept, Portion, RowBlock, Second, Statistics, check};
use crate::data::cells::{Cells, Task};
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::numerics::sparse::Sparse;
use crate::stop::Stop;
use crate::tensors::{self, Table, Tables};

/// The metadata entry: all that is not a number of the data.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    features: usize,
    /// The names of the features, in the order of the columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    names: Option<Vec<String>>,
    tasks: Vec<Task>,
    /// Whose rows are kept.
    #[serde(default, skip_serializing_if = "is_default")]
    kept: Kept,
    /// The identities of the parts ([`Statistics::parts`]).
    parts: BTreeSet<String>,
    /// Of tasks in folds, by number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    folds: BTreeMap<usize, Counts>,
}

/// Of a task in folds, counts by class.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Counts {
    /// Of each fold.
    folds: Vec<Vec<usize>>,
    /// Of the sample.
    sample: Vec<usize>,
}

fn is_default(kept: &Kept) -> bool {
    *kept == Kept::default()
}

/// The name of the metadata entry, and so of the format.
const FORMAT: &str = "foretask-statistics-4";

impl Statistics<'static> {
    /// Reads what [`Statistics::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`Error::Format`] if the bytes are not whole statistics.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        from_bytes(bytes).map_err(|why| Error::Format {
            what: "the statistics",
            why,
        })
    }
}

impl Statistics<'_> {
    /// The state as bytes (safetensors).
    ///
    /// # Errors
    /// [`Error::Format`] if the statistics are too large for the format, [`Error::Setting`] if they have groups
    /// or weights.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.refuse_groups()?;
        to_bytes(self).map_err(|why| Error::Format {
            what: "the statistics",
            why,
        })
    }
}

fn to_bytes(statistics: &Statistics<'_>) -> std::result::Result<Vec<u8>, String> {
    let (p, cells) = (statistics.features, &statistics.cells);
    let mut tables: Vec<Table> = vec![
        (
            "means".into(),
            vec![cells.len(), p],
            entries(&statistics.means),
        ),
        (
            "within".into(),
            vec![cells.len(), p],
            entries(&statistics.within),
        ),
    ];
    for (task, Bounds { least, most }) in statistics.bounds.iter().enumerate() {
        let values = [&least[..], most].concat();
        tables.push((format!("bounds.{task}"), vec![2, p], values));
    }
    let mut folds = BTreeMap::new();
    for (task, second) in statistics.second.iter().enumerate() {
        let scatter = match second {
            Second::Scatter { scatter, .. } => Some(scatter),
            Second::Rows(_) => None,
        };
        let entry = &cells.tasks()[task];
        let keep = statistics.keep(&entry.name, entry.samples());
        let rows = second
            .rows()
            .filter(|_| scatter.is_none() || keep == Keep::Rows);
        let name = format!("scatter.{task}");
        tables.extend(scatter.map(|scatter| (name, vec![triangle(p)], lower(scatter))));
        match rows {
            Some(rows) if rows.is_sparse() => sparse_tables(task, rows, &mut tables),
            Some(rows) => tables.push((format!("rows.{task}"), vec![rows.len(), p], rows.values())),
            None => {}
        }
        let dealt = match (rows, scatter, keep) {
            (None, Some(_), Keep::Folds | Keep::Rows) => {
                statistics.deal_out(task, second, statistics.folds())
            }
            _ => None,
        };
        if let Some(dealt) = dealt {
            folds.insert(task, dealt_tables(task, &dealt, &mut tables));
        }
    }
    let header = Header {
        features: p,
        names: statistics.names.as_deref().map(<[String]>::to_vec),
        tasks: cells.tasks().to_vec(),
        kept: statistics.kept.clone(),
        parts: statistics.parts(),
        folds,
    };
    let tables = tables.into_iter().flat_map(thin).collect();
    tensors::write_sealed(FORMAT, &header, tables)
}

/// The entries of sparse rows.
fn sparse_tables(task: usize, rows: &RowBlock<'_>, tables: &mut Vec<Table>) {
    let mut entries = Sparse::new(rows.features());
    rows.add_entries_to(&mut entries);
    let (starts, columns, values) = entries.parts();
    let mut push = |name: &str, values: Vec<f64>| {
        tables.push((format!("{name}.{task}"), vec![values.len()], values));
    };
    push("starts", starts.iter().map(|&start| start as f64).collect());
    push(
        "columns",
        columns.iter().map(|&column| f64::from(column)).collect(),
    );
    push("entries", values.to_vec());
}

/// Sparse rows, if these are the entries of any.
fn sparse_rows(
    starts: &[f64],
    columns: &[f64],
    values: &[f64],
    features: usize,
) -> Option<RowBlock<'static>> {
    let whole = |most: f64| move |&x: &f64| is_whole(x, most).then_some(x);
    let starts = starts.iter().map(whole(values.len() as f64));
    let starts: Vec<usize> = starts.map(|x| Some(x? as usize)).collect::<Option<_>>()?;
    let columns = columns.iter().map(whole(f64::from(u32::MAX)));
    let columns: Vec<u32> = columns.map(|x| Some(x? as u32)).collect::<Option<_>>()?;
    let rows = Rows::csr(&starts, &columns, values, features).ok()?;
    let all: Vec<usize> = (0..rows.len()).collect();
    Some(RowBlock::borrowed(rows, &all).to_owned())
}

/// Whole numbers are exact up to here.
const MOST: f64 = 9_007_199_254_740_992.0;

fn is_whole(x: f64, most: f64) -> bool {
    x.fract() == 0.0 && (0.0..=most).contains(&x)
}

/// The bits that go into a number of a mask.
const BITS: usize = 32;

/// The name of the bits that say which numbers of a table are given.
fn mask_of(name: &str) -> String {
    format!("{name}.mask")
}

/// A table that is mostly zeros becomes two: the numbers that are not, and a bit for each that says whether it is one of
/// them. What comes of a file is thus at most [`BITS`] times as large.
fn thin((name, shape, values): Table) -> Vec<Table> {
    let is_given = |x: &&f64| x.to_bits() != 0;
    if 2 * values.iter().filter(is_given).count() >= values.len() {
        return vec![(name, shape, values)];
    }
    let bits = |own: &[f64]| {
        let own = own.iter().enumerate();
        let given = own.filter(|(_, x)| x.to_bits() != 0);
        f64::from(given.fold(0_u32, |bits, (place, _)| bits | 1 << place))
    };
    let mask: Vec<f64> = values.chunks(BITS).map(bits).collect();
    let given: Vec<f64> = values.iter().filter(is_given).copied().collect();
    vec![
        (mask_of(&name), vec![mask.len()], mask),
        (name, vec![given.len()], given),
    ]
}

/// What [`thin`] made two tables of; none if it did not.
fn thickened(mask: &[f64], given: &[f64], size: usize) -> Option<Vec<f64>> {
    if mask.len() != size.div_ceil(BITS) {
        return None;
    }
    let mut given = given.iter();
    let mut values = Vec::with_capacity(size);
    for &bits in mask {
        if !is_whole(bits, f64::from(u32::MAX)) {
            return None;
        }
        let (bits, own) = (bits as u32, BITS.min(size - values.len()));
        if own < BITS && bits >> own != 0 {
            return None;
        }
        for place in 0..own {
            values.push(match bits >> place & 1 {
                1 => *given.next()?,
                _ => 0.0,
            });
        }
    }
    given.next().is_none().then_some(values)
}

/// The numbers of a task in folds.
fn dealt_tables(task: usize, dealt: &Dealt, tables: &mut Vec<Table>) -> Counts {
    for (fold, portion) in dealt.portions.iter().enumerate() {
        let (p, m) = (portion.means.nrows(), portion.means.ncols());
        let means = entries(&portion.means);
        tables.push((format!("fold-means.{task}.{fold}"), vec![m, p], means));
        let within = lower(&portion.within);
        let name = format!("fold-scatter.{task}.{fold}");
        tables.push((name, vec![within.len()], within));
    }
    let Sample { rows, counts, .. } = &dealt.sample;
    let shape = vec![rows.len(), rows.features()];
    tables.push((format!("sample.{task}"), shape, rows.values()));
    let (name, shape) = (format!("sample-hashes.{task}"), vec![rows.len(), 2]);
    tables.push((name, shape, dealt.sample.halves()));
    Counts {
        folds: dealt
            .portions
            .iter()
            .map(|own| own.counts.clone())
            .collect(),
        sample: counts.clone(),
    }
}

/// Entries on and below the diagonal.
fn triangle(p: usize) -> usize {
    p * (p + 1) / 2
}

/// Column by column, from the diagonal down.
fn lower(matrix: &Mat<f64>) -> Vec<f64> {
    let mut values = Vec::with_capacity(triangle(matrix.ncols()));
    for j in 0..matrix.ncols() {
        values.extend(matrix.col(j).iter().skip(j));
    }
    values
}

/// Column by column.
fn entries(matrix: &Mat<f64>) -> Vec<f64> {
    let columns = matrix.col_iter();
    columns
        .flat_map(|column| column.iter().copied().collect::<Vec<_>>())
        .collect()
}

/// The number of entries on and below the diagonal, if there can be so many.
fn lower_size(p: usize) -> Option<usize> {
    let twice = p.checked_add(1).and_then(|more| more.checked_mul(p));
    twice.map(|twice| twice / 2)
}

/// What [`lower`] took.
fn filled(values: Vec<f64>, p: usize) -> Mat<f64> {
    let mut matrix = Mat::zeros(p, p);
    let mut values = values.into_iter();
    for j in 0..p {
        let column = matrix.col_mut(j).subrows_mut(j, p - j);
        let below = column.iter_mut().zip(values.by_ref());
        below.for_each(|(to, from)| *to = from);
    }
    matrix
}

/// A table by name and size.
type Read<'r> = dyn FnMut(&str, Option<usize>) -> std::result::Result<Vec<f64>, String> + 'r;

/// A task in folds.
fn dealt(
    task: usize,
    entry: &Task,
    (features, number): (usize, usize),
    counts: &Counts,
    read: &mut Read<'_>,
) -> std::result::Result<Dealt, String> {
    check::folds(entry, number, &counts.folds, &counts.sample)?;
    let m = entry.classes.len();
    let mut portions = Vec::with_capacity(counts.folds.len());
    for (fold, counts) in counts.folds.iter().enumerate() {
        let means = read(
            &format!("fold-means.{task}.{fold}"),
            features.checked_mul(m),
        )?;
        let within = read(&format!("fold-scatter.{task}.{fold}"), lower_size(features))?;
        portions.push(Portion {
            counts: counts.clone(),
            means: Mat::from_fn(features, m, |i, j| means[j * features + i]),
            within: filled(within, features),
        });
    }
    let sampled: usize = counts.sample.iter().sum();
    let values = read(&format!("sample.{task}"), sampled.checked_mul(features))?;
    let halves = read(&format!("sample-hashes.{task}"), sampled.checked_mul(2))?;
    let sample = Sample::read(values, &halves, features, counts.sample.clone());
    let name = &entry.name;
    Ok(Dealt {
        portions,
        sample: sample.ok_or_else(|| format!("the sample of task '{name}' is none"))?,
    })
}

fn from_bytes(bytes: &[u8]) -> std::result::Result<Statistics<'static>, String> {
    let (header, tables) = Tables::read(bytes, FORMAT, "statistics of foretask")?;
    tables.check_seal(bytes)?;
    let Header {
        features,
        names,
        tasks,
        kept,
        parts,
        folds,
    } = header;
    check::tasks(&tasks, features)?;
    check::names(names.as_deref(), features)?;
    check::identities(parts.iter())?;
    if let Err(why) = kept.check() {
        return Err(why.to_string());
    }
    let cells = Cells::new(tasks);
    let mut used = 1;
    // What is made here is as large as what was read: shapes are compared before.
    let mut read = |name: &str, size: Option<usize>| -> std::result::Result<Vec<f64>, String> {
        let (_, mut values) = tables.get(name)?;
        if let (true, Some(size)) = (tables.has(&mask_of(name)), size) {
            let (_, mask) = tables.get(&mask_of(name))?;
            used += 1;
            values = thickened(&mask, &values, size)
                .ok_or_else(|| format!("the mask of '{name}' is none"))?;
        }
        if Some(values.len()) != size {
            return Err(format!("'{name}' has the wrong shape"));
        }
        if values.iter().any(|x| !x.is_finite()) {
            return Err(format!("'{name}' holds values that are not finite"));
        }
        used += 1;
        Ok(values)
    };
    let by_cell = features.checked_mul(cells.len());
    let lower_size = lower_size(features);
    let matrix =
        |values: Vec<f64>| Mat::from_fn(features, cells.len(), |i, j| values[j * features + i]);
    let means = matrix(read("means", by_cell)?);
    let within = matrix(read("within", by_cell)?);
    let (mut bounds, mut second) = (Vec::new(), Vec::new());
    for (task, entry) in cells.tasks().iter().enumerate() {
        let mut least = read(&format!("bounds.{task}"), features.checked_mul(2))?;
        let most = least.split_off(features);
        bounds.push(Bounds { least, most });
        let name = format!("rows.{task}");
        let samples = entry.samples();
        let few = samples < features;
        let starts = format!("starts.{task}");
        let rows = if tables.has(&starts) {
            let starts = read(&starts, samples.checked_add(1))?;
            let last = starts.last().copied().filter(|&last| is_whole(last, MOST));
            let count = last.map(|last| last as usize);
            let columns = read(&format!("columns.{task}"), count)?;
            let values = read(&format!("entries.{task}"), count)?;
            let rows = sparse_rows(&starts, &columns, &values, features);
            Some(rows.ok_or_else(|| format!("the rows of task '{}' are none", entry.name))?)
        } else if few || tables.has(&name) {
            let values = read(&name, samples.checked_mul(features))?;
            Some(RowBlock::owned(values, features))
        } else {
            None
        };
        second.push(match rows {
            Some(rows) if few => Second::Rows(rows),
            rows => {
                let scatter = read(&format!("scatter.{task}"), lower_size)?;
                let dealt = match folds.get(&task) {
                    Some(counts) => {
                        let shape = (features, kept.folds());
                        Some(Arc::new(dealt(task, entry, shape, counts, &mut read)?))
                    }
                    None => None,
                };
                Second::Scatter {
                    scatter: Arc::new(filled(scatter, features)),
                    rows,
                    dealt,
                }
            }
        });
    }
    let dealt = |second: &Second<'_>| matches!(second, Second::Scatter { dealt: Some(_), .. });
    if second.iter().filter(|second| dealt(second)).count() != folds.len() {
        return Err("it tells of folds of tasks that have none".into());
    }
    if used != tables.len() {
        return Err("it holds tables that do not belong there".into());
    }
    let statistics = Statistics {
        features,
        names: names.map(Arc::from),
        parts,
        cells,
        means,
        within,
        bounds,
        second,
        kept,
        groups: None,
        importance: None,
        stop: Stop::default(),
    };
    check::numbers(&statistics)?;
    Ok(statistics)
}
