//! A false-alarm rate that is asked for is the rate that is had, and nothing that has it detects more.

use super::common;

use common::generate::{cases, normals};
use common::golden::{GOLDEN, load, matrix, numbers};
use common::theory::{cells, decades};
use common::unlike::{least_of_simplexes, unlike_moments};
use common::{assert_close, column};
use faer::{Mat, Side};
use foretask::numerics::normal::{cumulative, tail, upper_quantile};
use foretask::rules::false_alarm::{Threshold, gaussian_threshold, optimal_labels, threshold_of};
use foretask::rules::{ScoreLaw, binary};
use foretask::theory::{Corrections, Theory};
use foretask::{Coupling, Moments, Tail};
use proptest::collection::vec;
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1, Gamma, StandardNormal, StudentT};
use statrs::distribution::ContinuousCDF;

/// Rounding of probabilities.
const ROUNDING: f64 = 1e-12;
/// "Reaches the optimum of an unrestricted search to 1e-8" (`docs/2-the-theory.md#optimal-labels-and-thresholds`),
/// here of a detection.
const SEARCH: f64 = 1e-8;
/// Standard errors that a mean of draws may be off.
const STANDARD_ERRORS: f64 = 4.0;

/// The detection of labels at the Gaussian threshold, of the better sign.
fn detected(moments: &Moments, labels: &[f64], null: usize, rate: f64) -> f64 {
    [1.0, -1.0]
        .map(|sign| {
            let labels: Vec<f64> = labels.iter().map(|y| sign * y).collect();
            let law = ScoreLaw::new(moments, &labels, 1.0);
            detection(&law, gaussian_threshold(&law, null, rate), null)
        })
        .into_iter()
        .fold(0.0, f64::max)
}

fn swapped(moments: &Moments) -> Moments {
    Moments {
        mean: Mat::from_fn(2, moments.mean.ncols(), |class, cell| {
            moments.mean[(1 - class, cell)]
        }),
        covariance: moments.covariance.iter().rev().cloned().collect(),
    }
}

/// The probability that a sample of the class that is not null is an alarm.
fn detection(law: &ScoreLaw, threshold: f64, null: usize) -> f64 {
    let other = 1 - null;
    let distance = (threshold - law.mean[other]) / law.variance[other].sqrt();
    match null {
        0 => cumulative(distance),
        _ => tail(distance),
    }
}

