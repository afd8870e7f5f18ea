//! Costs as ratios to what cannot be avoided, all measured in one run:
//! `cargo bench -p foretask` prints the table of the README.
//!
//! Each measurement is the least of several interleaved repetitions, because other work on a machine
//! only ever adds time. Memory is the peak of what the allocator has handed out.

#![allow(clippy::expect_used)] // a benchmark that cannot run should say so at once

use std::alloc::{GlobalAlloc, Layout, System as Standard};
use std::cell::Cell;
use std::hint::black_box;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, MatRef, Par, Side};
use foretask::theory::{Corrections, Covariances, Theory};
use foretask::{
    Cells, Coupling, Evidence, Rows, RuleName, Scaling, Settings, Statistics, Study, System, Task,
    Tasks, Term, Views,
};

/// Counts bytes in use and their peak.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// The only way to see the memory of a function from inside the process.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = IN_USE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        unsafe { Standard.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { Standard.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Peak bytes above what was in use before.
fn peak_bytes<R>(work: impl FnOnce() -> R) -> usize {
    let before = IN_USE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    black_box(work());
    PEAK.load(Ordering::Relaxed) - before
}

fn seconds<R>(work: impl FnOnce() -> R) -> f64 {
    let start = Instant::now();
    black_box(work());
    start.elapsed().as_secs_f64()
}

/// The least time of each of two pieces of work, run in turn.
fn versus<A, B>(
    times: usize,
    mut ours: impl FnMut() -> A,
    mut theirs: impl FnMut() -> B,
) -> (f64, f64) {
    let mut best = (f64::INFINITY, f64::INFINITY);
    for _ in 0..times {
        best.1 = best.1.min(seconds(&mut theirs));
        best.0 = best.0.min(seconds(&mut ours));
    }
    best
}

struct Problem {
    values: Vec<f64>,
    features: usize,
    task: Vec<String>,
    class: Vec<String>,
}

impl Problem {
    /// k tasks of equal size, two classes.
    fn new(rows: usize, features: usize, tasks: usize) -> Self {
        Self::with_classes(rows, features, tasks, 2)
    }

    /// Classes apart along a few features each; sums of uniforms for noise.
    fn with_classes(rows: usize, features: usize, tasks: usize, classes: usize) -> Self {
        let mut state = 88_172_645_463_325_252_u64;
        let mut uniform = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as f64 / u64::MAX as f64 - 0.5
        };
        let task: Vec<String> = (0..rows)
            .map(|row| format!("task{:02}", row * tasks / rows))
            .collect();
        let class: Vec<String> = (0..rows)
            .map(|row| format!("class{:02}", row % classes))
            .collect();
        let mut values = Vec::with_capacity(rows * features);
        for row in 0..rows {
            for feature in 0..features {
                let own = feature % classes == row % classes;
                let shift = match (feature < 8.max(4 * classes), own) {
                    (true, true) => 0.5,
                    (true, false) if classes == 2 => -0.5,
                    _ => 0.0,
                };
                values.push(1.7 * (uniform() + uniform() + uniform() + uniform()) + shift);
            }
        }
        Self {
            values,
            features,
            task,
            class,
        }
    }

    fn rows(&self) -> Rows<'_> {
        Rows::row_major(&self.values, self.features).expect("whole rows")
    }

    fn tasks(&self) -> Tasks<'_> {
        Tasks::new(self.rows(), &self.task, &self.class).expect("valid data")
    }

    fn view(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(
            &self.values,
            self.values.len() / self.features,
            self.features,
        )
    }
}

fn fit(tasks: &Tasks<'_>) -> Mat<f64> {
    let k = tasks.cells().tasks().len();
    let coupling = Coupling::uniform(1.0, 1.0, k).expect("valid");
    let system = System::new(Statistics::of(tasks), Scaling::Auto, &coupling).expect("solvable");
    system.weights(k - 1)
}

