//! [`Model`]: a trained decision for one task.
//!
//! All candidates and label scores have been folded into one weight vector per score, so a model is
//! p x d numbers: d = 1 for two classes (large for the first, as with labels ±1), d = m for more; one per
//! pair of classes where pairs vote, and the rank of the responses where the rule is quadratic.
//! Files are safetensors: loading runs no code. Writing goes to a temporary file in the same folder,
//! which takes the final name only when it is whole and on the disk.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use faer::{Accum, Mat};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use crate::cells::Task;
use crate::dense;
use crate::error::{Error, Result};
use crate::forecast::{Forecast, argmax, margin, probabilities};
use crate::rules::{Form, Quadratic, Ties};
use crate::study::Rule;
use crate::tasks::{PANEL, Rows};

/// A trained decision for one task, with its forecast.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    description: Description,
    /// Weights on raw features, p x d.
    weights: Mat<f64>,
    /// Score at the origin.
    bias: Vec<f64>,
    decision: Decision,
}

/// The part of a model that is text in its file.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Description {
    pub(crate) target: String,
    pub(crate) tasks: Vec<Task>,
    pub(crate) feature_names: Option<Vec<String>>,
    pub(crate) rule: Rule,
    pub(crate) forecast: Forecast,
}

/// How scores become a class and probabilities.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Decision {
    /// First class where the score exceeds `threshold`; log-odds slope (score - centre).
    Threshold {
        threshold: f64,
        slope: f64,
        centre: f64,
    },
    /// The class of the largest cost-weighted posterior; log-posteriors slope score_c + offset_c.
    Argmax {
        form: Form,
        slope: f64,
        offsets: Vec<f64>,
        costs: Vec<f64>,
    },
}

impl Model {
    /// From weights on raw features and scores at the origin.
    pub(crate) fn new(
        description: Description,
        weights: Mat<f64>,
        bias: Vec<f64>,
        decision: Decision,
    ) -> Self {
        Self {
            description,
            weights,
            bias,
            decision,
        }
    }

    /// The task it decides for.
    pub fn target(&self) -> &str {
        &self.description.target
    }

    /// The classes it decides between, in the order of scores and probabilities.
    pub fn classes(&self) -> &[String] {
        let target = self
            .description
            .tasks
            .iter()
            .find(|task| task.name == self.description.target);
        target.map_or(&[], |task| &task.classes)
    }

    /// The tasks it was trained on.
    pub fn tasks(&self) -> &[Task] {
        &self.description.tasks
    }

    /// The number of features it expects.
    pub fn features(&self) -> usize {
        self.weights.nrows()
    }

