//! The names of the features, by which the columns of parts are matched: another order is put right, another set is
//! an error.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use faer::Mat;

use super::{Bounds, RowBlock, Second, Statistics};
use crate::error::{Error, Result};
use crate::numerics::dense;

impl Statistics<'_> {
    /// The names of the features, in their order, if they were told.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// Names the features. Statistics with names are merged by name, whatever the order of their columns; a model made
    /// from them knows the names too.
    ///
    /// ```
    /// use foretask::{Rows, Statistics};
    /// let part = |names: [&str; 2], row: [f64; 2]| {
    ///     let mut part = Statistics::new(2).with_feature_names(names.map(String::from).to_vec())?;
    ///     part.add(Rows::row_major(&row, 2)?, &["t"], &["a"])?;
    ///     Ok::<_, foretask::Error>(part)
    /// };
    /// let mut both = part(["height", "width"], [1.0, 2.0])?;
    /// both.merge(part(["width", "height"], [4.0, 3.0])?)?;
    /// let error = both.merge(part(["width", "depth"], [0.0, 0.0])?).unwrap_err();
    /// assert!(error.to_string().contains("column 'height'"), "{error}");
    /// # Ok::<(), foretask::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`] if there are not as many names as features, [`Error::Column`] if one is empty or there twice.
    pub fn with_feature_names(mut self, names: Vec<String>) -> Result<Self> {
        if names.len() != self.features {
            return Err(Error::Shape {
                what: "names of features",
                expected: self.features,
                got: names.len(),
            });
        }
        if let Some((column, why)) = unusable(&names) {
            return Err(Error::Column {
                column,
                row: None,
                why: why.into(),
            });
        }
        self.names = Some(names.into());
        Ok(self)
    }
}

/// A name that cannot be matched by, and why.
pub(super) fn unusable(names: &[String]) -> Option<(String, &'static str)> {
    let mut seen = HashSet::new();
    names.iter().find_map(|name| {
        if name.is_empty() {
            return Some((
                name.clone(),
                "a feature has an empty name; name all or none",
            ));
        }
        let twice = "two features have this name; columns are matched by it";
        (!seen.insert(name.as_str())).then(|| (name.clone(), twice))
    })
}

/// Where the columns of a part are that belong at the places of `names`; none if all are there already.
pub(super) fn places(names: &[String], of: &[String], part: &str) -> Result<Option<Vec<usize>>> {
    if names == of {
        return Ok(None);
    }
    let other = |column: &str, why| Error::OtherColumns {
        part: part.to_owned(),
        column: column.to_owned(),
        why,
    };
    let known: HashMap<&str, usize> = of
        .iter()
        .enumerate()
        .map(|(place, name)| (name.as_str(), place))
        .collect();
    let found: Result<Vec<usize>> = names
        .iter()
        .map(|name| {
            let place = known.get(name.as_str()).copied();
            place.ok_or_else(|| {
                other(
                    name,
                    "it is missing there; every part needs the same columns",
                )
            })
        })
        .collect();
    let found = found?;
    let ours: HashSet<&str> = names.iter().map(String::as_str).collect();
    match of.iter().find(|name| !ours.contains(name.as_str())) {
        Some(name) => Err(other(
            name,
            "it is not in the parts before; leave it out there, or gather all parts with it",
        )),
        None => Ok(Some(found)),
    }
}

impl Statistics<'_> {
    /// The same with the feature `places[j]` in place j, under the names `names`.
    pub(super) fn reordered(&self, places: &[usize], names: &Arc<[String]>) -> Statistics<'static> {
        let p = places.len();
        let columns = |of: &Mat<f64>| {
            Mat::from_fn(p, of.ncols(), |feature, cell| of[(places[feature], cell)])
        };
        let list = |of: &[f64]| places.iter().map(|&place| of[place]).collect::<Vec<f64>>();
        let bounds = self.bounds.iter().map(|bounds| Bounds {
            least: list(&bounds.least),
            most: list(&bounds.most),
        });
        let rows = |rows: &RowBlock<'_>| {
            let values = rows.values();
            let moved = values.chunks_exact(p.max(1)).flat_map(&list).collect();
            RowBlock::owned(moved, p)
        };
        let second = self.second.iter().map(|second| match second {
            Second::Rows(own) => Second::Rows(rows(own)),
            Second::Scatter {
                scatter,
                rows: own,
                dealt,
            } => Second::Scatter {
                scatter: Arc::new(dense::moved_lower(scatter, places)),
                rows: own.as_ref().map(rows),
                dealt: dealt
                    .as_ref()
                    .map(|dealt| Arc::new(dealt.reordered(places))),
            },
        });
        Statistics {
            features: p,
            names: Some(names.clone()),
            parts: self.parts.clone(),
            cells: self.cells.clone(),
            means: columns(&self.means),
            within: columns(&self.within),
            bounds: bounds.collect(),
            second: second.collect(),
            kept: self.kept.clone(),
            groups: self.groups.clone(),
            importance: self.importance.clone(),
            stop: self.stop.clone(),
        }
    }
}