fn symmetric_product(a: MatRef<'_, f64>) -> Mat<f64> {
    let mut product = Mat::zeros(a.nrows(), a.nrows());
    triangular::matmul(
        product.as_mut(),
        BlockStructure::TriangularLower,
        Accum::Replace,
        a,
        BlockStructure::Rectangular,
        a.transpose(),
        BlockStructure::Rectangular,
        1.0,
        Par::rayon(0),
    );
    product
}

fn cholesky(mut product: Mat<f64>) -> Mat<f64> {
    for i in 0..product.nrows() {
        product[(i, i)] += product.nrows() as f64;
    }
    product.llt(Side::Lower).expect("definite").L().to_owned()
}

fn report(what: &str, ours: f64, unit: &str, ratio: f64, goal: f64) {
    let verdict = if ratio <= goal { "" } else { "   MISSED" };
    println!("{what:<62} {ours:>9.4} {unit:<3} {ratio:>7.2}  (goal {goal}){verdict}");
}

fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

fn fits() {
    let (n, p, k) = (20_000, 1_000, 4);
    let problem = Problem::new(n, p, k);
    let tasks = problem.tasks();
    let bare = || {
        let mut last = Mat::new();
        for task in 0..k {
            last = cholesky(symmetric_product(
                problem.view().subrows(task * n / k, n / k).transpose(),
            ));
        }
        cholesky(last)
    };
    let (ours, theirs) = versus(5, || fit(&tasks), bare);
    report(
        "fit n=20000 p=1000 k=4 / bare products and Cholesky",
        ours,
        "s",
        ours / theirs,
        1.5,
    );
    let bytes = peak_bytes(|| fit(&tasks));
    let budget = 8 * (k + 2) * p * p;
    report(
        "  peak memory / (k+2) min(n,p)^2 doubles",
        megabytes(bytes),
        "MB",
        bytes as f64 / budget as f64,
        1.3,
    );

    let (n, p, k) = (800, 4_096, 2);
    let problem = Problem::new(n, p, k);
    let tasks = problem.tasks();
    let (ours, theirs) = versus(
        9,
        || fit(&tasks),
        || cholesky(symmetric_product(problem.view())),
    );
    report(
        "fit n=800 p=4096 k=2 / bare product and Cholesky",
        ours,
        "s",
        ours / theirs,
        1.5,
    );
    let bytes = peak_bytes(|| fit(&tasks));
    let budget = 8 * (k + 2) * n * n;
    report(
        "  peak memory / (k+2) min(n,p)^2 doubles",
        megabytes(bytes),
        "MB",
        bytes as f64 / budget as f64,
        1.3,
    );
}

/// Adding rows to statistics against the symmetric product of the same rows, which is all but two passes over them.
fn statistics() {
    for (features, most) in [(200, 2.0), (50, 4.0)] {
        let problem = Problem::new(100_000, features, 2);
        let add = || {
            let mut statistics = Statistics::new(features);
            let added = statistics.add(problem.rows(), &problem.task, &problem.class);
            added.map(|()| statistics).expect("finite")
        };
        let (ours, theirs) = versus(9, add, || symmetric_product(problem.view().transpose()));
        report(
            &format!("add 100000 x {features} to statistics / bare symmetric product"),
            ours,
            "s",
            ours / theirs,
            most,
        );
    }
}

fn many_tasks() {
    let (few, many) = (
        Problem::new(4 * 400, 300, 4),
        Problem::new(64 * 400, 300, 64),
    );
    let (few, many) = (few.tasks(), many.tasks());
    let (ours, theirs) = versus(7, || fit(&many), || fit(&few));
    report(
        "fit per task, 64 tasks / 4 tasks (400 rows each, p=300)",
        ours / 64.0,
        "s",
        ours / 64.0 / (theirs / 4.0),
        1.2,
    );
    let mut first = None;
    for tasks in [10, 100, 1_000, 10_000] {
        let problem = Problem::new(100 * tasks, 50, tasks);
        let data = problem.tasks();
        let mut time = 0.0;
        let bytes = peak_bytes(|| time = seconds(|| default_of_one(&data)));
        let each = time / tasks as f64;
        let least = *first.get_or_insert(each);
        report(
            &format!("default with forecast per task, {tasks} tasks / 10 (100 rows, p=50)"),
            1e3 * each,
            "ms",
            each / least,
            1.3,
        );
        // Of fewer tasks it is what one target needs, whatever their number.
        if tasks == 10_000 {
            report(
                "  peak memory beside the data / the data and their scatters",
                megabytes(bytes),
                "MB",
                bytes as f64 / (8 * tasks * (100 * 50 + 50 * 50)) as f64,
                4.0,
            );
        }
    }
}

