//! CDLS: cross-domain landmark selection. Tsai, Yeh and Wang, "Learning Cross-Domain Landmarks for Heterogeneous
//! Domain Adaptation", CVPR 2016.
//!
//! The target is seen in its 100 leading principal components; a linear map A takes the source there. With
//! weights α of the source's rows s and β of the unlabelled rows u, in which the labelled target rows l have
//! weight one, A is the minimum of
//!
//! ```text
//! ½‖A‖² + ‖mean_α(As) - mean_β(l, u)‖² + Σ_c ‖mean_α,c(As) - mean_β,c(l, u)‖²
//!      + Σ_c 1/e_c Σ_pairs weights ‖difference of two rows of class c of different kind‖²
//! ```
//!
//! (e_c: the pairs' sum of weights.) A support vector machine of the mapped source and the target then guesses
//! the classes of the unlabelled rows, and α and β are the landmarks: the minimum of the same sum, with A fixed,
//! over weights from 0 to 1 whose mean in every class is δ = ½. Five rounds.
//!
//! **Needs** labelled rows of source and target, and **the unlabelled test rows**: their principal components and
//! their guessed classes shape the answer. It cannot decide for a row that it has not seen.
//!
//! **As published:** rows of length one; ridge, δ, 100 components and five rounds of the authors' program; costs of
//! the support vector machine 1 for target rows and α n_l/n_s for source rows.
//!
//! **Different here:**
//! - One squared-hinge machine per class against all others (see `svm`). The authors' program uses ν-SVMs, one
//!   for each pair of classes.
//! - The weights are found by projected gradient steps with backtracking, O(n d) each, instead of a general
//!   quadratic program. The sum is not convex in α and β together (the pairs of s and u multiply them),
//!   so either finds a local minimum.
//! - In the authors' program one product of the quadratic program has the wrong factor (the mean over β, squared,
//!   is scaled by the source's count); here it is as in the article.
//!
//! **On SURF** the mean of the twelve pairs is 72.5 from roots of shares and 70.1 from counts (two trials); the paper's
//! row, from counts, is 69.4, on ten of the pairs within three points of ours.
//!
//! **Cost:** the map is found from the source's n x n inner products, one LU decomposition per round.

use faer::Mat;
use faer::linalg::solvers::Solve;

use super::features::{Parts, centre, flat, on_one_thread, principal, stacked};
use super::svm::{Training, decide, dot};
use super::{Baseline, Problem};
use crate::error::Result;

/// The baseline.
#[derive(Clone, Copy, Debug)]
pub struct Cdls;

const DIMENSIONS: usize = 100;
const ROUNDS: usize = 5;
const RIDGE: f64 = 0.5;
/// δ, the mean weight of the landmarks of a class.
const SHARE: f64 = 0.5;

/// Steps toward the weights, and the relative gain below which there are no more.
const STEPS: usize = 200;
const SMALLEST_GAIN: f64 = 1e-6;

impl Baseline for Cdls {
    fn name(&self) -> &str {
        "CDLS"
    }

    fn predict(&self, problem: &Problem, _seed: u64) -> Result<Vec<usize>> {
        on_one_thread(self.name(), || run(problem, self.name()))
    }
}

fn run(problem: &Problem, name: &str) -> Result<Vec<usize>> {
    let parts = Parts::of(problem, name)?.unit_rows();
    let mut seen = stacked(&[&parts.target, &parts.test]);
    centre(&mut seen);
    let basis = principal(&seen, DIMENSIONS)?;
    let d = basis.ncols();
    let products = &parts.source * parts.source.transpose();

    let known = |class: &[usize]| class.iter().map(|&class| Some(class)).collect();
    let target = flat(&(&parts.target * &basis), None);
    let labelled = Kind::new(target, known(&problem.target.class), d);
    let test = flat(&(&parts.test * &basis), None);
    let mut unlabelled = Kind::new(test, vec![None; parts.test.nrows()], d);
    let mut source = Kind::new(Vec::new(), known(&problem.source.class), d);

    let class = [&problem.source.class[..], &problem.target.class].concat();
    let balance = problem.target.class.len() as f64 / problem.source.class.len() as f64;
    let mut decided = Vec::new();
    for round in 0..ROUNDS {
        if round > 0 {
            select(&mut source, &labelled, &mut unlabelled, problem.classes);
        }
        source.values = mapped(&products, &source, &labelled, &unlabelled, problem.classes);
        let mut cost: Vec<f64> = source.weight.iter().map(|a| balance * a).collect();
        cost.resize(class.len(), 1.0);
        let machines = Training {
            values: &[source.with_one(), labelled.with_one()].concat(),
            features: d + 1,
            class: &class,
            cost: &cost,
        }
        .weights(problem.classes);
        decided = decide(&machines, &unlabelled.with_one());
        unlabelled.class = known(&decided);
    }
    Ok(decided)
}

