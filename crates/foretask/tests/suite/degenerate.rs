//! Data that no formula was made for: constant, collinear, huge, tiny, lopsided. Whatever is asked of it, there is an
//! answer whose numbers are numbers, or an error that says what to do.

use foretask::{
    Error, FalseAlarm, Labels, Model, Rows, RuleName, Settings, Study, Tail, Tasks, evaluate,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Cauchy, Distribution, StandardNormal};

struct Problem {
    name: &'static str,
    features: usize,
    values: Vec<f64>,
    task: Vec<String>,
    class: Vec<String>,
}

/// Rows that alternate between classes, task after task.
struct Shape {
    features: usize,
    tasks: usize,
    classes: usize,
    rows: usize,
}

const SHAPE: Shape = Shape {
    features: 4,
    tasks: 3,
    classes: 2,
    rows: 16,
};

/// A plain problem whose values `bent` changes: row, feature, class and what was drawn.
fn bent(
    name: &'static str,
    shape: &Shape,
    bent: impl Fn(usize, usize, usize, f64) -> f64,
) -> Problem {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let (mut values, mut task, mut class) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..shape.tasks * shape.rows {
        let own = row % shape.classes;
        task.push(format!("t{}", row / shape.rows));
        class.push(format!("c{own}"));
        for feature in 0..shape.features {
            let noise: f64 = StandardNormal.sample(&mut random);
            let away = if feature % shape.classes == own {
                1.0
            } else {
                0.0
            };
            values.push(bent(row, feature, own, noise + away));
        }
    }
    Problem {
        name,
        features: shape.features,
        values,
        task,
        class,
    }
}

fn problems() -> Vec<Problem> {
    let plain = |name, of: fn(usize, usize, usize, f64) -> f64| bent(name, &SHAPE, of);
    let scaled = |name, scale: f64| bent(name, &SHAPE, move |_, _, _, x| scale * x);
    let shaped = |name, shape: Shape| bent(name, &shape, |_, _, _, x| x);
    let mut all = vec![
        plain("plain", |_, _, _, x| x),
        plain("all constant", |_, _, _, _| 3.0),
        plain("all zero", |_, _, _, _| 0.0),
        plain("one constant", |_, f, _, x| if f == 1 { 5.0 } else { x }),
        plain("one duplicated", |r, f, _, x| match f {
            1 | 2 => (r * 7 % 5) as f64,
            _ => x,
        }),
        plain(
            "one feature varies",
            |_, f, _, x| if f == 0 { x } else { 1.0 },
        ),
        plain("no spread within classes", |_, f, c, _| {
            (c * (f + 1)) as f64
        }),
        plain(
            "no spread within one class",
            |_, _, c, x| if c == 0 { 2.0 } else { x },
        ),
        plain("classes apart without end", |_, _, c, x| x + 1e9 * c as f64),
        plain("two values", |r, f, _, _| ((r + f) % 2) as f64),
        plain("whole numbers", |_, _, _, x| x.round()),
        plain("copies of rows", |r, f, c, _| ((r / 4 + f) % 3 + c) as f64),
        plain("identical rows in all tasks", |r, f, c, _| {
            ((r % 16 * 5 + f * 3) % 7 + c) as f64
        }),
        plain("large offset", |_, _, _, x| x + 1e12),
        plain("large offset of one feature", |_, f, _, x| {
            if f == 0 { x + 1e12 } else { x }
        }),
        plain("an offset for each task", |r, _, _, x| {
            x + 1e6 * (r / 16) as f64
        }),
        plain(
            "one outlier",
            |r, f, _, x| if r == 3 && f == 0 { 1e100 } else { x },
        ),
        plain("one outlier of a source", |r, f, _, x| {
            if r == 20 && f == 0 { 1e100 } else { x }
        }),
        plain("features of all scales", |_, f, _, x| {
            x * 10f64.powi(40 * f as i32 - 60)
        }),
        plain("denormal", |_, _, _, x| x * 1e-310),
        plain(
            "one denormal",
            |_, f, _, x| if f == 0 { x * 1e-310 } else { x },
        ),
        plain("opposed", |r, f, c, x| {
            if r < 16 {
                x
            } else {
                x + if f % 2 == c { -2.0 } else { 2.0 }
            }
        }),
        plain(
            "sources of another scale",
            |r, _, _, x| if r < 16 { x } else { 1e8 * x },
        ),
        plain("collinear", |r, f, _, x| {
            if f == 3 {
                ((r * 13) % 7) as f64
            } else if f == 2 {
                2.0 * ((r * 13) % 7) as f64
            } else {
                x
            }
        }),
        plain("positive", |_, _, _, x| x.exp()),
        plain("heavy", |_, _, _, x| x.powi(9)),
        scaled("1e-150", 1e-150),
        scaled("1e-60", 1e-60),
        scaled("1e60", 1e60),
        scaled("1e150", 1e150),
        scaled("1e300", 1e300),
        shaped(
            "one feature",
            Shape {
                features: 1,
                ..SHAPE
            },
        ),
        shaped(
            "many features",
            Shape {
                features: 60,
                ..SHAPE
            },
        ),
        shaped("one task", Shape { tasks: 1, ..SHAPE }),
        shaped(
            "two rows",
            Shape {
                tasks: 1,
                rows: 2,
                ..SHAPE
            },
        ),
        shaped("two rows of each task", Shape { rows: 2, ..SHAPE }),
        shaped("three rows of each task", Shape { rows: 3, ..SHAPE }),
        shaped(
            "forty tasks",
            Shape {
                tasks: 40,
                rows: 4,
                ..SHAPE
            },
        ),
        shaped(
            "five classes",
            Shape {
                classes: 5,
                rows: 25,
                ..SHAPE
            },
        ),
        shaped(
            "as many classes as rows",
            Shape {
                classes: 8,
                rows: 8,
                ..SHAPE
            },
        ),
    ];
    let mut lopsided = shaped(
        "one to sixty",
        Shape {
            rows: 122,
            tasks: 2,
            ..SHAPE
        },
    );
    for row in 0..lopsided.class.len() {
        lopsided.class[row] = if row % 61 == 0 { "c0" } else { "c1" }.into();
    }
    let mut strangers = shaped("no shared class", SHAPE);
    for row in 16..48 {
        strangers.class[row] = format!("s{}", row % 3);
    }
    let mut cauchy = shaped("Cauchy", SHAPE);
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let law = Cauchy::new(0.0, 1.0).unwrap();
    cauchy
        .values
        .iter_mut()
        .for_each(|x| *x += law.sample(&mut random));
    let mut noise = shaped("labels by lot", SHAPE);
    for row in 0..16 {
        noise.class[row] = format!(
            "c{}",
            u8::from(random.random_bool(0.5) || row == 0) * u8::from(row != 1)
        );
    }
    all.extend([lopsided, strangers, cauchy, noise]);
    all
}

