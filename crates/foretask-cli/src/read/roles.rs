//! Which column of a file is the label, which the task, and which are features.
//!
//! CSV and Parquet files have named columns and share this step, which looks at the header alone:
//! a table with a wrong header is refused before its cells are read.

use std::collections::{HashMap, HashSet};

use foretask::prepare::{Column, Encoding, Frame, Preparation};

use super::builder::Expected;
use super::error::{Names, ReadError};
use super::table::{Columns, Keep, Purpose};

/// The names under which a label is looked for when the user gives none, best first.
const LABEL_NAMES: [&str; 4] = ["label", "y", "class", "target"];

/// The names under which a task is looked for when the user gives none, best first.
const TASK_NAMES: [&str; 2] = ["task", "domain"];

/// The roles of the columns of one file, by position in the header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roles {
    /// The feature columns, in the order in which their values are stored.
    pub features: Vec<usize>,
    /// The label column, where the purpose needs one.
    pub label: Option<usize>,
    /// The task column, where the purpose needs one and the file has one.
    pub task: Option<usize>,
    /// The columns that are copied to the output.
    pub kept: Vec<usize>,
}

/// What the header of one file is matched against.
pub struct Request<'a> {
    /// The file's name for messages.
    pub file: &'a str,
    /// The columns that the user named.
    pub columns: &'a Columns,
    /// What the table is for.
    pub purpose: &'a Purpose<'a>,
    /// The first file and its features, when this is a later one.
    pub first: Option<(&'a str, &'a [String])>,
}

