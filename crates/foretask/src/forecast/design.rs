//! How much less samples tell that come in groups (`docs/4-when-to-trust-a-forecast.md#groups`).
//!
//! With x_l the loss of a sample, u_l its weight (one on average), n_g the size of a group and n̄ = Σ n_g²/n,
//!
//! ```text
//! v    = (Σ u_l x_l + n̄/2)/(n + n̄)
//! deff = [ Σ_g (Σ_{l ∈ g} u_l (x_l - v))² + n̄² ((1 - v)² + v²)/2 ] / [ (Σ u_l² + n̄) v (1 - v) ],    1 ≤ deff ≤ n̄ :
//! ```
//!
//! the variance of the mean that groups show over that of independent samples, where half a group that is wrong and
//! half a group that is right were seen as well. Groups that are right or wrong as a whole have deff = n̄ = n/n_eff,
//! and so have groups of which none was wrong: nothing tells then that their samples are independent.

use crate::data::Groups;

/// By how much the variance of a mean loss is larger than that of independent samples; one where everyone is alone.
pub(crate) fn design_effect(groups: &Groups, loss: &[f64], weight: &[f64]) -> f64 {
    let (Some(members), Some(independent)) = (groups.members(), groups.independent()) else {
        return 1.0;
    };
    let n = loss.len() as f64;
    let size = n / independent;
    let total: f64 = loss.iter().zip(weight).map(|(x, u)| u * x).sum();
    let v = ((total + 0.5 * size) / (n + size)).clamp(0.0, 1.0);
    let of_group = |members: &Vec<usize>| -> f64 {
        let sum: f64 = members.iter().map(|&l| weight[l] * (loss[l] - v)).sum();
        sum * sum
    };
    let between =
        members.iter().map(of_group).sum::<f64>() + 0.5 * size * size * ((1.0 - v).powi(2) + v * v);
    let alone = (weight.iter().map(|u| u * u).sum::<f64>() + size) * v * (1.0 - v);
    (between / alone.max(1e-300)).clamp(1.0, size)
}

/// Σ_g (Σ_{l ∈ g} (x_l - x̄))²/n² G/(G - 1): the variance of a mean of values that come in groups, and the number of
/// groups. None where everyone is alone.
pub(crate) fn variance_of_mean(groups: &Groups, values: &[f64]) -> Option<(f64, f64)> {
    let members = groups.members()?;
    let (n, count) = (values.len() as f64, members.len() as f64);
    let mean = values.iter().sum::<f64>() / n;
    let of_group = |members: &Vec<usize>| -> f64 {
        let sum: f64 = members.iter().map(|&l| values[l] - mean).sum();
        sum * sum
    };
    let squares: f64 = members.iter().map(of_group).sum();
    let correction = count / (count - 1.0).max(1.0);
    Some((correction * squares / (n * n), count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(count: usize, size: usize) -> Groups {
        Groups::new((0..count * size).map(|l| l / size))
    }

    #[test]
    fn groups_that_are_one_sample_each_count_as_such() {
        let wrong: Vec<f64> = (0..120)
            .map(|l| f64::from(u8::from(l / 10 % 3 == 0)))
            .collect();
        let effect = design_effect(&groups(12, 10), &wrong, &[1.0; 120]);
        assert!((effect - 10.0).abs() < 1e-12, "{effect}");
        // Nothing wrong tells nothing about what is independent.
        let effect = design_effect(&groups(12, 10), &[0.0; 120], &[1.0; 120]);
        assert!((effect - 10.0).abs() < 1e-12, "{effect}");
        assert!((design_effect(&Groups::default(), &wrong, &[1.0; 120]) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn errors_that_do_not_follow_groups_lose_little() {
        // Three of ten wrong in each of 200 groups, but for one more or less.
        let wrong = |l: usize| l % 10 < 2 + (l / 10) % 3;
        let wrong: Vec<f64> = (0..2000).map(|l| f64::from(u8::from(wrong(l)))).collect();
        let effect = design_effect(&groups(200, 10), &wrong, &[1.0; 2000]);
        assert!((1.0..1.2).contains(&effect), "{effect}");
    }

    #[test]
    fn the_mean_of_equal_values_in_each_group_is_that_of_groups() {
        let values: Vec<f64> = (0..60).map(|l| ((l / 6) % 4) as f64).collect();
        let (variance, count) = variance_of_mean(&groups(10, 6), &values).unwrap();
        let means: Vec<f64> = (0..10).map(|g| (g % 4) as f64).collect();
        let mean = means.iter().sum::<f64>() / 10.0;
        let expected = means.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 9.0 / 10.0;
        assert!((variance - expected).abs() < 1e-12);
        assert!((count - 10.0).abs() < 1e-12);
    }
}
