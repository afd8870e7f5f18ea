//! A held false-alarm rate: the realised rates next to the expected ones.

use foretask::{Measured, Rate};

use crate::show::expected::null_class;
use crate::show::table::{Align, Table};
use crate::show::words;
use crate::summary::Summary;

/// For people; nothing if the model holds no rate.
pub fn text(summary: &Summary, measured: &Measured) -> String {
    let (Some(expected), Some(alarm)) = (&summary.forecast.alarm, &measured.alarm) else {
        return String::new();
    };
    let rates: [Compared; 2] = [
        (
            "false alarms",
            expected.false_alarm,
            expected.false_alarm_interval,
            alarm.false_alarm,
        ),
        (
            "detections",
            expected.detection,
            expected.detection_interval,
            alarm.detection,
        ),
    ];
    let mut aligns = vec![Align::Left];
    aligns.resize(6, Align::Right);
    let mut table = Table::new(&aligns);
    let interval = words::interval_name();
    table.row(["", "forecast", &interval, "measured", &interval, "samples"]);
    for (what, share, expected, rate) in rates {
        let forecast = [
            what.to_owned(),
            words::percent(share),
            words::interval(expected),
        ];
        let counted = match rate {
            Some(rate) => vec![
                words::percent(rate.share),
                words::interval(rate.interval),
                rate.samples.to_string(),
            ],
            None => vec!["no sample".to_owned()],
        };
        table.row(forecast.into_iter().chain(counted));
    }
    format!(
        "The alarm: {} of '{}' may raise an alarm\n\n{}\n{}",
        words::percent(expected.requested),
        null_class(summary, expected),
        table.text(),
        words::wrapped(&verdict(expected.requested, &rates))
    )
}

/// A rate: its name, what is expected of it, the interval, and what was measured.
type Compared = (&'static str, f64, [f64; 2], Option<Rate>);

/// Whether the rates came true.
fn verdict(requested: f64, rates: &[Compared; 2]) -> String {
    match rates {
        [(.., Some(alarms)), (.., Some(detections))] if alarms.within && detections.within => {
            format!(
                "The alarm does what was foretold: {} false alarms ({} were asked for) and {} \
                 detections, both within the forecast's intervals.",
                words::percent(alarms.share),
                words::percent(requested),
                words::percent(detections.share),
            )
        }
        _ => {
            let sentences = rates.iter().map(|(what, _, expected, rate)| match rate {
                Some(rate) => sentence(what, *expected, *rate),
                None => format!("No sample tells of {what}."),
            });
            sentences.collect::<Vec<_>>().join(" ")
        }
    }
}

fn sentence(what: &str, [low, high]: [f64; 2], rate: Rate) -> String {
    let share = words::percent(rate.share);
    let side = match rate.share < low {
        true => "below",
        false => "above",
    };
    let apart = rate.interval[0] > high || rate.interval[1] < low;
    match (rate.within, apart) {
        (true, _) => format!("The measured {share} {what} are as foretold."),
        (false, false) => format!(
            "The measured {share} {what} are {side} the forecast's interval, but the two intervals \
             overlap."
        ),
        (false, true) => format!(
            "Not as foretold: the measured {share} {what} are {side} the forecast's interval, and the \
             two intervals do not overlap."
        ),
    }
}
