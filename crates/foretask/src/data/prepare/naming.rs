//! The name of a class, of a task or of a level, the same whatever it was read from.
//!
//! A model that was trained on a Parquet file with integer labels must recognise the labels of a
//! CSV file that pandas wrote as `3.0`. So integers are written in decimal, numbers with an
//! integral value as integers, booleans as `true` and `false`, and text is trimmed.

/// The largest magnitude below which every integer has its own `f64`.
const EXACT_INTEGERS: f64 = 9_007_199_254_740_992.0;

/// Names a text cell. An empty name means that the cell is empty.
pub fn text_name(text: &str) -> String {
    let text = text.trim();
    if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") {
        return text.to_ascii_lowercase();
    }
    match text.split_once('.') {
        Some((whole, zeros)) if is_integer(whole) && is_zeros(zeros) => whole.to_owned(),
        _ => text.to_owned(),
    }
}

/// Names a number, or `None` if it is not finite.
pub fn number_name(value: f64) -> Option<String> {
    if !value.is_finite() {
        return None;
    }
    if value == value.trunc() && value.abs() < EXACT_INTEGERS {
        // Through an integer, so that minus zero is "0".
        return Some((value as i64).to_string());
    }
    Some(value.to_string())
}

/// Names a single-precision number by its own shortest digits, not by those of its `f64` value.
pub fn single_name(value: f32) -> Option<String> {
    if value.is_finite() && value.fract() != 0.0 {
        return Some(value.to_string());
    }
    number_name(f64::from(value))
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_zeros(text: &str) -> bool {
    text.bytes().all(|byte| byte == b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_agree_on_a_name() {
        assert_eq!(text_name(" 3.0 "), "3");
        assert_eq!(text_name("3."), "3");
        assert_eq!(text_name("-1.00"), "-1");
        assert_eq!(number_name(3.0).as_deref(), Some("3"));
        assert_eq!(number_name(-0.0).as_deref(), Some("0"));
        assert_eq!(single_name(0.1).as_deref(), Some("0.1"));
        assert_eq!(text_name("True"), "true");
    }

    #[test]
    fn other_text_is_only_trimmed() {
        for text in ["007", "1.5", "1e3", "v1.0", ".0", "Spam", "1.0.0", "café"] {
            assert_eq!(text_name(&format!("  {text}\t")), text);
        }
        assert_eq!(text_name("   "), "");
    }

    #[test]
    fn a_number_that_is_not_finite_has_no_name() {
        assert_eq!(number_name(f64::NAN), None);
        assert_eq!(single_name(f32::INFINITY), None);
        assert_eq!(number_name(1e300).map(|name| name.len()), Some(301));
    }
}
