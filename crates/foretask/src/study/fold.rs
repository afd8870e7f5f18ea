//! Step 4: fold a rule by name into a decision, its label scores and the scores of the target's mean.

use faer::Mat;

use super::fits::Fits;
use super::judge::Judged;
use super::learn::NamedRule;
use super::outcome::{Folded, Outcome, Surrogate, difference, rows_of};
use super::target::Target;
use crate::data::Coupling;
use crate::decision::{Decision, Discriminant, Form};
use crate::error::Result;
use crate::model::Rule;
use crate::numerics::dense;
use crate::rules::one_hot;
use crate::stakes::Stakes;

impl Target<'_, '_> {
    /// A rule by name that was judged by samples left out.
    pub(super) fn by_rule(
        &self,
        named: NamedRule,
        fits: &Fits<'_>,
        best: usize,
    ) -> Result<Outcome> {
        let tournament = &fits.tournament;
        let coupling = self.coupling_at(tournament, best)?;
        let fitted = &tournament.fitted[tournament.entries[best].fitted];
        let judged = self.judged(named, fits, &coupling, &fitted.responses)?;
        let fold = |labels: &Mat<f64>| Folded::Trained(fitted.weights.times(labels));
        Ok(self.folded(named, &coupling, judged, fold))
    }

    /// A rule by name that a theory foretold.
    pub(super) fn by_theory(&self, named: NamedRule, coupling: &Coupling) -> Result<Outcome> {
        let judged = self.foretold(named, coupling)?;
        let fold = |labels: &Mat<f64>| Folded::Untrained(coupling.clone(), labels.clone());
        Ok(self.folded(named, coupling, judged, fold))
    }

    /// What a model needs to know of a judged rule; `fold` turns label scores (C x d) into weights.
    fn folded(
        &self,
        named: NamedRule,
        coupling: &Coupling,
        judged: Judged,
        fold: impl Fn(&Mat<f64>) -> Folded,
    ) -> Outcome {
        let Judged {
            discriminant,
            slope,
            forecast,
            judgements,
        } = judged;
        let stakes = match judgements {
            Some(_) => self.stakes().clone(),
            None => self.stakes().in_use(),
        };
        let surrogate = Surrogate {
            coupling: coupling.clone(),
            label_scores: self.surrogate_labels(&discriminant),
            offsets: match &discriminant.form {
                Form::Linear { offsets } => offsets.clone(),
                _ => vec![0.0; self.classes()],
            },
        };
        let (decision, labels, bias) = self.decision(discriminant, slope, &stakes);
        Outcome {
            rule: Rule {
                label_scores: Some(rows_of(&labels)),
                threshold: decision
                    .threshold()
                    .filter(|threshold| threshold.is_finite()),
                ..Rule::at(named.rule, named.labels, coupling)
            },
            decision,
            folded: fold(&labels),
            bias,
            forecast,
            leading: Some(surrogate),
            judgements,
        }
    }

    /// Label scores, one column per class, that stand for a rule in relative statements.
    fn surrogate_labels(&self, discriminant: &Discriminant) -> Mat<f64> {
        match &discriminant.form {
            Form::Linear { .. } => discriminant.label_scores.clone(),
            // Of a quadratic rule, the linear one with the same means and the mean precision.
            Form::Quadratic(quadratic) => {
                let m = quadratic.constants.len();
                let d = quadratic.means.ncols();
                let precision = Mat::from_fn(d, d, |i, j| {
                    quadratic.precisions.iter().map(|p| p[(i, j)]).sum::<f64>() / m as f64
                });
                dense::times(
                    discriminant.label_scores.as_ref(),
                    dense::times(precision.as_ref(), quadratic.means.transpose()).as_ref(),
                )
            }
            Form::Votes { .. } => one_hot::classical(self.cells(), self.index()).label_scores,
        }
    }

    /// The decision, its label scores (C x d), and the scores at the target's mean.
    fn decision(
        &self,
        discriminant: Discriminant,
        slope: f64,
        stakes: &Stakes,
    ) -> (Decision, Mat<f64>, Vec<f64>) {
        let Discriminant { label_scores, form } = discriminant;
        let at_mean = |labels: &Mat<f64>| -> Vec<f64> {
            let columns = 0..labels.ncols();
            let mean = |j| self.cells().label_mean(self.index(), labels, j);
            columns.map(mean).collect()
        };
        match form {
            // Two classes need one score only.
            Form::Linear { offsets } if offsets.len() == 2 => {
                let labels = difference(&label_scores);
                let middle = offsets[1] - offsets[0];
                let bias = at_mean(&labels);
                (Decision::of_difference(middle, slope, stakes), labels, bias)
            }
            Form::Linear { offsets } => {
                let means = at_mean(&label_scores);
                let bias: Vec<f64> = means
                    .iter()
                    .zip(&offsets)
                    .map(|(mean, o)| mean + o)
                    .collect();
                let none = vec![0.0; bias.len()];
                let decision = Decision::of_class_scores(slope, &none, stakes);
                (decision, label_scores, bias)
            }
            form => {
                let bias = at_mean(&label_scores);
                (Decision::argmax(form, slope, stakes), label_scores, bias)
            }
        }
    }
}
