//! What the page needs to answer by itself.
//!
//! | question | answered from |
//! |---|---|
//! | other priors, costs or thresholds | `recount`: the scores of samples left out, counted again by the page |
//! | other false-alarm rates | `alarms`: what the library says at each of [`RATES`] |
//! | other thresholds of labels, rules and theories by name | `thresholds`: the law of the scores at each of them |
//! | more labels | `curve`: what the library says at each of [`ADDED`] |
//! | fewer sources | `combinations`: what the library says without some of them |
//! | which tasks are alike | `map`: where the library places them |
//!
//! What is too large for a page is left out, and the page says so.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use foretask::{Labels, Model, Result, Settings, SourceValue, Statistics, Study};
use foretask_words::{Facts, RELATED, Verdict};
use serde_json::{Map, Value, json};

use crate::html::html;
use crate::json::{self, by_class};

/// False-alarm rates that can be asked for, beside the one that was.
const RATES: [f64; 24] = [
    0.001, 0.002, 0.005, 0.01, 0.015, 0.02, 0.025, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1,
    0.12, 0.15, 0.18, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5,
];
/// Labels per class that can be added.
const ADDED: [usize; 48] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 90,
    100, 120, 140, 160, 180, 200, 250, 300, 350, 400, 450, 500, 600, 700, 800, 900, 1000, 1200,
    1400, 1600, 1800, 2000,
];
/// The same where each takes a theory its time.
const ADDED_BY_THEORY: [usize; 6] = [0, 5, 10, 20, 50, 100];
/// Thresholds of a law, less one.
const THRESHOLDS: usize = 200;
/// Scores that a page holds: half a megabyte.
const MOST_SCORES: usize = 48_000;
/// Of up to so many sources every combination is left out.
const EVERY_COMBINATION: usize = 4;
/// Of more, those worth least together, one more at each of so many steps at most.
const MOST_STEPS: usize = 12;
/// Sources on the map.
const MOST_PLACES: usize = 40;
/// Features that are listed by weight.
const MOST_WEIGHTS: usize = 200;

/// What is asked of a study for a page.
pub struct Played<'q, 'a> {
    /// The study.
    pub study: &'q Study<'a>,
    /// What it is of.
    pub statistics: &'q Statistics<'a>,
    /// What it was asked.
    pub settings: &'q Settings,
    /// Its model, with the names of the features if they have any.
    pub model: &'q Model,
    /// Whether to look at more labels, which may take rehearsals.
    pub labels: bool,
}

/// The key `report`, to which more may be added: `version`, `related`, `costs`, `recount`, `alarms`, `thresholds`,
/// `curve`, `combinations`, `map` and `weights` (docs/json.md); `sources` are what [`Study::source_values`] says, where
/// it was asked.
///
/// # Errors
/// As [`Study::learning_curve`] and [`Study::without`].
pub fn played(
    of: &Played<'_, '_>,
    sources: &[SourceValue],
    progress: &dyn Fn(f64),
) -> Result<Map<String, Value>> {
    let study = of.study;
    let forecast = study.forecast();
    let classes = of.model.classes();
    let costs = classes.iter().map(|class| {
        let given = of.settings.costs.iter().find(|(name, _)| name == class);
        given.map_or(1.0, |(_, cost)| *cost)
    });
    let costs: Vec<f64> = costs.collect();
    let mut report = Map::new();
    report.insert("version".into(), json!(env!("CARGO_PKG_VERSION")));
    report.insert("related".into(), json!(RELATED));
    report.insert("costs".into(), by_class(classes, &costs));
    let recount = study
        .recount()
        .and_then(|recount| serde_json::to_value(recount).ok());
    let (recount, left_out) = match recount.map(packed) {
        Some(Ok(recount)) => (recount, None),
        Some(Err(scores)) => (Value::Null, Some(scores)),
        None => (Value::Null, None),
    };
    report.insert("recount".into(), recount);
    report.insert("scores_left_out".into(), json!(left_out));
    report.insert("alarms".into(), alarms(study));
    report.insert("thresholds".into(), thresholds(study));
    let left_out = forecast.provenance.is_left_out();
    let curve = match (of.labels && forecast.told, left_out) {
        (false, _) => Value::Null,
        (true, true) => json!(study.learning_curve(&ADDED, &|_| {})?),
        (true, false) => json!(study.learning_curve(&ADDED_BY_THEORY, &|_| {})?),
    };
    report.insert("curve".into(), curve);
    let combinations = match forecast.told {
        true => combinations(study, sources, progress)?,
        false => Value::Null,
    };
    report.insert("combinations".into(), combinations);
    report.insert("map".into(), json!(study.likeness_map(MOST_PLACES)));
    report.insert("weights".into(), weights(of));
    Ok(report)
}