fn settings() -> Vec<(&'static str, Settings)> {
    let target = || Settings {
        target: Some("t0".into()),
        ..Settings::default()
    };
    let rule = |rule| Settings { rule, ..target() };
    let labels = |labels| Settings { labels, ..target() };
    vec![
        ("default", target()),
        ("one-hot", rule(RuleName::OneHot)),
        ("one-vs-all", rule(RuleName::OneVsAll)),
        ("one-vs-one", rule(RuleName::OneVsOne)),
        ("bayes", rule(RuleName::Bayes)),
        ("optimal", labels(Labels::Optimal)),
        ("classical", labels(Labels::Classical)),
        ("alone", labels(Labels::Alone)),
        ("pooled", labels(Labels::Pooled)),
        (
            "alarm",
            Settings {
                false_alarm: Some(FalseAlarm {
                    null: "c0".into(),
                    rate: 0.2,
                    tail: Tail::default(),
                }),
                ..target()
            },
        ),
    ]
}

/// All that is asked of an answer, and whether there was one.
fn is_answered(problem: &Problem, how: &str, settings: &Settings) -> bool {
    let what = format!("{}, {how}", problem.name);
    let rows = Rows::row_major(&problem.values, problem.features).unwrap();
    let tasks = Tasks::new(rows, &problem.task, &problem.class);
    let study = tasks.and_then(|tasks| Study::new(&tasks, settings));
    let study = match study {
        Ok(study) => study,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
    };
    let forecast = study.forecast();
    let shares = [
        &[forecast.error][..],
        &forecast.interval,
        &forecast.class_errors,
        &forecast.priors,
    ];
    assert!(
        shares
            .concat()
            .iter()
            .all(|share| (0.0..=1.0).contains(share)),
        "{what}: {shares:?}"
    );
    let [low, high] = forecast.interval;
    assert!(
        low <= forecast.error && forecast.error <= high,
        "{what}: {forecast:?}"
    );
    let model = match study.model() {
        Ok(model) => model,
        Err(error) => panic!("{what}: {error}"),
    };
    let bytes = model.to_bytes().unwrap();
    let again = Model::from_bytes(&bytes).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(again == model, "{what}");
    assert_eq!(again.to_bytes().unwrap(), bytes, "{what}");
    match model.probabilities(rows) {
        Ok(probabilities) => {
            for row in probabilities.row_iter() {
                assert!(
                    row.iter().all(|p| (0.0..=1.0).contains(p)),
                    "{what}: {row:?}"
                );
                assert!(
                    (row.iter().sum::<f64>() - 1.0).abs() < 1e-9,
                    "{what}: {row:?}"
                );
            }
        }
        Err(Error::Scores) => return false,
        Err(error) => panic!("{what}: {error}"),
    }
    let own: Vec<usize> = (0..problem.task.len())
        .filter(|&row| problem.task[row] == "t0")
        .collect();
    let values: Vec<f64> = own
        .iter()
        .flat_map(|&row| problem.values[row * problem.features..][..problem.features].to_vec())
        .collect();
    let class: Vec<&str> = own.iter().map(|&row| problem.class[row].as_str()).collect();
    let measured = evaluate(
        &model,
        Rows::row_major(&values, problem.features).unwrap(),
        &class,
    )
    .unwrap();
    let numbers = [measured.error, measured.comparable, measured.log_loss];
    assert!(numbers.iter().all(|x| x.is_finite()), "{what}: {numbers:?}");
    true
}

