//! Names come from files: what would move the cursor, colour the screen or turn the text round is written out.

use std::borrow::Cow;

/// A name with control characters, and those that change the direction of text, as escapes such as `\u{1b}`.
///
/// ```
/// assert_eq!(foretask_words::printable("a\u{1b}[31mb\n"), "a\\u{1b}[31mb\\n");
/// assert_eq!(foretask_words::printable("Zürich"), "Zürich");
/// ```
pub fn printable(name: &str) -> Cow<'_, str> {
    if !name.contains(unsafe_to_show) {
        return Cow::Borrowed(name);
    }
    let mut text = String::with_capacity(name.len() + 8);
    for letter in name.chars() {
        match unsafe_to_show(letter) {
            true => text.extend(letter.escape_default()),
            false => text.push(letter),
        }
    }
    Cow::Owned(text)
}

/// Control characters, line and paragraph separators, and marks of direction.
fn unsafe_to_show(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Names in quotation marks, printable: the first few, and how many more there are.
///
/// ```
/// let names = ["a", "b", "c", "d", "e"];
/// assert_eq!(foretask_words::listed(&names[..1]), "'a'");
/// assert_eq!(foretask_words::listed(&names[..3]), "'a', 'b' and 'c'");
/// assert_eq!(foretask_words::listed(&names), "'a', 'b', 'c' and 2 more");
/// ```
pub fn listed<S: AsRef<str>>(names: &[S]) -> String {
    let mut parts: Vec<String> = (names.iter().take(LISTED))
        .map(|name| format!("'{}'", shortened(name.as_ref())))
        .collect();
    if names.len() > LISTED {
        parts.push(format!("{} more", names.len() - LISTED));
    }
    match parts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// More names than this are counted.
const LISTED: usize = 3;
/// Longer names are cut where several stand in a line.
const LONGEST: usize = 32;

/// Printable, and not longer than a line bears.
pub(crate) fn shortened(name: &str) -> String {
    let name = printable(name);
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.into_owned(),
    }
}