#[test]
fn labels_thresholds_and_detections_are_the_golden_ones() {
    let mut compared = 0;
    for name in [
        "iso_binary_k2",
        "iso_binary_k3",
        "iso_single_task_k1",
        "iso_lambda0_k2",
        "spherical_classes_k2",
    ] {
        let golden = load(name);
        let input = &golden["input"];
        let counts: Vec<Vec<usize>> = serde_json::from_value(input["n"].clone()).unwrap();
        let alpha = (!input["alpha"].is_null()).then(|| numbers(&input["alpha"]));
        let moments = Theory::spherical(
            &cells(&counts),
            input["p"].as_u64().unwrap() as usize,
            &Coupling::new(input["lam"].as_f64().unwrap(), numbers(&input["gamma"])).unwrap(),
            &matrix(&input["gram"]),
            alpha.as_deref(),
            Corrections::None,
        )
        .unwrap()
        .moments(input["target"].as_u64().unwrap() as usize);
        for (key, expected) in golden["expected"][format!("target_{}", input["target"])]
            .as_object()
            .unwrap()
        {
            let Some(rate) = key.strip_prefix("np_eta_") else {
                continue;
            };
            let (null, rate) = (
                expected["h0"].as_u64().unwrap() as usize,
                rate.parse().unwrap(),
            );
            let rule = optimal_labels(&moments, null, rate, 1.0);
            let law = ScoreLaw::new(&moments, &rule.label_scores, 1.0);
            let labels = numbers(&expected["labels_unit_norm"]);
            assert_close(&column(&rule.label_scores), &column(&labels), GOLDEN);
            for (actual, expected) in [
                (rule.threshold, &expected["zeta"]),
                (
                    detection(&law, rule.threshold, null),
                    &expected["detection"],
                ),
            ] {
                let expected = expected.as_f64().unwrap();
                assert!(
                    (actual - expected).abs() <= GOLDEN * expected.abs(),
                    "{name}, {key}: {actual} instead of {expected}"
                );
            }
            compared += 1;
        }
    }
    assert!(compared >= 8, "{compared} compared");
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn equal_covariances_have_the_same_labels_at_every_rate(
        seed in any::<u64>(),
        rate in decades(-6.0, 0.0),
        null in 0..2_usize,
        prior in 0.1..0.9_f64,
    ) {
        let mut moments = unlike_moments(seed, 4, 0.5, 1.0);
        moments.covariance[1] = moments.covariance[0].clone();
        let rule = optimal_labels(&moments, null, rate, 1.1);
        let bayes = binary::optimal_labels(&moments, [prior, 1.0 - prior], 1.1);
        prop_assert_eq!(&rule.label_scores, &bayes.label_scores);
        let law = ScoreLaw::new(&moments, &rule.label_scores, 1.1);
        prop_assert!((law.errors(rule.threshold)[null] / rate - 1.0).abs() < 1e-9);
    }

    #[test]
    fn classes_and_null_may_be_swapped_together(
        seed in any::<u64>(),
        spread in 0.0..1.0_f64,
        rate in decades(-4.0, -0.1),
    ) {
        let moments = unlike_moments(seed, 4, spread, 1.0);
        let there = optimal_labels(&moments, 1, rate, 1.0);
        let back = optimal_labels(&swapped(&moments), 0, rate, 1.0);
        let law = ScoreLaw::new(&moments, &there.label_scores, 1.0);
        let mirrored = ScoreLaw::new(&swapped(&moments), &back.label_scores, 1.0);
        prop_assert!((law.errors(there.threshold)[1] / rate - 1.0).abs() < 1e-9);
        prop_assert!((mirrored.errors(back.threshold)[0] / rate - 1.0).abs() < 1e-9);
        let (a, b) = (detection(&law, there.threshold, 1), detection(&mirrored, back.threshold, 0));
        prop_assert!((a - b).abs() < SEARCH, "{a}, {b}");
    }

    #[test]
    fn no_labels_detect_more(
        seed in any::<u64>(),
        spread in 0.0..1.5_f64,
        separation in decades(-1.0, 0.7),
        rate in decades(-4.0, -0.05),
        null in 0..2_usize,
    ) {
        let moments = unlike_moments(seed, 5, spread, separation);
        let rule = optimal_labels(&moments, null, rate, 1.0);
        let best = detected(&moments, &rule.label_scores, null, rate);
        let random = normals(seed ^ 9, 5, 100);
        for (i, step) in random.iter().enumerate() {
            // Half of them anywhere, half next to the optimum.
            let near = 0.1 * 0.01_f64.powf(i as f64 / 100.0);
            let rival: Vec<f64> = rule.label_scores.iter().zip(step)
                .map(|(y, step)| if i % 2 == 0 { *step } else { y + near * step })
                .collect();
            let other = detected(&moments, &rival, null, rate);
            prop_assert!(other <= best + SEARCH, "{best}, {other} of {rival:?}");
        }
    }

    #[test]
    fn smaller_rates_have_farther_thresholds(
        scores in vec(-3.0..3.0_f64, 1..60),
        rates in vec(decades(-4.0, 0.0), 2),
        tail in prop::sample::select(vec![Tail::Empirical, Tail::Gaussian]),
    ) {
        let (small, large) = (rates[0].min(rates[1]), rates[0].max(rates[1]));
        let at = |null, rate| threshold_of(&scores, null, rate, tail).value;
        prop_assert!(at(1, small) >= at(1, large) - ROUNDING);
        prop_assert!(at(0, small) <= at(0, large) + ROUNDING);
        let law = ScoreLaw { mean: [0.3, scores[0]], variance: [0.4, 0.7] };
        prop_assert!(gaussian_threshold(&law, 1, small) >= gaussian_threshold(&law, 1, large));
        prop_assert!(gaussian_threshold(&law, 0, small) <= gaussian_threshold(&law, 0, large));
    }

    #[test]
    fn thresholds_move_with_their_scores(
        scores in vec(-3.0..3.0_f64, 2..60),
        rate in decades(-3.0, 0.0),
        scale in decades(-2.0, 2.0),
        shift in -5.0..5.0_f64,
        tail in prop::sample::select(vec![Tail::Auto, Tail::Empirical, Tail::Gaussian]),
    ) {
        let before = threshold_of(&scores, 1, rate, tail);
        for (factor, null) in [(scale, 1), (-scale, 0)] {
            let moved: Vec<f64> = scores.iter().map(|s| factor * s + shift).collect();
            let after = threshold_of(&moved, null, rate, tail);
            let expected = factor * before.value + shift;
            // Sums of scores lose what their size exceeds their spread by.
            let size = expected.abs() + shift.abs() + scale;
            prop_assert!((after.value - expected).abs() <= 1e-9 * size, "{after:?}, {expected}");
            prop_assert_eq!(after.interval, before.interval);
            prop_assert_eq!((after.tail, after.expected), (before.tail, before.expected));
        }
        prop_assert!(before.interval[0] <= before.expected && before.expected <= before.interval[1]);
        prop_assert!(before.expected <= rate + ROUNDING);
    }

    #[test]
    fn anything_has_a_threshold(
        scores in vec(prop_oneof![
            Just(f64::NAN), Just(f64::INFINITY), Just(f64::NEG_INFINITY), Just(0.5), -1e3..1e3_f64
        ], 0..12),
        rate in prop_oneof![
            Just(f64::NAN), Just(0.0), Just(1.0), Just(-0.5), Just(2.0), Just(1e-300), 0.0..1.0_f64
        ],
        null in 0..2_usize,
        tail in prop::sample::select(vec![Tail::Auto, Tail::Empirical, Tail::Gaussian]),
    ) {
        let found = threshold_of(&scores, null, rate, tail);
        prop_assert!(!found.value.is_nan() && found.tail != Tail::Auto, "{found:?}");
        prop_assert!((0.0..=1.0).contains(&found.expected), "{found:?}");
        prop_assert!(found.interval[0] <= found.interval[1], "{found:?}");
        let law = ScoreLaw { mean: [1.0, 0.0], variance: [1.0, 0.0] };
        prop_assert!(!gaussian_threshold(&law, null, rate).is_nan());
    }
}

