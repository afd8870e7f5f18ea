//! Pictures of ten kinds of things from four domains: all of the source and a random half of the target's
//! pictures of each kind are labelled, the other half is tested. Twelve pairs of domains, as VGG or SURF features.
//!
//! Features are used as they are (VGG) or as square roots of the shares of visual words (SURF; for two rows of the
//! table the χ² map as well), scaled by one number per task from the training rows. The authors' scaling divides by a variance and uses the test rows as well.

use faer::Mat;
use foretask::{Labels, RuleName, Settings, Study, Tasks};

use super::available;
use crate::baselines::{self, Baseline, Labelled, Problem};
use crate::data::{DOMAINS, Pictures, Table as Rows, chi_squared_map, office, roots_of_shares};
use crate::error::Result;
use crate::population::{Samples, TARGET, class_name};
use crate::report::{Judgement, Report, Table, Value};
use crate::trials::{Context, Random, Spread};

const CLASSES: usize = 10;
/// The pairs in the order of the tables, as indices of [`DOMAINS`]: caltech, webcam, amazon, dslr.
const PAIRS: [(usize, usize); 12] = [
    (0, 1),
    (1, 0),
    (0, 2),
    (2, 0),
    (1, 2),
    (2, 3),
    (3, 2),
    (1, 3),
    (0, 3),
    (3, 0),
    (2, 1),
    (3, 1),
];

