//! Every line that a verdict may have, from facts that are made up.

#![allow(clippy::unwrap_used)] // a failure here is a failed test

use foretask::{Forecast, Paired, SourceValue, Verdict as Worth};
use serde_json::{Value, json};

use super::*;

fn forecast(error: f64, interval: [f64; 2], priors: &[f64], changes: Value) -> Forecast {
    let mut report = json!({
        "error": error,
        "interval": interval,
        "source": "leave-one-out",
        "class_errors": vec![error; priors.len()],
        "priors": priors,
        "cost": error,
        "samples": 20,
        "densities": [],
        "notes": [],
    });
    for (key, value) in changes.as_object().unwrap() {
        report[key] = value.clone();
    }
    serde_json::from_value(report).unwrap()
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn worth(task: Option<&str>, difference: f64, verdict: Worth) -> SourceValue {
    SourceValue {
        task: task.map(str::to_owned),
        error_without: 0.1,
        interval: [0.05, 0.2],
        paired: Paired {
            difference,
            interval: [difference - 0.02, difference + 0.02],
            verdict,
        },
    }
}

fn facts<'a>(classes: &'a [String], forecast: &'a Forecast) -> Facts<'a> {
    Facts {
        classes,
        counts: &[10, 10],
        forecast,
        labels: None,
        has_sources: false,
        sources: None,
        relatedness: Vec::new(),
        ask: None,
    }
}

fn twice(error: f64) -> Option<MoreLabels> {
    Some(MoreLabels {
        added: 10,
        error,
        interval: [0.5 * error, 2.0 * error],
        halved: Some(45),
    })
}

fn lines(facts: &Facts<'_>) -> Vec<String> {
    let verdict = Verdict::of(facts);
    assert!(verdict.lines().len() <= MOST_LINES);
    verdict.lines().iter().map(Line::to_string).collect()
}

#[test]
fn a_full_verdict_has_five_lines() {
    let classes = names(&["cat", "dog"]);
    let forecast = forecast(0.1, [0.05, 0.2], &[0.4, 0.6], json!({"auc": 0.954}));
    let sources = [
        worth(None, 0.05, Worth::Helps),
        worth(Some("a"), 0.03, Worth::Helps),
        worth(Some("b"), 0.01, Worth::Unknown),
        worth(Some("c"), 0.04, Worth::Helps),
    ];
    let facts = Facts {
        labels: twice(0.08),
        has_sources: true,
        sources: Some(&sources),
        relatedness: vec![("b".into(), Some(-0.5)), ("a".into(), Some(0.9))],
        ask: Some("Never"),
        ..facts(&classes, &forecast)
    };
    assert_eq!(
        lines(&facts),
        [
            "Expected error 10.0 % (5.0 to 20.0 %), or 40.0 % by always saying 'dog'; AUC 0.95",
            "More labels help: 10 per class for about 8.0 % (4.0 to 16.0 %), 45 to halve it",
            "The 3 sources help: error 5.0 points lower (3.0 to 7.0)",
            "One by one: 'a' and 'c' help; of 'b' it cannot be told; 'b' points the other way",
            "Next: if 10.0 % will do, use it; if not, label 10 more per class and ask again",
        ]
    );
    let report = json!(Verdict::of(&facts));
    let kinds: Vec<&Value> = (report.as_array().unwrap().iter())
        .map(|line| &line["kind"])
        .collect();
    assert_eq!(kinds, ["error", "labels", "sources", "each-source", "next"]);
    assert_eq!(report[0]["better"], true);
    assert_eq!(report[1]["help"], true);
    assert_eq!(report[2]["paired"]["verdict"], "helps");
    assert_eq!(report[3]["helps"], json!(["a", "c"]));
    assert_eq!(report[4]["step"], "use");
}

#[test]
fn harm_is_to_be_left_out() {
    let classes = names(&["cat", "dog"]);
    let forecast = forecast(0.1, [0.05, 0.2], &[0.5, 0.5], json!({}));
    let single = [worth(Some("far"), -0.05, Worth::Harms)];
    let with = |sources| Facts {
        sources: Some(sources),
        ..facts(&classes, &forecast)
    };
    let said = lines(&with(&single));
    assert_eq!(
        said[1..],
        [
            "The source 'far' harms: error 5.0 points higher (3.0 to 7.0)",
            "Next: leave out 'far', which harms"
        ]
    );
    // Each by itself may be too little to tell.
    let together = [
        worth(None, -0.05, Worth::Harms),
        worth(Some("a"), -0.01, Worth::Unknown),
        worth(Some("b"), -0.01, Worth::Unknown),
    ];
    let said = lines(&with(&together));
    assert_eq!(said[2], "One by one: none can be told to help or harm");
    assert_eq!(said[3], "Next: leave the sources out: together they harm");
}

#[test]
fn what_does_not_beat_the_commonest_class_is_not_to_be_used() {
    let classes = names(&["rare", "usual"]);
    for (error, interval, more, step, words) in [
        (
            0.05,
            [0.03, 0.08],
            0.049,
            "look-elsewhere",
            "it does not beat",
        ),
        (0.05, [0.03, 0.08], 0.03, "label", "it does not beat"),
        (0.04, [0.02, 0.06], 0.03, "label", "it may not beat"),
        (0.02, [0.01, 0.04], 0.01, "use", "if 2.0 % will do"),
    ] {
        let forecast = forecast(error, interval, &[0.05, 0.95], json!({}));
        let facts = Facts {
            labels: twice(more),
            ..facts(&classes, &forecast)
        };
        let last = json!(Verdict::of(&facts))
            .as_array()
            .unwrap()
            .last()
            .cloned();
        let last = last.unwrap();
        assert_eq!(last["step"], step, "{last}");
        assert!(last["text"].as_str().unwrap().contains(words), "{last}");
    }
    // Costs may well ask for more mistakes.
    let dear = forecast(0.3, [0.2, 0.4], &[0.05, 0.95], json!({"cost": 0.4}));
    assert_eq!(
        lines(&facts(&classes, &dear))[1],
        "Next: if 30.0 % will do, use it"
    );
}

#[test]
fn few_labels_come_first() {
    let classes = names(&["cat", "dog"]);
    let note = json!([{"kind": "few-samples", "class": "cat", "samples": 3}]);
    let rough = forecast(0.1, [0.0, 0.6], &[0.5, 0.5], json!({"notes": note}));
    let said = lines(&facts(&classes, &rough));
    assert_eq!(
        said[1],
        "Next: label more of 'cat': with so few the forecast is rough"
    );
    let untold = forecast(0.5, [0.0, 1.0], &[0.5, 0.5], json!({"told": false}));
    let facts = Facts {
        labels: twice(0.4),
        sources: Some(&[]),
        ask: Some("Never"),
        ..facts(&classes, &untold)
    };
    assert_eq!(
        lines(&facts),
        [
            "The error cannot be told from one label per class; it is 50.0 % by always saying 'cat'",
            "Nor can it be told what more labels would bring, or whether sources help",
            "Next: label more: two of each class are the least that anything can be told from",
        ]
    );
}

#[test]
fn names_are_printable_and_short() {
    let classes = names(&["\u{1b}[31mred\n", &"x".repeat(100)]);
    for priors in [[0.9, 0.1], [0.1, 0.9]] {
        let forecast = forecast(0.01, [0.0, 0.02], &priors, json!({}));
        let sources: Vec<SourceValue> = [None, Some("a\u{7}"), Some("b\r"), Some("c"), Some("d")]
            .map(|task| worth(task, 0.04, Worth::Helps))
            .into();
        let facts = Facts {
            sources: Some(&sources),
            ..facts(&classes, &forecast)
        };
        let said = lines(&facts);
        assert!(said.iter().all(|line| !line.contains(char::is_control)));
        assert!(
            said.iter().all(|line| line.chars().count() < 100),
            "{said:?}"
        );
        assert!(
            said[2].contains("'a\\u{7}', 'b\\r', 'c' and 1 more help"),
            "{said:?}"
        );
    }
}
