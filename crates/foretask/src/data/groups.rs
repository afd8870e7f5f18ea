//! [`Groups`]: samples that belong together, and are left out together.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// Which samples of a task belong together: of one patient, one writer, one recording. Everyone alone by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Groups(Option<Arc<Grouped>>);

/// Groups of which at least one has several members.
#[derive(Debug, PartialEq, Eq)]
struct Grouped {
    /// The group of each sample.
    of: Vec<usize>,
    /// The samples of each group, ascending; groups in the order of their first sample.
    members: Vec<Vec<usize>>,
}

impl Groups {
    /// From a name for each sample.
    pub(crate) fn new<N: Eq + Hash>(names: impl Iterator<Item = N>) -> Self {
        let mut known: HashMap<N, usize> = HashMap::new();
        let mut members: Vec<Vec<usize>> = Vec::new();
        let mut of = Vec::new();
        for (sample, name) in names.enumerate() {
            let group = *known.entry(name).or_insert(members.len());
            if group == members.len() {
                members.push(Vec::new());
            }
            members[group].push(sample);
            of.push(group);
        }
        let several = members.len() < of.len();
        Self(several.then(|| Arc::new(Grouped { of, members })))
    }

    /// The samples of each group; none where everyone is alone.
    pub(crate) fn members(&self) -> Option<&[Vec<usize>]> {
        self.0.as_ref().map(|grouped| grouped.members.as_slice())
    }

    /// Those of some samples, by position among them.
    pub(crate) fn among(&self, samples: &[usize]) -> Self {
        match &self.0 {
            None => Self::default(),
            Some(grouped) => Self::new(samples.iter().map(|&sample| grouped.of[sample])),
        }
    }

    /// In how many groups each class is found.
    pub(crate) fn with_class(&self, class: &[usize], classes: usize) -> Vec<usize> {
        let mut found = vec![0; classes];
        match self.members() {
            None => class.iter().for_each(|&c| found[c] += 1),
            Some(groups) => {
                for members in groups {
                    for (c, found) in found.iter_mut().enumerate() {
                        *found += usize::from(members.iter().any(|&l| class[l] == c));
                    }
                }
            }
        }
        found
    }

    /// n²/Σ n_g²: as many groups of equal size would hold as much. None where everyone is alone.
    pub(crate) fn independent(&self) -> Option<f64> {
        let groups = self.members()?;
        let sizes = groups.iter().map(|members| members.len() as f64);
        let (total, squares) = sizes.fold((0.0, 0.0), |(total, squares), size| {
            (total + size, squares + size * size)
        });
        Some(total * total / squares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_follow_their_samples() {
        let groups = Groups::new("aabcca".chars());
        assert_eq!(
            groups.members().unwrap(),
            [vec![0, 1, 5], vec![2], vec![3, 4]]
        );
        let some = groups.among(&[1, 2, 4, 5]);
        assert_eq!(some.members().unwrap(), [vec![0, 3], vec![1], vec![2]]);
        assert!(groups.among(&[0, 2, 3]).members().is_none());
        assert_eq!(groups.with_class(&[0, 0, 0, 1, 1, 1], 2), [2, 2]);
        assert!((groups.independent().unwrap() - 36.0 / 14.0).abs() < 1e-15);
    }
}