/// Rows of one kind: source, labelled target or unlabelled target, in the space of the components.
struct Kind {
    /// Row after row.
    values: Vec<f64>,
    /// None until it has been guessed.
    class: Vec<Option<usize>>,
    weight: Vec<f64>,
    d: usize,
}

/// What the sums need of some weighted rows.
#[derive(Clone)]
struct Moments {
    weight: f64,
    /// Σ weight x.
    sum: Vec<f64>,
    /// Σ weight ‖x‖².
    squares: f64,
}

impl Kind {
    fn new(values: Vec<f64>, class: Vec<Option<usize>>, d: usize) -> Self {
        let weight = vec![1.0; class.len()];
        Self {
            values,
            class,
            weight,
            d,
        }
    }

    fn rows(&self) -> std::slice::ChunksExact<'_, f64> {
        self.values.chunks_exact(self.d.max(1))
    }

    fn with_one(&self) -> Vec<f64> {
        self.rows()
            .flat_map(|row| row.iter().copied().chain([1.0]))
            .collect()
    }

    /// Of each class, and at last of all rows.
    fn moments(&self, classes: usize, weight: &[f64]) -> Vec<Moments> {
        let none = Moments {
            weight: 0.0,
            sum: vec![0.0; self.d],
            squares: 0.0,
        };
        let mut moments = vec![none; classes + 1];
        for ((row, class), &weight) in self.rows().zip(&self.class).zip(weight) {
            for place in class.iter().copied().chain([classes]) {
                let moments = &mut moments[place];
                moments.weight += weight;
                moments.squares += weight * dot(row, row);
                add(&mut moments.sum, weight, row);
            }
        }
        moments
    }
}

fn add(sum: &mut [f64], factor: f64, other: &[f64]) {
    for (sum, x) in sum.iter_mut().zip(other) {
        *sum += factor * x;
    }
}

/// The mapped source X A for fixed weights.
///
/// The sum is tr AᵀXᵀHXA - 2 tr AᵀXᵀC + r‖A‖² up to a constant, with H (n x n) the sum of one product of weights
/// for all rows, one for each class, and a diagonal for the pairs. With K = XXᵀ the minimum is
/// X A = K (HK + r)⁻¹ C.
fn mapped(
    products: &Mat<f64>,
    source: &Kind,
    labelled: &Kind,
    unlabelled: &Kind,
    classes: usize,
) -> Vec<f64> {
    let (n, d) = (source.class.len(), labelled.d);
    let l = labelled.moments(classes, &labelled.weight);
    let u = unlabelled.moments(classes, &unlabelled.weight);
    // The weights of each class, and of all rows.
    let weights = Mat::from_fn(n, classes + 1, |i, place| {
        let there = place == classes || source.class[i] == Some(place);
        if there { source.weight[i] } else { 0.0 }
    });
    let total: Vec<f64> = weights.col_iter().map(|w| w.iter().sum()).collect();
    let sums = products * &weights;
    let square = |x: f64| x * x;
    // (HK + r)ᵀ, as its columns are contiguous.
    let mut system = Mat::<f64>::zeros(n, n);
    let mut aim = Mat::<f64>::zeros(n, d);
    for i in 0..n {
        let Some(c) = source.class[i] else { continue };
        let weight = source.weight[i];
        let others = l[c].weight + u[c].weight;
        let pairs = total[c] * others + l[c].weight * u[c].weight;
        let (all, own) = (weight / square(total[classes]), weight / square(total[c]));
        let alone = weight * others / pairs;
        for j in 0..n {
            system[(j, i)] =
                all * sums[(j, classes)] + own * sums[(j, c)] + alone * products[(j, i)];
        }
        system[(i, i)] += RIDGE;
        let all = weight / (total[classes] * (l[classes].weight + u[classes].weight));
        let own = weight / (total[c] * others) + weight / pairs;
        for j in 0..d {
            aim[(i, j)] =
                all * (l[classes].sum[j] + u[classes].sum[j]) + own * (l[c].sum[j] + u[c].sum[j]);
        }
    }
    flat(
        &(products * system.partial_piv_lu().solve_transpose(&aim)),
        None,
    )
}

