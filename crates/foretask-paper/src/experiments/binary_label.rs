//! Two tasks of two classes, N(±μ_i, I) with p = 100, γ = 1, λ = 10, where μ_2 = β μ_1 + √(1 - β²) μ_1^⊥. For
//! β from -1 (classes swapped) over 0 (unrelated) to 1 (the same task) the figure shows the scores of new
//! samples of the target with classical labels ±1 and threshold zero, and with optimised labels and threshold.

use foretask::rules::ScoreLaw;
use foretask::rules::binary::{BinaryRule, classical_labels, optimal_labels};
use foretask::theory::{Corrections, Theory};
use foretask::{Coupling, Scaling, Statistics, System};

use crate::error::Result;
use crate::figure::{Axis, Colour, Figure, Panel, Series};
use crate::population::{Population, TARGET, divided, opposite};
use crate::report::{Judgement, Report, Table, Value};
use crate::trials::{Context, Spread};

const FEATURES: usize = 100;
const COUNTS: [[usize; 2]; 2] = [[110, 140], [30, 60]];
const BETAS: [f64; 4] = [-1.0, 0.0, 0.5, 1.0];
/// The norm of μ_i, as in the authors' script.
const SIZE: f64 = 2.0;
/// New samples of each class in a histogram.
const TESTED: usize = 1000;
const BINS: usize = 40;
/// Mean and deviation of class 1 and of class 2, threshold.
type PrintedPanel = ((f64, f64), (f64, f64), f64);
/// The four panels of each row as printed.
const PRINTED: [[PrintedPanel; 4]; 2] = [
    [
        ((-0.7480, 0.2294), (-0.1260, 0.2240), 0.0),
        ((-0.1398, 0.3042), (-0.3801, 0.3038), 0.0),
        ((0.3416, 0.3117), (-0.6708, 0.3107), 0.0),
        ((0.7077, 0.2961), (-0.8538, 0.2957), 0.0),
    ],
    [
        ((1.9722, 0.6703), (-1.5683, 0.6713), 0.2019),
        ((-0.0847, 0.5331), (-1.6699, 0.5234), -0.8773),
        ((0.1562, 0.2755), (-0.8428, 0.2726), -0.3433),
        ((0.6780, 0.2902), (-0.8526, 0.2898), -0.0873),
    ],
];
/// Both classes are equally likely.
const EQUAL: [f64; 2] = [0.5, 0.5];
/// Theory and trained rules agree to this: the theory's own error at p = 100
/// (`docs/2-the-theory.md#theory-against-simulation`).
const ERROR_FITS: f64 = 0.01;
/// The same for mean scores, in deviations.
const MEAN_FITS: f64 = 0.05;
const LABELS: [&str; 2] = ["classical labels", "optimised labels"];

/// What a trial measured for one kind of labels.
struct Measured {
    /// Scores of new samples of each class.
    scores: [Vec<f64>; 2],
    /// The share of wrong decisions at the threshold used.
    error: f64,
}