/// The page of a study by itself, as Python shows it: all but theories, and nothing of files.
///
/// # Errors
/// As [`Study::learning_curve`] and [`Study::source_values`].
pub fn page(of: &Played<'_, '_>, progress: &dyn Fn(f64)) -> Result<String> {
    let study = of.study;
    let mut facts = Facts::of(study);
    let mut more = Map::new();
    let sources = match of.labels {
        false => None,
        true => {
            facts = facts.with_labels(study)?;
            let curve =
                study.learning_curve(&ADDED_BY_THEORY[1..], &|share| progress(0.3 * share))?;
            more.insert("learning_curve".into(), json!(curve));
            let used = study.cells().tasks().len() > 1 && of.settings.labels != Labels::Alone;
            Some(match used {
                true => study.source_values(&|share| progress(0.3 + 0.4 * share))?,
                false => Vec::new(),
            })
        }
    };
    facts = match &sources {
        Some(sources) => facts.with_sources(sources),
        None => facts.with_ask("report(details=True) says"),
    };
    if let Some(sources) = &sources {
        more.insert("sources".into(), json!(sources));
    }
    let mut report = json::study(study, of.statistics.features(), &Verdict::of(&facts));
    report.extend(more);
    let sources = sources.unwrap_or_default();
    let played = played(of, &sources, &|share| progress(0.7 + 0.3 * share))?;
    report.insert("report".into(), Value::Object(played));
    Ok(html(report))
}

/// What is expected without several sources, but not all; null where it was not asked what sources are worth. Tasks are
/// told by their places, because names may be long.
fn combinations(
    study: &Study<'_>,
    sources: &[SourceValue],
    progress: &dyn Fn(f64),
) -> Result<Value> {
    let tasks = study.cells().tasks();
    let place = |name: &String| tasks.iter().position(|task| task.name == *name);
    let each: Vec<(usize, f64)> = (sources.iter())
        .filter_map(|value| Some((place(value.task.as_ref()?)?, value.paired.difference)))
        .collect();
    if each.is_empty() {
        return Ok(Value::Null);
    }
    let left_out = left_out_together(each);
    let mut told = Vec::with_capacity(left_out.len());
    for (done, without) in left_out.iter().enumerate() {
        let names: Vec<&str> = without
            .iter()
            .map(|&task| tasks[task].name.as_str())
            .collect();
        let tell = |share: f64| progress((done as f64 + share) / left_out.len() as f64);
        let value = study.without(&names, &tell)?;
        told.push(json!({
            "without": without,
            "error_without": value.error_without,
            "interval": value.interval,
            "paired": value.paired,
        }));
    }
    Ok(Value::Array(told))
}

