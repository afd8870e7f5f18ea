//! Families of label scores, fitted to leave-one-out responses, for any number of classes
//! (`docs/4-when-to-trust-a-forecast.md#families`).
//!
//! A candidate turns the responses φ of a sample into m class scores, score = ȳ + Yᵀ (φ - φ̄), with
//! label scores Y (C x m) from a family small enough for the labels at hand:
//!
//! | family | label scores | free numbers |
//! |---|---|---|
//! | alone | one slope on the target's own one-hot columns | 1 |
//! | classical | one slope on the aligned columns of all tasks | 1 |
//! | pooled | the same where one set of weights serves all tasks (γ = 0) | 1 |
//! | scaled | one slope per task, pulled toward the classical one; may be negative | k |
//! | free | one slope on the target, and any combination of all source columns, ridged | (C - m_t) m |
//! | optimal | one slope on the label scores of least error by the theory (`theory_labels.rs`) | 1 |
//!
//! *Free* is what survives sources whose classes are permuted or different. Each fit is a small least
//! squares problem on n_t m rows; its own leave-one-out is closed-form: with D_l the block of sample l,
//! H_l = D_l A⁻¹ D_lᵀ and e_l its residual, the residual without l is (I - H_l)⁻¹ e_l; where samples come in groups,
//! l stands for a group. Where samples have weights, labels and columns are multiplied by their roots here, and the
//! squared errors are the weighted ones. The slope is what sets the threshold for unequal class sizes.
//!
//! A slope fitted to few labels may come out negative. For *alone* and *optimal* that cannot be real, and their
//! scores are zero. For *classical* and *pooled* either the classes of the sources are swapped or the few labels
//! mislead: two candidates enter, as fitted and mirrored, with priors [`SWAPPED`] and 1 - [`SWAPPED`].

use faer::{Mat, MatRef};

use super::theory_labels::Labelled;
use crate::data::{Cells, Groups, Importance};
use crate::numerics::dense;
use crate::solve::{GridPoint, correct_mass};
use crate::words::words;

words! {
    /// A family of label scores.
    pub enum Family("family") {
        /// The target's own labels only, no sharing
        Alone = "alone",
        /// The same labels in all tasks, each with weights of its own
        Classical = "classical",
        /// The same labels and the same weights in all tasks
        Pooled = "pooled",
        /// The same labels, scaled by one number per task
        Scaled = "scaled",
        /// The target's labels plus any combination of the sources' cells
        Free = "free",
        /// The label values of least error by the theory
        Optimal = "optimal",
    }
}

impl Family {
    /// All families.
    pub(crate) const ALL: [Self; 6] = [
        Self::Alone,
        Self::Classical,
        Self::Pooled,
        Self::Scaled,
        Self::Free,
        Self::Optimal,
    ];

    /// Its weight before any data are seen.
    pub(crate) fn prior(self) -> f64 {
        match self {
            Self::Alone | Self::Classical | Self::Optimal => 1.0,
            Self::Pooled => 4.0,
            Self::Scaled | Self::Free => 0.25,
        }
    }
}

/// Some of the families.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted([bool; Family::ALL.len()]);

impl Wanted {
    /// Every family.
    pub(crate) const ALL: Self = Self([true; Family::ALL.len()]);
    /// No family.
    pub(crate) const NONE: Self = Self([false; Family::ALL.len()]);

    pub(crate) fn has(self, family: Family) -> bool {
        self.0[family as usize]
    }

    pub(crate) fn add(&mut self, family: Family) {
        self.0[family as usize] = true;
    }

    pub(crate) fn is_empty(self) -> bool {
        !self.0.contains(&true)
    }
}

/// A fitted member of a family at one coupling.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) family: Family,
    /// Y, C x m.
    pub(crate) label_scores: Mat<f64>,
    /// Leave-one-out class scores less ȳ, n_t x m.
    pub(crate) scores: Mat<f64>,
    /// |y_l - score_l|² of each sample, times its weight.
    pub(crate) squared_errors: Vec<f64>,
    pub(crate) sign: Sign,
    /// Y without each fold, where the target is in folds.
    pub(crate) without: Vec<Mat<f64>>,
}

/// Whether a candidate has the slope that was fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// It has, and the slope is what it should be.
    Fitted,
    /// It has, and the slope is negative: the classes of the sources would be swapped.
    Swapped,
    /// It has the slope of the other sign.
    Mirrored,
}

impl Sign {
    /// How likely it is before any data are seen.
    pub(crate) fn prior(self) -> f64 {
        match self {
            Self::Fitted => 1.0,
            Self::Swapped => SWAPPED,
            Self::Mirrored => 1.0 - SWAPPED,
        }
    }
}

/// The prior probability that a negative slope is real.
const SWAPPED: f64 = 0.2;

/// Ridge of the scaled family toward the common slope, relative to the diagonal.
const SCALED_RIDGE: f64 = 0.1;
/// From so many slopes on the scaled family is fitted by products of all samples together.
const MANY_SLOPES: usize = 24;
/// Ridges of the free family, relative to the mean square of a column.
const FREE_RIDGES: [f64; 3] = [0.1, 1.0, 10.0];
/// Keeps normal equations regular where a column is zero.
const REGULAR: f64 = 1e-9;