#[test]
fn whatever_the_data_numbers_are_numbers() {
    let problems = problems();
    assert!(problems.len() >= 40, "{}", problems.len());
    let mut unanswered = Vec::new();
    for problem in &problems {
        for (how, settings) in settings() {
            if !is_answered(problem, how, &settings) {
                unanswered.push(format!("{}, {how}", problem.name));
            }
        }
    }
    let default = unanswered
        .iter()
        .filter_map(|own| own.strip_suffix(", default"));
    // What double precision cannot do, it refuses with words.
    let refused: Vec<&str> = default.collect();
    assert_eq!(refused, ["classes apart without end", "1e300"]);
    assert_eq!(unanswered.len(), 22, "{unanswered:?}");
}

/// One in ten thousand, and two hundred tasks: sizes that every setting of above would take long for.
#[test]
fn rare_classes_and_very_many_tasks_have_answers() {
    let plain = |_, _, _, x| x;
    let many = Shape {
        tasks: 200,
        rows: 4,
        ..SHAPE
    };
    let long = Shape {
        tasks: 2,
        rows: 20_002,
        ..SHAPE
    };
    let mut rare = bent("one to ten thousand", &long, plain);
    for (row, class) in rare.class.iter_mut().enumerate() {
        *class = if row % 10_001 == 0 { "c0" } else { "c1" }.into();
    }
    let problems = [bent("two hundred tasks", &many, plain), rare];
    for problem in &problems {
        let settings = settings();
        for how in ["default", "classical", "alone", "alarm"] {
            let (_, settings) = settings.iter().find(|(name, _)| *name == how).unwrap();
            assert!(
                is_answered(problem, how, settings),
                "{}, {how}",
                problem.name
            );
        }
    }
}

/// The file of a model, forecast included, is the same to the bit with one, two and four threads: by the default, and by
/// one of the other settings after the other.
#[test]
fn the_number_of_threads_changes_no_bit() {
    let pools = [1, 2, 4].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap()
    });
    let settings = settings();
    let mut answered = 0;
    for (at, problem) in problems().iter().enumerate() {
        for (how, settings) in [&settings[0], &settings[1 + at % (settings.len() - 1)]] {
            let bytes = || {
                let rows = Rows::row_major(&problem.values, problem.features).ok()?;
                let tasks = Tasks::new(rows, &problem.task, &problem.class).ok()?;
                let model = Study::new(&tasks, settings).ok()?.model().ok()?;
                Some(model.to_bytes().unwrap())
            };
            let files = pools.each_ref().map(|pool| pool.install(bytes));
            assert!(files[0] == files[1], "{}, {how}: two", problem.name);
            assert!(files[0] == files[2], "{}, {how}: four", problem.name);
            answered += usize::from(files[0].is_some());
        }
    }
    assert!(answered >= 80, "{answered}");
}

/// A problem told otherwise: rows in another order, other names, other units.
struct Retold<'a> {
    order: Vec<usize>,
    task: fn(&str) -> String,
    class: fn(&str) -> String,
    /// The number of the task, and the value.
    value: fn(usize, f64) -> f64,
    settings: &'a Settings,
}