/// Which sources, given with their worth, are left out together: every combination of more than one and fewer than all
/// where sources are few; else those worth least, more and more of them. Each ascending.
fn left_out_together(mut each: Vec<(usize, f64)>) -> Vec<Vec<usize>> {
    let k = each.len();
    if k <= EVERY_COMBINATION {
        let among = |bits: usize| (0..k).filter(move |source| bits >> source & 1 == 1);
        let chosen =
            (0..1_usize << k).filter(|bits| (2..k).contains(&(bits.count_ones() as usize)));
        let combination = |bits| {
            let mut tasks: Vec<usize> = among(bits).map(|source| each[source].0).collect();
            tasks.sort_unstable();
            tasks
        };
        return chosen.map(combination).collect();
    }
    each.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    let steps = MOST_STEPS.min(k - 2);
    // From two to all but one, evenly.
    let count = |step: usize| 2 + step * (k - 3) / (steps - 1).max(1);
    let worst = |count: usize| {
        let mut tasks: Vec<usize> = each.iter().take(count).map(|(task, _)| *task).collect();
        tasks.sort_unstable();
        tasks
    };
    (0..steps).map(|step| worst(count(step))).collect()
}

/// A recount with its scores as bytes: base64 of doubles, little end first, row by row; of two classes the first less
/// the second. The number of its scores where they are too many.
fn packed(mut recount: Value) -> std::result::Result<Value, usize> {
    let two = recount["shares"]
        .as_array()
        .is_some_and(|shares| shares.len() == 2);
    let mut count = 0;
    let mut pack = |partition: &mut Value| {
        let scores: Vec<f64> = (partition["scores"].as_array().into_iter().flatten())
            .map(|score| score.as_f64().unwrap_or(f64::NAN))
            .collect();
        let scores: Vec<f64> = match two {
            true => scores
                .chunks(2)
                .map(|pair| pair.iter().rev().fold(0.0, |sum, x| x - sum))
                .collect(),
            false => scores,
        };
        count += scores.len();
        let bytes: Vec<u8> = scores
            .iter()
            .flat_map(|score| score.to_le_bytes())
            .collect();
        partition["scores"] = json!(STANDARD.encode(bytes));
    };
    if let Some(partitions) = recount["partitions"].as_array_mut() {
        partitions.iter_mut().for_each(&mut pack);
    }
    if !recount["half"].is_null() {
        pack(&mut recount["half"]);
    }
    match count <= MOST_SCORES {
        true => Ok(recount),
        false => Err(count),
    }
}

/// What other false-alarm rates would do; null where none is held by the default.
fn alarms(study: &Study<'_>) -> Value {
    let Some(asked) = study.forecast().alarm.as_ref().map(|alarm| alarm.requested) else {
        return Value::Null;
    };
    let mut rates = RATES.to_vec();
    if !rates.contains(&asked) {
        rates.push(asked);
        rates.sort_by(f64::total_cmp);
    }
    let alarms = study.alarms(&rates);
    let written = alarms.iter().map(|(threshold, alarm)| {
        json!({
            "requested": alarm.requested,
            "threshold": threshold,
            "false_alarm": alarm.false_alarm,
            "false_alarm_interval": alarm.false_alarm_interval,
            "detection": alarm.detection,
            "detection_interval": alarm.detection_interval,
        })
    });
    match alarms.is_empty() {
        true => Value::Null,
        false => written.collect(),
    }
}

/// Both errors at thresholds of the law of two scores, rising; null for more classes.
fn thresholds(study: &Study<'_>) -> Value {
    let forecast = study.forecast();
    let ([first, second], Some(roc)) = (forecast.densities.as_slice(), forecast.roc(THRESHOLDS))
    else {
        return Value::Null;
    };
    let low = first.range().0.min(second.range().0);
    let high = first.range().1.max(second.range().1);
    let at = |i: usize| high + (low - high) * i as f64 / THRESHOLDS as f64;
    let points = roc.iter().enumerate().rev();
    points
        .map(|(i, point)| json!([at(i), 1.0 - point.detection, point.false_alarm]))
        .collect()
}

