//! One file: markup, style, script and data, with nothing to load.
//!
//! A policy in the page lets run only this style and this script, which are named by their SHA-256, and lets nothing be
//! loaded from anywhere. Data are no script: `<`, `>` and `&` of names are written as escapes of JSON, so that no name
//! ends the block that it stands in.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/page.js");

/// The page of a report: the object of `foretask forecast --json`, with the key `report` of [`played`](crate::played()).
pub fn html(report: Map<String, Value>) -> String {
    let data = escaped(&Value::Object(report).to_string());
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(STYLE),
    );
    let mut page = String::with_capacity(PAGE.len() + STYLE.len() + SCRIPT.len() + data.len());
    // Piece by piece: what is put in is not looked through for marks.
    let mut rest = PAGE;
    for (mark, text) in [
        ("{{policy}}", policy.as_str()),
        ("{{style}}", STYLE),
        ("{{data}}", &data),
        ("{{script}}", SCRIPT),
    ] {
        if let Some((before, after)) = rest.split_once(mark) {
            page.push_str(before);
            page.push_str(text);
            rest = after;
        }
    }
    page.push_str(rest);
    page
}

/// JSON as it may stand in a page.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                text.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            _ => text.push(letter),
        }
    }
    text
}

fn hash(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn no_name_ends_the_data() -> serde_json::Result<()> {
        let name = "</script><script>alert(1)</script>{{script}}&\u{2028}";
        let report = Map::from_iter([("target".to_owned(), json!(name))]);
        let page = html(report.clone());
        assert_eq!(page.matches("<script").count(), 2);
        assert_eq!(page.matches("</script>").count(), 2);
        let block = page.split("id=\"data\">").nth(1).unwrap_or_default();
        let block = block.split("</script>").next().unwrap_or_default();
        assert_eq!(serde_json::from_str::<Value>(block)?, Value::Object(report));
        Ok(())
    }

    #[test]
    fn hashes_are_those_of_the_standard() {
        // FIPS 180-2, appendix B.1, in base64.
        assert_eq!(hash("abc"), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
    }

    #[test]
    fn nothing_is_loaded() {
        for text in [PAGE, STYLE, SCRIPT] {
            for word in [
                "http:",
                "https:",
                "@import",
                "url(",
                "eval(",
                "innerHTML",
                "fetch(",
            ] {
                // The namespace of SVG is a name, not an address.
                let own = text.replace("http://www.w3.org/2000/svg", "");
                assert!(!own.contains(word), "{word}");
            }
        }
    }
}