/// What all candidates of a problem share: who is what, and the centred one-hot labels.
pub(crate) struct Samples<'a> {
    cells: &'a Cells,
    target: usize,
    /// None of summary rows, which stand for several samples.
    class: &'a [usize],
    groups: &'a Groups,
    importance: &'a Importance,
    /// In how many groups each class is found: its samples, where everyone is alone.
    found: Vec<usize>,
    aligned: Vec<Option<usize>>,
    /// √w (y - ȳ), n_t x m.
    pub(crate) labels: Mat<f64>,
    /// Σ w |y - ȳ|².
    pub(crate) total: f64,
}

impl<'a> Samples<'a> {
    pub(crate) fn new(
        cells: &'a Cells,
        target: usize,
        class: &'a [usize],
        groups: &'a Groups,
        importance: &'a Importance,
    ) -> Self {
        let range = cells.of_task(target);
        let labels = Mat::from_fn(class.len(), range.len(), |sample, c| {
            let apart = f64::from(u8::from(class[sample] == c)) - cells.share(range.start + c);
            importance.root(sample) * apart
        });
        let total = labels.squared_norm_l2();
        Self {
            cells,
            target,
            class,
            groups,
            importance,
            found: groups.with_class(class, range.len()),
            aligned: cells.aligned(target),
            labels,
            total,
        }
    }

    /// Of the summary rows of folds (`solve/fold_grid.rs`), `counts` by fold and class; `groups` are the rows of each
    /// fold.
    pub(crate) fn of_folds(
        cells: &'a Cells,
        target: usize,
        counts: &[&[usize]],
        groups: &'a Groups,
        importance: &'a Importance,
    ) -> Self {
        let range = cells.of_task(target);
        let m = range.len();
        let size = m + cells.len();
        let mut labels = Mat::zeros(counts.len() * size, m);
        for (fold, counts) in counts.iter().enumerate() {
            for (class, &count) in counts.iter().enumerate() {
                for c in 0..m {
                    let label = f64::from(u8::from(class == c)) - cells.share(range.start + c);
                    labels[(fold * size + class, c)] = (count as f64).sqrt() * label;
                }
            }
        }
        let total = labels.squared_norm_l2();
        Self {
            cells,
            target,
            class: &[],
            groups,
            importance,
            found: cells.tasks()[target].counts.clone(),
            aligned: cells.aligned(target),
            labels,
            total,
        }
    }

    /// Whether every class of the target has one sample, or is in one group, so that leaving one out leaves none.
    pub(crate) fn are_single(&self) -> bool {
        self.found.iter().all(|&count| count == 1)
    }

    /// The cells of the target.
    fn own(&self) -> std::ops::Range<usize> {
        self.cells.of_task(self.target)
    }

    /// All candidates at one coupling, from stratified leave-one-out responses; `labels` are those of the theory,
    /// where it has some.
    pub(crate) fn candidates(
        &self,
        point: GridPoint,
        responses: &Mat<f64>,
        labels: Option<&Labelled>,
        wanted: Wanted,
    ) -> Vec<Candidate> {
        let mut responses = responses.clone();
        correct_mass(
            &mut responses,
            self.class,
            self.groups,
            self.importance,
            self.cells,
            self.target,
        );
        self.silence_single(&mut responses);
        for cell in self.own() {
            let share = self.cells.share(cell);
            let column = responses.col_as_slice_mut(cell).iter_mut();
            column.for_each(|x| *x -= share);
        }
        self.families(point, &responses, labels, wanted)
    }

    /// The same from responses less ȳ that need no correction.
    pub(crate) fn families(
        &self,
        point: GridPoint,
        responses: &Mat<f64>,
        labels: Option<&Labelled>,
        wanted: Wanted,
    ) -> Vec<Candidate> {
        let own = self.columns(responses, |task| task == self.target);
        let (own_slope, own_scores) = self.slope(&own);
        let on_target =
            |slope: f64| self.aligned_scores(|task| if task == self.target { slope } else { 0.0 });
        if point.shared == 0.0 {
            // Nothing tells the slope where each class has one sample.
            let slope = if self.are_single() { 1.0 } else { own_slope };
            return self.not_negative(Family::Alone, slope, on_target(slope), own_scores);
        }
        let all = self.columns(responses, |_| true);
        let (slope, scores) = self.slope(&all);
        let family = match point.is_pooled() {
            true => Family::Pooled,
            false => Family::Classical,
        };
        let mut candidates = Vec::new();
        if wanted.has(family) {
            let label_scores = self.aligned_scores(|_| slope);
            candidates.extend(self.either_sign(family, slope, label_scores, scores));
        }
        if wanted.has(Family::Scaled) {
            candidates.extend(self.scaled(responses, slope));
        }
        if self.found.iter().all(|&count| count > 1) {
            if let Some(labels) = labels.filter(|_| wanted.has(Family::Optimal)) {
                candidates.extend(self.optimal(responses, labels));
            }
            if wanted.has(Family::Free) {
                candidates.extend(self.free(responses, own_slope, &own_scores));
            }
        }
        candidates
    }

    /// The only sample of a class is judged by the sources' columns: without it the target's have no such class.
    fn silence_single(&self, responses: &mut Mat<f64>) {
        let mut silence = |sample: usize| {
            for cell in self.own() {
                responses[(sample, cell)] = self.cells.share(cell);
            }
        };
        let is_single = |&&sample: &&usize| self.found[self.class[sample]] == 1;
        match self.groups.members() {
            None => {
                let samples: Vec<usize> = (0..self.class.len()).collect();
                samples
                    .iter()
                    .filter(is_single)
                    .for_each(|&sample| silence(sample));
            }
            // Nor have those of others that are left out with it.
            Some(groups) => {
                for members in groups {
                    if members.iter().filter(is_single).count() > 0 {
                        members.iter().for_each(|&sample| silence(sample));
                    }
                }
            }
        }
    }