/// Scores that are all equal are no alarms, on either side.
#[test]
fn few_or_equal_scores_and_rates_of_nothing_or_all_have_sensible_thresholds() {
    let never = |null: usize, threshold: Threshold| {
        let expected = if null == 0 {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        };
        assert_eq!(threshold.value, expected);
        assert_eq!((threshold.expected, threshold.interval), (0.0, [0.0, 0.0]));
    };
    for null in [0, 1] {
        for tail in [Tail::Auto, Tail::Empirical, Tail::Gaussian] {
            let alarm = |score: f64, rate: f64, scores: &[f64]| {
                let threshold = threshold_of(scores, null, rate, tail).value;
                (score > threshold) == (null == 1)
            };
            for n in [2, 9, 10, 300] {
                for value in [0.1, 7.3e5, -0.1] {
                    let equal = vec![value; n];
                    for rate in [0.2, 0.05, 1e-3] {
                        assert!(!alarm(value, rate, &equal), "{n} times {value}");
                        let beyond = value + if null == 0 { -1e-6 } else { 1e-6 } * value.abs();
                        assert!(alarm(beyond, rate, &equal), "{n} times {value}");
                    }
                }
            }
            never(null, threshold_of(&[], null, 0.1, tail));
            never(null, threshold_of(&[f64::NAN; 3], null, 0.1, tail));
            never(null, threshold_of(&[1.0], null, 0.1, tail));
            for rate in [0.0, -1.0, f64::NAN] {
                never(null, threshold_of(&[1.0, 2.0, 3.0], null, rate, tail));
            }
            assert!(alarm(0.0, 1.0, &[1.0, 2.0]) && alarm(9.0, 1.0, &[1.0, 2.0]));
        }
    }
    // One score halves the line; two have a mean excess.
    assert_eq!(threshold_of(&[1.0], 1, 0.5, Tail::Auto).value, 1.0);
    let pair = threshold_of(&[1.0, 2.0], 1, 0.1, Tail::Empirical);
    // 1/(1 + c/2) = 0.3.
    assert!(
        (pair.value - (2.0 + 2.0 * (1.0 / 0.3 - 1.0))).abs() < 1e-12,
        "{pair:?}"
    );
}