/// What a deviation of each feature adds to the margin of each class, largest first; null where the model is not
/// linear in its features. Deviations are those within tasks.
fn weights(of: &Played<'_, '_>) -> Value {
    let Some((weights, _)) = of.model.linear_margins() else {
        return Value::Null;
    };
    let variances = of.statistics.pooled_variances();
    let names = of.model.feature_names();
    let name = |feature: usize| match names.and_then(|names| names.get(feature)) {
        Some(name) => name.clone(),
        None => format!("f{feature}"),
    };
    let mut rows: Vec<(f64, usize, Vec<f64>)> = (0..weights.nrows())
        .map(|feature| {
            let own: Vec<f64> = weights.row(feature).iter().copied().collect();
            let deviation = variances.get(feature).copied().unwrap_or(0.0).sqrt();
            let mean = match own.as_slice() {
                [_] => 0.0,
                several => several.iter().sum::<f64>() / several.len().max(1) as f64,
            };
            let effects: Vec<f64> = own
                .iter()
                .map(|weight| (weight - mean) * deviation)
                .collect();
            let size = effects
                .iter()
                .fold(0.0, |most: f64, effect| most.max(effect.abs()));
            (size, feature, effects)
        })
        .collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let listed = rows.iter().take(MOST_WEIGHTS).map(|(_, feature, effects)| {
        let raw: Vec<f64> = weights.row(*feature).iter().copied().collect();
        json!({"feature": name(*feature), "weight": raw, "effect": effects})
    });
    json!({"count": rows.len(), "largest": listed.collect::<Value>()})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recount(classes: usize, scores: usize) -> Value {
        let shares = vec![1.0 / classes as f64; classes];
        let scores: Vec<f64> = (0..scores).map(|i| i as f64 * i as f64 / 7.0).collect();
        json!({"shares": shares, "partitions": [{"scores": scores}], "half": null})
    }

    fn doubles(packed: &Value) -> Vec<f64> {
        let text = packed["partitions"][0]["scores"]
            .as_str()
            .unwrap_or_default();
        let bytes = STANDARD.decode(text).unwrap_or_default();
        let eight = bytes
            .chunks_exact(8)
            .filter_map(|eight| eight.try_into().ok());
        eight.map(f64::from_le_bytes).collect()
    }

    #[test]
    fn scores_are_kept_to_the_last_bit() {
        let packed = packed(recount(3, 6)).unwrap_or_default();
        let expected: Vec<f64> = (0..6).map(|i| f64::from(i * i) / 7.0).collect();
        assert_eq!(doubles(&packed), expected);
    }

    #[test]
    fn of_two_classes_the_difference_is_kept() {
        let packed = packed(recount(2, 4)).unwrap_or_default();
        assert_eq!(doubles(&packed), [0.0 - 1.0 / 7.0, 4.0 / 7.0 - 9.0 / 7.0]);
    }

    #[test]
    fn few_sources_are_left_out_in_every_combination() {
        let left_out = |k: usize| {
            let each = (0..k).map(|task| (2 * task + 1, -(task as f64))).collect();
            left_out_together(each)
        };
        assert!(left_out(1).is_empty() && left_out(2).is_empty());
        assert_eq!(left_out(3), [[1, 3], [1, 5], [3, 5]]);
        assert_eq!(left_out(4).len(), 10);
        // Of more those worth least: here the last.
        assert_eq!(left_out(5), [vec![7, 9], vec![5, 7, 9], vec![3, 5, 7, 9]]);
        let many = left_out(200);
        assert_eq!(many.len(), MOST_STEPS);
        assert_eq!((many[0].len(), many[MOST_STEPS - 1].len()), (2, 199));
        assert!(many.windows(2).all(|two| two[1].ends_with(&two[0])));
    }

    #[test]
    fn too_many_scores_are_counted_only() {
        assert_eq!(packed(recount(3, MOST_SCORES + 1)), Err(MOST_SCORES + 1));
        assert!(packed(recount(2, 2 * MOST_SCORES)).is_ok());
    }
}
