//! Statistics as bytes: a safetensors file. Its only metadata entry names the format with its version and describes the
//! rest (features by name and order, tasks, classes, whose rows are kept, which parts are in it), so that the same
//! statistics are the same bytes; a checksum is over all of them. Of a scatter the lower triangle is stored.

use std::collections::BTreeSet;
use std::sync::Arc;

use faer::Mat;

use super::{Bounds, Kept, RowBlock, Second, Statistics, check};
use crate::data::cells::{Cells, Task};
use crate::error::{Error, Result};
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
}

fn is_default(kept: &Kept) -> bool {
    *kept == Kept::default()
}

/// The name of the metadata entry, and so of the format.
const FORMAT: &str = "foretask-statistics-3";

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
    for (task, second) in statistics.second.iter().enumerate() {
        let scatter = match second {
            Second::Scatter { scatter, .. } => Some(scatter),
            Second::Rows(_) => None,
        };
        let kept = statistics.kept.contains(&cells.tasks()[task].name);
        let rows = second.rows().filter(|_| scatter.is_none() || kept);
        let name = format!("scatter.{task}");
        tables.extend(scatter.map(|scatter| (name, vec![triangle(p)], lower(scatter))));
        let name = format!("rows.{task}");
        tables.extend(rows.map(|rows| (name, vec![rows.len(), p], rows.values())));
    }
    let header = Header {
        features: p,
        names: statistics.names.as_deref().map(<[String]>::to_vec),
        tasks: cells.tasks().to_vec(),
        kept: statistics.kept.clone(),
        parts: statistics.parts(),
    };
    tensors::write_sealed(FORMAT, &header, tables)
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

fn from_bytes(bytes: &[u8]) -> std::result::Result<Statistics<'static>, String> {
    let (header, tables) = Tables::read(bytes, FORMAT, "statistics of foretask")?;
    tables.check_seal(bytes)?;
    let Header {
        features,
        names,
        tasks,
        kept,
        parts,
    } = header;
    check::tasks(&tasks, features)?;
    check::names(names.as_deref(), features)?;
    check::identities(parts.iter())?;
    let cells = Cells::new(tasks);
    let mut used = 1;
    // What is made here is as large as what was read: shapes are compared before.
    let mut read = |name: &str, size: Option<usize>| -> std::result::Result<Vec<f64>, String> {
        let (_, values) = tables.get(name)?;
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
        let rows = match few || tables.has(&name) {
            true => Some(RowBlock::owned(
                read(&name, samples.checked_mul(features))?,
                features,
            )),
            false => None,
        };
        second.push(match rows {
            Some(rows) if few => Second::Rows(rows),
            rows => {
                let size = features
                    .checked_add(1)
                    .and_then(|p| p.checked_mul(features));
                let values = read(&format!("scatter.{task}"), size.map(|twice| twice / 2))?;
                let mut scatter = Mat::zeros(features, features);
                let mut values = values.into_iter();
                for j in 0..features {
                    let column = scatter.col_mut(j).subrows_mut(j, features - j);
                    let below = column.iter_mut().zip(values.by_ref());
                    below.for_each(|(to, from)| *to = from);
                }
                Second::Scatter {
                    scatter: Arc::new(scatter),
                    rows,
                }
            }
        });
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