/// Student's quantiles by scipy.stats.t.isf.
#[test]
fn gaussian_thresholds_have_students_quantiles() {
    for (n, rate, quantile) in [
        (2, 0.05, 6.313751514675044),
        (3, 0.05, 2.9199855803537256),
        (6, 1e-3, 5.893429531356009),
        (31, 0.01, 2.4572615424005915),
        (101, 1e-6, 5.048830877228346),
        (3, 0.7, -0.6172133998483674),
    ] {
        let scores: Vec<f64> = (0..n).map(|i| f64::from(i) * 0.3 - 4.0).collect();
        let count = f64::from(n);
        let mean = scores.iter().sum::<f64>() / count;
        let variance = scores.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let found = threshold_of(&scores, 1, rate, Tail::Gaussian).value;
        let reach = (found - mean) / (variance * (1.0 + 1.0 / count)).sqrt();
        assert!(
            (reach / quantile - 1.0).abs() < 1e-11,
            "{reach}, {quantile}"
        );
    }
}

#[test]
fn labels_detect_as_much_as_those_of_an_unrestricted_search() {
    let (mut short, mut gained) = (0.0_f64, 0.0_f64);
    let (mut lost, mut most) = (0, 0.0_f64);
    for seed in 0..60_u64 {
        let parameters = &normals(seed ^ 0xa1a4, 3, 1)[0];
        let cells = 2 + (seed % 3) as usize;
        let moments = unlike_moments(
            seed.wrapping_mul(77) + 5,
            cells,
            parameters[0].abs().min(1.2),
            10_f64.powf(0.4 * parameters[1]),
        );
        let rate = 10_f64.powf(-1.0 - 0.8 * parameters[2]).min(0.9);
        let null = (seed % 2) as usize;
        let rule = optimal_labels(&moments, null, rate, 1.0);
        let ours = detected(&moments, &rule.label_scores, null, rate);
        // In standard deviations, which have a slope where the detection has none.
        let f = |y: &[f64]| upper_quantile(detected(&moments, y, null, rate));
        let (_, free) = least_of_simplexes(f, cells, 5, seed);
        let free = detected(&moments, &free, null, rate);
        assert!(
            free <= ours + SEARCH,
            "seed {seed}: {ours}, {free} unrestricted"
        );
        short = short.max(free - ours);
        gained = gained.max(ours - free);
        let between = (1..400)
            .map(|step| {
                let share = f64::from(step) / 400.0;
                let mixed = faer::Scale(share) * &moments.covariance[0]
                    + faer::Scale(1.0 - share) * &moments.covariance[1];
                let difference =
                    Mat::from_fn(cells, 1, |i, _| moments.mean[(0, i)] - moments.mean[(1, i)]);
                let y = common::oracle::solve(mixed, difference);
                let y: Vec<f64> = y.col(0).iter().copied().collect();
                detected(&moments, &y, null, rate)
            })
            .fold(0.0, f64::max);
        lost += u32::from(between < ours - 1e-3);
        most = most.max(ours - between);
    }
    println!(
        "unrestricted search detects more by at most {short:.1e}, less by {gained:.1e}; positive shares \
         lose more than 1e-3 in {lost} of 60, at most {most:.3}"
    );
}

