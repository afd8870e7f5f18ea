//! The real data sets, read from the folder named by `--data` and never copied.
//!
//! | file | read by |
//! |---|---|
//! | `mnist.npz` | [`mnist`] |
//! | `mitbih.npz` | [`mitbih`] |
//! | `office_caltech_surf.npz`, `office_caltech_vgg.npz`, `office_caltech_vgg_fc_dslr_webcam.npz` | [`office`] |

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::error::{Error, Result};
use crate::trials::Context;

/// Samples with their classes.
#[derive(Clone, Debug)]
pub struct Table {
    /// p.
    pub features: usize,
    /// Row after row.
    pub values: Vec<f32>,
    /// The class of each row.
    pub class: Vec<usize>,
}

impl Table {
    /// One row.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.features..(row + 1) * self.features]
    }

    /// Some rows, one after the other.
    pub fn rows(&self, rows: &[usize]) -> Vec<f64> {
        rows.iter()
            .flat_map(|&row| self.row(row))
            .map(|&x| f64::from(x))
            .collect()
    }

    /// The rows of a class.
    pub fn of_class(&self, class: usize) -> Vec<usize> {
        let rows = 0..self.class.len();
        rows.filter(|&row| self.class[row] == class).collect()
    }

    /// `count` rows of a class, the first of a random order.
    pub fn some(&self, class: usize, count: usize, random: &mut ChaCha8Rng) -> Vec<usize> {
        let mut rows = self.of_class(class);
        rows.shuffle(random);
        rows.truncate(count);
        rows
    }

    /// The same rows with other features.
    pub fn map(&self, of: impl Fn(&[f32]) -> Vec<f32>) -> Self {
        let values: Vec<f32> = (0..self.class.len())
            .flat_map(|row| of(self.row(row)))
            .collect();
        Self {
            features: values.len() / self.class.len().max(1),
            values,
            class: self.class.clone(),
        }
    }
}

/// A NumPy archive.
struct Archive {
    path: PathBuf,
    zip: zip::ZipArchive<File>,
}

impl Archive {
    fn open(context: &Context, file: &'static str) -> Result<Self> {
        let path = context.file(file)?;
        let opened = File::open(&path).map_err(|source| Error::File {
            path: path.clone(),
            source,
        })?;
        let zip = zip::ZipArchive::new(opened).map_err(|error| Error::Data {
            path: path.clone(),
            what: format!("not a NumPy archive: {error}"),
        })?;
        Ok(Self { path, zip })
    }

    /// An array's values, row by row whatever the order in the file.
    fn array<T: npyz::Deserialize + Copy>(&mut self, name: &str) -> Result<Vec<T>> {
        let path = self.path.clone();
        let bad = |what: String| Error::Data {
            path: path.clone(),
            what: format!("array '{name}': {what}"),
        };
        let mut bytes = Vec::new();
        let mut entry = self
            .zip
            .by_name(&format!("{name}.npy"))
            .map_err(|error| bad(error.to_string()))?;
        entry
            .read_to_end(&mut bytes)
            .map_err(|error| bad(error.to_string()))?;
        let array = npyz::NpyFile::new(&bytes[..]).map_err(|error| bad(error.to_string()))?;
        let by_columns = array.order() == npyz::Order::Fortran && array.shape().len() > 1;
        let rows = array.shape().first().copied().unwrap_or(0) as usize;
        let values: Vec<T> = array.into_vec().map_err(|error| bad(error.to_string()))?;
        if !by_columns {
            return Ok(values);
        }
        Ok((0..rows)
            .flat_map(|row| values.iter().skip(row).step_by(rows).copied())
            .collect())
    }

    fn table<C: npyz::Deserialize + Copy + TryInto<usize>>(
        &mut self,
        values: Vec<f32>,
        classes: &str,
    ) -> Result<Table> {
        let class: Vec<C> = self.array(classes)?;
        if class.is_empty() || !values.len().is_multiple_of(class.len()) {
            return Err(Error::Data {
                path: self.path.clone(),
                what: format!(
                    "'{classes}' has {} entries, which is not one per row",
                    class.len()
                ),
            });
        }
        let number = |&class: &C| class.try_into().unwrap_or(usize::MAX);
        Ok(Table {
            features: values.len() / class.len(),
            values,
            class: class.iter().map(number).collect(),
        })
    }
}

/// The digits: training and test images of 28 x 28 pixels from 0 to 1.
///
/// # Errors
/// If `mnist.npz` is missing or not as described.
pub fn mnist(context: &Context) -> Result<[Table; 2]> {
    let mut archive = Archive::open(context, "mnist.npz")?;
    let mut part = |part: &str| {
        let pixels: Vec<u8> = archive.array(&format!("{part}_images"))?;
        let values = pixels.iter().map(|&x| f32::from(x) / 255.0).collect();
        archive.table::<u8>(values, &format!("{part}_labels"))
    };
    Ok([part("train")?, part("test")?])
}

