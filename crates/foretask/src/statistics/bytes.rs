//! Statistics as bytes: a safetensors file, whose only metadata entry describes the tasks, so that the
//! same statistics are the same bytes.

use std::sync::Arc;

use faer::Mat;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use super::{RowBlock, Second, Statistics};
use crate::cells::{Cells, Task};

/// The metadata entry.
#[derive(serde::Serialize, serde::Deserialize)]
struct Header {
    features: usize,
    tasks: Vec<Task>,
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
        tensors.push(match second {
            Second::Scatter(scatter) => (format!("scatter.{task}"), vec![p, p], bytes_of(scatter)),
            Second::Rows(block) => {
                let mut rows = Mat::zeros(p, block.len());
                block.pack(0..block.len(), 0..p, &vec![0.0; p], 1.0, rows.as_mut());
                (
                    format!("rows.{task}"),
                    vec![block.len(), p],
                    bytes_of(&rows),
                )
            }
        });
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
    let Header { features, tasks } = serde_json::from_str(described).map_err(|e| e.to_string())?;
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
    let matrix =
        |name: &str, columns: usize, rows: usize| -> std::result::Result<Mat<f64>, String> {
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
            Ok(Mat::from_fn(rows, columns, |i, j| values[j * rows + i]))
        };
    let means = matrix("means", cells.len(), features)?;
    let within = matrix("within", cells.len(), 1)?
        .row(0)
        .iter()
        .copied()
        .collect();
    let mut second = Vec::new();
    for (task, entry) in cells.tasks().iter().enumerate() {
        second.push(if entry.samples() < features {
            Second::Rows(RowBlock::Owned(Arc::new(matrix(
                &format!("rows.{task}"),
                entry.samples(),
                features,
            )?)))
        } else {
            Second::Scatter(matrix(&format!("scatter.{task}"), features, features)?)
        });
    }
    Ok(Statistics {
        features,
        cells,
        means,
        within,
        second,
    })
}
