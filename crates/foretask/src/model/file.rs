//! A model as a safetensors file.
//!
//! Loading runs no code.

use std::path::Path;

use faer::Mat;

use super::{Description, Model, Scores, Term, check};
use crate::decision::{Decision, Form, Quadratic, Ties};
use crate::error::{Error, Result};
use crate::tensors::{self, Table, Tables};
use crate::views::{Kernel, View};
use crate::write::write_atomically;

impl Model {
    /// The model as bytes (safetensors).
    ///
    /// # Errors
    /// [`Error::Format`] if it cannot be written down.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let Scores {
            weights,
            intercept,
            terms,
        } = &self.scores;
        let (d, p) = (intercept.len(), self.features());
        let decision: Vec<f64> = match &self.decision {
            Decision::Threshold {
                threshold,
                slope,
                centre,
            } => vec![*threshold, *slope, *centre],
            Decision::Argmax {
                slope,
                offsets,
                costs,
                ..
            } => std::iter::once(*slope)
                .chain(offsets.clone())
                .chain(costs.clone())
                .collect(),
        };
        let table = |name: &str, shape: Vec<usize>, values| (name.to_owned(), shape, values);
        let mut tables: Vec<Table> = vec![
            table("weights", vec![d, p], matrix_columns(weights)),
            table("bias", vec![d], intercept.clone()),
            table("decision", vec![decision.len()], decision),
        ];
        match &self.decision {
            Decision::Argmax {
                form: Form::Votes { thresholds, ties },
                ..
            } => {
                let ties = f64::from(u8::from(*ties == Ties::First));
                tables.push(table("thresholds", vec![d], thresholds.clone()));
                tables.push(table("ties", vec![1], vec![ties]));
            }
            Decision::Argmax {
                form: Form::Quadratic(quadratic),
                ..
            } => {
                let m = quadratic.constants.len();
                let means = matrix_columns(&quadratic.means.transpose().to_owned());
                let precisions = quadratic
                    .precisions
                    .iter()
                    .flat_map(matrix_columns)
                    .collect();
                tables.push(table("constants", vec![m], quadratic.constants.clone()));
                tables.push(table("means", vec![m, d], means));
                tables.push(table("precisions", vec![m, d, d], precisions));
            }
            _ => {}
        }
        for term in terms {
            match term {
                Term::Cosine { weights } => {
                    tables.push(table("cosine.weights", vec![d, p], matrix_columns(weights)));
                }
                Term::Rbf {
                    columns,
                    centre,
                    kernel,
                    weights,
                } => {
                    let landmarks = kernel.landmarks();
                    let count = landmarks.ncols();
                    tables.push(table("rbf.columns", vec![p], columns.clone()));
                    tables.push(table("rbf.centre", vec![p], centre.clone()));
                    tables.push(table(
                        "rbf.landmarks",
                        vec![count, p],
                        matrix_columns(landmarks),
                    ));
                    tables.push(table("rbf.width", vec![1], vec![kernel.width()]));
                    tables.push(table(
                        "rbf.weights",
                        vec![d, count],
                        matrix_columns(weights),
                    ));
                }
            }
        }
        tensors::write_sealed(FORMAT, &self.description, tables).map_err(|why| Error::Format {
            what: "the model",
            why,
        })
    }

    /// Reads what [`Model::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`Error::Format`] if the bytes are not a whole model of ours.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        from_bytes(bytes).map_err(|why| Error::Format {
            what: "the model file",
            why,
        })
    }

    /// Writes the model to a file, whole or not at all.
    ///
    /// # Errors
    /// [`Error::Io`] if the folder does not exist or the disk is full; an older file stays as it was.
    pub fn save(&self, path: &Path) -> Result<()> {
        write_atomically(path, &self.to_bytes()?)
    }

    /// Reads a model from a file.
    ///
    /// # Errors
    /// [`Error::Io`] or [`Error::Format`].
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|source| Error::Io {
            path: path.to_owned(),
            source,
        })?;
        Self::from_bytes(&bytes)
    }
}

/// The name of the metadata entry, and so of the format.
const FORMAT: &str = "foretask-model-3";

/// Column by column.
fn matrix_columns(matrix: &Mat<f64>) -> Vec<f64> {
    let columns = matrix.col_iter();
    columns
        .flat_map(|column| column.iter().copied().collect::<Vec<_>>())
        .collect()
}