    /// A candidate whose slope cannot be negative: its scores are zero where it comes out so.
    fn not_negative(
        &self,
        family: Family,
        slope: f64,
        label_scores: Mat<f64>,
        scores: Mat<f64>,
    ) -> Vec<Candidate> {
        if slope >= 0.0 {
            return vec![self.candidate(family, label_scores, scores)];
        }
        let nothing = |of: Mat<f64>| Mat::zeros(of.nrows(), of.ncols());
        vec![self.candidate(family, nothing(label_scores), nothing(scores))]
    }

    /// A candidate, and its mirror image where its slope is negative.
    fn either_sign(
        &self,
        family: Family,
        slope: f64,
        label_scores: Mat<f64>,
        scores: Mat<f64>,
    ) -> Vec<Candidate> {
        if slope >= 0.0 {
            return vec![self.candidate(family, label_scores, scores)];
        }
        let mirrored = Candidate {
            sign: Sign::Mirrored,
            ..self.candidate(family, -&label_scores, -&scores)
        };
        let fitted = Candidate {
            sign: Sign::Swapped,
            ..self.candidate(family, label_scores, scores)
        };
        vec![fitted, mirrored]
    }

    /// One slope on the labels of the theory; a sample is judged by labels made without its fold.
    fn optimal(&self, responses: &Mat<f64>, labels: &Labelled) -> Vec<Candidate> {
        let m = self.labels.ncols();
        let mut d = Mat::zeros(self.labels.nrows(), m);
        for (held_out, scores) in &labels.without {
            for &l in held_out {
                for cell in 0..self.cells.len() {
                    let apart = responses[(l, cell)];
                    for c in 0..m {
                        d[(l, c)] += apart * scores[(cell, c)];
                    }
                }
            }
        }
        let (slope, scores) = self.slope(&d);
        let label_scores = &labels.whole * faer::Scale(slope);
        self.not_negative(Family::Optimal, slope, label_scores, scores)
    }

    /// Sum of the columns that stand for class c in the chosen tasks, times √w (n_t x m).
    fn columns(&self, responses: &Mat<f64>, chosen: impl Fn(usize) -> bool) -> Mat<f64> {
        let mut columns = Mat::zeros(self.labels.nrows(), self.labels.ncols());
        let cells = (0..self.cells.len()).filter(|&cell| chosen(self.cells.task_of(cell)));
        self.add_columns(responses, cells, &mut columns);
        self.weigh(&mut columns);
        columns
    }

    fn add_columns(
        &self,
        responses: &Mat<f64>,
        cells: impl Iterator<Item = usize>,
        columns: &mut Mat<f64>,
    ) {
        for cell in cells {
            let Some(class) = self.aligned[cell] else {
                continue;
            };
            let from = responses.col_as_slice(cell);
            let to = columns.col_as_slice_mut(class).iter_mut();
            to.zip(from).for_each(|(to, from)| *to += from);
        }
    }

    fn weigh(&self, columns: &mut Mat<f64>) {
        if let Some(roots) = self.importance.roots() {
            for c in 0..columns.ncols() {
                let column = columns.col_as_slice_mut(c).iter_mut().zip(roots);
                column.for_each(|(x, root)| *x *= root);
            }
        }
    }

    /// The same of one task.
    fn columns_of(&self, responses: &Mat<f64>, task: usize) -> Mat<f64> {
        let mut columns = Mat::zeros(self.labels.nrows(), self.labels.ncols());
        self.add_columns(responses, self.cells.of_task(task), &mut columns);
        self.weigh(&mut columns);
        columns
    }

    /// One slope u on D, and the left-out predictions; H_l has rank one, and so has that of a group.
    fn slope(&self, d: &Mat<f64>) -> (f64, Mat<f64>) {
        let square = d.squared_norm_l2() * (1.0 + REGULAR);
        if square <= 0.0 {
            return (0.0, Mat::zeros(d.nrows(), d.ncols()));
        }
        let slope = inner(d, &self.labels) / square;
        let n = d.nrows();
        let (mut de, mut dd) = (vec![0.0; n], vec![0.0; n]);
        for c in 0..d.ncols() {
            let (d, labels) = (d.col_as_slice(c), self.labels.col_as_slice(c));
            for l in 0..n {
                de[l] += d[l] * (labels[l] - slope * d[l]);
                dd[l] += d[l] * d[l];
            }
        }
        for members in self.groups.members().unwrap_or_default() {
            for sums in [&mut de, &mut dd] {
                let sum: f64 = members.iter().map(|&l| sums[l]).sum();
                members.iter().for_each(|&l| sums[l] = sum);
            }
        }
        let mut predictions = d.clone();
        for c in 0..d.ncols() {
            let column = predictions.col_as_slice_mut(c).iter_mut().enumerate();
            column.for_each(|(l, x)| *x *= slope - de[l] / (square - dd[l]));
        }
        (slope, predictions)
    }

    /// One slope per task.
    fn scaled(&self, responses: &Mat<f64>, common: f64) -> Option<Candidate> {
        let tasks = self.cells.tasks().len();
        // Joined sources have no columns of their own.
        let with_columns = (0..tasks).filter(|&task| !self.cells.of_task(task).is_empty());
        let (used, by_task): (Vec<usize>, Vec<Mat<f64>>) = with_columns
            .map(|task| (task, self.columns_of(responses, task)))
            .filter(|(_, columns)| columns.squared_norm_l2() > 0.0)
            .unzip();
        if used.len() >= MANY_SLOPES {
            return self.scaled_by_products(&used, &by_task, common);
        }
        self.scaled_one_by_one(&used, &by_task, common)
    }

