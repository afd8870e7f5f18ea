//! Two tasks of five classes, N(μ, I) with p = 100, 200 samples of every class of the source and 50 of the
//! target; the target's means are β times the source's plus an orthogonal part. Accuracy of one-versus-all,
//! one-versus-one and one-hot on 10,000 new samples, with classical and with optimised labels, and what was
//! foretold from the training samples alone.
//!
//! The printed accuracies are those of labels optimised with the *true* class means; estimated from 50 samples of a
//! class these cost a point or two, so both are shown. Beside them: the one-versus-one column as the paper has it,
//! where the votes of a sample come from different samples; the Bayes rule, with a coupling chosen from the
//! training samples too; and the library's default.

use faer::Mat;
use foretask::normal::orthant;
use foretask::rules::{one_hot, one_vs_all};
use foretask::theory::{Corrections, Theory};
use foretask::{
    Coupling, Discriminant, Evidence, Form, Labels, Model, Moments, Prior, RuleName, Scaling,
    Settings, Statistics, Study, System, Tasks, Ties, centre_noise,
};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::error::Result;
use crate::population::{Population, Samples, TARGET, balanced_error, divided, simplex};
use crate::report::{Judgement, Report, Table, Value};
use crate::trials::{Context, Spread};

const FEATURES: usize = 100;
const CLASSES: usize = 5;
const COUNTS: [usize; 2] = [200, 50];
const BETAS: [f64; 3] = [0.1, 0.5, 0.8];
/// New samples of each class: 10,000 in all.
const TESTED: usize = 2000;

/// A row of the table.
struct Method {
    name: &'static str,
    rule: RuleName,
    labels: Labels,
    /// γ of the source and the target; λ is 1. Chosen from the training samples if there is none.
    gamma: Option<[f64; 2]>,
    /// Where class means and forecast come from.
    means: Means,
    /// Accuracy and forecast as printed, for each β.
    printed: Option<[(f64, Option<f64>); 3]>,
}

/// What labels and forecasts are computed from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Means {
    /// The class means of the population.
    True,
    /// Class means estimated from the training samples, in the isotropic theory.
    Estimated,
    /// Leave-one-out.
    LeftOut,
}

const fn method(
    name: &'static str,
    (rule, labels): (RuleName, Labels),
    gamma: Option<[f64; 2]>,
    means: Means,
    printed: Option<[(f64, Option<f64>); 3]>,
) -> Method {
    Method {
        name,
        rule,
        labels,
        gamma,
        means,
        printed,
    }
}

/// γ for one-versus-all and one-versus-one, and for the others.
const UNEQUAL: Option<[f64; 2]> = Some([0.1, 1.0]);
const EQUAL: Option<[f64; 2]> = Some([1.0, 1.0]);

const METHODS: [Method; 11] = [
    method(
        "one-versus-all, classical",
        (RuleName::OneVsAll, Labels::Classical),
        UNEQUAL,
        Means::True,
        Some([
            (61.43, Some(59.87)),
            (65.47, Some(66.00)),
            (71.16, Some(70.63)),
        ]),
    ),
    method(
        "one-versus-all, optimised",
        (RuleName::OneVsAll, Labels::Optimal),
        UNEQUAL,
        Means::True,
        Some([
            (67.63, Some(67.57)),
            (68.00, Some(68.52)),
            (71.19, Some(70.76)),
        ]),
    ),
    method(
        "one-hot, classical",
        (RuleName::OneHot, Labels::Classical),
        EQUAL,
        Means::True,
        Some([
            (65.61, Some(64.35)),
            (67.41, Some(67.90)),
            (70.97, Some(70.58)),
        ]),
    ),
    method(
        "one-hot, optimised",
        (RuleName::OneHot, Labels::Optimal),
        EQUAL,
        Means::True,
        Some([
            (67.63, Some(67.55)),
            (68.03, Some(68.48)),
            (71.14, Some(70.67)),
        ]),
    ),
    method(
        "one-versus-one, classical",
        (RuleName::OneVsOne, Labels::Classical),
        UNEQUAL,
        Means::Estimated,
        Some([(65.31, None), (71.30, None), (78.20, None)]),
    ),
    method(
        "one-versus-one, optimised",
        (RuleName::OneVsOne, Labels::Optimal),
        UNEQUAL,
        Means::Estimated,
        Some([(74.98, None), (76.31, None), (78.55, None)]),
    ),
    method(
        "one-versus-all, optimised, estimated means",
        (RuleName::OneVsAll, Labels::Optimal),
        UNEQUAL,
        Means::Estimated,
        None,
    ),
    method(
        "one-hot, optimised, estimated means",
        (RuleName::OneHot, Labels::Optimal),
        EQUAL,
        Means::Estimated,
        None,
    ),
    method(
        "Bayes, estimated means",
        (RuleName::Bayes, Labels::Optimal),
        EQUAL,
        Means::Estimated,
        None,
    ),
    method(
        "Bayes, estimated means, tuned coupling",
        (RuleName::Bayes, Labels::Optimal),
        None,
        Means::Estimated,
        None,
    ),
    method(
        "default (averaged)",
        (RuleName::Auto, Labels::Auto),
        None,
        Means::LeftOut,
        None,
    ),
];