/// Sets the weights of the source's and the unlabelled rows.
fn select(source: &mut Kind, labelled: &Kind, unlabelled: &mut Kind, classes: usize) {
    let l = labelled.moments(classes, &labelled.weight);
    let mut weight = [
        vec![SHARE; source.weight.len()],
        vec![SHARE; unlabelled.weight.len()],
    ];
    let kinds = [&*source, &*unlabelled];
    let at =
        |weight: &[Vec<f64>; 2]| [0, 1].map(|kind| kinds[kind].moments(classes, &weight[kind]));
    let mut here = at(&weight);
    let mut cost = cost(&here, &l);
    // The gradient is of the size of one over the rows of a class.
    let mut step = source.weight.len() as f64;
    for _ in 0..STEPS {
        let slope = [0, 1].map(|kind| gradient(kinds[kind], kind, &here, &l));
        let mut next;
        loop {
            next = [0, 1].map(|kind| {
                let moved: Vec<f64> = weight[kind]
                    .iter()
                    .zip(&slope[kind])
                    .map(|(weight, slope)| weight - step * slope)
                    .collect();
                landed(&moved, &kinds[kind].class, classes)
            });
            let there = at(&next);
            let reached = self::cost(&there, &l);
            let along: f64 = [0, 1]
                .iter()
                .map(|&kind| {
                    let moved = next[kind].iter().zip(&weight[kind]);
                    moved
                        .zip(&slope[kind])
                        .map(|((new, old), slope)| (new - old) * slope)
                        .sum::<f64>()
                })
                .sum();
            // A quarter of what the slope promises; it never promises a loss.
            if reached <= cost + 0.25 * along || step < f64::EPSILON {
                let gain = cost - reached;
                (here, cost, weight) = (there, reached, next);
                if gain <= SMALLEST_GAIN * cost.abs() {
                    step = 0.0;
                }
                break;
            }
            step /= 2.0;
        }
        if step == 0.0 {
            break;
        }
        step *= 2.0;
    }
    let [for_source, for_unlabelled] = weight;
    source.weight = for_source;
    unlabelled.weight = for_unlabelled;
}

/// Half the sum of the module's documentation, for the mapped source and weights with their moments `of` source
/// and unlabelled rows. The sums of weights of a class do not change, so that all means are linear in them.
fn cost(of: &[Vec<Moments>; 2], l: &[Moments]) -> f64 {
    let classes = l.len() - 1;
    let mut cost = 0.0;
    for c in 0..=classes {
        let (s, u, l) = (&of[0][c], &of[1][c], &l[c]);
        let apart = apart(s, u, l);
        cost += 0.5 * dot(&apart, &apart);
        if c < classes {
            let pair = |a: &Moments, b: &Moments| {
                a.squares * b.weight + b.squares * a.weight - 2.0 * dot(&a.sum, &b.sum)
            };
            cost += 0.5 * (pair(s, u) + pair(s, l) + pair(u, l)) / pairs(s, u, l);
        }
    }
    cost
}

fn apart(s: &Moments, u: &Moments, l: &Moments) -> Vec<f64> {
    let mut apart = vec![0.0; s.sum.len()];
    add(&mut apart, 1.0 / s.weight, &s.sum);
    add(&mut apart, -1.0 / (u.weight + l.weight), &u.sum);
    add(&mut apart, -1.0 / (u.weight + l.weight), &l.sum);
    apart
}

