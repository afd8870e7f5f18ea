//! The real data sets outside the repository, read where they are, and problems made of them.
//!
//! They are in the folder named by `FORETASK_DATA`, or in `../shared/data` beside the repository. A test
//! whose file is not there says so and leaves that part out.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use foretask::{Model, Rows, Tasks};

/// A NumPy archive.
pub struct Archive(zip::ZipArchive<File>);

impl Archive {
    /// `None`, with a message, if the file is not there.
    pub fn open(name: &str) -> Option<Self> {
        let folder = std::env::var_os("FORETASK_DATA").map_or_else(
            || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")),
            PathBuf::from,
        );
        let file = folder.join(name);
        if !file.exists() {
            println!(
                "SKIPPED: {} is not there; set FORETASK_DATA to the folder that holds {name}",
                file.display()
            );
            return None;
        }
        Some(Self(
            zip::ZipArchive::new(File::open(file).unwrap()).unwrap(),
        ))
    }

    /// An array's values, row by row whatever the order in the file.
    pub fn array<T: npyz::Deserialize + Copy>(&mut self, name: &str) -> Vec<T> {
        let mut bytes = Vec::new();
        let mut entry = self.0.by_name(&format!("{name}.npy")).unwrap();
        entry.read_to_end(&mut bytes).unwrap();
        let array = npyz::NpyFile::new(&bytes[..]).unwrap();
        let by_columns = array.order() == npyz::Order::Fortran && array.shape().len() > 1;
        let rows = array.shape()[0] as usize;
        let values: Vec<T> = array.into_vec().unwrap();
        if !by_columns {
            return values;
        }
        (0..rows)
            .flat_map(|row| values.iter().skip(row).step_by(rows).copied())
            .collect()
    }
}

/// Samples with their classes.
pub struct Table {
    pub features: usize,
    pub values: Vec<f32>,
    pub class: Vec<usize>,
}

impl Table {
    fn new<C: Copy + TryInto<usize>>(values: Vec<f32>, class: &[C]) -> Self {
        let number = |&class: &C| class.try_into().unwrap_or(usize::MAX);
        Self {
            features: values.len() / class.len(),
            values,
            class: class.iter().map(number).collect(),
        }
    }

    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.features..(row + 1) * self.features]
    }

    /// The rows of a class.
    pub fn of_class(&self, class: usize) -> Vec<usize> {
        let rows = 0..self.class.len();
        rows.filter(|&row| self.class[row] == class).collect()
    }
}

/// MNIST, training and test images; pixels from 0 to 1.
pub fn mnist() -> Option<[Table; 2]> {
    let mut archive = Archive::open("mnist.npz")?;
    Some(["train", "test"].map(|part| {
        let pixels: Vec<u8> = archive.array(&format!("{part}_images"));
        let values = pixels.iter().map(|&x| f32::from(x) / 255.0).collect();
        Table::new(values, &archive.array::<u8>(&format!("{part}_labels")))
    }))
}

/// Heartbeats, training and test.
pub fn mitbih() -> Option<[Table; 2]> {
    let mut archive = Archive::open("mitbih.npz")?;
    Some(["train", "test"].map(|part| {
        Table::new(
            archive.array(&format!("X_{part}")),
            &archive.array::<i64>(&format!("y_{part}")),
        )
    }))
}

pub const DOMAINS: [&str; 4] = ["amazon", "caltech", "dslr", "webcam"];

/// Pictures of ten kinds of things from four domains, as counts of visual words (the square root of their
/// shares).
pub fn office_surf() -> Option<[Table; 4]> {
    let mut archive = Archive::open("office_caltech_surf.npz")?;
    Some(DOMAINS.map(|domain| {
        let class: Vec<i64> = archive.array(&format!("{domain}_y"));
        let counts: Vec<u8> = archive.array(&format!("{domain}_X"));
        let shares = counts.chunks_exact(counts.len() / class.len());
        let values = shares.flat_map(|row| {
            let total: f32 = row.iter().map(|&x| f32::from(x)).sum();
            row.iter()
                .map(move |&x| (f32::from(x) / total.max(1.0)).sqrt())
        });
        Table::new(values.collect(), &class)
    }))
}

/// The same pictures as features of a neural network.
pub fn office_vgg() -> Option<[Table; 4]> {
    let mut archive = Archive::open("office_caltech_vgg.npz")?;
    Some(DOMAINS.map(|domain| {
        Table::new(
            archive.array(&format!("{domain}_X")),
            &archive.array::<i64>(&format!("{domain}_y")),
        )
    }))
}

/// Training samples of several tasks, the target being named so, and test samples of the target.
#[derive(Default)]
pub struct Problem {
    pub features: usize,
    pub values: Vec<f32>,
    pub task: Vec<String>,
    pub class: Vec<String>,
    pub test: Vec<f32>,
    /// The classes of the test samples.
    pub truth: Vec<String>,
}

pub const TARGET: &str = "target";

impl Problem {
    /// Adds training samples of a class.
    pub fn learn(&mut self, task: &str, class: usize, table: &Table, rows: &[usize]) {
        self.features = table.features;
        for &row in rows {
            self.values.extend_from_slice(table.row(row));
            self.task.push(task.to_owned());
            self.class.push(name(class));
        }
    }

    /// Adds test samples of a class.
    pub fn examine(&mut self, class: usize, table: &Table, rows: &[usize]) {
        for &row in rows {
            self.test.extend_from_slice(table.row(row));
            self.truth.push(name(class));
        }
    }

    pub fn tasks(&self) -> Tasks<'_> {
        let rows = Rows::row_major(&self.values, self.features).unwrap();
        Tasks::new(rows, &self.task, &self.class).unwrap()
    }

    /// How often a test sample of each class (row) is called each class (column).
    pub fn confusion(&self, model: &Model) -> Vec<Vec<usize>> {
        let rows = Rows::row_major(&self.test, self.features).unwrap();
        let classes = model.classes();
        let mut confusion = vec![vec![0; classes.len()]; classes.len()];
        for (decision, truth) in model.predict(rows).unwrap().into_iter().zip(&self.truth) {
            let truth = classes.iter().position(|class| class == truth).unwrap();
            confusion[truth][decision] += 1;
        }
        confusion
    }
}

/// The name of a class.
pub fn name(class: usize) -> String {
    format!("c{class}")
}