pub(super) fn run(context: &Context, trials: usize, report: &mut Report) -> Result<()> {
    report.set("p", FEATURES.to_string());
    report.set(
        "n",
        "110, 140 | 30, 60, as in the authors' script (the caption's shares do not fit one n)",
    );
    report.set(
        "class means",
        "±2 e_1 and ±2 (β e_1 + √(1 - β²) e_2), as in the authors' script",
    );
    report.set(
        "γ, λ",
        "1 and 10, divided by the norm of the task matrix (21)",
    );
    report.set(
        "tested",
        format!(
            "{TESTED} new samples of each class in every trial; the histogram is that of the first"
        ),
    );
    let coupling = divided(10.0, &[1.0, 1.0])?;

    let mut table = Table::new(
        "error in %",
        &[
            "β, labels",
            "threshold",
            "foretold",
            "measured",
            "best threshold",
            "foretold there",
            "paper: threshold",
            "paper: foretold",
        ],
    );
    let mut laws_table = Table::new(
        "means and deviations of the scores",
        &[
            "β, labels",
            "class 1: foretold",
            "measured",
            "class 2: foretold",
            "measured",
            "deviation: foretold",
            "measured",
        ],
    );
    let mut panels: [Vec<Panel>; 2] = [Vec::new(), Vec::new()];
    let mut printed_panels: [Vec<Panel>; 2] = [Vec::new(), Vec::new()];
    let (mut worst, mut furthest, mut nearest) = (0.0_f64, 0.0_f64, f64::INFINITY);
    let mut errors = [[0.0; 4]; 2];
    for (number, beta) in BETAS.into_iter().enumerate() {
        let part = format!("binary-label {beta}");
        report.seeded(&part);
        let population = population(beta);
        let (rules, laws) = foretold(&population, &coupling)?;
        let results = context.run(&part, trials, |mut random| {
            let samples = population.training(&mut random.source);
            let tasks = samples.tasks()?;
            let system = System::new(Statistics::of(&tasks), Scaling::None, &coupling)?;
            let test = population.test(TESTED, &mut random.source);
            let responses = system.responses(population.target(), test.rows()?)?;
            Ok([0, 1].map(|kind| {
                let score = |row: usize| -> f64 {
                    let labels = rules[kind].label_scores.iter();
                    labels
                        .enumerate()
                        .map(|(c, y)| responses[(row, c)] * y)
                        .sum()
                };
                let scores = [0, 1].map(|class| -> Vec<f64> {
                    (class * TESTED..(class + 1) * TESTED).map(score).collect()
                });
                let error = |threshold: f64| {
                    let missed = scores[0].iter().filter(|&&s| s <= threshold).count();
                    let false_ones = scores[1].iter().filter(|&&s| s > threshold).count();
                    (missed + false_ones) as f64 / (2 * TESTED) as f64
                };
                Measured {
                    error: error(used_threshold(kind, &rules)),
                    scores,
                }
            }))
        })?;
        for kind in 0..2 {
            let law = laws[kind];
            let used = Spread::of(results.iter().map(|r| r[kind].error));
            errors[kind][number] = used.mean;
            let threshold = used_threshold(kind, &rules);
            let expected = cost(&law, threshold);
            worst = worst.max(beyond(used, expected));
            let best = rules[kind].threshold;
            nearest = nearest.min(best.abs());
            let (first, second, at) = PRINTED[kind][number];
            let printed = ScoreLaw {
                mean: [first.0, second.0],
                variance: [first.1.powi(2), second.1.powi(2)],
            };
            let name = format!("{beta}, {}", LABELS[kind]);
            table.push(
                name.clone(),
                vec![
                    Value::new(threshold, 3),
                    Value::new(100.0 * expected, 1),
                    Value::percent(used, 1),
                    Value::printed(best.is_finite().then_some(best), 3),
                    Value::new(100.0 * cost(&law, best), 1),
                    Value::new(at, 3),
                    Value::new(100.0 * cost(&printed, at), 1),
                ],
            );
            let statistics = |class: usize| {
                let of = results
                    .iter()
                    .map(|r| Spread::of(r[kind].scores[class].iter().copied()));
                let of: Vec<Spread> = of.collect();
                (
                    Spread::of(of.iter().map(|s| s.mean)),
                    Spread::of(of.iter().map(|s| s.deviation)),
                )
            };
            let (one, two) = (statistics(0), statistics(1));
            let deviation = law.variance[0].sqrt();
            for (measured, mean) in [(one.0, law.mean[0]), (two.0, law.mean[1])] {
                furthest = furthest.max(beyond(measured, mean) / deviation);
            }
            laws_table.push(
                name,
                vec![
                    Value::new(law.mean[0], 3),
                    Value::of(one.0, 3),
                    Value::new(law.mean[1], 3),
                    Value::of(two.0, 3),
                    Value::new(deviation, 3),
                    Value::of(one.1, 3),
                ],
            );
            let histogram = results.first().map(|r| &r[kind].scores);
            panels[kind].push(panel(beta, kind, &law, threshold, histogram));
            printed_panels[kind].push(panel(beta, kind, &printed, at, None));
        }
    }
    report.tables.extend([table, laws_table]);
    report.figure = Some(Figure {
        columns: 4,
        panels: panels.concat(),
    });
    report.paper_figure = Some(Figure {
        columns: 4,
        panels: printed_panels.concat(),
    });
    report.claim(
        "theory and histogram fit in every panel",
        worst < ERROR_FITS && furthest < MEAN_FITS,
        format!(
            "beyond two standard errors of the measurement, errors are {:.2} points from the foretold ones at most, mean scores {furthest:.3} deviations",
            100.0 * worst
        ),
    );
    report.claim(
        "the best threshold is not zero",
        nearest > 0.01,
        format!("best thresholds are at least {nearest:.3} from zero; where classical labels have the classes the wrong way round the best is to call everything one class"),
    );
    report.claim(
        "classical labels fail where classes are swapped (β = -1), optimised ones do not",
        errors[0][0] > 0.5 && errors[1][0] < errors[1][3] + 0.01,
        format!(
            "at β = -1 classical labels err in {:.1} %, optimised ones in {:.1} % ({:.1} % at β = 1)",
            100.0 * errors[0][0],
            100.0 * errors[1][0],
            100.0 * errors[1][3]
        ),
    );
    let holds = report.claims.iter().all(|claim| claim.holds);
    report.judge(
        "all panels",
        if holds { Judgement::SameClaim } else { Judgement::ClaimFails },
        "no single setting gives all printed panels: the separation printed for β = -1 is beyond what means of norm 2 allow, and the panel of β = 0 has another class ratio than the rest. The claims hold in the setting of the authors' script",
    );
    Ok(())
}

