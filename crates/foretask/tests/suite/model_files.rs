//! Model files that were damaged or made up: refused with one clear error, or of use without a surprise.

use foretask::prepare::Preparation;
use foretask::{Error, FalseAlarm, Model, Rows, RuleName, Settings, Study, Tail, Tasks, evaluate};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use crate::tensors::{self, Table, Tables};

const FORMAT: &str = "foretask-model-3";
const FEATURES: usize = 3;

fn values(rows: usize, seed: u64) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    (0..rows * FEATURES)
        .map(|place| {
            let class = (place / FEATURES) % 3;
            random.random_range(-1.0..1.0) + if place % FEATURES == class { 1.0 } else { 0.0 }
        })
        .collect()
}

/// Models of every kind of file: thresholds, class scores, votes, quadratics, alarms, other views, columns.
fn models() -> Vec<(&'static str, Vec<&'static str>, Model)> {
    let rows = 72;
    let values = values(rows, 1);
    let task: Vec<&str> = (0..rows)
        .map(|row| if row < rows / 2 { "here" } else { "there" })
        .collect();
    let of = |classes: usize, settings: Settings| {
        let names = ["ant", "bee", "cat"];
        let class: Vec<&str> = (0..rows).map(|row| names[row % 3 % classes]).collect();
        let tasks = Tasks::new(Rows::row_major(&values, FEATURES).unwrap(), &task, &class).unwrap();
        let settings = Settings {
            target: Some("here".into()),
            ..settings
        };
        let model = Study::new(&tasks, &settings).unwrap().model().unwrap();
        (class, model)
    };
    let plain = Settings::default;
    let alarm = Settings {
        false_alarm: Some(FalseAlarm {
            null: "ant".into(),
            rate: 0.1,
            tail: Tail::default(),
        }),
        ..plain()
    };
    let named = |rule| Settings { rule, ..plain() };
    let all = [
        ("two classes", of(2, plain())),
        ("three classes", of(3, plain())),
        ("alarm", of(2, alarm)),
        ("votes", of(3, named(RuleName::OneVsOne))),
        ("quadratic", of(3, named(RuleName::Bayes))),
        ("one-hot", of(3, named(RuleName::OneHot))),
    ];
    let mut models: Vec<_> = all
        .into_iter()
        .map(|(name, (class, model))| (name, class, model))
        .collect();
    let names: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
    let (class, model) = (models[0].1.clone(), models[0].2.clone());
    let prepared = model.with_preparation(Preparation::plain(&names)).unwrap();
    models.push(("columns", class, prepared));
    models
}

/// The description of a file and its tables.
fn parts(bytes: &[u8]) -> (Value, Vec<Table>) {
    let (description, tables): (Value, Tables<'_>) =
        Tables::read(bytes, FORMAT, "a model").unwrap();
    let names = [
        "weights",
        "bias",
        "decision",
        "thresholds",
        "ties",
        "constants",
        "means",
        "precisions",
        "cosine.weights",
        "rbf.columns",
        "rbf.centre",
        "rbf.landmarks",
        "rbf.width",
        "rbf.weights",
    ];
    let there = names.into_iter().filter(|name| tables.has(name));
    let tables = there
        .map(|name| {
            let (shape, values) = tables.get(name).unwrap();
            (name.to_owned(), shape, values)
        })
        .collect();
    (description, tables)
}

/// The paths of all values, of long lists those of their ends.
fn paths(value: &Value, at: String, all: &mut Vec<String>) {
    all.push(at.clone());
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                paths(value, format!("{at}/{key}"), all);
            }
        }
        Value::Array(list) => {
            for (place, value) in list.iter().enumerate() {
                if place < 2 || place + 1 == list.len() {
                    paths(value, format!("{at}/{place}"), all);
                }
            }
        }
        _ => {}
    }
}

/// Other values in place of one.
fn changed(value: &Value) -> Vec<Value> {
    let mut changed = vec![
        Value::Null,
        json!(0),
        json!(-1),
        json!(1),
        json!(0.5),
        json!(1e308),
        json!(-1e308),
        json!(1e-320),
        json!(u64::MAX),
        json!(1_u64 << 60),
        json!(""),
        json!("here"),
        json!([]),
        json!({}),
        json!(true),
    ];
    match value {
        Value::Array(list) => {
            if let Some(first) = list.first() {
                changed.push(json!([&list[..], std::slice::from_ref(first)].concat()));
                changed.push(json!(list[1..].to_vec()));
                changed.push(json!(list.iter().rev().collect::<Vec<_>>()));
            }
        }
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or(0.0);
            changed.extend([json!(-number), json!(2.0 * number), json!(number + 1.0)]);
        }
        Value::String(text) => changed.push(json!(format!("{text} "))),
        _ => {}
    }
    changed
}