/// The heartbeats: training and test.
///
/// # Errors
/// If `mitbih.npz` is missing or not as described.
pub fn mitbih(context: &Context) -> Result<[Table; 2]> {
    let mut archive = Archive::open(context, "mitbih.npz")?;
    let mut part = |part: &str| {
        let values: Vec<f32> = archive.array(&format!("X_{part}"))?;
        archive.table::<i64>(values, &format!("y_{part}"))
    };
    Ok([part("train")?, part("test")?])
}

/// The four domains of Office+Caltech.
pub const DOMAINS: [&str; 4] = ["caltech", "webcam", "amazon", "dslr"];

/// Which features of the pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pictures {
    /// Counts of 800 visual words.
    Surf,
    /// 4,096 activations of a VGG network.
    Vgg,
    /// 4,096 activations of a VGG network's seventh fully connected layer, the paper's, of two domains.
    Fc7,
}

/// The pictures of ten kinds of things, by domain as in [`DOMAINS`]; none where the file does not have it.
///
/// # Errors
/// If the file is missing or not as described.
pub fn office(context: &Context, pictures: Pictures) -> Result<Vec<Option<Table>>> {
    let (file, suffix) = match pictures {
        Pictures::Surf => ("office_caltech_surf.npz", "X"),
        Pictures::Vgg => ("office_caltech_vgg.npz", "X"),
        Pictures::Fc7 => ("office_caltech_vgg_fc_dslr_webcam.npz", "fc7"),
    };
    let mut archive = Archive::open(context, file)?;
    DOMAINS
        .iter()
        .map(|domain| {
            let name = format!("{domain}_{suffix}");
            let values = match pictures {
                Pictures::Fc7 if !["webcam", "dslr"].contains(domain) => return Ok(None),
                Pictures::Surf => {
                    let counts: Vec<u8> = archive.array(&name)?;
                    counts.into_iter().map(f32::from).collect()
                }
                Pictures::Vgg | Pictures::Fc7 => archive.array(&name)?,
            };
            let table = archive.table::<i64>(values, &format!("{domain}_y"))?;
            Ok(Some(table))
        })
        .collect()
}

/// The square roots of the shares of a row's counts.
pub fn roots_of_shares(counts: &[f32]) -> Vec<f32> {
    let total: f32 = counts.iter().sum();
    let share = |count: &f32| (count / total.max(1.0)).sqrt();
    counts.iter().map(share).collect()
}

/// Three features for each count, whose inner products are nearly the χ² kernel Σ 2xy/(x + y) of the shares of
/// two rows: the kernel's spectrum sech(πω) at ω = 0 and ½, steps of ½ (Vedaldi and Zisserman, "Efficient Additive
/// Kernels via Explicit Feature Maps", 2012).
pub fn chi_squared_map(counts: &[f32]) -> Vec<f32> {
    const STEP: f64 = 0.5;
    let total: f64 = counts.iter().map(|&count| f64::from(count)).sum();
    let features = |&count: &f32| -> [f32; 3] {
        let share = f64::from(count) / total.max(1.0);
        if share <= 0.0 {
            return [0.0; 3];
        }
        let size = (2.0 * share * STEP / (std::f64::consts::PI * STEP).cosh()).sqrt();
        let (sin, cos) = (STEP * share.ln()).sin_cos();
        [(share * STEP).sqrt(), size * cos, size * sin].map(|x| x as f32)
    };
    counts.iter().flat_map(features).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_of_shares_have_norm_one() {
        let roots = roots_of_shares(&[1.0, 0.0, 3.0]);
        assert_eq!(roots, [0.5, 0.0, 0.75_f32.sqrt()]);
        assert_eq!(roots_of_shares(&[0.0; 2]), [0.0; 2]);
    }

    #[test]
    fn products_of_the_chi_squared_map_are_nearly_the_kernel() {
        let counts = [[1.0, 0.0, 3.0, 6.0], [4.0, 2.0, 2.0, 2.0]];
        let kernel: f64 = (0..4)
            .map(|i| counts.map(|row| f64::from(row[i]) / 10.0))
            .map(|[x, y]| 2.0 * x * y / (x + y))
            .sum();
        let [a, b] = counts.map(|row: [f32; 4]| chi_squared_map(&row));
        let product: f32 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
        assert_eq!(a.len(), 12);
        // By AdditiveChi2Sampler of scikit-learn, with two samples of the spectrum; these are few.
        assert!((product - 0.670_362_67).abs() < 1e-6, "{product}");
        assert!(
            (f64::from(product) - kernel).abs() < 0.05 * kernel,
            "{kernel}"
        );
    }

    #[test]
    fn a_missing_file_is_named_with_its_folder() {
        let context = Context::new("/nowhere", None);
        let error = mnist(&context).unwrap_err().to_string();
        assert_eq!(
            error,
            "mnist.npz is not in /nowhere; name the folder that holds it with --data"
        );
    }
}