/// Twenty settings of the Gaussian law in score space: draws of responses, their scores counted.
#[test]
fn gaussian_thresholds_hold_their_rate_and_detect_what_they_say() {
    const DRAWS: u32 = 100_000;
    let mut random = ChaCha8Rng::seed_from_u64(20);
    for setting in 0..20_u64 {
        let cells = 2 + (setting % 4) as usize;
        let moments = unlike_moments(setting, cells, 0.5, 1.0);
        let null = (setting % 2) as usize;
        let roots = [0, 1].map(|class| {
            let factor = moments.covariance[class].llt(Side::Lower).unwrap();
            factor.L().to_owned()
        });
        for rate in [0.1, 0.01, 1e-3] {
            let rule = optimal_labels(&moments, null, rate, 1.0);
            let law = ScoreLaw::new(&moments, &rule.label_scores, 1.0);
            for (class, probability) in [
                (null, rate),
                (1 - null, detection(&law, rule.threshold, null)),
            ] {
                let mut alarms = 0;
                for _ in 0..DRAWS {
                    let noise: Vec<f64> = (0..cells)
                        .map(|_| StandardNormal.sample(&mut random))
                        .collect();
                    let score: f64 = (0..cells)
                        .map(|i| {
                            let response = moments.mean[(class, i)]
                                + (0..=i)
                                    .map(|j| roots[class][(i, j)] * noise[j])
                                    .sum::<f64>();
                            rule.label_scores[i] * response
                        })
                        .sum();
                    alarms += u32::from((score > rule.threshold) == (null == 1));
                }
                let (seen, draws) = (f64::from(alarms) / f64::from(DRAWS), f64::from(DRAWS));
                let error = (probability * (1.0 - probability) / draws).sqrt();
                assert!(
                    (seen - probability).abs() <= STANDARD_ERRORS * error + 1.0 / draws,
                    "setting {setting}, rate {rate}, class {class}: {seen} for {probability}"
                );
            }
        }
    }
}

/// Laws of scores, with the side where alarms are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Law {
    Normal,
    Laplace,
    Student,
    SkewedOut,
    SkewedIn,
}

impl Law {
    const ALL: [Self; 5] = [
        Self::Normal,
        Self::Laplace,
        Self::Student,
        Self::SkewedOut,
        Self::SkewedIn,
    ];

    fn draw(self, random: &mut ChaCha8Rng) -> f64 {
        let sign = |random: &mut ChaCha8Rng| -> f64 {
            let normal: f64 = StandardNormal.sample(random);
            normal.signum()
        };
        match self {
            Self::Normal => StandardNormal.sample(random),
            Self::Laplace => {
                let size: f64 = Exp1.sample(random);
                sign(random) * size
            }
            Self::Student => StudentT::new(5.0).unwrap().sample(random),
            Self::SkewedOut => Gamma::new(4.0, 1.0).unwrap().sample(random),
            Self::SkewedIn => -Gamma::new(4.0, 1.0).unwrap().sample(random),
        }
    }

    /// P(score > z).
    fn tail(self, z: f64) -> f64 {
        // The gamma law of shape four is the fourth event of a Poisson process.
        let erlang = |z: f64| {
            let z = z.max(0.0);
            (-z).exp() * (1.0 + z + z * z / 2.0 + z * z * z / 6.0)
        };
        match self {
            Self::Normal => tail(z),
            Self::Laplace if z > 0.0 => 0.5 * (-z).exp(),
            Self::Laplace => 1.0 - 0.5 * z.exp(),
            Self::Student => statrs::distribution::StudentsT::new(0.0, 1.0, 5.0)
                .unwrap()
                .sf(z),
            Self::SkewedOut => erlang(z),
            Self::SkewedIn => 1.0 - erlang(-z),
        }
    }
}

/// Realised rates over many training sets, relative to the rate asked for.
struct Realised {
    mean: f64,
    deviation: f64,
    standard_error: f64,
    /// Share of training sets whose interval holds the rate.
    covered: f64,
    /// The same, above.
    above: f64,
}