    /// The same from the columns of each task, without large products: there may be many samples, each with a small
    /// system.
    fn scaled_one_by_one(
        &self,
        used: &[usize],
        by_task: &[Mat<f64>],
        common: f64,
    ) -> Option<Candidate> {
        let (q, m) = (used.len(), self.labels.ncols());
        if q == 0 {
            return None;
        }
        let plain = Mat::from_fn(q, q, |a, b| inner(&by_task[a], &by_task[b]));
        let level = (0..q).map(|a| plain[(a, a)]).sum::<f64>() / q as f64;
        let normal = Mat::from_fn(q, q, |a, b| {
            plain[(a, b)]
                + if a == b {
                    SCALED_RIDGE * plain[(a, a)] + REGULAR * level
                } else {
                    0.0
                }
        });
        let right = Mat::from_fn(q, 1, |a, _| {
            inner(&by_task[a], &self.labels) + SCALED_RIDGE * plain[(a, a)] * common
        });
        let inverse = dense::solve_general(normal.as_ref(), Mat::<f64>::identity(q, q).as_ref());
        let slopes = dense::times(inverse.as_ref(), right.as_ref());

        let label_scores = self.scores_of_slopes(used, &slopes);
        let mut predictions = Mat::zeros(self.labels.nrows(), m);
        if let Some(groups) = self.groups.members() {
            for members in groups {
                // One row a sample and class.
                let (size, row) = (members.len() * m, |i: usize| (members[i / m], i % m));
                let d = Mat::from_fn(size, q, |i, a| by_task[a][row(i)]);
                let fitted = dense::times(d.as_ref(), slopes.as_ref());
                let residual = Mat::from_fn(size, 1, |i, _| self.labels[row(i)] - fitted[(i, 0)]);
                // (I - D A⁻¹ Dᵀ)⁻¹ e = e + D (A - DᵀD)⁻¹ Dᵀ e.
                let left = &normal - dense::times(d.transpose(), d.as_ref());
                let right = dense::times(d.transpose(), residual.as_ref());
                let back = dense::solve_general(left.as_ref(), right.as_ref());
                let back = dense::times(d.as_ref(), back.as_ref());
                for i in 0..size {
                    predictions[row(i)] = self.labels[row(i)] - residual[(i, 0)] - back[(i, 0)];
                }
            }
            return Some(self.candidate(Family::Scaled, label_scores, predictions));
        }
        // Of one sample, row after row: there may be many samples, each with a small system.
        let size = q.min(m);
        let (mut d, mut half) = (vec![0.0; m * q], vec![0.0; m * q]);
        let (mut left, mut right) = (vec![0.0; size * size], vec![0.0; size]);
        let mut residual = vec![0.0; m];
        for l in 0..self.labels.nrows() {
            for c in 0..m {
                let row = &mut d[c * q..(c + 1) * q];
                let columns = row.iter_mut().zip(by_task);
                columns.for_each(|(x, columns)| *x = columns[(l, c)]);
                let fitted: f64 = (0..q).map(|a| row[a] * slopes[(a, 0)]).sum();
                residual[c] = self.labels[(l, c)] - fitted;
            }
            // (I - D A⁻¹ Dᵀ)⁻¹ e = e + D (A - DᵀD)⁻¹ Dᵀ e: whichever system is smaller.
            if q < m {
                for a in 0..q {
                    for b in 0..q {
                        let own: f64 = (0..m).map(|c| d[c * q + a] * d[c * q + b]).sum();
                        left[a * q + b] = normal[(a, b)] - own;
                    }
                    right[a] = (0..m).map(|c| d[c * q + a] * residual[c]).sum();
                }
                dense::solve_few(&mut left, &mut right);
                for c in 0..m {
                    residual[c] += (0..q).map(|a| d[c * q + a] * right[a]).sum::<f64>();
                }
            } else {
                for i in 0..m {
                    for a in 0..q {
                        half[i * q + a] = (0..q).map(|b| d[i * q + b] * inverse[(b, a)]).sum();
                    }
                    for j in 0..m {
                        let reached: f64 = (0..q).map(|a| half[i * q + a] * d[j * q + a]).sum();
                        left[i * m + j] = f64::from(u8::from(i == j)) - reached;
                    }
                }
                dense::solve_few(&mut left, &mut residual);
            }
            for c in 0..m {
                predictions[(l, c)] = self.labels[(l, c)] - residual[c];
            }
        }
        Some(self.candidate(Family::Scaled, label_scores, predictions))
    }

    /// Label scores with one slope for each of the tasks.
    fn scores_of_slopes(&self, used: &[usize], slopes: &Mat<f64>) -> Mat<f64> {
        let mut slope_of = vec![0.0; self.cells.tasks().len()];
        let slopes = slopes.col_as_slice(0).iter();
        let both = used.iter().zip(slopes);
        both.for_each(|(&task, &slope)| slope_of[task] = slope);
        self.aligned_scores(|task| slope_of[task])
    }

