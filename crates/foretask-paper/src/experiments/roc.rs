//! A test of one class against the other at a false-alarm rate η. The threshold comes from the forecast, so that
//! the rate is held without test data, and the labels are those that detect most.
//!
//! Left: two tasks of two Gaussian classes, p = 128, n = 384, 256 | 64, 40. Right: heartbeats of the MIT-BIH
//! database, 500 of each class, where one kind of arrhythmia is told from another with the help of two more.

use foretask::normal::{cumulative, tail};
use foretask::{Evidence, FalseAlarm, Labels, Prior, Scaling, Settings, Study, Tail, Tasks};

use super::available;
use crate::data::{Table as Rows, mitbih};
use crate::error::Result;
use crate::figure::{Axis, Colour, Figure, Panel, Series, Style};
use crate::population::{Population, Samples, TARGET, class_name, opposite};
use crate::report::{Judgement, Report, Table, Value};
use crate::trials::{Context, Spread};

/// (false-alarm rate, share of missed detections) of each curve, as printed.
type Curve<const N: usize> = [(f64, f64); N];

const RATES: [f64; 8] = [
    1e-6, 2.783e-6, 7.743e-6, 2.154e-5, 5.995e-5, 1.668e-4, 4.642e-4, 1.292e-3,
];
const PRINTED_CLASSICAL: Curve<8> = [
    (0.000001, 0.972),
    (0.000003, 0.959),
    (0.000008, 0.934),
    (0.000022, 0.901),
    (0.000060, 0.849),
    (0.000167, 0.776),
    (0.000464, 0.694),
    (0.001292, 0.581),
];
const PRINTED_CLASSICAL_FORETOLD: Curve<8> = [
    (0.000001, 0.973325),
    (0.000003, 0.957368),
    (0.000008, 0.933236),
    (0.000022, 0.897765),
    (0.000060, 0.847319),
    (0.000167, 0.778268),
    (0.000464, 0.687955),
    (0.001292, 0.576168),
];
const PRINTED_OPTIMISED: Curve<8> = [
    (0.000001, 0.289),
    (0.000003, 0.218),
    (0.000008, 0.161),
    (0.000022, 0.108),
    (0.000060, 0.072),
    (0.000167, 0.037),
    (0.000464, 0.013),
    (0.001292, 0.005),
];
const PRINTED_OPTIMISED_FORETOLD: Curve<8> = [
    (0.000001, 0.232819),
    (0.000003, 0.173422),
    (0.000008, 0.122756),
    (0.000022, 0.081850),
    (0.000060, 0.050857),
    (0.000167, 0.029026),
    (0.000464, 0.014945),
    (0.001292, 0.006764),
];
const BEAT_RATES: [f64; 9] = [
    0.000215, 0.000464, 0.001, 0.002154, 0.004642, 0.01, 0.021544, 0.046416, 0.1,
];
const PRINTED_BEATS: [Curve<9>; 4] = [
    [
        (0.003597, 0.794890),
        (0.005396, 0.718923),
        (0.007194, 0.626381),
        (0.008993, 0.513122),
        (0.016187, 0.420580),
        (0.032374, 0.323204),
        (0.062950, 0.225829),
        (0.095324, 0.130525),
        (0.151079, 0.071823),
    ],
    [
        (0.000215, 0.808603),
        (0.000464, 0.741061),
        (0.001000, 0.658134),
        (0.002154, 0.560628),
        (0.004642, 0.451778),
        (0.010000, 0.337785),
        (0.021544, 0.227701),
        (0.046416, 0.132208),
        (0.100000, 0.060959),
    ],
    [
        (0.001799, 0.818370),
        (0.005396, 0.743785),
        (0.008993, 0.644337),
        (0.008993, 0.540055),
        (0.014388, 0.429558),
        (0.030576, 0.336326),
        (0.066547, 0.229282),
        (0.098921, 0.138122),
        (0.161871, 0.072514),
    ],
    [
        (0.000215, 0.793796),
        (0.000464, 0.724964),
        (0.001000, 0.641597),
        (0.002154, 0.544771),
        (0.004642, 0.437836),
        (0.010000, 0.326836),
        (0.021544, 0.220340),
        (0.046416, 0.128285),
        (0.100000, 0.059563),
    ],
];

