//! Step 2: learn labels and thresholds from moments. A new rule is one file in `rules/` and one line here.

use faer::Mat;

use super::shared::Shared;
use super::target::Target;
use crate::data::{Coupling, Importance};
use crate::decision::Discriminant;
use crate::error::Result;
use crate::estimate::Population;
use crate::moments::{Moments, centre_noise};
use crate::recipe::rows;
use crate::rules::binary::{alone_labels, classical_labels, optimal_labels};
use crate::rules::{BinaryRule, ScoreLaw, bayes, false_alarm, one_hot, one_vs_all};
use crate::settings::{Evidence, Labels, RuleName};
use crate::solve::needs_rows;

/// A rule by name, and its label scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NamedRule {
    pub(super) rule: RuleName,
    pub(super) labels: Labels,
}

impl NamedRule {
    /// Whether responses may be corrected for the mass of the sample left out. That uses the sample's own
    /// label, which anything that fits the columns freely could read off (`docs/3-the-solver.md#mass-corrected`).
    pub(super) fn keeps_columns(self) -> bool {
        self.labels.are_classical() && self.rule != RuleName::Bayes
    }

    /// Whether class scores are log-posteriors of the moments they were learned from.
    pub(super) fn is_posterior(self) -> bool {
        match self.rule {
            RuleName::Bayes => true,
            RuleName::OneHot | RuleName::Auto => !self.labels.are_classical(),
            _ => false,
        }
    }

    /// Votes are costly to foretell; the rule they approximate is not.
    pub(super) fn without_votes(self) -> Self {
        match self.rule {
            RuleName::OneVsOne => Self {
                rule: RuleName::OneHot,
                ..self
            },
            _ => self,
        }
    }
}

impl Target<'_, '_> {
    /// The rule that moments lead to; `priors` are those of the samples that the moments speak of.
    pub(super) fn learn(
        &self,
        NamedRule { rule, labels }: NamedRule,
        moments: &Moments,
        priors: &[f64],
    ) -> Discriminant {
        let (cells, target) = (self.cells(), self.index());
        match (rule, labels.are_classical()) {
            (RuleName::OneVsAll, true) => one_vs_all::classical(cells, target, moments),
            (RuleName::OneVsAll, false) => one_vs_all::minimax(moments, cells, target),
            (RuleName::NaiveOneVsAll, true) => one_vs_all::naive_classical(cells, target),
            (RuleName::NaiveOneVsAll, false) => {
                one_vs_all::naive_optimal(moments, priors, cells, target)
            }
            (RuleName::Bayes, true) => {
                let labels = one_hot::classical(cells, target).label_scores;
                bayes::discriminant(moments, priors, Some(&labels))
            }
            (RuleName::Bayes, false) => bayes::discriminant(moments, priors, None),
            (_, true) => one_hot::classical(cells, target),
            (_, false) => one_hot::optimal(moments, priors),
        }
    }

    /// One score of two classes and its threshold, from moments.
    pub(super) fn learn_score(&self, moments: &Moments) -> (BinaryRule, ScoreLaw) {
        let (cells, target) = (self.cells(), self.index());
        let weights = two(&self.stakes().weights());
        let alarm = self.plan.null.zip(self.settings().false_alarm.as_ref());
        let label_scores = match (self.settings().labels, alarm) {
            (Labels::Classical | Labels::Pooled, _) => classical_labels(cells, target),
            (Labels::Alone, _) => alone_labels(cells, target),
            (_, Some((null, alarm))) => {
                false_alarm::optimal_labels(moments, null, alarm.rate, 1.0).label_scores
            }
            _ => optimal_labels(moments, weights, 1.0).label_scores,
        };
        let law = ScoreLaw::new(moments, &label_scores, 1.0);
        let threshold = match alarm {
            Some((null, alarm)) => false_alarm::gaussian_threshold(&law, null, alarm.rate),
            None if law.tells_apart(&label_scores) => law.fair_threshold(weights),
            // The middle of the means would lie between rounding errors.
            None => law.threshold(weights),
        };
        let rule = BinaryRule {
            threshold,
            label_scores,
        };
        (rule, law)
    }

    /// The moments that left-out responses are shrunk toward; none where labels are not computed from moments,
    /// leave-one-out alone is asked for, or samples have weights, of which a theory knows nothing.
    pub(super) fn prior_moments(
        &self,
        labels: Labels,
        coupling: &Coupling,
    ) -> Result<Option<Moments>> {
        let shrink = self.settings().evidence == Evidence::Auto
            && !labels.are_classical()
            && !self.cells().are_weighed();
        match shrink {
            true => Ok(Some(self.population.moments(coupling, self.index())?)),
            false => Ok(None),
        }
    }

    /// The same where the theory knows some of the target's samples only.
    pub(super) fn moments_among(&self, samples: &[usize], coupling: &Coupling) -> Result<Moments> {
        let Shared {
            statistics, scales, ..
        } = self.shared;
        let some = statistics.with_means_of(self.index(), samples);
        let some = some.ok_or_else(|| needs_rows(&self.cells().tasks()[self.index()].name))?;
        Population::isotropic(&some, scales).moments(coupling, self.index())
    }

    /// The moments of a theory, with the noise of the target's centre.
    pub(super) fn foretold_moments(
        &self,
        population: &Population,
        coupling: &Coupling,
    ) -> Result<Moments> {
        let noise = centre_noise(&population.cells, self.index());
        let moments = population.moments(coupling, self.index())?;
        Ok(moments.with_noise(noise))
    }
}

/// The moments of some of the samples, shrunk toward those of a theory if there is one.
pub(super) fn moments_of(
    responses: &Mat<f64>,
    class: &[usize],
    samples: &[usize],
    classes: usize,
    importance: &Importance,
    theory: Option<&Moments>,
) -> Moments {
    let chosen = rows(responses, samples);
    let class: Vec<usize> = samples.iter().map(|&l| class[l]).collect();
    match theory {
        Some(theory) => Moments::shrunk(chosen.as_ref(), &class, theory),
        None => {
            let importance = importance.among(samples);
            Moments::leave_one_out(chosen.as_ref(), &class, classes, &importance)
        }
    }
}

pub(super) fn two(values: &[f64]) -> [f64; 2] {
    [values[0], values[1]]
}