/// The default for the first task.
fn default_of_one(tasks: &Tasks<'_>) {
    let settings = Settings {
        target: Some("task00".into()),
        ..Settings::default()
    };
    let study = Study::new(tasks, &settings).expect("solvable");
    study.model().map(drop).expect("solvable");
}

/// One task with many classes.
fn thousand_classes() {
    let problem = Problem::with_classes(4_000, 50, 1, 1_000);
    let tasks = problem.tasks();
    let mut time = 0.0;
    let bytes = peak_bytes(|| time = seconds(|| default_of_one(&tasks)));
    report(
        "default with forecast n=4000 p=50, 1000 classes, of 60 s",
        time,
        "s",
        time / 60.0,
        1.0,
    );
    report(
        "  peak memory / n classes doubles",
        megabytes(bytes),
        "MB",
        bytes as f64 / (8.0 * 4_000.0 * 1_000.0),
        50.0,
    );
}

fn isotropic_forecast() {
    let task = |name: &str, counts: [usize; 2]| Task {
        name: name.into(),
        classes: vec!["a".into(), "b".into()],
        counts: counts.to_vec(),
    };
    let cells = Cells::new(vec![task("source", [110, 140]), task("target", [30, 60])]);
    let coupling = Coupling::uniform(10.0, 1.0, 2).expect("valid");
    let means = [[1.4, 0.0], [-1.4, 0.0], [0.7, 1.2], [-0.7, -1.2]];
    let gram = Mat::from_fn(4, 4, |r, s| {
        means[r][0] * means[s][0] + means[r][1] * means[s][1]
    });
    let forecast = || {
        let theory = Theory::spherical(
            &cells,
            100,
            &coupling,
            &gram,
            None,
            Corrections::DegreesOfFreedom,
        )
        .expect("valid");
        let moments = theory.moments(1);
        foretask::rules::binary::optimal_labels(&moments, [0.5, 0.5], 1.01)
    };
    let batch = 200;
    let (ours, _) = versus(
        20,
        || (0..batch).for_each(|_| drop(black_box(forecast()))),
        || (),
    );
    let micros = ours / f64::from(batch) * 1e6;
    report(
        "isotropic forecast with optimal labels, k=2, two classes",
        micros,
        "us",
        micros / 50.0,
        1.0,
    );
}

/// Two tasks of two classes, each class with a Toeplitz covariance of its own, on one thread. Small
/// matrices are factorised at half the speed at which they are multiplied.
fn general_theory(p: usize, goal: f64, products: f64, times: usize) {
    let task = |name: &str, counts: [usize; 2]| Task {
        name: name.into(),
        classes: vec!["a".into(), "b".into()],
        counts: counts.map(|n| n * p / 100).to_vec(),
    };
    let cells = Cells::new(vec![task("source", [110, 140]), task("target", [30, 60])]);
    let coupling = Coupling::uniform(10.0, 1.0, 2).expect("valid");
    let toeplitz = |base: f64| {
        Mat::from_fn(p, p, |i, j| {
            base.powi(i32::try_from(i.abs_diff(j)).unwrap_or(i32::MAX))
        })
    };
    let matrices: Vec<Mat<f64>> = [0.2, 0.4, 0.6, -0.3].map(toeplitz).into();
    let product = matrices[0].clone();
    let covariances = Covariances::new(matrices).expect("positive");
    let means = Mat::from_fn(p, 4, |i, cell| {
        ((i + 1) as f64 * (cell + 1) as f64).sin() / (p as f64).sqrt()
    });
    let theory = || {
        let corrections = Corrections::DegreesOfFreedom;
        Theory::general(&cells, &coupling, &covariances, &means, corrections).expect("solvable")
    };
    let one_thread = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .expect("a thread");
    let (ours, bare) = one_thread.install(|| versus(times, theory, || &product * &product));
    report(
        &format!("general covariances p={p} k=2 m=2, one thread, of {goal} s"),
        ours,
        "s",
        ours / goal,
        1.0,
    );
    report(
        "  / one bare product of p x p matrices",
        ours,
        "s",
        ours / bare,
        products,
    );
}