    /// The same by products of all samples together, for many tasks. With A = L Lᵀ the normal equations and U = L⁻¹ Dᵀ,
    /// D A⁻¹ Dᵀ of a sample is U_lᵀ U_l. Time q³/6 + q² n m instead of q³ + 2 q² n m in small steps.
    fn scaled_by_products(
        &self,
        used: &[usize],
        by_task: &[Mat<f64>],
        common: f64,
    ) -> Option<Candidate> {
        let (n, q, m) = (self.labels.nrows(), used.len(), self.labels.ncols());
        // One column a row of D, the classes of a sample side by side.
        let mut half = Mat::zeros(q, n * m);
        for (a, columns) in by_task.iter().enumerate() {
            for c in 0..m {
                for (l, x) in columns.col_as_slice(c).iter().enumerate() {
                    half[(a, l * m + c)] = *x;
                }
            }
        }
        let mut normal = Mat::zeros(q, q);
        dense::add_outer_alone(normal.as_mut(), half.as_ref(), 1.0);
        let level = (0..q).map(|a| normal[(a, a)]).sum::<f64>() / q as f64;
        let mut slopes = Mat::from_fn(q, 1, |a, _| {
            inner(&by_task[a], &self.labels) + SCALED_RIDGE * normal[(a, a)] * common
        });
        for a in 0..q {
            normal[(a, a)] += SCALED_RIDGE * normal[(a, a)] + REGULAR * level;
        }
        if dense::cholesky(normal.as_mut()).is_none() {
            return self.scaled_one_by_one(used, by_task, common);
        }
        dense::solve_cholesky(normal.as_ref(), slopes.as_mut());
        let label_scores = self.scores_of_slopes(used, &slopes);
        let fitted = dense::times(half.transpose(), slopes.as_ref());
        dense::solve_lower(normal.as_ref(), half.as_mut());

        let mut predictions = Mat::zeros(n, m);
        let mut leave_out = |members: &[usize], own: MatRef<'_, f64>| {
            let row = |i: usize| (members[i / m], i % m);
            let residual = Mat::from_fn(own.ncols(), 1, |i, _| {
                let (l, c) = row(i);
                self.labels[(l, c)] - fitted[(l * m + c, 0)]
            });
            let residual = without(own, residual);
            for i in 0..own.ncols() {
                predictions[row(i)] = self.labels[row(i)] - residual[(i, 0)];
            }
        };
        match self.groups.members() {
            None => (0..n).for_each(|l| leave_out(&[l], half.as_ref().subcols(l * m, m))),
            Some(groups) => {
                for members in groups {
                    let own = Mat::from_fn(q, members.len() * m, |a, i| {
                        half[(a, members[i / m] * m + i % m)]
                    });
                    leave_out(members, own.as_ref());
                }
            }
        }
        Some(self.candidate(Family::Scaled, label_scores, predictions))
    }

    /// The target's slope, then a ridge regression of what it leaves on all source columns.
    fn free(&self, responses: &Mat<f64>, own_slope: f64, own_scores: &Mat<f64>) -> Vec<Candidate> {
        let sources: Vec<usize> = (0..self.cells.len())
            .filter(|&cell| self.cells.task_of(cell) != self.target)
            .collect();
        let (n, s, m) = (self.labels.nrows(), sources.len(), self.labels.ncols());
        let x = Mat::from_fn(n, s, |l, j| {
            self.importance.root(l) * responses[(l, sources[j])]
        });
        let trace = x.squared_norm_l2();
        if s == 0 || trace <= 0.0 {
            return Vec::new();
        }
        let rest = Mat::from_fn(n, m, |l, c| self.labels[(l, c)] - own_scores[(l, c)]);
        let Some(ridge) = Ridge::new(x, &rest) else {
            return Vec::new();
        };
        FREE_RIDGES
            .iter()
            .map(|relative| {
                let penalty = relative * trace / s as f64;
                let (coefficients, leverage, fit) = ridge.solve(penalty);
                let mut scores = Mat::zeros(n, m);
                match self.groups.members() {
                    None => {
                        for l in 0..n {
                            for c in 0..m {
                                scores[(l, c)] = self.labels[(l, c)]
                                    - (rest[(l, c)] - fit[(l, c)]) / (1.0 - leverage[l]);
                            }
                        }
                    }
                    Some(groups) => {
                        for members in groups {
                            let size = members.len();
                            let errors = Mat::from_fn(size, m, |i, c| {
                                rest[(members[i], c)] - fit[(members[i], c)]
                            });
                            let left = ridge.left_by(members, penalty);
                            let errors = dense::solve_general(left.as_ref(), errors.as_ref());
                            for (i, &l) in members.iter().enumerate() {
                                for c in 0..m {
                                    scores[(l, c)] = self.labels[(l, c)] - errors[(i, c)];
                                }
                            }
                        }
                    }
                }
                let mut label_scores =
                    self.aligned_scores(|task| if task == self.target { own_slope } else { 0.0 });
                for (j, &cell) in sources.iter().enumerate() {
                    for c in 0..m {
                        label_scores[(cell, c)] = coefficients[(j, c)];
                    }
                }
                self.candidate(Family::Free, label_scores, scores)
            })
            .collect()
    }

    /// Y with `slope(task)` where a cell stands for a class.
    fn aligned_scores(&self, slope: impl Fn(usize) -> f64) -> Mat<f64> {
        Mat::from_fn(self.cells.len(), self.labels.ncols(), |cell, class| {
            if self.aligned[cell] == Some(class) {
                slope(self.cells.task_of(cell))
            } else {
                0.0
            }
        })
    }

    /// From scores times √w.
    fn candidate(&self, family: Family, label_scores: Mat<f64>, mut scores: Mat<f64>) -> Candidate {
        let mut squared_errors = vec![0.0; self.labels.nrows()];
        for c in 0..scores.ncols() {
            let (labels, scores) = (self.labels.col_as_slice(c), scores.col_as_slice(c));
            for (l, sum) in squared_errors.iter_mut().enumerate() {
                *sum += (labels[l] - scores[l]).powi(2);
            }
        }
        if let Some(roots) = self.importance.roots() {
            for c in 0..scores.ncols() {
                let column = scores.col_as_slice_mut(c).iter_mut().zip(roots);
                column.for_each(|(x, root)| *x /= root);
            }
        }
        Candidate {
            family,
            label_scores,
            scores,
            squared_errors,
            sign: Sign::Fitted,
            without: Vec::new(),
        }
    }
}

