//! A minimum along a line: a grid, then golden sections around its best point.

/// Golden sections of two grid steps, down to where costs differ by rounding only.
const STEPS: usize = 40;

/// Where `f` is least between `low` and `high`, as far as a grid of so many points tells its valleys apart.
pub(crate) fn minimise(f: impl Fn(f64) -> f64, low: f64, high: f64, points: usize) -> f64 {
    let at = |i: usize| low + (high - low) * i as f64 / (points - 1) as f64;
    let best = (0..points)
        .map(|i| (f(at(i)), i))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map_or(0, |(_, i)| i);
    let (mut a, mut b) = (at(best.saturating_sub(1)), at((best + 1).min(points - 1)));
    let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
    let (mut c, mut d) = (b - golden * (b - a), a + golden * (b - a));
    let (mut fc, mut fd) = (f(c), f(d));
    for _ in 0..STEPS {
        if fc < fd {
            (b, d, fd) = (d, c, fc);
            c = b - golden * (b - a);
            fc = f(c);
        } else {
            (a, c, fc) = (c, d, fd);
            d = a + golden * (b - a);
            fd = f(d);
        }
    }
    0.5 * (a + b)
}