/// What one test did: asked for, foretold and realised.
#[derive(Clone, Copy)]
struct Tested {
    false_alarms: f64,
    missed: f64,
    foretold_missed: f64,
}

const KINDS: [(&str, Labels, Colour); 2] = [
    ("classical", Labels::Classical, Colour::Red),
    ("optimised", Labels::Optimal, Colour::Green),
];

pub(super) fn run(context: &Context, trials: usize, report: &mut Report) -> Result<()> {
    let synthetic = synthetic(context, trials, report)?;
    let mut figure = Figure {
        columns: 2,
        panels: vec![synthetic],
    };
    let mut printed = Figure {
        columns: 2,
        panels: vec![panel(
            "synthetic",
            vec![
                Series::new(
                    "classical, measured",
                    Colour::Red,
                    Style::Dots,
                    PRINTED_CLASSICAL.to_vec(),
                ),
                Series::new(
                    "classical, foretold",
                    Colour::Red,
                    Style::Dashed,
                    PRINTED_CLASSICAL_FORETOLD.to_vec(),
                ),
                Series::new(
                    "optimised, measured",
                    Colour::Green,
                    Style::Dots,
                    PRINTED_OPTIMISED.to_vec(),
                ),
                Series::new(
                    "optimised, foretold",
                    Colour::Green,
                    Style::Dashed,
                    PRINTED_OPTIMISED_FORETOLD.to_vec(),
                ),
            ],
        )],
    };
    if let Some([train, test]) = available(report, "MIT-BIH", mitbih(context))? {
        figure
            .panels
            .push(beats(context, trials, report, &train, &test)?);
        // The printed legend's names do not fit its own text: it lists two measured curves first.
        let [a, b, c, d] = PRINTED_BEATS;
        printed.panels.push(panel(
            "MIT-BIH",
            vec![
                Series::new("classical, measured", Colour::Red, Style::Dots, a.to_vec()),
                Series::new(
                    "classical, foretold",
                    Colour::Red,
                    Style::Dashed,
                    b.to_vec(),
                ),
                Series::new(
                    "optimised, measured",
                    Colour::Green,
                    Style::Dots,
                    c.to_vec(),
                ),
                Series::new(
                    "optimised, foretold",
                    Colour::Green,
                    Style::Dashed,
                    d.to_vec(),
                ),
            ],
        ));
    }
    report.figure = Some(figure);
    report.paper_figure = Some(printed);
    Ok(())
}

fn panel(title: &str, series: Vec<Series>) -> Panel {
    Panel {
        title: title.to_owned(),
        x: Axis::logarithmic("false alarms"),
        y: Axis::logarithmic("missed detections"),
        series,
        marks: Vec::new(),
    }
}

/// The sizes of the population's means and its variance, as in the authors' script; the caption's unit means
/// with unit variance allow no more than two deviations between the classes and so none of the printed curves.
const VARIANCE: f64 = 10.0;
const FEATURES: usize = 128;
const BETA: f64 = 0.5;

