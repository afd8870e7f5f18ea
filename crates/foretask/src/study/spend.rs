//! Whether labels are worth more in the target or in its sources, by rehearsals
//! (`docs/4-when-to-trust-a-forecast.md#learning-curve`).
//!
//! Every source that took the target's place did so with more labels of its own, which measures the exponent a_t of
//! the target's labels, and does so again with all other sources thinned to half, which measures that of theirs, a_s.
//! So many labels lower the logarithm of the error by a_t ln(n'/n) or a_s ln(N'/N); the difference is told source by
//! source.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::Study;
use super::curve::{FLOOR, LEAST_DEVIATION, REHEARSED, mean_and_deviation};
use super::rehearse::drawn;
use super::schedule::Done;
use crate::data::{Statistics, classes_in_order};
use crate::error::Result;
use crate::forecast::{InSources, Rehearsal, WorthMore};
use crate::recipe::keys;

impl Study<'_> {
    /// What so many labels would do in the sources, beside so many times the labels in the target. None where no two
    /// rehearsals tell.
    pub(super) fn in_sources(&self, labels: usize, grown: f64) -> Result<Option<InSources>> {
        let own = self.done.rehearsed_ratios(REHEARSED, FLOOR, &|_| {})?;
        if own.len() < 2 {
            return Ok(None);
        }
        let theirs = self.done.thinned_ratios(FLOOR)?;
        let of_task = |name: &String| theirs.iter().find(|(task, _)| task == name);
        let both: Vec<(f64, f64)> = own
            .iter()
            .filter_map(|(name, own)| Some((*own, of_task(name)?.1)))
            .collect();
        let tasks = self.cells().tasks().iter().enumerate();
        let sources = tasks.filter(|(task, _)| *task != self.target());
        let there: usize = sources
            .map(|(_, task)| task.counts.iter().sum::<usize>())
            .sum();
        let more = (labels as f64 / there.max(1) as f64).ln_1p();
        let gains = Gains {
            target: grown.ln(),
            sources: more,
            both: &both,
        };
        let exponents: Vec<f64> = both.iter().map(|(_, theirs)| *theirs).collect();
        Ok(
            mean_and_deviation(&exponents).map(|(exponent, _)| InSources {
                error: (self.now().0 * (-exponent * more).exp()).min(1.0),
                better: gains.better(),
            }),
        )
    }
}

impl Done<'_> {
    /// Exponents of the labels of the other sources, which are thinned to half in each rehearsal. None if the rows of
    /// one are not at hand.
    fn thinned_ratios(&self, floor: f64) -> Result<Vec<(String, f64)>> {
        let Rehearsal::Done { sources, .. } = &self.outcome.forecast.rehearsal else {
            return Ok(Vec::new());
        };
        let target = self.target();
        let mut exponents = Vec::new();
        for understudy in target.understudies(1) {
            let name = &target.cells().tasks()[understudy.source].name;
            let before = sources.iter().find(|source| source.task == *name);
            let others = (0..target.cells().tasks().len())
                .filter(|task| ![target.index(), understudy.source].contains(task));
            let Some((before, thinned)) = before.zip(thinned(&target.shared.raw, others)) else {
                return Ok(Vec::new());
            };
            let after = target.rehearse_among(&understudy, &thinned)?;
            let ratio = (after.error + floor) / (before.error + floor);
            exponents.push((before.task.clone(), ratio.ln() / 2.0_f64.ln()));
        }
        Ok(exponents)
    }
}

/// Half of the samples of each class of some tasks. None if rows are not at hand.
fn thinned<'a>(
    statistics: &Statistics<'a>,
    tasks: impl Iterator<Item = usize>,
) -> Option<Statistics<'a>> {
    let variances = statistics.pooled_variances();
    let mut thinned = statistics.clone();
    for task in tasks {
        let keys = keys(statistics.rows_of(task)?, &variances);
        let own = &statistics.cells().tasks()[task];
        let class = classes_in_order(own);
        let mut kept: Vec<usize> = (0..own.counts.len())
            .flat_map(|c| {
                let samples = drawn(&class, c, &keys);
                let half = samples.len().div_ceil(2);
                samples.into_iter().take(half)
            })
            .collect();
        kept.sort_unstable();
        thinned = thinned.with_samples(task, &kept)?;
    }
    Some(thinned)
}

/// Probability that the interval of a difference between exponents holds the truth: with the four rehearsals that there are
/// at most, one as long as a claim about a source asks for would tell nothing.
const TOLD: f64 = 0.95;

/// Logarithms of how many times the labels there would be, and exponents of both by source.
struct Gains<'e> {
    target: f64,
    sources: f64,
    both: &'e [(f64, f64)],
}

impl Gains<'_> {
    /// Where the error falls more, if the interval of the difference leaves out zero.
    fn better(&self) -> WorthMore {
        let each = self.both.iter();
        let each: Vec<f64> = each
            .map(|(own, theirs)| own * self.target - theirs * self.sources)
            .collect();
        let n = each.len() as f64;
        let Some((mean, deviation)) = mean_and_deviation(&each) else {
            return WorthMore::Unknown;
        };
        let Ok(law) = StudentsT::new(0.0, 1.0, n - 1.0) else {
            return WorthMore::Unknown;
        };
        let deviation = deviation.hypot(LEAST_DEVIATION * self.target.hypot(self.sources));
        let reach = law.inverse_cdf(0.5 * (1.0 + TOLD)) * deviation / n.sqrt();
        match mean {
            mean if mean > reach => WorthMore::Target,
            mean if mean < -reach => WorthMore::Sources,
            _ => WorthMore::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn better(target: f64, sources: f64, both: &[(f64, f64)]) -> WorthMore {
        let gains = Gains {
            target,
            sources,
            both,
        };
        gains.better()
    }

    #[test]
    fn what_differs_beyond_its_spread_is_told() {
        let alike = [(0.5, 0.1), (0.45, 0.05), (0.55, 0.12), (0.5, 0.1)];
        assert_eq!(better(1.0, 1.0, &alike), WorthMore::Target);
        let turned = alike.map(|(own, theirs)| (theirs, own));
        assert_eq!(better(1.0, 1.0, &turned), WorthMore::Sources);
        // Two rehearsals, rehearsals that differ, or no labels do not tell.
        assert_eq!(better(1.0, 1.0, &alike[..2]), WorthMore::Unknown);
        let apart = [(0.5, 0.1), (0.1, 0.6), (0.9, 0.0), (0.3, 0.4)];
        assert_eq!(better(1.0, 1.0, &apart), WorthMore::Unknown);
        assert_eq!(better(0.0, 0.0, &alike), WorthMore::Unknown);
        // Few labels among many of the sources, and many in the target.
        let slower = [(0.2, 0.5); 4];
        assert_eq!(better(1.0, 0.01, &slower), WorthMore::Target);
    }
}
