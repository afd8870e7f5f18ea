//! The machine-readable reports. Their keys are a promise: `docs/json.md` lists them.
//!
//! Numbers that are not finite become `null`, as JSON has none.

use foretask::{AlarmForecast, Density, Forecast, Reliability, Rule, RuleName, Study};
use foretask_words::Verdict;
use serde_json::{Map, Value, json};

use crate::summary::Summary;

/// Points of a curve in a report, less one.
const CURVE_POINTS: usize = 50;

/// What `foretask forecast --json` prints of a study with so many features, but for what takes more studies.
pub fn study(study: &Study<'_>, features: usize, verdict: &Verdict) -> Map<String, Value> {
    let summary = Summary::of_study(study, features);
    let forecast = study.forecast();
    let mut report = Map::from_iter([("verdict".to_owned(), json!(verdict))]);
    report.extend(summary.report());
    report.insert("relatedness".into(), relatedness(&study.relatedness()));
    report.insert("roc".into(), json!(forecast.roc(CURVE_POINTS)));
    let densities: Vec<_> = forecast.densities.iter().map(curve_of).collect();
    report.insert("densities".into(), by_class(summary.classes(), &densities));
    report
}

/// A density as points from end to end of its range.
fn curve_of(density: &Density) -> Vec<[f64; 2]> {
    let (low, high) = density.range();
    let at = |i: usize| low + (high - low) * i as f64 / CURVE_POINTS as f64;
    (0..=CURVE_POINTS)
        .map(|i| [at(i), density.at(at(i))])
        .collect()
}

/// The mean absolute difference of claims and what is right; `None` without decisions.
pub fn gap(groups: &[Reliability]) -> Option<f64> {
    let share: f64 = groups.iter().map(|group| group.share).sum();
    let seen = groups.iter().filter(|group| group.share > 0.0);
    let gaps = seen.map(|group| group.share * (group.claimed - group.right).abs());
    (share > 0.0).then(|| gaps.sum::<f64>() / share)
}

impl Summary<'_> {
    /// As JSON.
    pub fn report(&self) -> Map<String, Value> {
        let mut report = Map::new();
        report.insert("target".into(), json!(self.target));
        report.insert("classes".into(), json!(self.classes()));
        report.insert("features".into(), json!(self.features));
        report.insert("tasks".into(), json!(self.tasks));
        report.insert("rule".into(), json!(self.rule.name));
        report.insert("labels".into(), json!(self.rule.labels));
        report.insert("forecast".into(), forecast(self.forecast, self.classes()));
        if let Some(coupling) = &self.rule.coupling {
            report.insert("lambda".into(), json!(coupling.lambda()));
            report.insert("gamma".into(), json!(coupling.gamma()));
        }
        if let Some(scores) = &self.rule.label_scores {
            report.insert("label_scores".into(), self.label_scores(scores));
        }
        report.insert("threshold".into(), json!(self.rule.threshold));
        let views = self.rule.views.iter();
        let views = views.map(|(view, weight)| (view.to_string(), json!(weight)));
        report.insert("views".into(), Value::Object(views.collect()));
        if !self.rule.weights.is_empty() {
            let weights = self.rule.weights.iter();
            let weights = weights.map(|(family, weight)| (family.to_string(), json!(weight)));
            report.insert("weights".into(), Value::Object(weights.collect()));
            report.insert("candidates".into(), candidates(self.rule));
        }
        report.insert("tried".into(), json!(self.rule.tried));
        report
    }

    /// task -> class -> score; for more than two classes the score is class of the target -> number,
    /// and of a rule whose scores are not those of a class it is a list.
    fn label_scores(&self, scores: &[Vec<f64>]) -> Value {
        let mut rows = scores.iter();
        let listed = self.rule.name == RuleName::Bayes;
        let mut of_class = || match rows.next().map(Vec::as_slice) {
            Some(scores) if listed => json!(scores),
            Some([score]) => json!(score),
            Some(scores) => by_class(self.classes(), scores),
            None => Value::Null,
        };
        let tasks = self.tasks.iter().map(|task| {
            let classes = task.classes.iter();
            let scores = classes.map(|class| (class.clone(), of_class()));
            (task.name.clone(), Value::Object(scores.collect()))
        });
        Value::Object(tasks.collect())
    }
}

fn candidates(rule: &Rule) -> Value {
    rule.candidates
        .iter()
        .map(|candidate| {
            json!({
                "view": candidate.view,
                "family": candidate.family,
                "lambda": candidate.coupling.lambda(),
                "gamma": candidate.coupling.gamma(),
                "weight": candidate.weight,
                "press": candidate.press,
            })
        })
        .collect()
}

/// A forecast.
pub fn forecast(forecast: &Forecast, classes: &[String]) -> Value {
    json!({
        "told": forecast.told,
        "error": forecast.error,
        "interval": forecast.interval,
        "worth": forecast.worth,
        "source": forecast.provenance,
        "log_loss": forecast.log_loss,
        "auc": forecast.auc,
        "class_errors": by_class(classes, &forecast.class_errors),
        "confusion": confusion(classes, &forecast.confusion),
        "reliability": forecast.reliability,
        "reliability_gap": gap(&forecast.reliability),
        "alarm": forecast.alarm.as_ref().map(|of| alarm(of, classes)),
        "priors": by_class(classes, &forecast.priors),
        "cost": forecast.cost,
        "samples": forecast.samples,
        "rehearsal": forecast.rehearsal,
        "notes": forecast.notes,
    })
}

fn alarm(alarm: &AlarmForecast, classes: &[String]) -> Value {
    json!({
        "null": classes.get(alarm.null),
        "requested": alarm.requested,
        "false_alarm": alarm.false_alarm,
        "false_alarm_interval": alarm.false_alarm_interval,
        "detection": alarm.detection,
        "detection_interval": alarm.detection_interval,
        "tail": alarm.tail,
        "samples": alarm.samples,
    })
}

/// true class -> called class -> number.
pub fn confusion<T: serde::Serialize>(classes: &[String], rows: &[Vec<T>]) -> Value {
    let rows: Vec<Value> = rows.iter().map(|row| by_class(classes, row)).collect();
    by_class(classes, &rows)
}

/// How alike the tasks are to the target.
pub fn relatedness(relatedness: &[(String, Option<f64>)]) -> Value {
    let entries = relatedness.iter();
    Value::Object(
        entries
            .map(|(task, value)| (task.clone(), json!(value)))
            .collect(),
    )
}

/// class -> number.
pub fn by_class<T: serde::Serialize>(classes: &[String], values: &[T]) -> Value {
    let pairs = classes.iter().zip(values);
    Value::Object(
        pairs
            .map(|(class, value)| (class.clone(), json!(value)))
            .collect(),
    )
}