fn pairs(s: &Moments, u: &Moments, l: &Moments) -> f64 {
    s.weight * u.weight + s.weight * l.weight + u.weight * l.weight
}

/// The slope of [`cost`] in the weights of the source (kind 0) or the unlabelled rows (1), up to a constant of
/// each class.
fn gradient(rows: &Kind, kind: usize, of: &[Vec<Moments>; 2], l: &[Moments]) -> Vec<f64> {
    let classes = l.len() - 1;
    // A row of the class changes the cost by row ᵀ linear + ‖row‖² square.
    let of_class: Vec<(Vec<f64>, f64)> = (0..classes)
        .map(|class| {
            let mut linear = vec![0.0; rows.d];
            for c in [class, classes] {
                let (s, u, l) = (&of[0][c], &of[1][c], &l[c]);
                let share = if kind == 0 {
                    1.0 / s.weight
                } else {
                    -1.0 / (u.weight + l.weight)
                };
                add(&mut linear, share, &apart(s, u, l));
            }
            let (s, u, l) = (&of[0][class], &of[1][class], &l[class]);
            let (other, pairs) = (&of[1 - kind][class], pairs(s, u, l));
            add(&mut linear, -1.0 / pairs, &other.sum);
            add(&mut linear, -1.0 / pairs, &l.sum);
            (linear, 0.5 * (other.weight + l.weight) / pairs)
        })
        .collect();
    rows.rows()
        .zip(&rows.class)
        .map(|(row, class)| {
            class.map_or(0.0, |class| {
                let (linear, square) = &of_class[class];
                dot(row, linear) + square * dot(row, row)
            })
        })
        .collect()
}

/// The nearest weights from 0 to 1 whose mean in every class is [`SHARE`]: a shift per class, by bisection.
fn landed(moved: &[f64], class: &[Option<usize>], classes: usize) -> Vec<f64> {
    let mut landed = moved.to_vec();
    for c in 0..classes {
        let rows: Vec<usize> = (0..moved.len()).filter(|&i| class[i] == Some(c)).collect();
        let wanted = SHARE * rows.len() as f64;
        let least = rows.iter().map(|&i| moved[i]).fold(f64::INFINITY, f64::min);
        let most = rows
            .iter()
            .map(|&i| moved[i])
            .fold(f64::NEG_INFINITY, f64::max);
        // At the lower shift all weights are 1, at the upper all are 0.
        let (mut lower, mut upper) = (least - 1.0, most);
        for _ in 0..BISECTIONS {
            let shift = 0.5 * (lower + upper);
            let sum: f64 = rows
                .iter()
                .map(|&i| (moved[i] - shift).clamp(0.0, 1.0))
                .sum();
            if sum > wanted {
                lower = shift;
            } else {
                upper = shift;
            }
        }
        let shift = 0.5 * (lower + upper);
        for i in rows {
            landed[i] = (moved[i] - shift).clamp(0.0, 1.0);
        }
    }
    landed
}