/// More classes should cost little: the couplings and their leave-one-out are the same work.
fn many_classes() {
    let settings = Settings {
        target: Some("task01".into()),
        ..Settings::default()
    };
    let (two, ten) = (
        Problem::new(1_000, 800, 2),
        Problem::with_classes(1_000, 800, 2, 10),
    );
    let (two, ten) = (two.tasks(), ten.tasks());
    let whole = |tasks: &Tasks<'_>| {
        let study = Study::new(tasks, &settings).expect("solvable");
        study.model().map(|_| ()).expect("solvable");
    };
    let (ours, theirs) = versus(5, || whole(&ten), || whole(&two));
    report(
        "default recipe n=1000 p=800 k=2, ten classes / two",
        ours,
        "s",
        ours / theirs,
        1.5,
    );
    for (tasks, classes) in [(4, 10), (2, 20)] {
        let problem = Problem::with_classes(1_600, 100, tasks, classes);
        let data = problem.tasks();
        let settings = Settings {
            rule: RuleName::Bayes,
            evidence: Evidence::Isotropic,
            coupling: Some((1.0, vec![1.0])),
            ..settings.clone()
        };
        let (time, _) = versus(
            5,
            || {
                Study::new(&data, &settings)
                    .expect("solvable")
                    .forecast()
                    .error
            },
            || (),
        );
        report(
            &format!("Bayes rule and its forecast, {tasks} x {classes} cells, of 50 ms"),
            1e3 * time,
            "ms",
            time / 0.05,
            1.0,
        );
    }
}

fn recipe() {
    let problem = Problem::new(1_000, 800, 2);
    let tasks = problem.tasks();
    let settings = Settings {
        target: Some("task01".into()),
        ..Settings::default()
    };
    let linear = Settings {
        views: Views::linear(),
        ..settings.clone()
    };
    let study = |settings: &Settings| {
        Study::new(&tasks, settings)
            .and_then(|study| study.model())
            .expect("solvable")
    };
    let whole = || study(&settings);
    // One view and 45 couplings took 25 fits: linear views may take 1.3 times that, all of them three times.
    let (ours, theirs) = versus(5, || study(&linear), || fit(&tasks));
    report(
        "linear views with forecast n=1000 p=800 k=2 / one fit",
        ours,
        "s",
        ours / theirs,
        32.0,
    );
    let (ours, theirs) = versus(5, whole, || fit(&tasks));
    report(
        "default recipe with forecast n=1000 p=800 k=2 / one fit",
        ours,
        "s",
        ours / theirs,
        75.0,
    );
    // Candidates of every view are kept until all have been entered; one view took 1.1.
    let bytes = peak_bytes(whole);
    report(
        "  peak memory / (k+2) min(n,p)^2 doubles",
        megabytes(bytes),
        "MB",
        bytes as f64 / (8.0 * 4.0 * 800.0 * 800.0),
        2.0,
    );
    match ridge_classifier_cv() {
        Some(theirs) => report(
            "  / scikit-learn RidgeClassifierCV, 12 alphas, pooled rows",
            ours,
            "s",
            ours / theirs,
            1.0,
        ),
        None => {
            println!("  / scikit-learn RidgeClassifierCV: skipped (no python3 with scikit-learn)")
        }
    }
    let problem = Problem::new(1_000, 20, 2);
    let tasks = problem.tasks();
    let whole = || {
        Study::new(&tasks, &settings)
            .and_then(|study| study.model())
            .expect("solvable")
    };
    let (time, _) = versus(5, whole, || ());
    report(
        "default recipe n=1000 p=20 k=2, of 0.15 s",
        time,
        "s",
        time / 0.15,
        1.0,
    );
    let problem = Problem::new(2_000, 2_000, 2);
    let tasks = problem.tasks();
    let time = seconds(|| {
        Study::new(&tasks, &settings)
            .and_then(|study| study.model())
            .expect("solvable")
    });
    report(
        "default recipe n=p=2000 k=2, of 15 s",
        time,
        "s",
        time / 15.0,
        1.0,
    );
}