/// A printed row: its name, the twelve pairs, and the mean.
type PrintedRow = (&'static str, [f64; 12], f64);

const PRINTED_VGG: [PrintedRow; 5] = [
    (
        "LSSVM",
        [
            96.69, 89.90, 92.90, 90.00, 93.80, 78.70, 93.50, 95.00, 85.00, 90.20, 94.70, 100.0,
        ],
        91.70,
    ),
    (
        "MMDT",
        [
            93.90, 87.05, 90.83, 84.40, 94.17, 86.25, 94.58, 97.50, 86.25, 87.23, 92.05, 97.35,
        ],
        90.96,
    ),
    (
        "ILS",
        [
            77.89, 73.55, 86.85, 76.22, 86.22, 71.34, 74.53, 82.80, 68.15, 63.49, 78.98, 92.88,
        ],
        77.74,
    ),
    (
        "CDLS",
        [
            97.60, 88.30, 93.54, 88.30, 93.54, 92.50, 93.54, 93.75, 93.75, 88.30, 97.35, 96.70,
        ],
        93.10,
    ),
    (
        "Ours (naive one-versus-all)",
        [
            98.68, 89.90, 94.40, 90.60, 94.40, 93.80, 94.20, 100.0, 92.50, 89.90, 98.70, 99.30,
        ],
        94.70,
    ),
];
const PRINTED_SURF: [PrintedRow; 5] = [
    (
        "LSSVM",
        [
            79.47, 47.70, 68.10, 49.65, 68.13, 57.50, 70.00, 73.75, 67.50, 46.45, 74.83, 84.11,
        ],
        65.60,
    ),
    (
        "MMDT",
        [
            69.47, 42.55, 68.95, 39.70, 65.24, 59.50, 62.16, 86.06, 56.94, 27.92, 68.54, 87.88,
        ],
        61.24,
    ),
    (
        "ILS",
        [
            24.5, 20.92, 25.21, 21.10, 22.92, 26.25, 27.08, 43.75, 30.00, 26.95, 15.23, 57.62,
        ],
        28.46,
    ),
    (
        "CDLS",
        [
            82.28, 54.21, 73.75, 54.49, 71.52, 68.56, 70.54, 69.44, 69.44, 53.86, 81.59, 82.78,
        ],
        69.37,
    ),
    (
        "Ours (naive one-versus-all)",
        [
            86.09, 49.65, 75.00, 50.35, 68.83, 73.75, 71.25, 72.50, 77.50, 48.05, 80.13, 85.43,
        ],
        69.88,
    ),
];

/// A rule: its name, and whether the coupling is the paper's γ = 1 and λ = 10 or chosen by leave-one-out.
type Rule = (&'static str, RuleName, Labels, bool);

/// Ours, then the least-squares SVM of the target alone and of both domains in one. All but [`BOTH`] are studies.
const RULES: [Rule; 9] = [
    ("LSSVM", RuleName::OneHot, Labels::Classical, true),
    (
        "naive one-versus-all",
        RuleName::NaiveOneVsAll,
        Labels::Optimal,
        true,
    ),
    ("one-versus-all", RuleName::OneVsAll, Labels::Optimal, true),
    ("one-hot", RuleName::OneHot, Labels::Optimal, true),
    ("Bayes", RuleName::Bayes, Labels::Optimal, true),
    (DEFAULT, RuleName::Auto, Labels::Auto, false),
    (TUNED_BAYES, RuleName::Bayes, Labels::Optimal, false),
    (SINGLE, RuleName::Auto, Labels::Alone, false),
    (POOLED, RuleName::Auto, Labels::Pooled, false),
];
const DEFAULT: &str = "default (tuned)";
const TUNED_BAYES: &str = "Bayes (tuned)";
const SINGLE: &str = "single task";
const POOLED: &str = "pooled";
const BOTH: &str = "default and Bayes (tuned), averaged";
const CHOSEN: &str = "chosen by forecast";
/// What is tuned again on the second map of the features.
const MAPPED: [&str; 2] = [
    "χ² map: default (tuned)",
    "default and Bayes (tuned) of both maps, averaged",
];

/// Accuracy, and the one foretold.
#[derive(Clone, Copy)]
struct Outcome {
    measured: f64,
    foretold: f64,
}

struct Trial {
    /// Of [`RULES`].
    rules: Vec<Outcome>,
    both: Outcome,
    /// Of [`MAPPED`], where there is a second map.
    mapped: Vec<Outcome>,
    chosen: Outcome,
    baselines: Vec<f64>,
}

/// The features of each domain, where they are known.
struct Domains {
    tables: Vec<Option<Rows>>,
    /// The same pictures by a second map.
    mapped: Option<Vec<Option<Rows>>>,
}

pub(super) fn surf(context: &Context, trials: usize, report: &mut Report) -> Result<()> {
    let Some(tables) = available(report, "table", office(context, Pictures::Surf))? else {
        return Ok(());
    };
    report.set(
        "features",
        "square roots of the shares of 800 visual words, one scale per task from its training rows",
    );
    report.set(
        "χ² map",
        "three features for each word, whose inner products are nearly the χ² kernel of the shares. The choice by forecast is among both maps, in every trial; single task, pooled and the competitors have the square roots only",
    );
    let by = |map: fn(&[f32]) -> Vec<f32>| {
        let mapped = |table: &Option<Rows>| table.as_ref().map(|table| table.map(map));
        tables.iter().map(mapped).collect::<Vec<_>>()
    };
    let domains = Domains {
        tables: by(roots_of_shares),
        mapped: Some(by(chi_squared_map)),
    };
    settings(report);
    run(context, trials, report, &domains, &PRINTED_SURF, "")?;
    judge(
        report,
        "the authors ran on other features (raw counts, scaled with the test rows)",
        Some(76.0),
    );
    Ok(())
}

pub(super) fn vgg(context: &Context, trials: usize, report: &mut Report) -> Result<()> {
    let Some(tables) = available(report, "table", office(context, Pictures::Vgg))? else {
        return Ok(());
    };
    report.set("features", "4,096 activations of VGG16's last convolutional layer, one scale per task from its training rows. Not the paper's FC7, which is to be had of two domains only: compare methods, not digits");
    settings(report);
    let domains = Domains {
        tables,
        mapped: None,
    };
    run(context, trials, report, &domains, &PRINTED_VGG, "")?;
    judge(report, "the features are another layer's", None);
    let Some(tables) = available(report, "FC7", office(context, Pictures::Fc7))? else {
        return Ok(());
    };
    let domains = Domains {
        tables,
        mapped: None,
    };
    run(context, trials, report, &domains, &PRINTED_VGG, FC7)?;
    judge_fc7(report);
    Ok(())
}

const ACCURACY: &str = "accuracy in %";
const FORETOLD: &str = "accuracy in % foretold from the training rows";
/// What is added to the titles of the tables with the paper's own features.
const FC7: &str = ", the paper's FC7 features of two domains";

fn settings(report: &mut Report) {
    report.set(
        "labelled",
        "all of the source, half of each class of the target; the other half is tested",
    );
    report.set(
        "γ, λ",
        "1 and 10; chosen by leave-one-out in what is tuned, in single task and in pooled",
    );
    report.set(
        "labels and forecasts",
        "leave-one-out of the training rows, moments shrunk toward the isotropic theory",
    );
    report.set(
        BOTH,
        "the class with the largest product of the two rules' probabilities; foretold by the products of training rows' probabilities by rules that each had no say in",
    );
    report.set(
        CHOSEN,
        "of all ours but tuned Bayes the one with the least error foretold from the training rows, in every trial. Tuned Bayes is left out because the forecast of a rule fitted freely to leave-one-out responses is known to be optimistic (on SURF by two points); with it the choice had 75.1 %",
    );
    report.set(
        "splits",
        "a third set: the averaged rule and the choice were settled on while looking at test accuracies of a first set of 20 splits of SURF, on which the averaged rule had 76.0 %; on a second set it had 75.8 and the choice 75.4. Then the second map was added: of some 25 maps it had the best forecast for the default (75.3 against 74.3 %) on training halves of 24 other splits, which hold pictures that are tested here",
    );
}

/// The tables of all pairs of domains that there are; `of` is added to their titles.
fn run(
    context: &Context,
    trials: usize,
    report: &mut Report,
    domains: &Domains,
    printed: &[PrintedRow; 5],
    of: &str,
) -> Result<()> {
    let others = baselines::all();
    let (mut columns, mut places) = (vec!["method".to_owned()], Vec::new());
    let mut results: Vec<Vec<Trial>> = Vec::new();
    for (place, pair) in PAIRS.into_iter().enumerate() {
        let Some(original) = both_of(&domains.tables, pair) else {
            continue;
        };
        let mapped = domains
            .mapped
            .as_ref()
            .and_then(|tables| both_of(tables, pair));
        let part = format!("{} {}{of}, third set", report.name, pair_name(pair));
        report.seeded(&part);
        results.push(context.run(&part, trials, |random| {
            trial(original, mapped, random, &others)
        })?);
        columns.push(pair_name(pair));
        places.push(place);
    }
    columns.push("mean".to_owned());
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();

    let mut accuracy = Table::new(format!("{ACCURACY}{of}"), &columns);
    let mut forecast = Table::new(format!("{FORETOLD}{of}"), &columns);
    let row = |table: &mut Table, name: &str, of: &dyn Fn(&Trial) -> f64| {
        let mut values: Vec<Value> = results
            .iter()
            .map(|trials| Value::percent(Spread::of(trials.iter().map(of)), 1))
            .collect();
        // The spread of the mean over pairs, trial by trial.
        let means = (0..trials).map(|t| {
            let sum: f64 = results.iter().map(|pair| of(&pair[t])).sum();
            sum / results.len() as f64
        });
        values.push(Value::percent(Spread::of(means), 1));
        table.push(name, values);
    };
    let mut pushed = |name: &str, of: &dyn Fn(&Trial) -> Outcome| {
        row(&mut accuracy, name, &|t| of(t).measured);
        row(&mut forecast, name, &|t| of(t).foretold);
    };
    let ours = ours().count();
    for (number, (name, ..)) in RULES.iter().enumerate() {
        if number == ours {
            pushed(BOTH, &|t| t.both);
            if domains.mapped.is_some() {
                for (number, name) in MAPPED.iter().enumerate() {
                    pushed(name, &|t| t.mapped[number]);
                }
            }
            pushed(CHOSEN, &|t| t.chosen);
        }
        pushed(name, &|t| t.rules[number]);
    }
    for (number, baseline) in others.iter().enumerate() {
        row(&mut accuracy, baseline.name(), &|t| t.baselines[number]);
    }
    for (name, values, mean) in printed {
        let mut values: Vec<f64> = places.iter().map(|&place| values[place]).collect();
        let all = values.len() == PAIRS.len();
        let of_these = values.iter().sum::<f64>() / values.len() as f64;
        values.push(if all { *mean } else { of_these });
        let values = values.iter().map(|&value| Value::new(value, 1)).collect();
        accuracy.push(format!("paper: {name}"), values);
    }
    report.tables.extend([accuracy, forecast]);
    Ok(())
}

/// The claims, which are about the means.
fn judge(report: &mut Report, why: &str, least: Option<f64>) {
    let competitors = baselines::all();
    let value = |title: &str, row: &str| {
        let table = report.table(title);
        table
            .and_then(|table| table.get(row, "mean"))
            .and_then(|value| value.value)
    };
    let mean = |row: &str| value(ACCURACY, row).unwrap_or(f64::NAN);
    let foretold = |row: &str| value(FORETOLD, row).unwrap_or(f64::NAN);
    let (classical, naive) = (mean("LSSVM"), mean("naive one-versus-all"));
    let best = ["one-versus-all", "one-hot", "Bayes"]
        .map(mean)
        .into_iter()
        .fold(naive, f64::max);
    let (default, chosen, both) = (mean(DEFAULT), mean(CHOSEN), mean(BOTH));
    let mapped = mean(MAPPED[1]);
    let (single, pooled) = (mean(SINGLE), mean(POOLED));
    let others = competitors
        .iter()
        .map(|other| (other.name(), mean(other.name())));
    let (best_other, its) = others
        .chain([(SINGLE, single), (POOLED, pooled), ("LSSVM", classical)])
        .fold(
            ("", 0.0),
            |best, other| if other.1 > best.1 { other } else { best },
        );
    let apart = [DEFAULT, CHOSEN].map(|name| (mean(name) - foretold(name)).abs());
    let mapped_foretold = foretold(MAPPED[1]);
    // Each mean has the standard error of its trials.
    let error = |row: &str| {
        let table = report.table(ACCURACY);
        let value = table.and_then(|table| table.get(row, "mean"));
        let deviation = value.and_then(|value| value.deviation).unwrap_or(0.0);
        deviation / (report.trials as f64).sqrt()
    };
    let noise = 2.0 * error("LSSVM").hypot(error("one-hot"));
    let better = best > classical + noise;
    report.claim(
        "optimised labels beat classical ones at the paper's coupling",
        better,
        format!("LSSVM {classical:.1}, naive one-versus-all {naive:.1}, best of the optimised rules {best:.1}; two standard errors of the difference are {noise:.1}"),
    );
    report.claim(
        "ours is the best of the table",
        default.min(chosen) >= its,
        format!("default {default:.1}, chosen by forecast {chosen:.1}, single task {single:.1}, pooled {pooled:.1}, best of all others {its:.1} ({best_other})"),
    );
    if let Some(least) = least {
        report.claim(
            &format!("the rule chosen by forecast in every trial has a mean of {least} % or more"),
            chosen >= least,
            format!("{chosen:.1}; default {default:.1}, averaged with the tuned Bayes rule {both:.1}. The 77.5 % measured while the recipe was developed are those of one split of each target, on which the target alone has 75.6 %; its mean over splits is {single:.1}"),
        );
        report.claim(
            &format!("the average of both rules and both maps has a mean of {least} % or more"),
            mapped >= least,
            format!("{mapped:.1}, foretold {mapped_foretold:.1}; settled on when the forecasts of the first two of these trials had been seen, but not its test accuracy. To choose among few rules by noisy forecasts costs more than to average them"),
        );
    }
    report.claim(
        "accuracy is foretold without test data",
        apart.iter().all(|apart| *apart < 4.0),
        format!(
            "the mean forecast is {:.1} points from the mean accuracy for the default and {:.1} for the rule chosen by forecast",
            apart[0], apart[1]
        ),
    );
    report.judge(
        "table",
        if better {
            Judgement::SameClaim
        } else {
            Judgement::ClaimFails
        },
        format!("{why}; what is compared is the order of the methods"),
    );
}

/// The paper's own features: its numbers are met if ours are within two deviations of a split.
fn judge_fc7(report: &mut Report) {
    let Some(table) = report.table(&format!("{ACCURACY}{FC7}")) else {
        return;
    };
    let (mut evidence, mut met) = (Vec::new(), true);
    for (ours, printed) in [
        ("LSSVM", "paper: LSSVM"),
        ("naive one-versus-all", "paper: Ours (naive one-versus-all)"),
    ] {
        for pair in ["w→d", "d→w"] {
            let (Some(found), Some(printed)) = (table.get(ours, pair), table.get(printed, pair))
            else {
                return;
            };
            let (mean, printed) = (
                found.value.unwrap_or(f64::NAN),
                printed.value.unwrap_or(f64::NAN),
            );
            met &= (mean - printed).abs() <= 2.0 * found.deviation.unwrap_or(0.0);
            evidence.push(format!("{ours} {pair} {mean:.1} (printed {printed:.1})"));
        }
    }
    let mean = |row: &str| table.get(row, "mean").and_then(|value| value.value);
    let (classical, best) = (mean("LSSVM"), mean("one-hot"));
    let judgement = match (met, best >= classical) {
        (true, _) => Judgement::Matches,
        (false, true) => Judgement::SameClaim,
        (false, false) => Judgement::ClaimFails,
    };
    report.judge("FC7, two pairs", judgement, evidence.join(", "));
}

fn pair_name((source, target): (usize, usize)) -> String {
    format!("{}→{}", &DOMAINS[source][..1], &DOMAINS[target][..1])
}

/// The rules that are not there for comparison only.
fn ours() -> impl Iterator<Item = &'static Rule> {
    let comparison = |rule: &&Rule| [SINGLE, POOLED].contains(&rule.0);
    RULES.iter().filter(move |rule| !comparison(rule))
}

/// Source and target.
type Pair<'a> = (&'a Rows, &'a Rows);

fn both_of(tables: &[Option<Rows>], pair: (usize, usize)) -> Option<Pair<'_>> {
    tables[pair.0].as_ref().zip(tables[pair.1].as_ref())
}