/// Printed accuracies of optimised labels are met to this many points, or to two deviations of a single draw, which
/// they are.
const CLOSE: f64 = 0.7;

struct Outcome {
    accuracy: f64,
    forecast: f64,
    /// With votes of different samples of the class.
    shuffled: Option<f64>,
}

pub(super) fn run(context: &Context, trials: usize, report: &mut Report) -> Result<()> {
    report.set("p, m, k", "100, 5, 2");
    report.set("n", "200 of each class of the source, 50 of the target");
    report.set(
        "class means",
        "2 e_j and β 2 e_j + √(1 - β²) 2 e_(p-j) (the text has norm 1 for the orthogonal part)",
    );
    report.set("γ, λ", "(0.1, 1) for one-versus-all and one-versus-one, (1, 1) for one-hot and Bayes; λ = 1; divided by the norm of the task matrix");
    report.set(
        "tested",
        format!("{} new samples in every trial", TESTED * CLASSES),
    );
    report.set("class means known", "labels and forecasts of one-versus-all and one-hot beside the paper's use the true class means, the rows below class means estimated from the training samples, as all one-versus-one rows do");
    report.set(
        "forecast",
        "isotropic theory; leave-one-out for the default",
    );
    report.set(
        "tuned coupling",
        "the coupling of the grid with the least error foretold from the training samples",
    );
    let mut accuracies = Table::new(
        "accuracy in % (forecast beside it)",
        &[
            "β, method",
            "ours",
            "ours: forecast",
            "paper",
            "paper: forecast",
        ],
    );
    let mut votes = Table::new(
        "one-versus-one with the authors' mistake, accuracy in %",
        &[
            "β, labels",
            "votes of one sample",
            "votes of different samples",
            "paper",
        ],
    );
    let mut close = 0.0_f64;
    let (mut all_met, mut within) = (true, 0);
    let mut artefact = 0.0_f64;
    let mut forecasts = 0.0_f64;
    let mut best_above = true;
    let mut gains = Vec::new();
    for (number, beta) in BETAS.into_iter().enumerate() {
        let part = format!("multi-class {beta}");
        report.seeded(&part);
        let population = population(beta);
        let results = context.run(&part, trials, |mut random| {
            let samples = population.training(&mut random.source);
            let tasks = samples.tasks()?;
            let test = population.test(TESTED, &mut random.source);
            METHODS
                .iter()
                .map(|method| match method.means {
                    Means::True => with_true_means(method, &population, &tasks, &test),
                    _ => outcome(method, &tasks, &test, &mut random.source),
                })
                .collect::<Result<Vec<_>>>()
        })?;
        let spread = |row: usize, of: &dyn Fn(&Outcome) -> f64| {
            Spread::of(results.iter().map(|outcomes| of(&outcomes[row]))).times(100.0)
        };
        let (mut best_ours, mut best_other) = (0.0_f64, 0.0_f64);
        for (row, method) in METHODS.iter().enumerate() {
            let accuracy = spread(row, &|o| o.accuracy);
            let forecast = spread(row, &|o| o.forecast);
            forecasts = forecasts.max((accuracy.mean - forecast.mean).abs());
            let printed = method.printed.map(|printed| printed[number]);
            accuracies.push(
                format!("{beta}, {}", method.name),
                vec![
                    Value::of(accuracy, 2),
                    Value::of(forecast, 2),
                    Value::printed(printed.map(|p| p.0), 2),
                    Value::printed(printed.and_then(|p| p.1), 2),
                ],
            );
            match (method.rule, printed) {
                (RuleName::OneVsOne, Some((value, _))) => {
                    let shuffled = spread(row, &|o| o.shuffled.unwrap_or(f64::NAN));
                    if method.labels == Labels::Optimal {
                        artefact = artefact.max((shuffled.mean - value).abs());
                    }
                    let name = format!("{beta}, {}", method.name);
                    votes.push(
                        name,
                        vec![
                            Value::of(accuracy, 2),
                            Value::of(shuffled, 2),
                            Value::new(value, 2),
                        ],
                    );
                }
                (_, Some((value, _))) if method.labels == Labels::Optimal => {
                    let apart = (accuracy.mean - value).abs();
                    close = close.max(apart);
                    all_met &= apart <= CLOSE || apart <= 2.0 * accuracy.deviation;
                    within += usize::from(apart <= CLOSE);
                }
                _ => {}
            }
            if method.means != Means::LeftOut {
                best_other = best_other.max(accuracy.mean);
            } else {
                best_ours = best_ours.max(accuracy.mean);
            }
        }
        best_above &= best_ours > best_other;
        gains.push(spread(3, &|o| o.accuracy).mean - spread(2, &|o| o.accuracy).mean);
    }
    report.tables.extend([accuracies, votes]);
    report.claim(
        "accuracy is foretold without test data",
        forecasts < 1.5,
        format!("mean forecasts are within {forecasts:.1} points of mean accuracies"),
    );
    report.claim(
        "optimised labels gain most where tasks are least related",
        gains.is_sorted_by(|a, b| a >= b),
        format!("one-hot gains {gains:.1?} points for β = 0.1, 0.5, 0.8"),
    );
    report.claim(
        "our best row is above all of the paper's rules at each β",
        best_above,
        "the default, in the table; it chooses its coupling from the training samples, the paper's rules have one given",
    );
    report.judge(
        "one-versus-all and one-hot",
        if all_met { Judgement::Matches } else { Judgement::SameClaim },
        format!("with the true class means {within} of 6 optimised accuracies are within {CLOSE} points of the printed ones, each of which is a single draw, and all within {close:.2}. That the means are estimated, as the text says, does not fit: it costs the rows below a point or two"),
    );
    report.judge(
        "one-versus-one",
        Judgement::PaperIsWrong,
        format!(
            "the authors' code shuffles the test samples anew for every pair, so that the votes counted for a sample belong to different samples of its class; with that mistake the optimised column is met to {artefact:.1} points, without it one-versus-one is no better than the others"
        ),
    );
    Ok(())
}