fn from_bytes(bytes: &[u8]) -> std::result::Result<Model, String> {
    let (description, tables): (Description, _) = Tables::read(bytes, FORMAT, "a foretask model")?;
    tables.check_seal(bytes)?;
    let read = |name: &str| tables.get(name);
    let (shape, weights) = read("weights")?;
    let (_, bias) = read("bias")?;
    let (_, decision) = read("decision")?;
    let m = description
        .tasks
        .iter()
        .find(|task| task.name == description.target)
        .map_or(0, |task| task.classes.len());
    let &[d, features] = shape.as_slice() else {
        return Err("its weights are not a matrix".into());
    };
    if features == 0 || bias.len() != d {
        return Err("its weights do not fit its classes".into());
    }
    let argmax = decision.len() == 1 + 2 * m;
    let form = match (tables.has("thresholds"), tables.has("constants")) {
        (true, _) => Form::Votes {
            thresholds: read("thresholds")?.1,
            ties: match read("ties")?.1.as_slice() {
                [0.0] => Ties::Margins,
                [1.0] => Ties::First,
                _ => return Err("its word for ties is none".into()),
            },
        },
        (_, true) => {
            let (means, precisions) = (read("means")?.1, read("precisions")?.1);
            let square = m.checked_mul(d).and_then(|all| all.checked_mul(d));
            if Some(means.len()) != m.checked_mul(d) || Some(precisions.len()) != square {
                return Err("its quadratic rule does not fit its classes".into());
            }
            Form::Quadratic(Quadratic {
                constants: read("constants")?.1,
                means: Mat::from_fn(m, d, |c, i| means[c * d + i]),
                precisions: (0..m)
                    .map(|c| Mat::from_fn(d, d, |i, j| precisions[(c * d + j) * d + i]))
                    .collect(),
            })
        }
        _ => Form::Linear {
            offsets: vec![0.0; if argmax { d } else { m }],
        },
    };
    let expected = match &form {
        Form::Linear { .. } if !argmax => 1,
        Form::Linear { .. } => m,
        Form::Votes { thresholds, .. } => thresholds.len(),
        Form::Quadratic(_) => d,
    };
    if m < 2
        || form.classes() != m
        || d != expected
        || weights.iter().chain(&bias).any(|x| !x.is_finite())
    {
        return Err("its weights do not fit its classes".into());
    }
    if description
        .feature_names
        .as_ref()
        .is_some_and(|names| names.len() != features)
    {
        return Err("its feature names do not fit its weights".into());
    }
    if let Some(preparation) = &description.preparation {
        preparation.verify()?;
        if preparation.width() != features {
            return Err("its columns do not fit its weights".into());
        }
    }
    let decision = match decision.as_slice() {
        &[threshold, slope, centre] if !argmax && m == 2 => Decision::Threshold {
            threshold,
            slope,
            centre,
        },
        [slope, rest @ ..] if argmax => Decision::Argmax {
            form,
            slope: *slope,
            offsets: rest[..m].to_vec(),
            costs: rest[m..].to_vec(),
        },
        _ => return Err("its decision does not fit its classes".into()),
    };
    check::decision(&decision)?;
    check::description(&description, &decision)?;
    let terms = terms(&tables, features, d)?;
    let has = |view: View| match view {
        View::Raw | View::Standard => true,
        View::Cosine => terms.iter().any(|t| matches!(t, Term::Cosine { .. })),
        View::Rbf => terms.iter().any(|t| matches!(t, Term::Rbf { .. })),
    };
    let mut seen = description.rule.views.iter();
    if let Some((view, _)) = seen.find(|(view, weight)| *weight > 0.0 && !has(*view)) {
        return Err(format!("it has lost what the view '{view}' adds"));
    }
    Ok(Model {
        description,
        scores: Scores {
            weights: Mat::from_fn(features, d, |i, j| weights[j * features + i]),
            intercept: bias,
            terms,
        },
        decision,
    })
}

/// What views that are not linear add.
fn terms(tables: &Tables<'_>, p: usize, d: usize) -> std::result::Result<Vec<Term>, String> {
    let read = |name: &str, columns: usize, rows: usize| {
        let (_, values) = tables.get(name)?;
        if Some(values.len()) != columns.checked_mul(rows) || values.iter().any(|x| !x.is_finite())
        {
            return Err(format!("its '{name}' does not fit its weights"));
        }
        Ok(Mat::from_fn(rows, columns, |i, j| values[j * rows + i]))
    };
    let mut terms = Vec::new();
    if tables.has("cosine.weights") {
        let weights = read("cosine.weights", d, p)?;
        terms.push(Term::Cosine { weights });
    }
    if tables.has("rbf.weights") {
        let list = |name: &str, length: usize| {
            Ok::<_, String>(read(name, 1, length)?.col(0).iter().copied().collect())
        };
        let count = match tables.get("rbf.landmarks")?.0.as_slice() {
            &[count, features] if features == p => count,
            _ => return Err("its 'rbf.landmarks' does not fit its weights".into()),
        };
        let width = read("rbf.width", 1, 1)?[(0, 0)];
        if width <= 0.0 {
            return Err("the width of its kernel is not positive".into());
        }
        terms.push(Term::Rbf {
            columns: list("rbf.columns", p)?,
            centre: list("rbf.centre", p)?,
            kernel: Kernel::new(read("rbf.landmarks", count, p)?, width),
            weights: read("rbf.weights", d, count)?,
        });
    }
    Ok(terms)
}
