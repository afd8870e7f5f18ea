//! [`Joined`]: where sources are many, those that are alike share the columns of their cells.
//!
//! Responses are linear in the labels, so that sources whose labels are to be the same need one response between
//! them: the sum of theirs. The target keeps its cells. A group of sources has one cell for each class of the target
//! that its members have, and classes that the target does not have are joined among themselves.

use faer::Mat;

use super::cells::{Cells, Task};

/// The cells of all tasks, and the columns that they share.
#[derive(Clone, Debug)]
pub(crate) struct Joined {
    /// Of the columns: the tasks are the same, but only one of a group has classes.
    pub(crate) cells: Cells,
    /// The column of each cell.
    column: Vec<usize>,
    /// How many groups of sources there are.
    pub(crate) groups: usize,
}

/// What a cell of a source is joined by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The group of its task, and the class of the target that it stands for.
    Class(usize, usize),
    /// A group of cells that stand for none.
    Other(usize),
}

impl Joined {
    /// `place` tells where a cell of a source belongs; there are at most as many groups as sources.
    pub(crate) fn new(cells: &Cells, target: usize, place: &dyn Fn(usize) -> Place) -> Self {
        let own = &cells.tasks()[target];
        let sources = (0..cells.len()).filter(|&cell| cells.task_of(cell) != target);
        let places: Vec<(usize, Place)> = sources.map(|cell| (cell, place(cell))).collect();
        let count = |of: &dyn Fn(Place) -> Option<usize>| {
            let numbers = places.iter().filter_map(|(_, place)| of(*place));
            numbers.max().map_or(0, |most| most + 1)
        };
        let of_group = |place: Place| match place {
            Place::Class(group, _) => Some(group),
            Place::Other(_) => None,
        };
        let of_other = |place: Place| match place {
            Place::Class(..) => None,
            Place::Other(other) => Some(other),
        };
        let (groups, others) = (count(&of_group), count(&of_other));
        let mut counts: Vec<Vec<Option<usize>>> = vec![vec![None; own.classes.len()]; groups];
        let mut of_others = vec![0_usize; others];
        for &(cell, place) in &places {
            match place {
                Place::Class(group, class) => {
                    *counts[group][class].get_or_insert(0) += cells.count(cell);
                }
                Place::Other(other) => of_others[other] += cells.count(cell),
            }
        }
        // Groups stand in the places of the first sources; one cell by itself is never taken for all classes of the
        // target in order.
        let mut tasks: Vec<Task> = cells.tasks().to_vec();
        let mut held: Vec<usize> = (0..tasks.len()).filter(|&task| task != target).collect();
        held.truncate(groups + others);
        for (task, entry) in tasks.iter_mut().enumerate() {
            if task != target {
                entry.classes.clear();
                entry.counts.clear();
            }
        }
        for (&task, counts) in held.iter().zip(&counts) {
            for (name, count) in own.classes.iter().zip(counts) {
                tasks[task].classes.extend(count.map(|_| name.clone()));
                tasks[task].counts.extend(count);
            }
        }
        for (&task, &count) in held.iter().skip(groups).zip(&of_others) {
            let mut name = String::from("others");
            while own.classes.contains(&name) {
                name.push('\'');
            }
            tasks[task].classes.push(name);
            tasks[task].counts.push(count);
        }
        let columns = Cells::new(tasks);
        let of_place = |place: Place| match place {
            Place::Class(group, class) => {
                let before = counts[group][..class].iter().flatten();
                columns.of_task(held[group]).start + before.count()
            }
            Place::Other(other) => columns.of_task(held[groups + other]).start,
        };
        let mut column: Vec<usize> = vec![0; cells.len()];
        let (from, to) = (cells.of_task(target), columns.of_task(target));
        from.zip(to).for_each(|(cell, own)| column[cell] = own);
        for &(cell, place) in &places {
            column[cell] = of_place(place);
        }
        Self {
            cells: columns.with_masses_of(cells, &column),
            column,
            groups: groups + others,
        }
    }

    /// The column of a cell.
    pub(crate) fn column(&self, cell: usize) -> usize {
        self.column[cell]
    }

    /// Sums of the columns of a table with one for each cell.
    pub(crate) fn sums(&self, of_cells: &Mat<f64>) -> Mat<f64> {
        let mut sums = Mat::zeros(of_cells.nrows(), self.cells.len());
        for (cell, &column) in self.column.iter().enumerate() {
            let from = of_cells.col_as_slice(cell);
            let to = sums.col_as_slice_mut(column).iter_mut();
            to.zip(from).for_each(|(to, from)| *to += from);
        }
        sums
    }

    /// Rows of a table with one for each column, for each cell.
    pub(crate) fn spread(&self, of_columns: &Mat<f64>) -> Mat<f64> {
        Mat::from_fn(self.column.len(), of_columns.ncols(), |cell, j| {
            of_columns[(self.column[cell], j)]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(name: &str, classes: &[&str]) -> Task {
        Task {
            name: name.into(),
            classes: classes.iter().map(|class| (*class).to_owned()).collect(),
            counts: (2..2 + classes.len()).collect(),
        }
    }

    #[test]
    fn the_target_keeps_its_cells_and_classes_are_joined_by_name() {
        let cells = Cells::new(vec![
            task("one", &["b", "a"]),
            task("two", &["a", "x"]),
            task("target", &["a", "b", "others"]),
            task("three", &["y", "z", "b"]),
            task("four", &["a", "b"]),
        ]);
        // Groups: {one, four}, {two}, {three}; all others are one.
        let aligned = cells.aligned(2);
        let group = [0, 1, 9, 2, 0];
        let place = |cell: usize| match aligned[cell] {
            Some(class) => Place::Class(group[cells.task_of(cell)], class),
            None => Place::Other(0),
        };
        let joined = Joined::new(&cells, 2, &place);
        assert_eq!(joined.groups, 4);
        // a and b of the first, a of the second, the target's, b of the third, and the others.
        assert_eq!(joined.cells.len(), 2 + 1 + 3 + 1 + 1);
        assert_eq!(joined.cells.tasks().len(), 5);
        assert_eq!(joined.cells.of_task(2), 3..6);
        assert_eq!(joined.cells.tasks()[2], cells.tasks()[2]);
        let columns = joined.cells.aligned(2);
        for cell in 0..cells.len() {
            let column = joined.column[cell];
            assert_eq!(columns[column], aligned[cell], "cell {cell}");
        }
        let total = |cells: &Cells| {
            (0..cells.len())
                .map(|cell| cells.count(cell))
                .sum::<usize>()
        };
        assert_eq!(total(&joined.cells), total(&cells));
        let values = Mat::from_fn(2, cells.len(), |i, cell| (10 * i + cell) as f64);
        let sums = joined.sums(&values);
        // a of "one" and "four" are cells 1 and 10.
        assert_eq!(sums[(0, joined.column[1])], 11.0);
        let labels = Mat::from_fn(joined.cells.len(), 1, |column, _| column as f64);
        let scores = &values * joined.spread(&labels) - &sums * &labels;
        assert_eq!(scores.squared_norm_l2(), 0.0);
    }
}
