//! Statistics as bytes: a safetensors file, whose only metadata entry describes the tasks, so that the
//! same statistics are the same bytes.

use std::sync::Arc;

use faer::Mat;

use super::{Bounds, Kept, RowBlock, Second, Statistics};
use crate::data::cells::{Cells, Task};
use crate::error::{Error, Result};
use crate::stop::Stop;
use crate::tensors::{self, Table, Tables};

/// The metadata entry.
#[derive(serde::Serialize, serde::Deserialize)]
struct Header {
    features: usize,
    tasks: Vec<Task>,
    #[serde(default, skip_serializing_if = "is_default")]
    kept: Kept,
}

fn is_default(kept: &Kept) -> bool {
    *kept == Kept::default()
}

/// The name of the metadata entry, and so of the format.
const FORMAT: &str = "foretask-statistics-2";

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
        tables.extend(scatter.map(|scatter| (name, vec![p, p], entries(scatter))));
        let name = format!("rows.{task}");
        tables.extend(rows.map(|rows| (name, vec![rows.len(), p], rows.values())));
    }
    let header = Header {
        features: p,
        tasks: cells.tasks().to_vec(),
        kept: statistics.kept.clone(),
    };
    tensors::write(FORMAT, &header, tables)
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
    let Header {
        features,
        tasks,
        kept,
    } = header;
    if tasks
        .iter()
        .any(|task| task.classes.len() != task.counts.len())
    {
        return Err("class names and counts differ in number".into());
    }
    // Sums of counts are taken freely once they are in.
    let counts = tasks.iter().flat_map(|task| &task.counts);
    if counts
        .copied()
        .try_fold(0_usize, usize::checked_add)
        .is_none()
    {
        return Err("the counts are too large".into());
    }
    let cells = Cells::new(tasks);
    let read = |name: &str, columns: usize, rows: usize| -> std::result::Result<Vec<f64>, String> {
        let (_, values) = tables.get(name)?;
        if Some(values.len()) != columns.checked_mul(rows) {
            return Err(format!("'{name}' has the wrong shape"));
        }
        if values.iter().any(|x| !x.is_finite()) {
            return Err(format!("'{name}' holds values that are not finite"));
        }
        Ok(values)
    };
    let matrix = |name: &str, columns: usize, rows: usize| {
        let values = read(name, columns, rows)?;
        Ok::<_, String>(Mat::from_fn(rows, columns, |i, j| values[j * rows + i]))
    };
    let means = matrix("means", cells.len(), features)?;
    let within = matrix("within", cells.len(), features)?;
    let mut bounds = Vec::new();
    for task in 0..cells.tasks().len() {
        let mut least = read(&format!("bounds.{task}"), 2, features)?;
        let most = least.split_off(features);
        bounds.push(Bounds { least, most });
    }
    let mut second = Vec::new();
    for (task, entry) in cells.tasks().iter().enumerate() {
        let name = format!("rows.{task}");
        let rows = || -> std::result::Result<RowBlock<'static>, String> {
            let values = read(&name, entry.samples(), features)?;
            Ok(RowBlock::owned(values, features))
        };
        second.push(if entry.samples() < features {
            Second::Rows(rows()?)
        } else {
            let scatter = matrix(&format!("scatter.{task}"), features, features)?;
            let there = features > 0 && tables.has(&name);
            Second::Scatter {
                scatter: Arc::new(scatter),
                rows: there.then(rows).transpose()?,
            }
        });
    }
    Ok(Statistics {
        features,
        cells,
        means,
        within,
        bounds,
        second,
        kept,
        groups: None,
        importance: None,
        stop: Stop::default(),
    })
}
