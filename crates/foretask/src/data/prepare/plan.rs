//! [`Preparation`]: how the columns of a table become features.

use super::column::WhyLeftOut;

/// How the columns of a table become features.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Preparation {
    /// The column that held the classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The column that held the tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The columns that become features, in their order.
    pub columns: Vec<Encoded>,
    /// The columns that do not.
    #[serde(default)]
    pub left_out: Vec<LeftOutColumn>,
}

/// A column, and what becomes of it.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Encoded {
    /// Its name.
    pub name: String,
    /// What becomes of its values.
    pub encoding: Encoding,
    /// Whether a feature of its own says that the value is missing.
    #[serde(default)]
    pub indicator: bool,
    /// What stands for a missing value, by task, or one for all; none if a missing value is an error.
    #[serde(default)]
    pub fills: Vec<f64>,
    /// The share of training rows in which it was missing.
    #[serde(default)]
    pub missing: f64,
}

/// What becomes of the values of a column.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// They are a feature.
    Number,
    /// `true` and `yes` are 1, `false` and `no` are 0.
    Flag,
    /// A feature for each of these texts.
    Levels(Vec<String>),
}

/// A column that becomes no feature.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LeftOutColumn {
    /// Its name.
    pub name: String,
    /// Why.
    pub why: WhyLeftOut,
}

impl Encoded {
    /// Whether it is a feature as it is, and had no gaps.
    pub(super) fn is_plain(&self) -> bool {
        self.encoding == Encoding::Number && !self.indicator && self.missing == 0.0
    }

    /// The features that it becomes, one after the other.
    fn features(&self) -> impl Iterator<Item = String> + '_ {
        let own: Vec<String> = match &self.encoding {
            Encoding::Number | Encoding::Flag => vec![self.name.clone()],
            Encoding::Levels(levels) => levels
                .iter()
                .map(|level| format!("{}={level}", self.name))
                .collect(),
        };
        let indicator = self.indicator.then(|| format!("{} is missing", self.name));
        own.into_iter().chain(indicator)
    }

    /// How many they are.
    fn width(&self) -> usize {
        let own = match &self.encoding {
            Encoding::Number | Encoding::Flag => 1,
            Encoding::Levels(levels) => levels.len(),
        };
        own + usize::from(self.indicator)
    }
}

impl Preparation {
    /// Columns that are features as they are, and have no gaps.
    pub fn plain(names: &[String]) -> Self {
        let column = |name: &String| Encoded {
            name: name.clone(),
            encoding: Encoding::Number,
            indicator: false,
            fills: Vec::new(),
            missing: 0.0,
        };
        Self {
            columns: names.iter().map(column).collect(),
            ..Self::default()
        }
    }

    /// Whether every column is a feature as it is, and had no gaps.
    pub fn is_plain(&self) -> bool {
        self.left_out.is_empty() && self.columns.iter().all(Encoded::is_plain)
    }

    /// The names of the features.
    pub fn feature_names(&self) -> Vec<String> {
        self.columns.iter().flat_map(Encoded::features).collect()
    }

    /// The number of features.
    pub fn width(&self) -> usize {
        self.columns.iter().map(Encoded::width).sum()
    }

    /// The preparation of one task's rows: gaps are filled with its medians alone.
    pub fn of_task(mut self, task: usize) -> Self {
        for column in &mut self.columns {
            if let Some(&fill) = column.fills.get(task) {
                column.fills = vec![fill];
            }
        }
        self
    }

    /// Whether the words of a file can be believed.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn verify(&self) -> std::result::Result<(), String> {
        for column in &self.columns {
            if !column.fills.iter().all(|fill| fill.is_finite()) {
                return Err(format!("column '{}' is filled with no number", column.name));
            }
            if matches!(&column.encoding, Encoding::Levels(levels) if levels.is_empty()) {
                return Err(format!("column '{}' has no level", column.name));
            }
        }
        Ok(())
    }
}
