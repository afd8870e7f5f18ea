//! Whether numbers that come from outside can be the statistics of any rows. What passes here can be merged and
//! trained on without a surprise.

use super::{Bounds, Dealt, Portion, RowBlock, Second, Statistics, columns, parts};
use crate::data::cells::{Task, check_tasks};
use crate::numerics::sparse::Sparse;

/// Rounding that statistics may have gathered over many merges, relative to the numbers that it is made on.
const ROUNDING: f64 = 1e-6;

/// The names and counts, before anything is made of them.
pub(super) fn tasks(tasks: &[Task], features: usize) -> Result<(), String> {
    if features == 0 && !tasks.is_empty() {
        return Err("it has tasks, but no features".into());
    }
    check_tasks(tasks)
}

/// The counts of a task in folds, before anything is made of them.
pub(super) fn folds(
    task: &Task,
    number: usize,
    folds: &[Vec<usize>],
    sample: &[usize],
) -> Result<(), String> {
    let (name, m) = (&task.name, task.classes.len());
    if folds.len() != number || sample.len() != m || folds.iter().any(|fold| fold.len() != m) {
        return Err(format!("task '{name}' has folds of another kind"));
    }
    let bare = sample.iter().all(|&count| count == 0);
    for (class, &count) in task.counts.iter().enumerate() {
        let total = folds
            .iter()
            .try_fold(0_usize, |sum, fold| sum.checked_add(fold[class]));
        if total != Some(count) || sample[class] > count || !bare && sample[class] == 0 {
            return Err(format!(
                "the folds of task '{name}' have other counts than it"
            ));
        }
    }
    Ok(())
}

/// What belongs to the whole.
pub(super) fn names(names: Option<&[String]>, features: usize) -> Result<(), String> {
    match names {
        Some(names) if names.len() != features => {
            Err("it has not as many names as features".into())
        }
        Some(names) => match columns::unusable(names) {
            Some((column, why)) => Err(format!("column '{column}': {why}")),
            None => Ok(()),
        },
        None => Ok(()),
    }
}

/// Identities of parts.
pub(super) fn identities<'t>(
    mut identities: impl Iterator<Item = &'t String>,
) -> Result<(), String> {
    match identities.find(|text| !parts::is_identity(text)) {
        Some(text) => Err(format!("'{text}' is not the identity of a part")),
        None => Ok(()),
    }
}

/// The numbers, which are finite and of the right shapes.
pub(super) fn numbers(statistics: &Statistics<'_>) -> Result<(), String> {
    if statistics
        .within
        .col_iter()
        .any(|cell| cell.iter().any(|&x| x < 0.0))
    {
        return Err("a sum of squares is negative".into());
    }
    for (task, entry) in statistics.cells.tasks().iter().enumerate() {
        bounds(statistics, task)?;
        if let Some(rows) = statistics.second[task].rows() {
            of_rows(statistics, task, entry, rows)?;
        }
        if let Some(dealt) = statistics.dealt(task) {
            of_folds(statistics, task, entry, dealt)?;
        }
        if let Second::Scatter { scatter, .. } = &statistics.second[task] {
            let name = &entry.name;
            diagonal(statistics, task, &|feature| scatter[(feature, feature)])
                .map_err(|why| format!("the scatter of task '{name}' {why}"))?;
            for j in 0..scatter.ncols() {
                for i in j + 1..scatter.nrows() {
                    let most = scatter[(i, i)].max(0.0).sqrt() * scatter[(j, j)].max(0.0).sqrt();
                    // Entries of features that hardly vary are rounding of their own.
                    let slack = ROUNDING * most + f64::MIN_POSITIVE.sqrt();
                    if scatter[(i, j)].abs() > most + slack + rounded(statistics, task, i, j) {
                        return Err(format!(
                            "the scatter of task '{name}' is that of no rows (features {} and {})",
                            j + 1,
                            i + 1
                        ));
                    }
                }
            }
        }
    }
    Ok(())
}

/// The size of a feature in a task.
fn size(bounds: &Bounds, feature: usize) -> f64 {
    bounds.least[feature].abs().max(bounds.most[feature].abs())
}

/// What rounding of the values may leave in an entry of a scatter.
fn rounded(statistics: &Statistics<'_>, task: usize, i: usize, j: usize) -> f64 {
    let (n, bounds) = (
        statistics.cells.samples(task) as f64,
        &statistics.bounds[task],
    );
    1e-12 * n * size(bounds, i) * size(bounds, j)
}

/// least <= mean <= most for every class.
fn bounds(statistics: &Statistics<'_>, task: usize) -> Result<(), String> {
    let bounds = &statistics.bounds[task];
    for feature in 0..statistics.features {
        let (least, most) = (bounds.least[feature], bounds.most[feature]);
        let slack = 1e-9 * size(bounds, feature);
        let inside = |mean: f64| least - slack <= mean && mean <= most + slack;
        let mut cells = statistics.cells.of_task(task);
        if least > most || !cells.all(|cell| inside(statistics.means[(feature, cell)])) {
            let name = &statistics.cells.tasks()[task].name;
            return Err(format!(
                "feature {} of task '{name}' has a mean beyond its bounds",
                feature + 1
            ));
        }
    }
    Ok(())
}