/// Enough to halve any shift to rounding.
const BISECTIONS: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    /// Four rows of two classes in the plane.
    fn some(start: f64, class: [Option<usize>; 4]) -> Kind {
        let values = (0..8).map(|i| (start + 1.7 * f64::from(i)).sin()).collect();
        Kind::new(values, class.to_vec(), 2)
    }

    const CLASSES: [Option<usize>; 4] = [Some(0), Some(0), Some(1), Some(1)];

    #[test]
    fn the_slope_is_that_of_the_cost() {
        let kinds = [some(0.0, CLASSES), some(1.0, CLASSES)];
        let l = some(2.0, CLASSES).moments(2, &[1.0; 4]);
        let weight = [vec![0.2, 0.8, 0.5, 0.5], vec![0.6, 0.4, 0.9, 0.1]];
        let at = |weight: &[Vec<f64>; 2]| {
            let of = [0, 1].map(|kind| kinds[kind].moments(2, &weight[kind]));
            (cost(&of, &l), of)
        };
        let (_, of) = at(&weight);
        for kind in 0..2 {
            let slope = gradient(&kinds[kind], kind, &of, &l);
            // From one row of the class to the other, as the sum of the weights stays.
            for (from, to) in [(0, 1), (2, 3)] {
                let moved = |by: f64| {
                    let mut weight = weight.clone();
                    weight[kind][from] -= by;
                    weight[kind][to] += by;
                    at(&weight).0
                };
                let h = 1e-5;
                let expected = (moved(h) - moved(-h)) / (2.0 * h);
                assert!((slope[to] - slope[from] - expected).abs() < 1e-8);
            }
        }
    }

    #[test]
    fn weights_land_between_zero_and_one_with_half_as_their_mean() {
        let moved = [3.0, 0.2, -4.0, 0.1, 7.0];
        let class = [Some(0), Some(0), Some(0), Some(0), Some(1)];
        let landed = landed(&moved, &class, 2);
        // 1 and 0 at the ends; the others share what is left at their distance.
        let expected = [1.0, 0.55, 0.0, 0.45, 0.5];
        for (found, expected) in landed.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{landed:?}");
        }
    }

    #[test]
    fn landmarks_avoid_the_row_of_another_kind() {
        // The first row of the source is far from everything in its class.
        let near = vec![5.0, 0.0, 1.0, 0.1, 1.1, 0.0, 0.9, -0.1];
        let mut source = Kind::new(near, vec![Some(0); 4], 2);
        let mut unlabelled = Kind::new(vec![1.0, 0.0, 1.0, 0.05], vec![Some(0); 2], 2);
        let labelled = Kind::new(vec![1.0, 0.0], vec![Some(0)], 2);
        select(&mut source, &labelled, &mut unlabelled, 1);
        assert_eq!(source.weight[0], 0.0);
        assert!((source.weight.iter().sum::<f64>() - 2.0).abs() < 1e-9);
    }

    #[test]
    fn the_map_is_where_the_sum_is_flat() {
        // One class; X of three rows in the plane, to one dimension.
        let x = [[1.0, 0.5], [0.2, -1.0], [-0.4, 0.3]];
        let alpha = [1.0, 0.5, 0.25];
        let products = Mat::from_fn(3, 3, |i, j| x[i][0] * x[j][0] + x[i][1] * x[j][1]);
        let mut source = Kind::new(Vec::new(), vec![Some(0); 3], 1);
        source.weight = alpha.to_vec();
        let labelled = Kind::new(vec![2.0, 1.0], vec![Some(0); 2], 1);
        let mut unlabelled = Kind::new(vec![1.5], vec![Some(0)], 1);
        unlabelled.weight = vec![0.5];
        let found = mapped(&products, &source, &labelled, &unlabelled, 1);
        // The plane's map, from two of the rows.
        let det = x[0][0] * x[1][1] - x[0][1] * x[1][0];
        let a = [
            (found[0] * x[1][1] - x[0][1] * found[1]) / det,
            (x[0][0] * found[1] - found[0] * x[1][0]) / det,
        ];
        assert!((x[2][0] * a[0] + x[2][1] * a[1] - found[2]).abs() < 1e-12);
        let sum = |a: [f64; 2]| {
            let at = |i: usize| x[i][0] * a[0] + x[i][1] * a[1];
            let mean = (0..3).map(|i| alpha[i] * at(i)).sum::<f64>() / 1.75;
            let others = [(2.0, 1.0), (1.0, 1.0), (1.5, 0.5)];
            let target = others.map(|(y, weight)| weight * y).iter().sum::<f64>() / 2.5;
            let mut pairs = 0.0;
            for i in 0..3 {
                for (y, weight) in others {
                    pairs += alpha[i] * weight * (at(i) - y).powi(2);
                }
            }
            // All rows are of the class, so that its means and the means of all count twice.
            0.5 * (a[0] * a[0] + a[1] * a[1])
                + 2.0 * (mean - target).powi(2)
                + pairs / (1.75 * 0.5 + 0.5 * 2.0 + 2.0 * 1.75)
        };
        let h = 1e-5;
        let slope = [
            sum([a[0] + h, a[1]]) - sum([a[0] - h, a[1]]),
            sum([a[0], a[1] + h]) - sum([a[0], a[1] - h]),
        ];
        assert!(slope.iter().all(|slope| slope.abs() < 1e-9), "{slope:?}");
    }
}