fn population(beta: f64) -> Population {
    let counts = COUNTS.map(|count| vec![count; CLASSES]);
    Population {
        features: FEATURES,
        variance: 1.0,
        tasks: vec![
            simplex("source", FEATURES, &counts[0], None),
            simplex(TARGET, FEATURES, &counts[1], Some(beta)),
        ],
    }
}

/// A rule made with the true class means, before training.
fn with_true_means(
    method: &Method,
    population: &Population,
    tasks: &Tasks<'_>,
    test: &Samples,
) -> Result<Outcome> {
    let (cells, target) = (population.cells(), population.target());
    let coupling = divided(1.0, &method.gamma.unwrap_or([1.0; 2]))?;
    let theory = Theory::spherical(
        &cells,
        FEATURES,
        &coupling,
        &population.gram(),
        None,
        Corrections::DegreesOfFreedom,
    )?;
    let noise = centre_noise(&cells, target);
    let of_target = theory.moments(target).with_noise(noise);
    let rule = match (method.rule, method.labels) {
        (RuleName::OneVsAll, Labels::Classical) => {
            one_vs_all::classical(&cells, target, &of_target)
        }
        (RuleName::OneVsAll, _) => one_vs_all::minimax(&of_target, &cells, target),
        (_, Labels::Classical) => one_hot::classical(&cells, target),
        _ => one_hot::optimal(&of_target, &[1.0 / CLASSES as f64; CLASSES]),
    };
    let system = System::new(Statistics::of(tasks), Scaling::None, &coupling)?;
    let responses = system.responses(target, test.rows()?)?;
    let decided: Vec<usize> = (0..test.class.len())
        .map(|row| rule.decide(&Vec::from_iter(responses.row(row).iter().copied())))
        .collect();
    Ok(Outcome {
        accuracy: 1.0 - balanced_error(&decided, &test.class),
        forecast: foretold_accuracy(&rule, &of_target),
        shuffled: None,
    })
}