/// Forecasts without each fold against the fits that they are made of, hat matrices included, and against a forecast by
/// leave-one-out, which a target of more than 500 samples has; rehearsals against none.
fn forecasts() {
    let problem = Problem::new(1_000, 800, 4);
    let tasks = problem.tasks();
    let alone = Settings {
        target: Some("task03".into()),
        rehearse: false,
        ..Settings::default()
    };
    // All couplings in all views are fitted when progress is first told to be complete.
    let mut least = (f64::INFINITY, f64::INFINITY);
    for _ in 0..5 {
        let start = Instant::now();
        let fitted = Cell::new(None);
        let progress = |share: f64| {
            if share >= 1.0 && fitted.get().is_none() {
                fitted.set(Some(start.elapsed().as_secs_f64()));
            }
        };
        let settings = std::slice::from_ref(&alone);
        black_box(Study::each(&tasks, settings, &progress).expect("solvable"));
        let whole = start.elapsed().as_secs_f64();
        least.0 = least.0.min(whole);
        least.1 = least.1.min(fitted.get().unwrap_or(whole));
    }
    report(
        "default with nested forecast n=1000 p=800 k=4 / its fits",
        least.0,
        "s",
        least.0 / least.1,
        1.3,
    );
    let (nested, single) = (Problem::new(1_000, 800, 2), Problem::new(1_004, 800, 2));
    let (nested, single) = (nested.tasks(), single.tasks());
    let settings = Settings {
        target: Some("task01".into()),
        ..alone
    };
    let study = |tasks: &Tasks<'_>| Study::new(tasks, &settings).map(drop).expect("solvable");
    let (ours, theirs) = versus(5, || study(&nested), || study(&single));
    report(
        "default n=1000 p=800 k=2 (nested) / n=1004 (leave-one-out)",
        ours,
        "s",
        ours / theirs,
        1.3,
    );
    let problem = Problem::new(1_000, 800, 10);
    let tasks = problem.tasks();
    let study = |rehearse: bool| {
        let settings = Settings {
            target: Some("task09".into()),
            rehearse,
            ..Settings::default()
        };
        Study::new(&tasks, &settings).expect("solvable")
    };
    let (ours, theirs) = versus(5, || study(true), || study(false));
    report(
        "default n=1000 p=800 k=10, rehearsed / not rehearsed",
        ours,
        "s",
        ours / theirs,
        2.5,
    );
}

/// What does not depend on the target is shared; leaving out the samples of each target is not.
/// Targets with many rows: by folds of statistics, against the bare product of all rows.
fn many_rows(n: usize, p: usize, goal: f64) {
    let problem = Problem::new(n, p, 4);
    let tasks = problem.tasks();
    let settings = Settings {
        target: Some("task03".into()),
        ..Settings::default()
    };
    let whole = || {
        let study = Study::new(&tasks, &settings).expect("solvable");
        study.model().expect("solvable")
    };
    let view = problem.view();
    let (ours, theirs) = versus(3, whole, || symmetric_product(view.transpose()));
    report(
        &format!("default with forecast n={n} p={p} k=4 / bare product"),
        ours,
        "s",
        ours / theirs,
        goal,
    );
    let bytes = peak_bytes(whole);
    report(
        "  peak memory beside the data / 200 MB",
        megabytes(bytes),
        "MB",
        megabytes(bytes) / 200.0,
        1.0,
    );
}

