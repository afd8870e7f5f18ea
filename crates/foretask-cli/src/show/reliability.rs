//! How far probabilities can be believed: decisions in groups of about the same claim.

use foretask::{Forecast, Provenance, Reliability};

use super::table::{Align, Table};
use super::words;
pub use foretask_page::json::gap;

/// More groups than this are joined in tables; JSON has them all.
const ROWS: usize = 5;

/// Neighbouring groups joined, so that a table of them is short.
pub fn joined(groups: &[Reliability]) -> Vec<Reliability> {
    groups
        .chunks(groups.len().div_ceil(ROWS).max(1))
        .map(|part| {
            let share: f64 = part.iter().map(|group| group.share).sum();
            let mean = |of: &dyn Fn(&Reliability) -> f64| {
                let seen = part.iter().filter(|group| group.share > 0.0);
                seen.map(|group| group.share * of(group)).sum::<f64>() / share
            };
            Reliability {
                share,
                claimed: mean(&|group| group.claimed),
                right: mean(&|group| group.right),
            }
        })
        .collect()
}

/// What a forecast says of them; nothing where it does not say.
pub fn expected(forecast: &Forecast) -> String {
    let Some(gap) = gap(&forecast.reliability) else {
        return String::new();
    };
    // Among few samples much of it is chance.
    let among = match forecast.provenance {
        Provenance::LeaveOneOut | Provenance::LeaveFoldOut => {
            format!(" among {}", words::count(forecast.samples, "sample"))
        }
        _ => String::new(),
    };
    let mut table = Table::new(&[Align::Right, Align::Right, Align::Right]);
    table.row(["claimed", "right", "of all decisions"]);
    for group in joined(&forecast.reliability) {
        let numbers = [group.claimed, group.right, group.share];
        table.row(numbers.map(words::percent));
    }
    let log_loss = match forecast.log_loss {
        Some(log_loss) => format!("; the log-loss will be {}", words::number(log_loss)),
        None => String::new(),
    };
    let sentence = format!(
        "How far its probabilities can be believed: claimed and right differ by {}{among}{log_loss}",
        words::points(gap),
    );
    words::wrapped(&sentence) + "\n" + &table.text()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(share: f64, claimed: f64, right: f64) -> Reliability {
        Reliability {
            share,
            claimed,
            right,
        }
    }

    #[test]
    fn groups_without_decisions_do_not_count() {
        let groups = [group(0.0, f64::NAN, f64::NAN), group(1.0, 0.9, 0.8)];
        assert!(gap(&groups).is_some_and(|gap| (gap - 0.1).abs() < 1e-12));
        assert_eq!(gap(&groups[..1]), None);
        assert_eq!(gap(&[]), None);
    }

    #[test]
    fn joined_groups_keep_the_means() {
        let groups: Vec<_> = (0..10)
            .map(|i| group(0.1, 0.5 + 0.05 * f64::from(i), 0.5))
            .collect();
        let joined = joined(&groups);
        assert_eq!(joined.len(), ROWS);
        assert!((joined[0].claimed - 0.525).abs() < 1e-12);
        assert!((joined[4].share - 0.2).abs() < 1e-12);
    }
}