/// (I - UᵀU)⁻¹ e = e + Uᵀ (I - U Uᵀ)⁻¹ U e: whichever system is smaller.
fn without(u: MatRef<'_, f64>, e: Mat<f64>) -> Mat<f64> {
    let fewer = u.ncols() <= u.nrows();
    let (inner, mut solved) = match fewer {
        true => (dense::times(u.transpose(), u), e.clone()),
        false => (dense::times(u, u.transpose()), dense::times(u, e.as_ref())),
    };
    let size = inner.nrows();
    let mut left: Vec<f64> = Vec::with_capacity(size * size);
    for i in 0..size {
        left.extend((0..size).map(|j| f64::from(u8::from(i == j)) - inner[(i, j)]));
    }
    dense::solve_few(&mut left, solved.col_as_slice_mut(0));
    match fewer {
        true => solved,
        false => e + dense::times(u.transpose(), solved.as_ref()),
    }
}

fn inner(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    (0..a.ncols())
        .map(|c| {
            let both = a.col_as_slice(c).iter().zip(b.col_as_slice(c));
            both.map(|(a, b)| a * b).sum::<f64>()
        })
        .sum()
}

/// Ridge regression for several penalties from one eigen-decomposition of the smaller side.
struct Ridge {
    values: Vec<f64>,
    /// Left singular directions times singular values (n x q), and the way back to coefficients.
    scaled_left: Mat<f64>,
    right: Mat<f64>,
    /// (left)ᵀ times the response, by direction.
    projected: Mat<f64>,
}

impl Ridge {
    fn new(x: Mat<f64>, response: &Mat<f64>) -> Option<Self> {
        let (n, s) = (x.nrows(), x.ncols());
        let (values, scaled_left, right) = if s <= n {
            let (values, vectors) =
                dense::symmetric_eigen(dense::times(x.transpose(), x.as_ref()).as_ref())?;
            let left = dense::times(x.as_ref(), vectors.as_ref());
            (values, left, vectors)
        } else {
            let (values, vectors) =
                dense::symmetric_eigen(dense::times(x.as_ref(), x.transpose()).as_ref())?;
            let largest = values.last().copied().unwrap_or(0.0);
            let root: Vec<f64> = values
                .iter()
                .map(|v| if *v > 1e-14 * largest { v.sqrt() } else { 0.0 })
                .collect();
            let right = dense::times(x.transpose(), vectors.as_ref());
            let right = Mat::from_fn(s, n, |j, i| {
                if root[i] > 0.0 {
                    right[(j, i)] / root[i]
                } else {
                    0.0
                }
            });
            let left = Mat::from_fn(n, n, |l, i| vectors[(l, i)] * root[i]);
            (values, left, right)
        };
        let projected = dense::times(scaled_left.transpose(), response.as_ref());
        Some(Self {
            values: values.iter().map(|v| v.max(0.0)).collect(),
            scaled_left,
            right,
            projected,
        })
    }

    /// I - H of some rows.
    fn left_by(&self, members: &[usize], penalty: f64) -> Mat<f64> {
        let half = Mat::from_fn(members.len(), self.values.len(), |l, i| {
            self.scaled_left[(members[l], i)] / (self.values[i] + penalty + 1e-300).sqrt()
        });
        let reached = dense::times(half.as_ref(), half.transpose());
        Mat::<f64>::identity(members.len(), members.len()) - reached
    }