impl Retold<'_> {
    /// The probabilities of all rows by class, in the old order, as rows of the target; and the foretold error.
    fn answer(&self, problem: &Problem, rows: usize) -> Option<(Vec<f64>, f64)> {
        let p = problem.features;
        let of = |row: usize, task: usize| {
            let own = problem.values[row * p..][..p].iter();
            own.map(move |&x| (self.value)(task, x))
                .collect::<Vec<f64>>()
        };
        let order = || self.order.iter();
        let values: Vec<f64> = order().flat_map(|&row| of(row, row / rows)).collect();
        let tasks: Vec<String> = order()
            .map(|&row| (self.task)(&problem.task[row]))
            .collect();
        let classes: Vec<String> = order()
            .map(|&row| (self.class)(&problem.class[row]))
            .collect();
        let settings = Settings {
            target: Some((self.task)("t0")),
            ..self.settings.clone()
        };
        let tasks = Tasks::new(Rows::row_major(&values, p).unwrap(), &tasks, &classes).ok()?;
        let study = Study::new(&tasks, &settings).ok()?;
        let model = study.model().ok()?;
        let every: Vec<f64> = (0..problem.class.len())
            .flat_map(|row| of(row, 0))
            .collect();
        let probabilities = model
            .probabilities(Rows::row_major(&every, p).unwrap())
            .ok()?;
        let names = (0..model.classes().len()).map(|class| (self.class)(&format!("c{class}")));
        let places = names.filter_map(|name| model.classes().iter().position(|own| *own == name));
        let columns =
            places.flat_map(|place| probabilities.col(place).iter().copied().collect::<Vec<_>>());
        Some((columns.collect(), study.forecast().error))
    }
}

/// What changes the words, the order or the units of a problem changes no probability and no forecast.
#[test]
fn a_problem_that_is_told_otherwise_is_the_same() {
    let shapes = [
        SHAPE,
        Shape {
            classes: 3,
            rows: 24,
            ..SHAPE
        },
    ];
    let own = |name: &str| name.to_owned();
    let turned = |name: &str| name.replace('0', "z");
    let mut compared = 0;
    for shape in &shapes {
        let problem = bent("plain", shape, |_, _, _, x| x);
        let mut order: Vec<usize> = (0..problem.class.len()).collect();
        let as_told = order.clone();
        order.reverse();
        order.swap(0, 9);
        order.swap(3, 30);
        for (how, settings) in settings() {
            // An angle to the origin is not one to another.
            let linear = Settings {
                views: "linear".parse().unwrap(),
                ..settings.clone()
            };
            let plain = |settings| Retold {
                order: as_told.clone(),
                task: own,
                class: own,
                value: |_, x| x,
                settings,
            };
            let named = if how == "alarm" { own } else { turned };
            let others = [
                (
                    "rows",
                    Retold {
                        order: order.clone(),
                        ..plain(&settings)
                    },
                ),
                (
                    "tasks",
                    Retold {
                        task: turned,
                        ..plain(&settings)
                    },
                ),
                (
                    "classes",
                    Retold {
                        class: named,
                        ..plain(&settings)
                    },
                ),
                (
                    "a shift of each task",
                    Retold {
                        value: |task, x| x + 3.0 * (task + 1) as f64,
                        ..plain(&linear)
                    },
                ),
                (
                    "a factor",
                    Retold {
                        value: |_, x| 1000.0 * x,
                        ..plain(&settings)
                    },
                ),
                (
                    "a small factor",
                    Retold {
                        value: |_, x| 1e-6 * x,
                        ..plain(&settings)
                    },
                ),
            ];
            for (what, other) in others {
                let expected = plain(other.settings).answer(&problem, shape.rows);
                let found = other.answer(&problem, shape.rows);
                let (Some((a, error)), Some((b, other))) = (expected, found) else {
                    continue;
                };
                assert_eq!(a.len(), b.len());
                for (a, b) in a.iter().zip(&b) {
                    assert!((a - b).abs() < 1e-9, "{what}, {how}: {a} and {b}");
                }
                assert!(
                    (error - other).abs() < 1e-9,
                    "{what}, {how}: {error} and {other}"
                );
                compared += 1;
            }
        }
    }
    // An alarm is of two classes.
    assert_eq!(compared, 6 * (2 * 10 - 1));
}
