use super::*;

fn normal(mean: f64, deviation: f64) -> Vec<(f64, f64)> {
    let scale = 1.0 / (deviation * std::f64::consts::TAU.sqrt());
    let density = |score: f64| scale * (-((score - mean) / deviation).powi(2) / 2.0).exp();
    (-400..=400)
        .map(|step| mean + f64::from(step) / 100.0 * deviation)
        .map(|x| (x, density(x)))
        .collect()
}

/// Scores that look drawn at random: a low-discrepancy sum of four uniforms.
fn scores(count: usize, mean: f64, deviation: f64) -> Vec<f64> {
    let uniform = |index: usize, irrational: f64| (index as f64 * irrational).fract() - 0.5;
    let sum = |index| {
        [2f64, 3.0, 5.0, 7.0]
            .iter()
            .map(|root| uniform(index, root.sqrt()))
            .sum::<f64>()
    };
    (1..=count)
        .map(|index| mean + deviation * 3f64.sqrt() * sum(index))
        .collect()
}

fn example(
    data: &[(String, Vec<f64>, f64, f64)],
    threshold: Option<f64>,
) -> Result<String, PlotError> {
    let classes = data
        .iter()
        .map(|(name, scores, mean, deviation)| ClassScores {
            name,
            scores,
            density: normal(*mean, *deviation),
        })
        .collect();
    let (title, subtitle) = (
        "Scores on target 'webcam'",
        "1,200 samples · forecast error 6.1 %, measured 6.4 %",
    );
    draw(&ScorePlot {
        title,
        subtitle,
        axis: "decision score",
        classes,
        threshold,
    })
}

fn classes(count: usize) -> Vec<(String, Vec<f64>, f64, f64)> {
    (0..count)
        .map(|class| {
            let (mean, deviation) = (class as f64 * 0.5 - 1.0, 0.18 + 0.02 * (class % 4) as f64);
            (
                format!("class {class}"),
                scores(300, mean, deviation * 1.05),
                mean,
                deviation,
            )
        })
        .collect()
}

/// Writes the figure for a look when `FORETASK_PLOT_DIR` names a folder.
fn keep(name: &str, svg: &str) {
    if let Some(folder) = std::env::var_os("FORETASK_PLOT_DIR") {
        std::fs::write(std::path::Path::new(&folder).join(name), svg).unwrap();
    }
}

#[test]
fn two_classes_with_a_threshold() {
    let svg = example(&classes(2), Some(-0.74)).unwrap();
    keep("two.svg", &svg);
    assert!(svg.starts_with("<svg width=\"900\" height=\"500\" viewBox=\"0 0 7200 4000\""));
    assert!(svg.trim_end().ends_with("</svg>"));
    for part in [
        "class 0",
        "class 1",
        "threshold −0.740",
        "decision score",
        "density",
        "measured",
        "forecast",
    ] {
        assert!(svg.contains(part), "{part}");
    }
    assert!(!svg.contains("href") && !svg.contains("NaN"));
}

#[test]
fn many_classes_fit() {
    for count in [5, 10, 14, 40] {
        let svg = example(&classes(count), None).unwrap();
        keep(&format!("{count}.svg"), &svg);
        assert!(svg.contains(&format!("class {}", count - 1)));
    }
}

#[test]
fn names_cannot_break_the_file() {
    let data = [(
        "<b>&\"\u{0}\u{1b}".to_owned(),
        scores(20, 0.0, 1.0),
        0.0,
        1.0,
    )];
    let svg = example(&data, None).unwrap();
    assert!(svg.contains("&lt;b&gt;&amp;") && !svg.contains("<b>"));
    assert!(
        !svg.chars()
            .any(|letter| letter.is_control() && letter != '\n')
    );
    let data = [("n".repeat(500), scores(20, 0.0, 1.0), 0.0, 1.0)];
    assert!(!example(&data, None).unwrap().contains(&"n".repeat(30)));
}

#[test]
fn a_class_may_lack_scores_or_a_forecast() {
    let mut data = classes(2);
    data[0].1.clear();
    assert!(example(&data, None).is_ok());
    let measured = scores(50, 1e-7, 1e-9);
    let classes = vec![ClassScores {
        name: "u",
        scores: &measured,
        density: Vec::new(),
    }];
    assert!(
        draw(&ScorePlot {
            title: "",
            subtitle: "",
            axis: "decision score",
            classes,
            threshold: Some(0.0)
        })
        .is_ok()
    );
}

#[test]
fn far_scores_are_mentioned() {
    let mut data = classes(2);
    data[1].1.extend([1e5, -1e5]);
    let svg = example(&data, Some(-0.74)).unwrap();
    keep("far.svg", &svg);
    assert!(svg.contains("2 far scores not shown"));
}

#[test]
fn what_cannot_be_drawn_is_an_error() {
    assert!(matches!(example(&[], None), Err(PlotError::Empty)));
    assert!(matches!(
        example(&classes(1), Some(f64::NAN)),
        Err(PlotError::NotFinite { .. })
    ));
    let mut data = classes(1);
    data[0].1[3] = f64::INFINITY;
    assert!(example(&data, None).is_err_and(|error| error.to_string().contains("class 0")));
}

#[test]
fn ticks_have_the_digits_they_need() {
    assert_eq!((digits(123.0), digits(5.0), digits(0.02)), (0, 1, 3));
    assert_eq!(
        (fixed(-0.001, 2), fixed(-1.5, 1)),
        ("0.00".to_owned(), "−1.5".to_owned())
    );
    assert_eq!(digits(f64::MIN_POSITIVE), 12);
}