    /// The names of its features, if it was told.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.description.feature_names.as_deref()
    }

    /// Tells the model the names of its features.
    ///
    /// # Errors
    /// If their number is wrong.
    pub fn with_feature_names(mut self, names: Vec<String>) -> Result<Self> {
        if names.len() != self.features() {
            return Err(Error::Shape {
                what: "feature names",
                expected: self.features(),
                got: names.len(),
            });
        }
        self.description.feature_names = Some(names);
        Ok(self)
    }

    /// What it was expected to do on new data when it was trained.
    pub fn forecast(&self) -> &Forecast {
        &self.description.forecast
    }

    /// How its scores were made.
    pub fn rule(&self) -> &Rule {
        &self.description.rule
    }

    /// Weights on raw features (p x d): score = weightsᵀ x + intercept.
    pub fn weights(&self) -> &Mat<f64> {
        &self.weights
    }

    /// The score at the origin.
    pub fn intercept(&self) -> &[f64] {
        &self.bias
    }

    /// How its scores become a class and probabilities.
    pub(crate) fn decision(&self) -> &Decision {
        &self.decision
    }

    /// For two classes, the score above which the first is chosen.
    pub fn threshold(&self) -> Option<f64> {
        match self.decision {
            Decision::Threshold { threshold, .. } => Some(threshold),
            Decision::Argmax { .. } => None,
        }
    }

    /// Decision scores: one for two classes and a threshold, one per class otherwise.
    ///
    /// # Errors
    /// If the number of features differs or a value is not finite.
    pub fn scores(&self, rows: Rows<'_>) -> Result<Mat<f64>> {
        let scores = self.linear_scores(rows)?;
        Ok(match &self.decision {
            Decision::Argmax { form, .. } if !matches!(form, Form::Linear { .. }) => {
                form.class_scores_of(&scores)
            }
            _ => scores,
        })
    }

    /// weightsᵀ x + intercept, n x d. The offsets of a linear rule are in the intercept.
    fn linear_scores(&self, rows: Rows<'_>) -> Result<Mat<f64>> {
        if rows.features() != self.features() {
            return Err(Error::Shape {
                what: "features",
                expected: self.features(),
                got: rows.features(),
            });
        }
        let mut scores = Mat::from_fn(rows.len(), self.bias.len(), |_, j| self.bias[j]);
        match rows.as_f64() {
            Some(view) => dense::product(
                scores.as_mut(),
                Accum::Add,
                view,
                self.weights.as_ref(),
                1.0,
            ),
            None => {
                let index: Vec<usize> = (0..rows.len()).collect();
                let zero = vec![0.0; self.features()];
                let mut panel = Mat::zeros(self.features(), PANEL.min(rows.len()));
                for start in (0..rows.len()).step_by(PANEL) {
                    let n = PANEL.min(rows.len() - start);
                    let mut part = panel.as_mut().subcols_mut(0, n);
                    rows.pack(
                        &index[start..start + n],
                        0..self.features(),
                        |_| &zero,
                        1.0,
                        part.as_mut(),
                    );
                    dense::product(
                        scores.as_mut().subrows_mut(start, n),
                        Accum::Add,
                        part.transpose(),
                        self.weights.as_ref(),
                        1.0,
                    );
                }
            }
        }
        // A value that is not finite makes a score that is not finite: no pass over the data of its own.
        if !scores.is_all_finite() {
            rows.check_finite()?;
        }
        Ok(scores)
    }

    /// The class of each row (an index into [`Model::classes`]).
    ///
    /// # Errors
    /// As [`Model::scores`].
    pub fn predict(&self, rows: Rows<'_>) -> Result<Vec<usize>> {
        Ok(self.decide(&self.scores(rows)?))
    }

    /// The class that scores stand for.
    pub fn decide(&self, scores: &Mat<f64>) -> Vec<usize> {
        let margins = self.margins(scores);
        (0..margins.nrows())
            .map(|l| match &self.decision {
                Decision::Threshold { .. } => usize::from(margins[(l, 0)] <= 0.0),
                Decision::Argmax { .. } => argmax(margins.row(l).iter().copied()),
            })
            .collect()
    }

    /// What is compared to decide: score - threshold, positive for the first class (n x 1), or the
    /// cost-weighted log-posteriors up to a constant, the largest of which wins (n x m).
    pub fn margins(&self, scores: &Mat<f64>) -> Mat<f64> {
        match &self.decision {
            Decision::Threshold { threshold, .. } => {
                Mat::from_fn(scores.nrows(), 1, |l, _| scores[(l, 0)] - threshold)
            }
            Decision::Argmax {
                slope,
                offsets,
                costs,
                ..
            } => Mat::from_fn(scores.nrows(), offsets.len(), |l, c| {
                slope * scores[(l, c)] + offsets[c] + costs[c].ln()
            }),
        }
    }

    /// The [margins](Model::margins) as a linear function of the raw features: weights (p x d) and values
    /// at the origin; `None` where pairs of classes vote or the rule is quadratic.
    pub fn linear_margins(&self) -> Option<(Mat<f64>, Vec<f64>)> {
        let slope = match &self.decision {
            Decision::Threshold { .. } => 1.0,
            Decision::Argmax {
                form: Form::Linear { .. },
                slope,
                ..
            } => *slope,
            Decision::Argmax { .. } => return None,
        };
        let at_origin = Mat::from_fn(1, self.bias.len(), |_, j| self.bias[j]);
        let intercept = self.margins(&at_origin).row(0).iter().copied().collect();
        let weights = Mat::from_fn(self.features(), self.bias.len(), |i, j| {
            slope * self.weights[(i, j)]
        });
        Some((weights, intercept))
    }

    /// The quantity whose law [`Forecast::densities`] foretells, for samples of known class: the score
    /// (two classes), or the score of the right class less the best other (more).
    pub fn foretold_scores(&self, scores: &Mat<f64>, truth: &[usize]) -> Vec<f64> {
        let two = self.classes().len() == 2;
        let of = |(l, &class): (usize, &usize)| match scores.ncols() {
            1 => scores[(l, 0)],
            // Two scores speak of two classes as their difference does.
            _ if two => scores[(l, 0)] - scores[(l, 1)],
            _ => margin(scores, l, class),
        };
        truth.iter().enumerate().map(of).collect()
    }

    /// Class probabilities, n x m.
    ///
    /// # Errors
    /// As [`Model::scores`].
    pub fn probabilities(&self, rows: Rows<'_>) -> Result<Mat<f64>> {
        Ok(self.calibrate(&self.scores(rows)?))
    }

    /// The class probabilities that scores stand for.
    pub fn calibrate(&self, scores: &Mat<f64>) -> Mat<f64> {
        let m = self.classes().len();
        let mut result = Mat::zeros(scores.nrows(), m);
        for l in 0..scores.nrows() {
            let logits = match &self.decision {
                Decision::Threshold { slope, centre, .. } => {
                    let odds = slope * (scores[(l, 0)] - centre);
                    vec![
                        if odds.is_nan() {
                            0.0
                        } else {
                            odds.clamp(-700.0, 700.0)
                        },
                        0.0,
                    ]
                }
                Decision::Argmax { slope, offsets, .. } => (0..m)
                    .map(|c| slope * scores[(l, c)] + offsets[c])
                    .collect(),
            };
            for (c, p) in probabilities(logits).into_iter().enumerate() {
                result[(l, c)] = p;
            }
        }
        result
    }

    /// The model as bytes (safetensors).
    ///
    /// # Errors
    /// [`Error::Format`] if it cannot be written down.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let failed = |why: String| Error::Format {
            what: "the model",
            why,
        };
        let bytes = |values: &[f64]| {
            values
                .iter()
                .flat_map(|x| x.to_le_bytes())
                .collect::<Vec<u8>>()
        };
        let (d, p) = (self.bias.len(), self.features());
        let weights: Vec<f64> = self.weights.col_iter().flat_map(entries).collect();
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
        let mut data = vec![
            ("weights", vec![d, p], bytes(&weights)),
            ("bias", vec![d], bytes(&self.bias)),
            ("decision", vec![decision.len()], bytes(&decision)),
        ];
        match &self.decision {
            Decision::Argmax {
                form: Form::Votes { thresholds, ties },
                ..
            } => {
                let ties = f64::from(u8::from(*ties == Ties::First));
                data.push(("thresholds", vec![d], bytes(thresholds)));
                data.push(("ties", vec![1], bytes(&[ties])));
            }
            Decision::Argmax {
                form: Form::Quadratic(quadratic),
                ..
            } => {
                let m = quadratic.constants.len();
                let means: Vec<f64> = quadratic
                    .means
                    .transpose()
                    .col_iter()
                    .flat_map(entries)
                    .collect();
                let precisions: Vec<f64> = (quadratic.precisions.iter())
                    .flat_map(|p| p.col_iter().flat_map(entries).collect::<Vec<_>>())
                    .collect();
                data.push(("constants", vec![m], bytes(&quadratic.constants)));
                data.push(("means", vec![m, d], bytes(&means)));
                data.push(("precisions", vec![m, d, d], bytes(&precisions)));
            }
            _ => {}
        }
        let views = data
            .iter()
            .map(|(name, shape, data)| {
                TensorView::new(Dtype::F64, shape.clone(), data).map(|view| (*name, view))
            })
            .collect::<std::result::Result<Vec<_>, _>>()
            .map_err(|e| failed(e.to_string()))?;
        let description =
            serde_json::to_string(&self.description).map_err(|e| failed(e.to_string()))?;
        // One entry only: the order of several would differ from file to file.
        let metadata = HashMap::from([(FORMAT.to_owned(), description)]);
        safetensors::serialize(views, Some(metadata)).map_err(|e| failed(e.to_string()))
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
const FORMAT: &str = "foretask-model-1";

