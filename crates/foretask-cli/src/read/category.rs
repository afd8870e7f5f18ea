//! [`Category`]: the name of a class or task, shared by all rows that have it; and [`Memo`], what a text came to.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The name of a class or task. Rows that were read with the same text share one.
#[derive(Clone, Eq, PartialOrd, Ord)]
pub struct Category(Arc<str>);

impl Category {
    /// Names by their numbers in order of appearance, and the names.
    pub fn coded(names: &[Self]) -> (Vec<usize>, Vec<&str>) {
        let mut codes_of: HashMap<&str, usize> = HashMap::new();
        let (mut codes, mut found) = (Vec::with_capacity(names.len()), Vec::new());
        let mut known: Memo<usize> = Memo::default();
        for name in names {
            let code = known.get(name.as_bytes()).unwrap_or_else(|| {
                let code = *codes_of.entry(name).or_insert_with(|| {
                    found.push(&**name);
                    found.len() - 1
                });
                known.insert(name.as_bytes(), code);
                code
            });
            codes.push(code);
        }
        (codes, found)
    }
}

impl PartialEq for Category {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl PartialEq<&str> for Category {
    fn eq(&self, other: &&str) -> bool {
        *self.0 == **other
    }
}

impl<S: Into<Arc<str>>> From<S> for Category {
    fn from(name: S) -> Self {
        Self(name.into())
    }
}

impl Deref for Category {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Category {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Category {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl Default for Category {
    fn default() -> Self {
        Self("".into())
    }
}

impl fmt::Debug for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

/// Texts that are remembered at a time.
const PLACES: usize = 256;

/// What the texts of a column came to. A text that was seen not long ago is found without a hash and without an
/// allocation; a column of texts that are all different costs no more memory than [`PLACES`] of them.
pub struct Memo<T>(Vec<Option<(Box<[u8]>, T)>>);

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Clone> Memo<T> {
    /// What a text came to, if it was remembered.
    pub fn get(&self, text: &[u8]) -> Option<T> {
        match self.0.get(place(text)) {
            Some(Some((known, told))) if **known == *text => Some(told.clone()),
            _ => None,
        }
    }

    /// Remembers what a text came to, in the place of another.
    pub fn insert(&mut self, text: &[u8], told: T) {
        if self.0.is_empty() {
            self.0.resize_with(PLACES, || None);
        }
        if let Some(slot) = self.0.get_mut(place(text)) {
            *slot = Some((text.into(), told));
        }
    }
}

/// By the length and the bytes at both ends, in which short names differ.
fn place(text: &[u8]) -> usize {
    let middle = text.get(text.len() / 2).copied().unwrap_or(0);
    let (first, last) = (text.first(), text.last());
    let [first, last] = [first, last].map(|byte| usize::from(byte.copied().unwrap_or(0)));
    let mixed = text.len() + 7 * first + 31 * last + 101 * usize::from(middle);
    (mixed ^ (mixed >> 8)) % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memo_tells_texts_of_one_place_apart() {
        let mut memo = Memo::default();
        assert_eq!(memo.get(b""), None);
        let texts: Vec<String> = (0..2000).map(|i| format!("name {i}")).collect();
        for (number, text) in texts.iter().enumerate() {
            memo.insert(text.as_bytes(), number);
            assert_eq!(memo.get(text.as_bytes()), Some(number));
        }
        let kept = texts.iter().enumerate();
        let right = |(number, text): (usize, &String)| match memo.get(text.as_bytes()) {
            Some(told) => told == number,
            None => true,
        };
        assert!(kept.clone().all(right));
        assert!(
            kept.filter(|(_, text)| memo.get(text.as_bytes()).is_some())
                .count()
                <= PLACES
        );
    }
}