fn trial(
    original: Pair<'_>,
    mapped: Option<Pair<'_>>,
    mut random: Random,
    others: &[Box<dyn Baseline>],
) -> Result<Trial> {
    let split: Vec<Vec<usize>> = (0..CLASSES)
        .map(|class| original.1.some(class, usize::MAX, &mut random.source))
        .collect();
    let (problem, truth) = posed(original, &split);
    let (rules, mut products) = studied(&problem, &truth, &RULES)?;
    let both = products.outcome(&truth);
    let tuned = |rule: &&Rule| [DEFAULT, TUNED_BAYES].contains(&rule.0);
    let mapped = match mapped {
        Some(pair) => {
            let tuned: Vec<Rule> = RULES.iter().filter(tuned).copied().collect();
            let (rules, more) = studied(&posed(pair, &split).0, &truth, &tuned)?;
            products.times(&more);
            vec![rules[0], products.outcome(&truth)]
        }
        None => Vec::new(),
    };
    let candidates = RULES.iter().zip(&rules).take(ours().count());
    let candidates = candidates.filter(|((name, ..), _)| *name != TUNED_BAYES);
    let candidates = candidates.map(|(_, outcome)| outcome).chain([&both]);
    let chosen = candidates.chain(&mapped).fold(rules[0], |best, &rule| {
        if rule.foretold > best.foretold {
            rule
        } else {
            best
        }
    });
    let baselines = others
        .iter()
        .map(|baseline| Ok(share(&baseline.predict(&problem, random.seed)?, &truth)))
        .collect::<Result<Vec<_>>>()?;
    Ok(Trial {
        rules,
        both,
        mapped,
        chosen,
        baselines,
    })
}