/// Writes a file whole or not at all: temporary file beside it, flushed to the disk, then renamed.
/// Links are followed and devices written to.
///
/// # Errors
/// [`Error::Io`].
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |source| Error::Io {
        path: path.to_owned(),
        source,
    };
    // A device such as /dev/null is written to; a renamed file would take its place.
    if std::fs::metadata(path).is_ok_and(|old| !old.is_file()) {
        return std::fs::write(path, bytes).map_err(failed);
    }
    // What a link points to is replaced, not the link.
    let place = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = place
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    // Temporary files are private; the result should be readable as any file the user makes.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(path).map_or(0o644, |old| old.permissions().mode() & 0o777);
        file.as_file()
            .set_permissions(std::fs::Permissions::from_mode(mode))
            .map_err(failed)?;
    }
    file.persist(&place).map_err(|error| failed(error.error))?;
    Ok(())
}

fn entries(column: faer::ColRef<'_, f64>) -> Vec<f64> {
    column.iter().copied().collect()
}

fn from_bytes(bytes: &[u8]) -> std::result::Result<Model, String> {
    let (_, header) = SafeTensors::read_metadata(bytes)
        .map_err(|e| format!("it is not a whole safetensors file ({e})"))?;
    let metadata = header
        .metadata()
        .as_ref()
        .ok_or("it is a safetensors file, but not a foretask model")?;
    let description: Description = match metadata.get(FORMAT) {
        Some(description) => serde_json::from_str(description).map_err(|e| e.to_string())?,
        None => match metadata.keys().find(|key| key.starts_with("foretask-")) {
            Some(other) => return Err(format!("it is a '{other}', this version reads '{FORMAT}'")),
            None => return Err("it is a safetensors file, but not a foretask model".into()),
        },
    };
    let tensors = SafeTensors::deserialize(bytes)
        .map_err(|e| format!("it is not a whole safetensors file ({e})"))?;
    let read = |name: &str| -> std::result::Result<(Vec<usize>, Vec<f64>), String> {
        let view = tensors.tensor(name).map_err(|e| e.to_string())?;
        if view.dtype() != Dtype::F64 {
            return Err(format!("'{name}' is not in double precision"));
        }
        let values = view
            .data()
            .chunks_exact(8)
            .map(|b| f64::from_le_bytes(b.try_into().unwrap_or_default()))
            .collect();
        Ok((view.shape().to_vec(), values))
    };
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
    let argmax = decision.len() == 1 + 2 * m;
    let form = match (tensors.tensor("thresholds"), tensors.tensor("constants")) {
        (Ok(_), _) => Form::Votes {
            thresholds: read("thresholds")?.1,
            ties: match read("ties")?.1.as_slice() {
                [0.0] => Ties::Margins,
                _ => Ties::First,
            },
        },
        (_, Ok(_)) => {
            let (means, precisions) = (read("means")?.1, read("precisions")?.1);
            if means.len() != m * d || precisions.len() != m * d * d {
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
        || bias.len() != d
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
    let weights = Mat::from_fn(features, d, |i, j| weights[j * features + i]);
    Ok(Model {
        description,
        weights,
        bias,
        decision,
    })
}