fn realised(law: Law, n: usize, rate: f64, tail: Tail, draws: u32) -> Realised {
    let mut random = ChaCha8Rng::seed_from_u64(n as u64 ^ rate.to_bits());
    let (mut sum, mut squares, mut covered, mut above) = (0.0, 0.0, 0.0, 0.0);
    for draw in 0..draws {
        let mut scores: Vec<f64> = (0..n).map(|_| law.draw(&mut random)).collect();
        // Every other training set is looked at from the other side.
        let null = (draw % 2) as usize;
        let sign = if null == 0 { -1.0 } else { 1.0 };
        scores.iter_mut().for_each(|score| *score *= sign);
        let found = threshold_of(&scores, null, rate, tail);
        let realised = law.tail(sign * found.value);
        sum += realised / rate;
        squares += (realised / rate).powi(2);
        covered += f64::from(u8::from(
            found.interval[0] <= realised && realised <= found.interval[1],
        ));
        above += f64::from(u8::from(realised > found.interval[1]));
    }
    let draws = f64::from(draws);
    let mean = sum / draws;
    let deviation = (squares / draws - mean * mean).max(0.0).sqrt();
    Realised {
        mean,
        deviation,
        standard_error: deviation / draws.sqrt(),
        covered: covered / draws,
        above: above / draws,
    }
}

/// The table in the documentation of `threshold_of`.
#[test]
fn realised_rates_are_on_average_those_asked_for() {
    const DRAWS: u32 = 1000;
    for rate in [0.1, 0.05, 0.01, 1e-3] {
        for n in [5, 20, 50, 100, 500] {
            let from_end = rate * (n as f64 + 1.0);
            for tail in [Tail::Empirical, Tail::Gaussian] {
                print!("rate {rate:5}, n {n:3}, {from_end:6.3} from the end, {tail:?}:");
                for law in Law::ALL {
                    let seen = realised(law, n, rate, tail, DRAWS);
                    let Realised {
                        mean,
                        deviation,
                        standard_error,
                        covered,
                        above,
                    } = seen;
                    print!("  {mean:.2} ± {deviation:.2} ({covered:.2}, {above:.2})");
                    let error = STANDARD_ERRORS * standard_error;
                    let what = format!("{law:?}, {tail:?}, rate {rate}, n {n}: {mean} ± {error}");
                    let exact = match tail {
                        Tail::Gaussian => law == Law::Normal,
                        // Interpolation between two scores is a little cautious.
                        _ => from_end >= 10.0 || (law == Law::Laplace && from_end < 1.0 && n > 5),
                    };
                    if exact {
                        assert!((mean - 1.0).abs() <= error + 0.005, "{what}");
                    }
                    if tail == Tail::Empirical {
                        let most = if from_end >= 1.0 || law != Law::Student {
                            1.0
                        } else {
                            1.6
                        };
                        assert!(mean <= most + error, "{what}");
                        if from_end >= 1.0 {
                            assert!(mean >= 0.88 - error, "{what}");
                            assert!(covered >= 0.88, "{what}: covered {covered}");
                        }
                        assert!(
                            above <= if law == Law::Student { 0.12 } else { 0.07 },
                            "{what}: {above} above"
                        );
                    } else if law == Law::Normal {
                        assert!(covered >= 0.88, "{what}: covered {covered}");
                    }
                }
                println!();
            }
        }
    }
}

#[test]
fn few_samples_and_small_rates_are_judged_as_normal_ones() {
    let scores: Vec<f64> = normals(3, 40, 1).remove(0);
    for (n, rate, expected) in [
        (5, 0.2, Tail::Empirical),
        (9, 0.1, Tail::Empirical),
        (9, 0.05, Tail::Gaussian),
        (10, 0.05, Tail::Empirical),
        (40, 1e-3, Tail::Empirical),
    ] {
        let auto = threshold_of(&scores[..n], 1, rate, Tail::Auto);
        assert_eq!(auto.tail, expected, "{n}, {rate}");
        assert_eq!(auto, threshold_of(&scores[..n], 1, rate, expected));
    }
}