/// The diagonal of a scatter is what is within the classes and between them.
fn diagonal(
    statistics: &Statistics<'_>,
    task: usize,
    of: &dyn Fn(usize) -> f64,
) -> Result<(), String> {
    let mean = statistics.task_mean(task);
    for feature in 0..statistics.features {
        let found = of(feature);
        if found < 0.0 {
            return Err("has a negative diagonal".into());
        }
        let cells = statistics.cells.of_task(task);
        let expected: f64 = cells
            .map(|cell| {
                let apart = statistics.means[(feature, cell)] - mean[feature];
                statistics.within[(feature, cell)]
                    + statistics.cells.count(cell) as f64 * apart * apart
            })
            .sum();
        let slack = ROUNDING * expected.max(found) + rounded(statistics, task, feature, feature);
        // Not the other way round: what overflowed compares with nothing.
        let close = expected.is_finite() && (found - expected).abs() <= slack;
        if !close {
            return Err(format!(
                "does not fit the squares within its classes (feature {})",
                feature + 1
            ));
        }
    }
    Ok(())
}

/// Rows lie within the bounds, and have the means that were told.
fn of_rows(
    statistics: &Statistics<'_>,
    task: usize,
    entry: &Task,
    rows: &RowBlock<'_>,
) -> Result<(), String> {
    let (p, bounds) = (statistics.features, &statistics.bounds[task]);
    let name = &entry.name;
    if rows.is_sparse() {
        return of_entries(statistics, task, entry, rows);
    }
    let values = rows.values();
    let mut rows = values.chunks_exact(p.max(1));
    for (cell, &count) in statistics.cells.of_task(task).zip(&entry.counts) {
        let mut sums = vec![0.0; p];
        for row in rows.by_ref().take(count) {
            for (feature, &x) in row.iter().enumerate() {
                if x < bounds.least[feature] || x > bounds.most[feature] {
                    return Err(format!("a row of task '{name}' is beyond its bounds"));
                }
                sums[feature] += x / count as f64;
            }
        }
        same_means(statistics, task, cell, &sums)?;
    }
    Ok(())
}

/// The means of a class are those of its rows.
fn same_means(
    statistics: &Statistics<'_>,
    task: usize,
    cell: usize,
    means: &[f64],
) -> Result<(), String> {
    let bounds = &statistics.bounds[task];
    for (feature, mean) in means.iter().enumerate() {
        let apart = (mean - statistics.means[(feature, cell)]).abs();
        let close = apart <= ROUNDING * size(bounds, feature);
        if !close {
            let name = &statistics.cells.tasks()[task].name;
            return Err(format!("the rows of task '{name}' have other means"));
        }
    }
    Ok(())
}

/// The same of sparse rows, by their entries.
fn of_entries(
    statistics: &Statistics<'_>,
    task: usize,
    entry: &Task,
    rows: &RowBlock<'_>,
) -> Result<(), String> {
    let (p, bounds) = (statistics.features, &statistics.bounds[task]);
    let mut entries = Sparse::new(p);
    rows.add_entries_to(&mut entries);
    let (starts, columns, values) = entries.parts();
    let outside = |feature: usize, x: f64| x < bounds.least[feature] || x > bounds.most[feature];
    let mut given = vec![0_usize; p];
    let mut first = 0;
    for (cell, &count) in statistics.cells.of_task(task).zip(&entry.counts) {
        let own = starts[first]..starts[first + count];
        first += count;
        let mut means = vec![0.0; p];
        for (&column, &x) in columns[own.clone()].iter().zip(&values[own]) {
            let feature = column as usize;
            if outside(feature, x) {
                return Err(format!(
                    "a row of task '{}' is beyond its bounds",
                    entry.name
                ));
            }
            given[feature] += 1;
            means[feature] += x / count as f64;
        }
        same_means(statistics, task, cell, &means)?;
    }
    // What is not given is zero.
    match (0..p).any(|feature| given[feature] < rows.len() && outside(feature, 0.0)) {
        true => Err(format!(
            "a row of task '{}' is beyond its bounds",
            entry.name
        )),
        false => Ok(()),
    }
}

/// Folds have the means of the classes and the scatter of the task, and rows of the sample lie within the bounds.
fn of_folds(
    statistics: &Statistics<'_>,
    task: usize,
    entry: &Task,
    dealt: &Dealt,
) -> Result<(), String> {
    let (name, bounds) = (&entry.name, &statistics.bounds[task]);
    let p = statistics.features;
    for (class, cell) in statistics.cells.of_task(task).enumerate() {
        for feature in 0..p {
            let share = |own: &Portion| own.counts[class] as f64 / entry.counts[class] as f64;
            let parts = dealt.portions.iter();
            let mean: f64 = parts
                .map(|own| share(own) * own.means[(feature, class)])
                .sum();
            let apart = (mean - statistics.means[(feature, cell)]).abs();
            let close = apart <= ROUNDING * size(bounds, feature);
            if !close {
                return Err(format!("the folds of task '{name}' have other means"));
            }
        }
    }
    if dealt
        .portions
        .iter()
        .any(|own| (0..p).any(|j| own.within[(j, j)] < 0.0))
    {
        return Err(format!("a fold of task '{name}' has a negative diagonal"));
    }
    let whole = dealt.scatter();
    diagonal(statistics, task, &|feature| whole[(feature, feature)])
        .map_err(|why| format!("the scatter of the folds of task '{name}' {why}"))?;
    let values = dealt.sample.rows.values();
    let inside = |row: &[f64]| {
        row.iter()
            .enumerate()
            .all(|(j, &x)| bounds.least[j] <= x && x <= bounds.most[j])
    };
    match values.chunks_exact(p.max(1)).all(inside) {
        true => Ok(()),
        false => Err(format!(
            "a row of the sample of task '{name}' is beyond its bounds"
        )),
    }
}
