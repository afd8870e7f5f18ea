//! The rows of a task by fold.

use std::sync::Arc;

use super::dealt::{Dealt, portions_of, rows_by_fold};
use super::portion::Portion;
use super::{Keep, Second, Statistics};
use crate::data::tasks::classes_in_order;

impl Statistics<'_> {
    /// The samples of a task in each of several folds, by what is in their rows. None if these are not at hand.
    pub(crate) fn deal(&self, task: usize, folds: usize) -> Option<Vec<Vec<usize>>> {
        let rows = self.rows_of(task)?;
        Some(rows_by_fold(rows, folds))
    }

    /// A task's rows by fold. None if these are not at hand.
    pub(crate) fn portions(&self, task: usize, members: &[Vec<usize>]) -> Option<Vec<Portion>> {
        let rows = self.rows_of(task)?;
        let class = classes_in_order(&self.cells.tasks()[task]);
        Some(portions_of(rows, &class, &self.class_means(task), members))
    }

    /// What was dealt of a task that came in parts.
    pub(crate) fn dealt(&self, task: usize) -> Option<&Arc<Dealt>> {
        match &self.second[task] {
            Second::Scatter { dealt, .. } => dealt.as_ref(),
            Second::Rows(_) => None,
        }
    }

    /// The same, made of the rows where they are at hand, in so many folds.
    pub(super) fn deal_out(
        &self,
        task: usize,
        second: &Second<'_>,
        folds: usize,
    ) -> Option<Arc<Dealt>> {
        match second {
            Second::Scatter {
                dealt: Some(dealt), ..
            } => Some(dealt.clone()),
            _ => {
                let class = classes_in_order(&self.cells.tasks()[task]);
                let rows = second.rows()?;
                let near = self.class_means(task);
                Some(Arc::new(Dealt::of(rows, &class, &near, folds)))
            }
        }
    }

    /// What is to be kept of the rows of a task that has so many.
    pub(super) fn keep(&self, task: &str, rows: usize) -> Keep {
        self.kept.of(task, rows, self.features)
    }

    /// The means of the classes of a task: near to a fold's own, so that what is subtracted costs no digits.
    pub(super) fn class_means(&self, task: usize) -> Vec<Vec<f64>> {
        let cells = self.cells.of_task(task);
        cells
            .map(|cell| self.means.col(cell).iter().copied().collect())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::RowBlock;
    use super::super::portion::portion_of;
    use super::*;
    use crate::data::{Rows, Tasks};
    use faer::Mat;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    fn close(a: &Mat<f64>, b: &Mat<f64>) {
        let size = b.norm_max();
        for j in 0..a.ncols() {
            for i in j.min(a.nrows())..a.nrows() {
                assert!((a[(i, j)] - b[(i, j)]).abs() < 1e-12 * size);
            }
        }
    }

    fn drawn(n: usize, p: usize) -> (Vec<f64>, Vec<&'static str>) {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let class: Vec<&str> = (0..n).map(|l| ["a", "b", "c"][l * l % 7 % 3]).collect();
        let value = |l: usize| {
            let x: f64 = StandardNormal.sample(&mut random);
            x + 1e4 + class[l / p].len() as f64 * (l % 3) as f64
        };
        ((0..n * p).map(value).collect(), class)
    }

    #[test]
    fn all_but_a_fold_is_what_the_other_rows_give() {
        let (n, p) = (200, 4);
        let (values, class) = drawn(n, p);
        let tasks = Tasks::new(Rows::row_major(&values, p).unwrap(), &["t"; 200], &class).unwrap();
        let statistics = Statistics::of(&tasks);
        let members = statistics.deal(0, 5).unwrap();
        assert_eq!(members.iter().map(Vec::len).sum::<usize>(), n);
        assert!(members.iter().all(|members| members.len() > 20));
        let portions = statistics.portions(0, &members).unwrap();
        for (fold, rest) in Portion::all_but_each(&portions).iter().enumerate() {
            let mut others: Vec<usize> = (0..n).filter(|l| !members[fold].contains(l)).collect();
            others.sort_unstable();
            let some = statistics.with_samples(0, &others).unwrap();
            assert_eq!(rest.counts, some.cells().tasks()[0].counts);
            close(&rest.means, some.means());
            close(&rest.scatter(), &some.scatter_of(0));
        }
    }

    #[test]
    fn folds_follow_content_and_not_order() {
        let (n, p) = (120, 3);
        let (values, class) = drawn(n, p);
        let of = |order: &[usize]| {
            let rows: Vec<f64> = order
                .iter()
                .flat_map(|&l| values[l * p..(l + 1) * p].to_vec())
                .collect();
            let class: Vec<&str> = order.iter().map(|&l| class[l]).collect();
            let tasks =
                Tasks::new(Rows::row_major(&rows, p).unwrap(), &["t"; 120], &class).unwrap();
            let statistics = Statistics::of(&tasks);
            let members = statistics.deal(0, 4).unwrap();
            statistics.portions(0, &members).unwrap()
        };
        let forward = of(&(0..n).collect::<Vec<_>>());
        let backward = of(&(0..n).rev().collect::<Vec<_>>());
        for (a, b) in forward.iter().zip(&backward) {
            assert_eq!(a.counts, b.counts);
            close(&a.within, &b.within);
        }
    }

    #[test]
    fn folds_that_are_joined_are_those_of_all_their_rows() {
        let (n, p) = (150, 4);
        let (values, class) = drawn(n, p);
        let rows = Rows::row_major(&values, p).unwrap();
        let tasks = Tasks::new(rows, &["t"; 150], &class).unwrap();
        let statistics = Statistics::of(&tasks);
        let members = statistics.deal(0, 5).unwrap();
        let portions = statistics.portions(0, &members).unwrap();
        let groups = [vec![0, 3, 4], vec![1], vec![2]];
        let together: Vec<Vec<usize>> = groups
            .iter()
            .map(|group| {
                group
                    .iter()
                    .flat_map(|&fold| members[fold].clone())
                    .collect()
            })
            .collect();
        let expected = statistics.portions(0, &together).unwrap();
        let joined = Portion::joined(&portions, &groups);
        assert_eq!(joined.len(), 3);
        for (own, expected) in joined.iter().zip(&expected) {
            assert_eq!(own.counts, expected.counts);
            close(&own.means, &expected.means);
            close(&own.within, &expected.within);
        }
    }

    #[test]
    fn a_fold_may_lack_a_class() {
        let near = vec![vec![0.0; 2], vec![5.0; 2]];
        let first = portion_of(
            &RowBlock::owned(vec![1.0, 2.0, 3.0, 4.0], 2),
            &[0, 0],
            &near,
        );
        let second = portion_of(&RowBlock::owned(vec![6.0, 5.0], 2), &[1], &near);
        let both = first.merged(&second);
        assert_eq!(both.counts, [2, 1]);
        assert_eq!(both.means[(0, 1)], 6.0);
        assert_eq!(both.within, first.within);
    }
}