    /// Coefficients (s x m), leverages and fitted values.
    fn solve(&self, penalty: f64) -> (Mat<f64>, Vec<f64>, Mat<f64>) {
        let penalty = penalty + 1e-300;
        let shrunk = Mat::from_fn(self.values.len(), self.projected.ncols(), |i, c| {
            self.projected[(i, c)] / (self.values[i] + penalty)
        });
        let leverage = (0..self.scaled_left.nrows())
            .map(|l| {
                (0..self.values.len())
                    .map(|i| self.scaled_left[(l, i)].powi(2) / (self.values[i] + penalty))
                    .sum()
            })
            .collect();
        let fit = dense::times(self.scaled_left.as_ref(), shrunk.as_ref());
        (
            dense::times(self.right.as_ref(), shrunk.as_ref()),
            leverage,
            fit,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Task;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    const EXACT: f64 = 1e-10;

    fn cells() -> Cells {
        let task = |name: &str, counts: [usize; 3]| Task {
            name: name.to_owned(),
            classes: ["a", "b", "c"].map(str::to_owned).to_vec(),
            counts: counts.to_vec(),
        };
        Cells::new(vec![
            task("first", [9, 8, 7]),
            task("second", [5, 5, 5]),
            task("target", [8, 6, 6]),
        ])
    }

    fn drawn(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        Mat::from_fn(rows, columns, |_, _| StandardNormal.sample(&mut random))
    }

    /// Every family against the same least squares without the group's rows.
    #[test]
    fn families_leave_out_groups_exactly() {
        let cells = cells();
        let class: Vec<usize> = [[0; 8].as_slice(), &[1; 6], &[2; 6]].concat();
        let groups =
            Groups::new([0, 0, 1, 2, 3, 3, 4, 5, 1, 1, 6, 6, 7, 7, 2, 8, 8, 4, 9, 9].iter());
        let importance = Importance::default();
        let samples = Samples::new(&cells, 2, &class, &groups, &importance);
        let responses = drawn(class.len(), cells.len(), 5);
        let close = |a: &Mat<f64>, members: &[usize], c: usize, of: &dyn Fn(usize) -> f64| {
            for &l in members {
                assert!((a[(l, c)] - of(l)).abs() < EXACT, "{} {}", a[(l, c)], of(l));
            }
        };
        let all = samples.columns(&responses, |_| true);
        let (slope, scores) = samples.slope(&all);
        let scaled = samples.scaled(&responses, slope).unwrap();
        let own = samples.columns(&responses, |task| task == 2);
        let (own_slope, own_scores) = samples.slope(&own);
        let free = samples.free(&responses, own_slope, &own_scores);
        let by_task: Vec<Mat<f64>> = (0..3)
            .map(|task| samples.columns(&responses, |other| other == task))
            .collect();
        let x = Mat::from_fn(class.len(), 6, |l, j| responses[(l, j)]);
        for members in groups.members().unwrap() {
            let others: Vec<usize> = (0..class.len()).filter(|l| !members.contains(l)).collect();
            let over = |of: &dyn Fn(usize, usize) -> f64| -> f64 {
                others
                    .iter()
                    .map(|&l| (0..3).map(|c| of(l, c)).sum::<f64>())
                    .sum()
            };
            let total = all.squared_norm_l2();
            let alone = over(&|l, c| all[(l, c)] * samples.labels[(l, c)])
                / (over(&|l, c| all[(l, c)].powi(2)) + REGULAR * total);
            (0..3).for_each(|c| close(&scores, members, c, &|l| alone * all[(l, c)]));

            // The ridges are those of all samples.
            let plain = |a: usize, b: usize| inner(&by_task[a], &by_task[b]);
            let level = (0..3).map(|a| plain(a, a)).sum::<f64>() / 3.0;
            let normal = Mat::from_fn(3, 3, |a, b| {
                let ridge = SCALED_RIDGE * plain(a, a) + REGULAR * level;
                over(&|l, c| by_task[a][(l, c)] * by_task[b][(l, c)])
                    + if a == b { ridge } else { 0.0 }
            });
            let right = Mat::from_fn(3, 1, |a, _| {
                over(&|l, c| by_task[a][(l, c)] * samples.labels[(l, c)])
                    + SCALED_RIDGE * plain(a, a) * slope
            });
            let slopes = dense::solve_general(normal.as_ref(), right.as_ref());
            let of = |l: usize, c: usize| (0..3).map(|a| slopes[(a, 0)] * by_task[a][(l, c)]).sum();
            (0..3).for_each(|c| close(&scaled.scores, members, c, &|l| of(l, c)));

            for (relative, free) in FREE_RIDGES.iter().zip(&free) {
                let penalty = relative * x.squared_norm_l2() / 6.0;
                let some = Mat::from_fn(others.len(), 6, |i, j| x[(others[i], j)]);
                let mut normal = dense::times(some.transpose(), some.as_ref());
                (0..6).for_each(|j| normal[(j, j)] += penalty);
                let rest = Mat::from_fn(others.len(), 3, |i, c| {
                    samples.labels[(others[i], c)] - own_scores[(others[i], c)]
                });
                let right = dense::times(some.transpose(), rest.as_ref());
                let fit = dense::solve_general(normal.as_ref(), right.as_ref());
                let of = |l: usize, c: usize| {
                    own_scores[(l, c)] + (0..6).map(|j| x[(l, j)] * fit[(j, c)]).sum::<f64>()
                };
                (0..3).for_each(|c| close(&free.scores, members, c, &|l| of(l, c)));
            }
        }
    }

    /// Many slopes by products of all samples together, and by each sample's own small system.
    #[test]
    fn many_slopes_are_the_same_by_products() {
        for (counts, grouped, weighed, seed) in [
            (vec![14, 11], false, false, 1),
            (vec![9, 12, 8], false, true, 2),
            (vec![13, 12], true, false, 3),
            (vec![3, 2], true, false, 4),
        ] {
            let classes: Vec<String> = (0..counts.len()).map(|c| format!("{c}")).collect();
            let task = |number: usize| Task {
                name: format!("task {number}"),
                classes: classes.clone(),
                counts: counts.clone(),
            };
            let cells = Cells::new((0..30).map(task).collect());
            let class: Vec<usize> = (counts.iter().enumerate())
                .flat_map(|(c, &count)| std::iter::repeat_n(c, count))
                .collect();
            let groups = match grouped {
                true => Groups::new((0..class.len()).map(|l| (l * 7) % 5)),
                false => Groups::default(),
            };
            let weights = drawn(class.len(), 1, seed + 10);
            let weights: Vec<f64> = (0..class.len()).map(|l| weights[(l, 0)].exp()).collect();
            let importance = match weighed {
                true => Importance::scaled(&weights),
                false => Importance::default(),
            };
            let samples = Samples::new(&cells, 7, &class, &groups, &importance);
            let responses = drawn(class.len(), cells.len(), seed);
            let used: Vec<usize> = (0..30).collect();
            let by_task: Vec<Mat<f64>> = used
                .iter()
                .map(|&task| samples.columns_of(&responses, task))
                .collect();
            let one = samples.scaled_one_by_one(&used, &by_task, 0.3).unwrap();
            let all = samples.scaled_by_products(&used, &by_task, 0.3).unwrap();
            assert!((&one.scores - &all.scores).norm_max() < EXACT);
            assert!((&one.label_scores - &all.label_scores).norm_max() < EXACT);
            assert!(one.label_scores.norm_max() > 1e-3);
        }
    }

    /// Every family against the same weighted least squares without the sample.
    #[test]
    fn families_leave_out_weighted_samples_exactly() {
        let class: Vec<usize> = [[0; 8].as_slice(), &[1; 6], &[2; 6]].concat();
        let weights = drawn(class.len(), 1, 7);
        let weights: Vec<f64> = (0..class.len()).map(|l| weights[(l, 0)].exp()).collect();
        let importance = Importance::scaled(&weights);
        let everyone = [
            Importance::default(),
            Importance::default(),
            importance.clone(),
        ];
        let cells = cells().weighed(&everyone);
        let groups = Groups::default();
        let samples = Samples::new(&cells, 2, &class, &groups, &importance);
        // Responses less ȳ.
        let responses = drawn(class.len(), cells.len(), 5);
        let share = |c: usize| {
            let own = (0..class.len()).filter(|&l| class[l] == c);
            own.map(|l| importance.of(l)).sum::<f64>() / class.len() as f64
        };
        let label = |l: usize, c: usize| f64::from(u8::from(class[l] == c)) - share(c);
        let of_task = |task: usize, l: usize, c: usize| responses[(l, 3 * task + c)];
        let all = |l: usize, c: usize| (0..3).map(|task| of_task(task, l, c)).sum::<f64>();
        let columns = samples.columns(&responses, |_| true);
        let (slope, scores) = samples.slope(&columns);
        let scaled = samples.scaled(&responses, slope).unwrap();
        let (own_slope, own_scores) = samples.slope(&samples.columns(&responses, |t| t == 2));
        let free = samples.free(&responses, own_slope, &own_scores);
        let classical = samples.candidate(Family::Classical, Mat::new(), scores);
        let own = samples
            .candidate(Family::Alone, Mat::new(), own_scores)
            .scores;
        let sum = |gone: Option<usize>, of: &dyn Fn(usize, usize) -> f64| -> f64 {
            let kept = (0..class.len()).filter(|&l| Some(l) != gone);
            kept.map(|l| importance.of(l) * (0..3).map(|c| of(l, c)).sum::<f64>())
                .sum()
        };
        let total = sum(None, &|l, c| all(l, c).powi(2));
        let plain = |a: usize, b: usize| sum(None, &|l, c| of_task(a, l, c) * of_task(b, l, c));
        let level = (0..3).map(|a| plain(a, a)).sum::<f64>() / 3.0;
        let source = |j: usize, l: usize| responses[(l, j)];
        let size: f64 = (0..6)
            .map(|j| {
                sum(None, &|l, c| {
                    if c == 0 { source(j, l).powi(2) } else { 0.0 }
                })
            })
            .sum();
        for l in 0..class.len() {
            let close = |scores: &Mat<f64>, of: &dyn Fn(usize) -> f64| {
                for c in 0..3 {
                    let apart = (scores[(l, c)] - of(c)).abs();
                    assert!(apart < EXACT, "{} {}", scores[(l, c)], of(c));
                }
            };
            let gone = Some(l);
            let alone = sum(gone, &|l, c| all(l, c) * label(l, c))
                / (sum(gone, &|l, c| all(l, c).powi(2)) + REGULAR * total);
            close(&classical.scores, &|c| alone * all(l, c));
            let error: f64 = (0..3)
                .map(|c| (label(l, c) - alone * all(l, c)).powi(2))
                .sum();
            let weighted = importance.of(l) * error;
            assert!((classical.squared_errors[l] - weighted).abs() < EXACT);

            // The ridges are those of all samples.
            let normal = Mat::from_fn(3, 3, |a, b| {
                let ridge = SCALED_RIDGE * plain(a, a) + REGULAR * level;
                sum(gone, &|l, c| of_task(a, l, c) * of_task(b, l, c))
                    + if a == b { ridge } else { 0.0 }
            });
            let right = Mat::from_fn(3, 1, |a, _| {
                sum(gone, &|l, c| of_task(a, l, c) * label(l, c))
                    + SCALED_RIDGE * plain(a, a) * slope
            });
            let slopes = dense::solve_general(normal.as_ref(), right.as_ref());
            close(&scaled.scores, &|c| {
                (0..3).map(|a| slopes[(a, 0)] * of_task(a, l, c)).sum()
            });

            for (relative, free) in FREE_RIDGES.iter().zip(&free) {
                let one =
                    |of: &dyn Fn(usize) -> f64| sum(gone, &|l, c| if c == 0 { of(l) } else { 0.0 });
                let normal = Mat::from_fn(6, 6, |i, j| {
                    let ridge = if i == j { relative * size / 6.0 } else { 0.0 };
                    one(&|l| source(i, l) * source(j, l)) + ridge
                });
                let right = Mat::from_fn(6, 3, |j, c| {
                    one(&|l| source(j, l) * (label(l, c) - own[(l, c)]))
                });
                let fit = dense::solve_general(normal.as_ref(), right.as_ref());
                close(&free.scores, &|c| {
                    own[(l, c)] + (0..6).map(|j| source(j, l) * fit[(j, c)]).sum::<f64>()
                });
            }
        }
    }
}