fn synthetic(context: &Context, trials: usize, report: &mut Report) -> Result<Panel> {
    report.set("synthetic: p", FEATURES.to_string());
    report.set("synthetic: n", "384, 256 | 64, 40");
    report.set("synthetic: classes", "±√p e_1 and ±√p (β e_1 + √(1 - β²) e_2) with β = 0.5 and covariance 10 I, near the authors' script");
    report.set("synthetic: γ, λ", "(0.1, 1) and 10, not divided");
    report.set(
        "synthetic: realised rates",
        "exact for each trained rule, since the score is linear and the population known",
    );
    report.seeded("roc synthetic");
    let size = (FEATURES as f64).sqrt();
    let across = (1.0 - BETA * BETA).sqrt();
    let population = Population {
        features: FEATURES,
        variance: VARIANCE,
        tasks: vec![
            opposite("source", [384, 256], &[(0, size)]),
            opposite(TARGET, [64, 40], &[(0, BETA * size), (1, across * size)]),
        ],
    };
    let results = context.run("roc synthetic", trials, |mut random| {
        let samples = population.training(&mut random.source);
        let tasks = samples.tasks()?;
        KINDS
            .iter()
            .map(|&(_, labels, _)| {
                RATES
                    .iter()
                    .map(|&rate| {
                        let coupling = Some((10.0, vec![0.1, 1.0]));
                        let settings = Settings {
                            scaling: Scaling::None,
                            ..settings(labels, coupling, Evidence::Isotropic, rate)
                        };
                        let study = Study::new(&tasks, &settings)?;
                        let model = study.model()?;
                        let threshold = model.threshold().unwrap_or(f64::INFINITY);
                        let (null, variance) = population.law(&model, 0, 0);
                        let (other, _) = population.law(&model, 0, 1);
                        Ok(Tested {
                            false_alarms: cumulative((threshold - null) / variance.sqrt()),
                            missed: tail((threshold - other) / variance.sqrt()),
                            foretold_missed: foretold_missed(&study),
                        })
                    })
                    .collect::<Result<Vec<_>>>()
            })
            .collect::<Result<Vec<_>>>()
    })?;
    let mut table = Table::new(
        "synthetic: share in %",
        &[
            "labels, rate asked for",
            "realised rate",
            "missed",
            "missed: foretold",
            "paper: missed",
            "paper: foretold",
        ],
    );
    let mut held = 0.0_f64;
    let mut better = true;
    let mut series = Vec::new();
    for (kind, (name, _, colour)) in KINDS.into_iter().enumerate() {
        let (mut measured, mut foretold) = (Vec::new(), Vec::new());
        for (at, rate) in RATES.into_iter().enumerate() {
            let of =
                |of: &dyn Fn(&Tested) -> f64| Spread::of(results.iter().map(|r| of(&r[kind][at])));
            let alarms = of(&|t| t.false_alarms);
            let (missed, expected) = (of(&|t| t.missed), of(&|t| t.foretold_missed));
            if kind == 1 {
                let classical = Spread::of(results.iter().map(|r| r[0][at].missed));
                better &= missed.mean < classical.mean;
            }
            held = held.max((alarms.mean / rate).ln().abs());
            let printed = [
                [PRINTED_CLASSICAL, PRINTED_OPTIMISED],
                [PRINTED_CLASSICAL_FORETOLD, PRINTED_OPTIMISED_FORETOLD],
            ];
            table.push(
                format!("{name}, {:.4}", 100.0 * rate),
                vec![
                    Value::percent(alarms, 4),
                    Value::percent(missed, 1),
                    Value::percent(expected, 1),
                    Value::new(100.0 * printed[0][kind][at].1, 1),
                    Value::new(100.0 * printed[1][kind][at].1, 1),
                ],
            );
            measured.push((alarms.mean, missed.mean));
            foretold.push((rate, expected.mean));
        }
        series.push(Series::new(
            &format!("{name}, measured"),
            colour,
            Style::Dots,
            measured,
        ));
        series.push(Series::new(
            &format!("{name}, foretold"),
            colour,
            Style::Dashed,
            foretold,
        ));
    }
    report.tables.push(table);
    report.claim(
        "synthetic: the rate asked for is realised without test data",
        held < 1.0,
        format!(
            "mean realised rates are within a factor {:.1} of those asked for, from 1e-6 to 1e-3",
            held.exp()
        ),
    );
    report.claim(
        "synthetic: optimised labels miss less than classical ones",
        better,
        "at every rate, in the table",
    );
    report.judge(
        "synthetic",
        if held < 1.0 && better { Judgement::SameClaim } else { Judgement::ClaimFails },
        "the printed curves are those of two score laws 2.82 and 5.48 deviations apart; the caption's unit means allow at most 2, and the authors' script gives neither, so that only the claims can be compared",
    );
    Ok(panel("synthetic", series))
}

fn settings(
    labels: Labels,
    coupling: Option<(f64, Vec<f64>)>,
    evidence: Evidence,
    rate: f64,
) -> Settings {
    Settings {
        target: Some(TARGET.into()),
        coupling,
        labels,
        evidence,
        prior: Prior::Equal,
        false_alarm: Some(FalseAlarm {
            null: class_name(0),
            rate,
            tail: Tail::Auto,
        }),
        ..Settings::default()
    }
}

