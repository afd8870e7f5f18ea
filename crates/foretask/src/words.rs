//! Choices that have a word each: one list, read by the command line, by JSON, by model files and by Python.

use std::fmt;

/// A choice with a word for each of its values.
pub trait Word: Copy + fmt::Debug + PartialEq + Send + Sync + 'static {
    /// The name of the option that takes it.
    const OPTION: &'static str;
    /// Every value, in the order of listing.
    const ALL: &'static [Named<Self>];

    /// Its word.
    fn word(self) -> &'static str {
        let found = Self::ALL.iter().find(|named| named.value == self);
        found.map_or("", |named| named.word)
    }

    /// What it does, in a sentence.
    fn meaning(self) -> &'static str {
        let found = Self::ALL.iter().find(|named| named.value == self);
        found.map_or("", |named| named.meaning.trim())
    }

    /// The value of a word.
    fn from_word(word: &str) -> Option<Self> {
        let known = |named: &&Named<Self>| named.word == word || named.old.contains(&word);
        Self::ALL.iter().find(known).map(|named| named.value)
    }
}

/// A value, its word, and what it means.
#[derive(Clone, Copy, Debug)]
pub struct Named<W: 'static> {
    /// The word.
    pub word: &'static str,
    /// What it stands for.
    pub value: W,
    /// What it does, in a sentence.
    pub meaning: &'static str,
    /// Words it had before, which are still understood.
    pub old: &'static [&'static str],
}

/// An enum whose values have words: `Display`, serde and [`Word`] speak them.
macro_rules! words {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident($option:literal $(, default $default:ident)?) {
            $($(#[doc = $doc:literal])+ $variant:ident = $word:literal $(| $old:literal)*,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        $vis enum $name {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl $crate::words::Word for $name {
            const OPTION: &'static str = $option;
            const ALL: &'static [$crate::words::Named<Self>] = &[
                $($crate::words::Named {
                    word: $word,
                    value: Self::$variant,
                    meaning: concat!($($doc),+),
                    old: &[$($old),*],
                },)+
            ];
        }

        $(impl Default for $name {
            fn default() -> Self {
                Self::$default
            }
        })?

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($crate::words::Word::word(*self))
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str($crate::words::Word::word(*self))
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = String::deserialize(deserializer)?;
                <Self as $crate::words::Word>::from_word(&word)
                    .ok_or_else(|| serde::de::Error::custom(format!("unknown word '{word}'")))
            }
        }
    };
}

pub(crate) use words;