/// All of the source and the first half of each class of the target are labelled; the rest is tested, and has
/// the classes returned.
fn posed((source, target): Pair<'_>, split: &[Vec<usize>]) -> (Problem, Vec<usize>) {
    let mut problem = Problem {
        features: source.features,
        classes: CLASSES,
        ..Problem::default()
    };
    let mut truth = Vec::new();
    let learn = |part: &mut Labelled, table: &Rows, class: usize, rows: &[usize]| {
        part.values.extend(table.rows(rows));
        part.class.extend(std::iter::repeat_n(class, rows.len()));
    };
    for (class, rows) in split.iter().enumerate() {
        learn(&mut problem.source, source, class, &source.of_class(class));
        let (train, test) = rows.split_at(rows.len() / 2);
        learn(&mut problem.target, target, class, train);
        problem.test.extend(target.rows(test));
        truth.extend(std::iter::repeat_n(class, test.len()));
    }
    (problem, truth)
}

/// The share of right decisions.
fn share(decided: &[usize], truth: &[usize]) -> f64 {
    let right = decided.iter().zip(truth).filter(|(a, b)| a == b).count();
    right as f64 / truth.len() as f64
}

/// Each rule by itself, and the products of the probabilities of the default and of the tuned Bayes rule.
fn studied(problem: &Problem, truth: &[usize], of: &[Rule]) -> Result<(Vec<Outcome>, Products)> {
    let samples = samples(problem);
    let names: Vec<String> = samples
        .class
        .iter()
        .map(|&class| class_name(class))
        .collect();
    let tasks = Tasks::new(samples.rows()?, &samples.task, &names)?;
    let test = foretask::Rows::row_major(&problem.test, problem.features)?;
    let asked: Vec<Settings> = of
        .iter()
        .map(|&(_, rule, labels, fixed)| Settings {
            target: Some(TARGET.into()),
            coupling: fixed.then(|| (10.0, vec![1.0])),
            rule,
            labels,
            ..Settings::default()
        })
        .collect();
    let mut rules = Vec::new();
    let mut products = Products::default();
    for (study, (name, ..)) in Study::each(&tasks, &asked, &|_| {})?.iter().zip(of) {
        let model = study.model()?;
        let scores = model.scores(test)?;
        rules.push(Outcome {
            measured: share(&model.decide(&scores), truth),
            foretold: 1.0 - study.forecast().error,
        });
        if let (DEFAULT | TUNED_BAYES, Some(own)) = (*name, study.left_out()) {
            products.times(&Products {
                rules: 1.0,
                tested: logarithms(&model.calibrate(&scores)),
                left_out: logarithms(&own.probabilities),
                class: own.class,
            });
        }
    }
    Ok((rules, products))
}