impl Request<'_> {
    /// Whether this purpose reads labels.
    pub fn needs_label(&self) -> bool {
        !matches!(self.purpose, Purpose::Predict { .. })
    }

    /// Whether this purpose reads tasks.
    pub fn needs_task(&self) -> bool {
        !matches!(self.purpose, Purpose::Predict { .. })
    }

    /// How the features of the model come from columns, when there is one.
    pub fn preparation(&self) -> Option<&Preparation> {
        match self.purpose {
            Purpose::Train | Purpose::Look => None,
            Purpose::Predict { preparation }
            | Purpose::Gather { preparation }
            | Purpose::Evaluate { preparation, .. } => Some(preparation),
        }
    }

    /// What a column is expected to hold, which may be the model's feature number `guess`: in wide tables a search for each
    /// would take long.
    pub fn expected(&self, name: &str, guess: usize) -> Expected {
        let has = |names: &[String]| names.iter().any(|other| other == name);
        if let Some(Preparation { columns, .. }) = self.preparation() {
            let guessed = columns.get(guess).filter(|column| column.name == name);
            let found = guessed.or_else(|| columns.iter().find(|column| column.name == name));
            return match found {
                Some(column) if column.encoding == Encoding::Number => Expected::Numbers,
                Some(_) => Expected::Texts,
                None => Expected::Anything,
            };
        }
        if has(&self.columns.categorical) {
            Expected::Texts
        } else if has(&self.columns.numeric) {
            Expected::Numbers
        } else {
            Expected::Anything
        }
    }

    /// The feature columns as a frame.
    pub fn frame(
        &self,
        header: &[String],
        roles: &Roles,
        columns: Vec<Column>,
        rows: usize,
    ) -> Result<Frame, ReadError> {
        let names = roles.features.iter().map(|&column| header[column].clone());
        Frame::new(names.collect(), columns, rows).map_err(|error| ReadError::Damaged {
            file: self.file.to_owned(),
            format: "table",
            reason: error.to_string(),
        })
    }

    /// The label among `names`: the one that the user named, that the model remembers, or the first of `usual`
    /// names.
    ///
    /// A column that is a feature, of the user's choice or of the model, is not taken for the label
    /// by its name alone.
    pub fn find_label(&self, names: &[String], usual: &[&str]) -> Result<usize, ReadError> {
        if let Some(name) = &self.columns.label {
            return self.find(names, name, "label");
        }
        let remembered = self.preparation().and_then(|model| model.label.as_ref());
        remembered
            .and_then(|label| names.iter().position(|name| name == label))
            .or_else(|| self.find_usual(names, usual))
            .ok_or_else(|| ReadError::NoLabel {
                file: self.file.to_owned(),
                available: Names(names.to_vec()),
            })
    }

    /// The task among `names`, if the user named one, the model remembers one that is there, or there is one with
    /// a usual name.
    pub fn find_task(&self, names: &[String]) -> Result<Option<usize>, ReadError> {
        if let Some(name) = &self.columns.task {
            return self.find(names, name, "task").map(Some);
        }
        let remembered = self.preparation().and_then(|model| model.task.as_ref());
        Ok(remembered
            .and_then(|task| names.iter().position(|name| name == task))
            .or_else(|| self.find_usual(names, &TASK_NAMES)))
    }

    /// The column of groups among `names`, if the user named one.
    pub fn find_group(&self, names: &[String]) -> Result<Option<usize>, ReadError> {
        let group = self.columns.group.as_ref();
        group
            .map(|name| self.find(names, name, "group"))
            .transpose()
    }

    /// The position of a name that must be there.
    pub fn find(
        &self,
        names: &[String],
        name: &str,
        role: &'static str,
    ) -> Result<usize, ReadError> {
        names
            .iter()
            .position(|candidate| candidate == name)
            .ok_or_else(|| self.no_column(names, name, role))
    }

    fn no_column(&self, names: &[String], name: &str, role: &'static str) -> ReadError {
        ReadError::NoColumn {
            file: self.file.to_owned(),
            role,
            column: name.to_owned(),
            available: Names(names.to_vec()),
        }
    }

    fn find_usual(&self, names: &[String], usual: &[&str]) -> Option<usize> {
        let chosen = self.columns.features.as_deref().unwrap_or_default();
        let model = self.preparation().map_or(&[][..], |model| &model.columns);
        let is_feature = |name: &String| {
            chosen.contains(name) || model.iter().any(|column| column.name == *name)
        };
        let position = |matches: &dyn Fn(&str) -> bool| {
            names
                .iter()
                .position(|name| matches(name) && !is_feature(name))
        };
        usual.iter().find_map(|usual| {
            position(&|name| name == *usual)
                .or_else(|| position(&|name| name.eq_ignore_ascii_case(usual)))
        })
    }

    /// Gives every column of a header its role.
    pub fn assign(&self, header: &[String]) -> Result<Roles, ReadError> {
        self.refuse_duplicates(header)?;
        let positions: HashMap<&str, usize> = header
            .iter()
            .enumerate()
            .map(|(position, name)| (name.as_str(), position))
            .collect();
        let kept = self.kept(header)?;
        if let Some(model) = self.preparation() {
            let features = self.pick_model_features(model, header, &positions)?;
            let label = match self.needs_label() {
                true => Some(self.find_label(header, &LABEL_NAMES)?),
                false => None,
            };
            let task = match self.needs_task() {
                true => self.find_task(header)?,
                false => None,
            };
            return Ok(Roles {
                features,
                label,
                task,
                kept,
            });
        }
        let label = match (self.find_label(header, &LABEL_NAMES), self.purpose) {
            (Ok(label), _) => Some(label),
            (Err(ReadError::NoLabel { .. }), Purpose::Look) => None,
            (Err(error), _) => return Err(error),
        };
        let task = self.find_task(header)?;
        if let (Some(column), true) = (label, task == label) {
            return Err(self.two_roles(&header[column], "the label", "the task"));
        }
        if let Some(group) = self
            .find_group(header)?
            .filter(|&group| Some(group) == label)
        {
            return Err(self.two_roles(&header[group], "the label", "the group"));
        }
        let features = match &self.columns.features {
            Some(chosen) => self.pick_chosen(chosen, header, &positions)?,
            None => self.pick_others(header, label, task)?,
        };
        for &position in &features {
            if Some(position) == label {
                return Err(self.two_roles(&header[position], "the label", "a feature"));
            }
            if Some(position) == task {
                return Err(self.two_roles(&header[position], "the task", "a feature"));
            }
            if self.columns.group.as_ref() == Some(&header[position]) {
                return Err(self.two_roles(&header[position], "the group", "a feature"));
            }
        }
        for (names, role) in [
            (&self.columns.numeric, "numeric"),
            (&self.columns.categorical, "categorical"),
        ] {
            for name in names {
                self.find(header, name, role)?;
            }
        }
        if features.is_empty() {
            return Err(ReadError::NoFeatures {
                file: self.file.to_owned(),
                available: Names(header.to_vec()),
            });
        }
        let features = self.in_first_order(features, header)?;
        Ok(Roles {
            features,
            label,
            task,
            kept,
        })
    }

    /// The columns that are copied to the output.
    fn kept(&self, header: &[String]) -> Result<Vec<usize>, ReadError> {
        let mut kept: Vec<usize> = match &self.columns.keep {
            Keep::All => (0..header.len()).collect(),
            Keep::Named(names) => names
                .iter()
                .map(|name| self.find(header, name, "kept"))
                .collect::<Result<_, _>>()?,
        };
        kept.extend(self.find_group(header)?);
        Ok(kept)
    }

    fn refuse_duplicates(&self, header: &[String]) -> Result<(), ReadError> {
        let mut seen = HashSet::new();
        match header
            .iter()
            .find(|name| !name.is_empty() && !seen.insert(name.as_str()))
        {
            None => Ok(()),
            Some(name) => Err(ReadError::DuplicateColumn {
                file: self.file.to_owned(),
                column: name.clone(),
            }),
        }
    }

    fn pick_model_features(
        &self,
        model: &Preparation,
        header: &[String],
        positions: &HashMap<&str, usize>,
    ) -> Result<Vec<usize>, ReadError> {
        let wanted = || model.columns.iter().map(|column| column.name.as_str());
        let missing: Vec<String> = wanted()
            .filter(|name| !positions.contains_key(name))
            .map(str::to_owned)
            .collect();
        if let Some(first) = missing.first() {
            return Err(ReadError::MissingFeatures {
                file: self.file.to_owned(),
                expected: model.columns.len(),
                nearest: foretask::prepare::nearest(first, header).map_or(String::new(), |name| {
                    format!("; did you mean '{name}' for '{first}'?")
                }),
                missing: Names(missing),
            });
        }
        Ok(wanted()
            .filter_map(|name| positions.get(name).copied())
            .collect())
    }

    fn pick_chosen(
        &self,
        chosen: &[String],
        header: &[String],
        positions: &HashMap<&str, usize>,
    ) -> Result<Vec<usize>, ReadError> {
        let mut picked = Vec::with_capacity(chosen.len());
        let mut seen = HashSet::new();
        for name in chosen {
            if !seen.insert(name) {
                return Err(self.two_roles(name, "a feature", "a feature a second time"));
            }
            match positions.get(name.as_str()) {
                Some(&position) => picked.push(position),
                None => return Err(self.no_column(header, name, "feature")),
            }
        }
        Ok(picked)
    }

    fn pick_others(
        &self,
        header: &[String],
        label: Option<usize>,
        task: Option<usize>,
    ) -> Result<Vec<usize>, ReadError> {
        for name in &self.columns.ignore {
            self.find(header, name, "ignored")?;
        }
        let is_feature = |&position: &usize| {
            Some(position) != label
                && Some(position) != task
                && self.columns.group.as_ref() != Some(&header[position])
                && !self.columns.ignore.contains(&header[position])
        };
        Ok((0..header.len()).filter(is_feature).collect())
    }

    /// Puts the features of a later file (positions in its header) in the order of the first, so that rows can be appended.
    pub fn in_first_order(
        &self,
        features: Vec<usize>,
        header: &[String],
    ) -> Result<Vec<usize>, ReadError> {
        let Some((first, expected)) = self.first else {
            return Ok(features);
        };
        let mut found: HashMap<&str, usize> = features
            .iter()
            .map(|&position| (header[position].as_str(), position))
            .collect();
        let (mut ordered, mut missing) = (Vec::with_capacity(expected.len()), Vec::new());
        for name in expected {
            match found.remove(name.as_str()) {
                Some(position) => ordered.push(position),
                None => missing.push(name.clone()),
            }
        }
        if missing.is_empty() && found.is_empty() {
            return Ok(ordered);
        }
        let extra = features
            .iter()
            .map(|&position| &header[position])
            .filter(|name| found.contains_key(name.as_str()))
            .cloned()
            .collect();
        Err(ReadError::DifferentFeatures {
            file: self.file.to_owned(),
            first: first.to_owned(),
            missing: Names(missing),
            extra: Names(extra),
        })
    }

    /// The error for one column that is asked to play two parts.
    pub fn two_roles(&self, column: &str, first: &'static str, second: &'static str) -> ReadError {
        ReadError::TwoRoles {
            file: self.file.to_owned(),
            column: column.to_owned(),
            first,
            second,
        }
    }
}