fn foretold_missed(study: &Study<'_>) -> f64 {
    let test = study.forecast().alarm.as_ref();
    test.map_or(f64::NAN, |test| 1.0 - test.detection)
}

/// The classes of the database: atrial premature and ventricular beats are the target, fusion and unclassifiable
/// ones the source (the text has them the other way round; the printed rates are multiples of 1/556 and 1/1448,
/// the test beats of these two).
const TARGET_BEATS: [usize; 2] = [1, 2];
const SOURCE_BEATS: [usize; 2] = [3, 4];
const BEATS: usize = 500;

/// How the test is made on the heartbeats.
const ROADS: [(&str, Labels, Evidence, bool); 5] = [
    (
        "classical, general theory",
        Labels::Classical,
        Evidence::General,
        true,
    ),
    (
        "optimised, general theory",
        Labels::Optimal,
        Evidence::General,
        true,
    ),
    (
        "classical, leave-one-out",
        Labels::Classical,
        Evidence::Auto,
        true,
    ),
    (
        "optimised, leave-one-out",
        Labels::Optimal,
        Evidence::Auto,
        true,
    ),
    (
        "default, leave-one-out",
        Labels::Auto,
        Evidence::Auto,
        false,
    ),
];
/// Rates at which thresholds by leave-one-out are tested: with 500 beats hardly anything is detected at smaller
/// ones.
const LEFT_OUT_RATES: [f64; 4] = [0.01, 0.021544, 0.046416, 0.1];

fn beats(
    context: &Context,
    trials: usize,
    report: &mut Report,
    train: &Rows,
    test: &Rows,
) -> Result<Panel> {
    report.set("MIT-BIH: tasks", "source F (3) and Q (4), target S (1, null) and V (2), 500 training beats of each, 187 features (the text: target and source exchanged, p = 550)");
    report.set(
        "MIT-BIH: γ, λ",
        "(1000, 100) and 100, as in the authors' script; chosen by leave-one-out in the default",
    );
    report.set(
        "MIT-BIH: theory",
        "one covariance per class of each task, shrunk (the paper's second theorem, corrected)",
    );
    report.set(
        "MIT-BIH: tested",
        "the database's 556 and 1,448 test beats of the target",
    );
    report.seeded("roc MIT-BIH");
    let mut examined = Samples {
        features: test.features,
        ..Samples::default()
    };
    for (class, beat) in TARGET_BEATS.into_iter().enumerate() {
        let rows = test.of_class(beat);
        examined.values.extend(test.rows(&rows));
        examined
            .class
            .extend(std::iter::repeat_n(class, rows.len()));
    }
    let results = context.run("roc MIT-BIH", trials, |mut random| {
        let mut samples = Samples {
            features: train.features,
            ..Samples::default()
        };
        for (name, beats) in [("source", SOURCE_BEATS), (TARGET, TARGET_BEATS)] {
            for (class, beat) in beats.into_iter().enumerate() {
                let rows = train.some(beat, BEATS, &mut random.source);
                samples.values.extend(train.rows(&rows));
                samples
                    .task
                    .extend(std::iter::repeat_n(name.to_owned(), rows.len()));
                samples.class.extend(std::iter::repeat_n(class, rows.len()));
            }
        }
        let tasks = samples.tasks()?;
        examine(&tasks, &examined)
    })?;
    let mut table = Table::new(
        "MIT-BIH: share in %",
        &[
            "road, rate asked for",
            "realised rate",
            "missed",
            "missed: foretold",
        ],
    );
    let mut series = Vec::new();
    let mut ratio = [0.0_f64; 5];
    // All trials share one set of test beats, whose chance is that of a share of so many.
    let nulls = examined.class.iter().filter(|&&class| class == 0).count() as f64;
    let mut held = [true; 5];
    let mut missed_at = [f64::NAN; 5];
    for (number, road) in ROADS.iter().enumerate() {
        let (mut measured, mut foretold) = (Vec::new(), Vec::new());
        for (at, &rate) in rates_of(road).iter().enumerate() {
            let of = |of: &dyn Fn(&Tested) -> f64| {
                Spread::of(results.iter().map(|r| of(&r[number][at])))
            };
            let alarms = of(&|t| t.false_alarms);
            let (missed, expected) = (of(&|t| t.missed), of(&|t| t.foretold_missed));
            if rate >= 0.01 {
                let factor = alarms.mean / rate;
                ratio[number] = ratio[number].max(factor).max(1.0 / factor);
                let chance = (rate * (1.0 - rate) / nulls).sqrt() + alarms.error();
                held[number] &= (alarms.mean - rate).abs() <= 2.0 * chance;
            }
            if rate == 0.046416 {
                missed_at[number] = missed.mean;
            }
            table.push(
                format!("{}, {:.2}", road.0, 100.0 * rate),
                vec![
                    Value::percent(alarms, 2),
                    Value::percent(missed, 1),
                    Value::percent(expected, 1),
                ],
            );
            measured.push((alarms.mean, missed.mean));
            foretold.push((rate, expected.mean));
        }
        let (name, colour) = match number {
            0 => ("classical", Colour::Red),
            1 => ("optimised", Colour::Green),
            3 => ("optimised, threshold by leave-one-out", Colour::Blue),
            4 => ("default", Colour::Orange),
            _ => continue,
        };
        series.push(Series::new(
            &format!("{name}, measured"),
            colour,
            Style::Dots,
            measured,
        ));
        if number < 2 {
            series.push(Series::new(
                &format!("{name}, foretold"),
                colour,
                Style::Dashed,
                foretold,
            ));
        }
    }
    report.tables.push(table);
    report.claim(
        "MIT-BIH: the theory holds the rate asked for",
        held[1],
        format!(
            "from 1 to 10 % realised rates are off by up to a factor {:.1}",
            ratio[1]
        ),
    );
    report.claim(
        "MIT-BIH: a threshold by leave-one-out holds the rate asked for",
        held[3] && held[4],
        format!(
            "from 1 to 10 % realised rates are off by up to a factor {:.1}, in the default {:.1}; two standard errors of {nulls} test beats are a factor 1.8 at 1 %, 1.25 at 10 %",
            ratio[3], ratio[4]
        ),
    );
    report.claim(
        "MIT-BIH: optimised labels miss less than classical ones",
        missed_at[3] < missed_at[2],
        format!(
            "at 4.6 %, thresholds by leave-one-out: optimised {:.1} % missed, classical {:.1} %, default {:.1} %",
            100.0 * missed_at[3],
            100.0 * missed_at[2],
            100.0 * missed_at[4]
        ),
    );
    report.judge(
        "MIT-BIH",
        Judgement::PaperIsWrong,
        "our curves are near the printed ones, and like these they do not show what the text says: the rates realised are many times those asked for (up to seventeen times as printed), and classical and optimised labels do not differ. Heartbeats are not Gaussian; thresholds by leave-one-out hold their rates",
    );
    Ok(panel("MIT-BIH", series))
}

