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
        ("false alarms", expected.false_alarm, alarm.false_alarm),
        ("detections", expected.detection, alarm.detection),
    ];
    let mut aligns = vec![Align::Left];
    aligns.resize(6, Align::Right);
    let mut table = Table::new(&aligns);
    let interval = words::interval_name();
    table.row([
        "",
        "forecast",
        "in this test",
        "measured",
        &interval,
        "samples",
    ]);
    for (what, share, rate) in rates {
        let counted = match rate {
            Some(rate) => vec![
                words::interval(rate.foretold),
                words::percent(rate.share),
                words::interval(rate.interval),
                rate.samples.to_string(),
            ],
            None => vec![String::new(), "no sample".to_owned()],
        };
        let forecast = [what.to_owned(), words::percent(share)];
        table.row(forecast.into_iter().chain(counted));
    }
    format!(
        "The alarm: {} of '{}' may raise an alarm\n\n{}\n{}",
        words::percent(expected.requested),
        words::printable(null_class(summary, expected)),
        table.text(),
        words::wrapped(&verdict(expected.requested, &rates))
    )
}

/// A rate: its name, what is expected of it, and what was measured.
type Compared = (&'static str, f64, Option<Rate>);

/// Whether the rates came true.
fn verdict(requested: f64, rates: &[Compared; 2]) -> String {
    match rates {
        [(.., Some(alarms)), (.., Some(detections))] if alarms.within && detections.within => {
            format!(
                "The alarm does what was foretold: {} false alarms ({} were asked for) and {} \
                 detections, both where a test of this size was expected to have them.",
                words::percent(alarms.share),
                words::percent(requested),
                words::percent(detections.share),
            )
        }
        _ => {
            let sentences = rates.iter().map(|(what, _, rate)| match rate {
                Some(rate) => sentence(what, *rate),
                None => format!("No sample tells of {what}."),
            });
            sentences.collect::<Vec<_>>().join(" ")
        }
    }
}

fn sentence(what: &str, rate: Rate) -> String {
    let share = words::percent(rate.share);
    let side = match rate.share < rate.foretold[0] {
        true => "below",
        false => "above",
    };
    match rate.within {
        true => format!("The measured {share} {what} are as foretold."),
        false => format!(
            "Not as foretold: the measured {share} {what} are {side} the {} that were expected in a test \
             of {}.",
            words::interval(rate.foretold),
            words::count(rate.samples, "sample"),
        ),
    }
}