/// Logarithms of class probabilities, or sums of such, row by row.
type Logarithms = Vec<[f64; CLASSES]>;

fn logarithms(probabilities: &Mat<f64>) -> Logarithms {
    (0..probabilities.nrows())
        .map(|row| {
            std::array::from_fn(|class| probabilities[(row, class)].max(f64::MIN_POSITIVE).ln())
        })
        .collect()
}

fn decisions(sums: &Logarithms) -> Vec<usize> {
    let largest = |sums: &[f64; CLASSES]| {
        (0..CLASSES)
            .max_by(|&a, &b| sums[a].total_cmp(&sums[b]))
            .unwrap_or(0)
    };
    sums.iter().map(largest).collect()
}

/// The products of the class probabilities of some rules.
#[derive(Default)]
struct Products {
    rules: f64,
    /// Of the test rows.
    tested: Logarithms,
    /// Of the training rows, by rules that each had no say in.
    left_out: Logarithms,
    /// The classes of the training rows.
    class: Vec<usize>,
}

impl Products {
    fn times(&mut self, other: &Self) {
        self.rules += other.rules;
        self.class.clone_from(&other.class);
        for (to, more) in [
            (&mut self.tested, &other.tested),
            (&mut self.left_out, &other.left_out),
        ] {
            to.resize(more.len(), [0.0; CLASSES]);
            let entries = to.iter_mut().flatten().zip(more.iter().flatten());
            entries.for_each(|(sum, x)| *sum += x);
        }
    }

    fn outcome(&self, truth: &[usize]) -> Outcome {
        Outcome {
            measured: share(&decisions(&self.tested), truth),
            foretold: self.foretold(),
        }
    }

    /// The accuracy to expect, as the library foretells it: half the share of right decisions, half the mean
    /// of the largest probability. The probabilities are the geometric means of the rules'.
    fn foretold(&self) -> f64 {
        let confidence = |sums: &[f64; CLASSES]| {
            let most = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let all: f64 = sums
                .iter()
                .map(|sum| ((sum - most) / self.rules).exp())
                .sum();
            1.0 / all
        };
        let smooth = self.left_out.iter().map(confidence).sum::<f64>() / self.class.len() as f64;
        0.5 * (share(&decisions(&self.left_out), &self.class) + smooth)
    }
}

fn samples(problem: &Problem) -> Samples {
    let parts = [("source", &problem.source), (TARGET, &problem.target)];
    let mut samples = Samples {
        features: problem.features,
        ..Samples::default()
    };
    for (name, part) in parts {
        samples.values.extend_from_slice(&part.values);
        samples.class.extend_from_slice(&part.class);
        let names = std::iter::repeat_n(name.to_owned(), part.class.len());
        samples.task.extend(names);
    }
    samples
}
