//! Statistics as bytes: a safetensors file, whose only metadata entry describes the tasks, so that the
//! same statistics are the same bytes.

use std::sync::Arc;

use faer::Mat;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use super::{Kept, RowBlock, Second, Statistics};
use crate::cells::{Cells, Task};

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

pub(super) fn to_bytes(statistics: &Statistics<'_>) -> std::result::Result<Vec<u8>, String> {
    let p = statistics.features;
    let mut tensors: Vec<(String, Vec<usize>, Vec<u8>)> = vec![
        (
            "means".into(),
            vec![statistics.cells.len(), p],
            bytes_of(&statistics.means),
        ),
        (
            "within".into(),
            vec![statistics.cells.len()],
            statistics
                .within
                .iter()
                .flat_map(|x| x.to_le_bytes())
                .collect(),
        ),
    ];
    for (task, second) in statistics.second.iter().enumerate() {
        let scatter = match second {
            Second::Scatter { scatter, .. } => Some(scatter),
            Second::Rows(_) => None,
        };
        let rows = second.rows().filter(|_| {
            scatter.is_none()
                || statistics
                    .kept
                    .contains(&statistics.cells.tasks()[task].name)
        });
        tensors.extend(
            scatter.map(|scatter| (format!("scatter.{task}"), vec![p, p], bytes_of(scatter))),
        );
        tensors.extend(rows.map(|rows| {
            let values = rows.values().iter().flat_map(|x| x.to_le_bytes()).collect();
            (format!("rows.{task}"), vec![rows.len(), p], values)
        }));
    }
    let views: std::result::Result<Vec<_>, _> = tensors
        .iter()
        .map(|(name, shape, data)| {
            TensorView::new(Dtype::F64, shape.clone(), data).map(|view| (name.as_str(), view))
        })
        .collect();
    let header = Header {
        features: p,
        tasks: statistics.cells.tasks().to_vec(),
        kept: statistics.kept.clone(),
    };
    let header = serde_json::to_string(&header).map_err(|e| e.to_string())?;
    let metadata = [(FORMAT.to_owned(), header)].into_iter().collect();
    safetensors::serialize(views.map_err(|e| e.to_string())?, Some(metadata))
        .map_err(|e| e.to_string())
}

/// The name of the metadata entry, and so of the format.
const FORMAT: &str = "foretask-statistics-1";

fn bytes_of(matrix: &Mat<f64>) -> Vec<u8> {
    matrix
        .col_iter()
        .flat_map(|column| {
            column
                .iter()
                .flat_map(|x| x.to_le_bytes())
                .collect::<Vec<u8>>()
        })
        .collect()
}

pub(super) fn from_bytes(bytes: &[u8]) -> std::result::Result<Statistics<'static>, String> {
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(|e| e.to_string())?;
    let described = header
        .metadata()
        .as_ref()
        .and_then(|metadata| metadata.get(FORMAT));
    let described = described.ok_or(format!("it has no '{FORMAT}'"))?;
    let Header {
        features,
        tasks,
        kept,
    } = serde_json::from_str(described).map_err(|e| e.to_string())?;
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
    let tensors = SafeTensors::deserialize(bytes).map_err(|e| e.to_string())?;
    let read = |name: &str, columns: usize, rows: usize| -> std::result::Result<Vec<f64>, String> {
        let view = tensors.tensor(name).map_err(|e| e.to_string())?;
        let expected = columns.checked_mul(rows).and_then(|n| n.checked_mul(8));
        if view.dtype() != Dtype::F64 || Some(view.data().len()) != expected {
            return Err(format!("'{name}' has the wrong shape"));
        }
        let values: Vec<f64> = view
            .data()
            .chunks_exact(8)
            .map(|b| f64::from_le_bytes(b.try_into().unwrap_or_default()))
            .collect();
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
    let within = read("within", cells.len(), 1)?;
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
            let there = features > 0 && tensors.tensor(&name).is_ok();
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
        second,
        kept,
    })
}
