//! The union of two statistics: counts and means add up, scatters by the rule of THEORY 3.2, and rows
//! are laid side by side until a task has as many as features.

use std::sync::Arc;

use faer::Mat;

use super::{RowBlock, Second, Statistics, distance, scatter_of_rows};
use crate::cells::{Cells, Task, sort_names};
use crate::dense;

/// The union of two statistics.
pub(super) fn merge(a: Statistics<'static>, b: Statistics<'static>) -> Statistics<'static> {
    let p = b.features;
    let mut names: Vec<String> = a.cells.task_names();
    names.extend(
        b.cells
            .task_names()
            .into_iter()
            .filter(|name| a.cells.find_task(name).is_err()),
    );
    sort_names(&mut names);

    let mut tasks = Vec::new();
    let (mut means, mut within, mut second) = (Vec::new(), Vec::new(), Vec::new());
    for name in names {
        let parts: Vec<(&Statistics<'static>, usize)> = [&a, &b]
            .into_iter()
            .filter_map(|part| part.cells.find_task(&name).ok().map(|task| (part, task)))
            .collect();
        let mut classes: Vec<String> = Vec::new();
        for &(part, task) in &parts {
            for class in &part.cells.tasks()[task].classes {
                if !classes.contains(class) {
                    classes.push(class.clone());
                }
            }
        }
        sort_names(&mut classes);
        let mut counts = Vec::new();
        for class in &classes {
            let (mut count, mut mean, mut trace) = (0, vec![0.0; p], 0.0);
            for &(part, task) in &parts {
                let Some(position) = part.cells.tasks()[task]
                    .classes
                    .iter()
                    .position(|c| c == class)
                else {
                    continue;
                };
                let cell = part.cells.of_task(task).start + position;
                let more = part.cells.count(cell);
                let total = (count + more) as f64;
                trace += part.within[cell]
                    + count as f64 * more as f64 / total * distance(&part.means, cell, &mean);
                mean.iter_mut()
                    .zip(part.means.col(cell).iter())
                    .for_each(|(mean, x)| *mean += more as f64 / total * (x - *mean));
                count += more;
            }
            counts.push(count);
            means.push(mean);
            within.push(trace);
        }
        let merged = Task {
            name,
            classes,
            counts,
        };
        second.push(merge_second(&parts, &merged, p));
        tasks.push(merged);
    }
    let means = Mat::from_fn(p, means.len(), |feature, cell| means[cell][feature]);
    Statistics {
        features: p,
        cells: Cells::new(tasks),
        means,
        within,
        second,
    }
}

fn merge_second(
    parts: &[(&Statistics<'static>, usize)],
    merged: &Task,
    p: usize,
) -> Second<'static> {
    if let &[(part, task)] = parts {
        return part.second[task].clone();
    }
    if merged.samples() < p {
        // Both kept their rows; lay them out by the merged classes.
        let mut rows = Mat::zeros(p, merged.samples());
        let mut to = 0;
        for class in &merged.classes {
            for &(part, task) in parts {
                let own = &part.cells.tasks()[task];
                let Some(position) = own.classes.iter().position(|c| c == class) else {
                    continue;
                };
                let start: usize = own.counts[..position].iter().sum();
                if let Second::Rows(block) = &part.second[task] {
                    let count = own.counts[position];
                    block.pack(
                        start..start + count,
                        0..p,
                        &vec![0.0; p],
                        1.0,
                        rows.as_mut().subcols_mut(to, count),
                    );
                    to += count;
                }
            }
        }
        return Second::Rows(RowBlock::Owned(Arc::new(rows)));
    }
    let mut scatter: Mat<f64> = Mat::zeros(p, p);
    let (mut count, mut mean) = (0.0, vec![0.0; p]);
    for &(part, task) in parts {
        let own = match &part.second[task] {
            Second::Scatter(own) => own.clone(),
            Second::Rows(rows) => scatter_of_rows(rows, &part.task_mean(task), p),
        };
        scatter += own;
        let more = part.cells.samples(task) as f64;
        let part_mean = part.task_mean(task);
        let difference = Mat::from_fn(p, 1, |feature, _| part_mean[feature] - mean[feature]);
        dense::add_outer(
            scatter.as_mut(),
            difference.as_ref(),
            count * more / (count + more),
        );
        mean.iter_mut()
            .zip(&part_mean)
            .for_each(|(mean, x)| *mean += more / (count + more) * (x - *mean));
        count += more;
    }
    Second::Scatter(scatter)
}