fn all_targets() {
    for (rows, features, most) in [(1_200, 800, 0.8), (1_200, 3_000, 0.7), (4_000, 400, 1.0)] {
        let problem = Problem::new(rows, features, 4);
        let tasks = problem.tasks();
        let all = || Study::all(&tasks, &Settings::default(), &|_| {}).expect("solvable");
        let each = || -> Vec<_> {
            let target = |task| Settings {
                target: Some(format!("task{task:02}")),
                ..Settings::default()
            };
            (0..4)
                .map(|task| Study::new(&tasks, &target(task)).expect("solvable"))
                .collect()
        };
        let (ours, theirs) = versus(3, all, each);
        report(
            &format!("all targets n={rows} p={features} k=4 / each alone"),
            ours,
            "s",
            ours / theirs,
            most,
        );
    }
}

/// The peer on data of the same shape, in a process of its own, least of five.
fn ridge_classifier_cv() -> Option<f64> {
    let script = "
import time, numpy as np
from sklearn.linear_model import RidgeClassifierCV
r = np.random.default_rng(0); y = np.arange(1000) % 2; X = r.normal(size=(1000, 800)); X[:, :8] += .5 - y[:, None]
best = 1e9
for _ in range(5):
    t = time.perf_counter(); RidgeClassifierCV(alphas=np.logspace(-3, 3, 12)).fit(X, y); best = min(best, time.perf_counter() - t)
print(best)";
    let output = Command::new("python3").args(["-c", script]).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

fn predict() {
    let train = Problem::new(1_000, 500, 2);
    let tasks = train.tasks();
    let test = Problem::new(40_000, 500, 1);
    // With a kernel the bare product is that with its landmarks, whose distances are to be had.
    for (views, what, most) in [
        (Views::linear(), "linear views", 1.5),
        (Views::default(), "all views", 3.0),
    ] {
        let settings = Settings {
            target: Some("task01".into()),
            views,
            ..Settings::default()
        };
        let model = Study::new(&tasks, &settings)
            .and_then(|study| study.model())
            .expect("solvable");
        let landmarks = model.terms().iter().find_map(|term| match term {
            Term::Rbf { kernel, .. } => Some(kernel.landmarks()),
            Term::Cosine { .. } => None,
        });
        let right = landmarks.unwrap_or(model.weights()).clone();
        let (ours, theirs) = versus(
            7,
            || model.predict(test.rows()).expect("finite"),
            || test.view() * &right,
        );
        report(
            &format!("predict 40000 x 500, {what} / bare matrix product"),
            ours,
            "s",
            ours / theirs,
            most,
        );
    }
}

fn main() {
    // Some of them only: `cargo bench -p foretask -- forecasts`.
    let asked: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    println!(
        "threads: {}\n{:<62} {:>9}     {:>7}",
        rayon::current_num_threads(),
        "",
        "ours",
        "ratio"
    );
    let parts: [(&str, fn()); 12] = [
        ("fits", fits),
        ("statistics", statistics),
        ("many_tasks", many_tasks),
        ("isotropic_forecast", isotropic_forecast),
        ("general_theory", || {
            general_theory(100, 0.005, 80.0, 200);
            general_theory(800, 3.0, 55.0, 3);
        }),
        ("many_classes", many_classes),
        ("thousand_classes", thousand_classes),
        ("recipe", recipe),
        ("forecasts", forecasts),
        ("all_targets", all_targets),
        ("many_rows", || {
            many_rows(500_000, 200, 6.0);
            many_rows(1_000_000, 50, 40.0);
        }),
        ("predict", predict),
    ];
    for (name, part) in parts {
        if asked.is_empty() || asked.iter().any(|word| word == name) {
            part();
        }
    }
}