/// The mean over classes of the probability that the margins over all other classes are positive.
fn foretold_accuracy(rule: &Discriminant, moments: &Moments) -> f64 {
    /// Far below the spread over trials.
    const TOLERANCE: f64 = 1e-4;
    let offsets = match &rule.form {
        Form::Linear { offsets } => offsets.clone(),
        _ => vec![0.0; CLASSES],
    };
    let labels = &rule.label_scores;
    let right = |class: usize| {
        let others: Vec<usize> = (0..CLASSES).filter(|&other| other != class).collect();
        let margins = Mat::from_fn(labels.nrows(), others.len(), |cell, i| {
            labels[(cell, class)] - labels[(cell, others[i])]
        });
        let mean = moments.mean.row(class) * &margins;
        let mean: Vec<f64> = (0..others.len())
            .map(|i| mean[i] + offsets[class] - offsets[others[i]])
            .collect();
        let covariance = margins.transpose() * &moments.covariance[class] * &margins;
        orthant(&mean, covariance.as_ref(), TOLERANCE).probability
    };
    (0..CLASSES).map(right).sum::<f64>() / CLASSES as f64
}

fn outcome(
    method: &Method,
    tasks: &Tasks<'_>,
    test: &Samples,
    random: &mut ChaCha8Rng,
) -> Result<Outcome> {
    let coupling: Option<Coupling> = match method.gamma {
        Some(gamma) => Some(divided(1.0, &gamma)?),
        None => None,
    };
    let settings = Settings {
        target: Some(TARGET.into()),
        coupling: coupling.map(|c| (c.lambda(), c.gamma().to_vec())),
        rule: method.rule,
        labels: method.labels,
        ties: Ties::First,
        evidence: match method.means {
            Means::LeftOut => Evidence::Auto,
            _ => Evidence::Isotropic,
        },
        prior: Prior::Equal,
        ..Settings::default()
    };
    let study = Study::new(tasks, &settings)?;
    let model = study.model()?;
    let shuffled = (method.rule == RuleName::OneVsOne)
        .then(|| accuracy_of_shuffled_votes(&model, test, random));
    Ok(Outcome {
        accuracy: 1.0 - test.error_of(&model)?,
        forecast: 1.0 - study.forecast().error,
        shuffled,
    })
}

/// The scores of every pair permuted within each class, so that the votes counted for a sample are those of
/// others.
fn accuracy_of_shuffled_votes(model: &Model, test: &Samples, random: &mut ChaCha8Rng) -> f64 {
    let rows = Mat::from_fn(test.class.len(), FEATURES, |row, feature| {
        test.values[row * FEATURES + feature]
    });
    let scores = rows * model.weights();
    let pairs = model.intercept();
    let mut order: Vec<Vec<usize>> = vec![Vec::new(); pairs.len()];
    for order in &mut order {
        for class in 0..CLASSES {
            let mut own: Vec<usize> = (class * TESTED..(class + 1) * TESTED).collect();
            own.shuffle(random);
            order.extend(own);
        }
    }
    // In a model of pairs scores are less their thresholds.
    let form = Form::Votes {
        thresholds: vec![0.0; pairs.len()],
        ties: Ties::First,
    };
    let decided: Vec<usize> = (0..test.class.len())
        .map(|row| {
            let mixed: Vec<f64> = (0..pairs.len())
                .map(|pair| scores[(order[pair][row], pair)] + pairs[pair])
                .collect();
            let votes = form.class_scores(&mixed);
            // The first of equals, as the mode of a set in the paper.
            (0..CLASSES)
                .rev()
                .max_by(|&a, &b| votes[a].total_cmp(&votes[b]))
                .unwrap_or(0)
        })
        .collect();
    1.0 - balanced_error(&decided, &test.class)
}
