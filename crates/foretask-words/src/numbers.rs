//! Shares, differences and counts as people read them.

/// A share in percent: one decimal, two below one percent.
pub fn percent(share: f64) -> String {
    if !share.is_finite() {
        return "unknown".into();
    }
    // By what is printed: 0.0996 % would otherwise have one digit more than 0.1 %.
    let decimals = if (100.0 * share).abs() < 0.995 && share != 0.0 {
        2
    } else {
        1
    };
    format!("{:.decimals$} %", 100.0 * share)
}

/// An interval in percent.
pub fn interval(ends: [f64; 2]) -> String {
    let [low, high] = ends.map(percent);
    format!("{} to {high}", low.trim_end_matches(" %"))
}

/// A difference of shares, in percentage points.
pub fn points(difference: f64) -> String {
    format!("{:.1} points", 100.0 * difference)
}

/// A difference of shares in percentage points, with its sign.
pub fn signed(difference: f64) -> String {
    match format!("{:+.1}", 100.0 * difference).as_str() {
        "-0.0" => "+0.0".to_owned(),
        text => text.to_owned(),
    }
}

/// An interval of such differences.
pub fn signed_interval(ends: [f64; 2]) -> String {
    ends.map(signed).join(" to ")
}

/// A count with its noun.
pub fn count(number: usize, noun: &str) -> String {
    let plural = match (number, noun) {
        (1, _) => noun.to_owned(),
        (_, "class") => "classes".to_owned(),
        _ => format!("{noun}s"),
    };
    format!("{number} {plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percents_have_the_digits_that_matter() {
        let shown = [0.0, 0.00042, 0.00996, 0.0312, 0.5, 1.0, f64::NAN].map(percent);
        let expected = [
            "0.0 %", "0.04 %", "1.0 %", "3.1 %", "50.0 %", "100.0 %", "unknown",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn an_interval_has_one_percent_sign() {
        assert_eq!(interval([0.012, 0.34]), "1.2 to 34.0 %");
    }

    #[test]
    fn differences_have_a_sign() {
        assert_eq!(signed_interval([-0.00001, 0.058]), "+0.0 to +5.8");
        assert_eq!(signed(-0.031), "-3.1");
    }
}