/// How far a mean is from what was expected, beyond two of its standard errors.
fn beyond(measured: Spread, expected: f64) -> f64 {
    ((measured.mean - expected).abs() - 2.0 * measured.error()).max(0.0)
}

/// Zero for classical labels, as in the figure; the best for optimised ones.
fn used_threshold(kind: usize, rules: &[BinaryRule; 2]) -> f64 {
    if kind == 0 { 0.0 } else { rules[1].threshold }
}

fn population(beta: f64) -> Population {
    let across = (1.0 - beta * beta).sqrt();
    Population {
        features: FEATURES,
        variance: 1.0,
        tasks: vec![
            opposite("source", COUNTS[0], &[(0, SIZE)]),
            opposite(TARGET, COUNTS[1], &[(0, SIZE * beta), (1, SIZE * across)]),
        ],
    }
}

/// The classical and the optimal rule, each with the threshold of least error, and the laws of their scores.
fn foretold(
    population: &Population,
    coupling: &Coupling,
) -> Result<([BinaryRule; 2], [ScoreLaw; 2])> {
    let (cells, target) = (population.cells(), population.target());
    let theory = Theory::spherical(
        &cells,
        FEATURES,
        coupling,
        &population.gram(),
        None,
        Corrections::DegreesOfFreedom,
    )?;
    let of_target = theory.moments(target);
    let noise = super::centre_noise(&cells.tasks()[target]);
    let classical = classical_labels(&cells, target);
    let rules = [
        BinaryRule {
            threshold: ScoreLaw::new(&of_target, &classical, noise).threshold(EQUAL),
            label_scores: classical,
        },
        optimal_labels(&of_target, EQUAL, noise),
    ];
    let laws = [0, 1].map(|kind| ScoreLaw::new(&of_target, &rules[kind].label_scores, noise));
    Ok((rules, laws))
}

fn panel(
    beta: f64,
    kind: usize,
    law: &ScoreLaw,
    threshold: f64,
    scores: Option<&[Vec<f64>; 2]>,
) -> Panel {
    const COLOURS: [Colour; 2] = [Colour::Red, Colour::Blue];
    let mut series = Vec::new();
    for class in 0..2 {
        if let Some(scores) = scores {
            let name = format!("class {}, measured", class + 1);
            series.push(Series::histogram(
                &name,
                COLOURS[class],
                &scores[class],
                BINS,
            ));
        }
    }
    for class in 0..2 {
        let name = format!("class {}, foretold", class + 1);
        let deviation = law.variance[class].sqrt();
        series.push(Series::normal(
            &name,
            COLOURS[class],
            law.mean[class],
            deviation,
        ));
    }
    Panel {
        title: format!("β = {beta}"),
        x: Axis::linear(LABELS[kind]),
        y: Axis::linear("density"),
        series,
        marks: vec![threshold],
    }
}

/// The error where both classes are as frequent.
fn cost(law: &ScoreLaw, threshold: f64) -> f64 {
    let errors = law.errors(threshold);
    EQUAL[0] * errors[0] + EQUAL[1] * errors[1]
}