/// Whether the bytes are refused with a reason; if not, whatever a model is used for must go well.
fn is_refused(bytes: &[u8], class: &[&str], what: &str) -> bool {
    let model = match Model::from_bytes(bytes) {
        Ok(model) => model,
        Err(Error::Format { why, .. }) => {
            assert!(!why.is_empty(), "{what}");
            return true;
        }
        Err(other) => panic!("{what}: {other}"),
    };
    let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert!(again == model, "{what}");
    let forecast = model.forecast();
    // Files may be off by rounding.
    let [low, high] = forecast.interval;
    assert!(
        low - 1e-6 <= forecast.error && forecast.error <= high + 1e-6,
        "{what}"
    );
    let test = forecast.in_test(50);
    assert!(test.iter().all(|end| end.is_finite()), "{what}: {test:?}");
    for point in forecast.roc(20).unwrap_or_default() {
        assert!(
            point.detection.is_finite() && point.false_alarm.is_finite(),
            "{what}"
        );
    }
    for density in &forecast.densities {
        let (low, high) = density.range();
        assert!(
            density.at(low).is_finite() && density.at(0.5 * low + 0.5 * high).is_finite(),
            "{what}"
        );
    }
    forecast
        .notes
        .iter()
        .for_each(|note| assert!(!note.to_string().contains("NaN"), "{what}"));
    if model.features() != FEATURES {
        return false;
    }
    let values = values(class.len(), 2);
    let rows = Rows::row_major(&values, FEATURES).unwrap();
    match model.probabilities(rows) {
        Ok(probabilities) => {
            for row in probabilities.row_iter() {
                let sum: f64 = row.iter().sum();
                assert!(
                    row.iter().all(|p| (0.0..=1.0).contains(p)),
                    "{what}: {row:?}"
                );
                assert!((sum - 1.0).abs() < 1e-9, "{what}: {row:?}");
            }
            if let Ok(measured) = evaluate(&model, rows, class) {
                let numbers = [measured.error, measured.comparable, measured.log_loss];
                assert!(numbers.iter().all(|x| x.is_finite()), "{what}: {numbers:?}");
                assert!(measured.foretold.iter().all(|x| x.is_finite()), "{what}");
            }
        }
        Err(Error::Scores) => {}
        Err(other) => panic!("{what}: {other}"),
    }
    false
}

/// Every field of the description of every kind of model, changed in turn, with a checksum that is right.
#[test]
fn descriptions_that_were_made_up_do_no_harm() {
    let (mut tried, mut refused) = (0, 0);
    for (name, class, model) in models() {
        let bytes = model.to_bytes().unwrap();
        assert!(Model::from_bytes(&bytes).unwrap() == model, "{name}");
        assert!(!is_refused(&bytes, &class, name));
        let (description, tables) = parts(&bytes);
        let mut all = Vec::new();
        paths(&description, String::new(), &mut all);
        for path in all {
            let value = description.pointer(&path).unwrap();
            for other in changed(value) {
                let mut edited = description.clone();
                *edited.pointer_mut(&path).unwrap() = other.clone();
                let bytes = tensors::write_sealed(FORMAT, &edited, tables.clone()).unwrap();
                tried += 1;
                let what = format!("{name}{path} = {other}");
                refused += usize::from(is_refused(&bytes, &class, &what));
            }
        }
    }
    println!("{refused} of {tried} refused, no harm of the others");
    assert!(
        tried > 10_000 && refused > tried / 2,
        "{refused} of {tried}"
    );
}

/// The same of tables: values, shapes, and whole ones.
#[test]
fn tables_that_were_made_up_do_no_harm() {
    for (name, class, model) in models() {
        let (description, tables) = parts(&model.to_bytes().unwrap());
        let try_with = |tables: Vec<Table>, what: &str| {
            let bytes = tensors::write_sealed(FORMAT, &description, tables).unwrap();
            is_refused(&bytes, &class, &format!("{name}: {what}"))
        };
        for (place, (table, shape, values)) in tables.iter().enumerate() {
            let with = |shape: Vec<usize>, values: Vec<f64>| {
                let mut tables = tables.clone();
                tables[place] = (table.clone(), shape, values);
                tables
            };
            let mut without = tables.clone();
            without.remove(place);
            assert!(try_with(without, &format!("without {table}")), "{table}");
            let last = values.len() - 1;
            for entry in [0, last / 2, last] {
                for other in [
                    f64::NAN,
                    f64::INFINITY,
                    f64::NEG_INFINITY,
                    1e308,
                    -1e308,
                    1e-320,
                    -1.0,
                    0.0,
                ] {
                    let mut values = values.clone();
                    values[entry] = other;
                    let what = format!("{table}[{entry}] = {other}");
                    let refused = try_with(with(shape.clone(), values), &what);
                    assert!(refused || !other.is_nan(), "{name}: {what}");
                }
            }
            let mut more = shape.clone();
            more[0] += 1;
            let longer = [&values[..], &vec![0.5; values.len() / shape[0]]].concat();
            assert!(
                try_with(with(more, longer), &format!("longer {table}")),
                "{name} {table}"
            );
            let flat = vec![values.len()];
            try_with(with(flat, values.clone()), &format!("flat {table}"));
            let none: Vec<usize> = shape.iter().map(|_| 0).collect();
            assert!(
                try_with(with(none, Vec::new()), &format!("empty {table}")),
                "{name} {table}"
            );
            let wide = vec![1 << 40, 0];
            assert!(
                try_with(with(wide, Vec::new()), &format!("wide {table}")),
                "{name} {table}"
            );
        }
    }
}

/// Bytes that were cut, or of which one was changed, are refused whatever they mean.
#[test]
fn damaged_files_are_refused() {
    let (_, class, model) = models().swap_remove(0);
    let bytes = model.to_bytes().unwrap();
    for end in (0..bytes.len()).step_by(7) {
        assert!(is_refused(
            &bytes[..end],
            &class,
            &format!("the first {end} bytes")
        ));
    }
    for place in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[place] ^= 1 << (place % 8);
        assert!(is_refused(&bytes, &class, &format!("another byte {place}")));
    }
}