fn rates_of(road: &(&str, Labels, Evidence, bool)) -> &'static [f64] {
    if !matches!(road.2, Evidence::Auto | Evidence::LeaveOneOut) {
        &BEAT_RATES
    } else {
        &LEFT_OUT_RATES
    }
}

/// Every road at each of its rates.
fn examine(tasks: &Tasks<'_>, examined: &Samples) -> Result<Vec<Vec<Tested>>> {
    let mut asked = Vec::new();
    for road in &ROADS {
        let &(_, labels, evidence, fixed) = road;
        // Tasks are in the order of their names: source, target.
        let coupling = fixed.then(|| (100.0, vec![1000.0, 100.0]));
        let at = |&rate| settings(labels, coupling.clone(), evidence, rate);
        asked.extend(rates_of(road).iter().map(at));
    }
    let mut studies = Study::each(tasks, &asked, &|_| {})?.into_iter();
    ROADS
        .iter()
        .map(|road| {
            let own = studies.by_ref().take(rates_of(road).len());
            own.map(|study| tested(&study, examined)).collect()
        })
        .collect()
}

fn tested(study: &Study<'_>, examined: &Samples) -> Result<Tested> {
    let measured = examined.measured(&study.model()?)?;
    let share = |class: usize| measured.class_errors[class].unwrap_or(0.0);
    Ok(Tested {
        false_alarms: share(0),
        missed: share(1),
        foretold_missed: foretold_missed(study),
    })
}
