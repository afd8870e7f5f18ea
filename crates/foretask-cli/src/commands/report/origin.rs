//! Where a page comes from: the command, and the files that it read.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::commands::check::quoted;
use crate::failure::Failure;
use crate::read;

/// Larger files are known by their size alone.
const MOST_HASHED: u64 = 1 << 30;
/// Files that are listed.
const LISTED: usize = 20;

/// The command line as it was written.
pub fn command() -> String {
    let words: Vec<String> = arguments().iter().map(|word| quoted(word)).collect();
    ["foretask".to_owned()]
        .into_iter()
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
}

/// The command that answers what the page answers: a forecast of the same, by the target's samples alone, without
/// priors and costs, which the page adds.
pub fn ask() -> String {
    asked(&arguments())
}

/// The priors as they were written.
pub fn prior() -> Option<String> {
    let words = arguments();
    let joined = words.iter().find_map(|word| word.strip_prefix("--prior="));
    let apart = words.windows(2).find(|pair| pair[0] == "--prior");
    joined
        .map(str::to_owned)
        .or_else(|| apart.map(|pair| pair[1].clone()))
}

fn arguments() -> Vec<String> {
    std::env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}

fn asked(arguments: &[String]) -> String {
    let with_value = ["-o", "--output", "--test", "--prior", "--cost"];
    let alone = ["--force", "--no-rehearsal", "--no-details"];
    let mut words = vec!["foretask".to_owned(), "forecast".to_owned()];
    let mut rest = arguments
        .iter()
        .skip_while(|word| *word != "report")
        .skip(1);
    while let Some(word) = rest.next() {
        if with_value.contains(&word.as_str()) {
            rest.next();
            continue;
        }
        let joined = with_value
            .iter()
            .any(|option| match option.starts_with("--") {
                true => word.starts_with(&format!("{option}=")),
                false => word.starts_with(option) && !word.starts_with("--"),
            });
        if !joined && !alone.contains(&word.as_str()) {
            words.push(quoted(word));
        }
    }
    words.push("--no-rehearsal".to_owned());
    words.join(" ")
}

/// Name, size and SHA-256 of each file, the first of them.
pub fn files(inputs: &[PathBuf]) -> Result<Value, Failure> {
    let parts = read::parts(inputs)?;
    let mut listed = Vec::new();
    for part in parts.iter().take(LISTED) {
        // What can be read once only was.
        let bytes = (!part.is_stream()).then(|| part.bytes());
        let hash = match bytes {
            Some(0..=MOST_HASHED) => Some(hash_of(&part.path)?),
            _ => None,
        };
        listed.push(json!({"name": part.file, "bytes": bytes, "sha256": hash}));
    }
    Ok(json!({"count": parts.len(), "listed": listed}))
}

/// In hexadecimal.
fn hash_of(path: &Path) -> Result<String, Failure> {
    let unreadable = |source| Failure::Unreadable {
        path: path.to_owned(),
        source,
    };
    let mut file = read::Input::open(path).map_err(unreadable)?;
    let mut hasher = Sha256::new();
    let mut block = vec![0; 1 << 16];
    loop {
        match file.read(&mut block).map_err(unreadable)? {
            0 => break,
            count => hasher.update(block.get(..count).unwrap_or_default()),
        }
    }
    let hash = hasher.finalize();
    Ok(hash.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_has_neither_outputs_nor_stakes() {
        let words =
            "report a.csv --target t -o x.html --prior a=1 --cost=a=2 --test b.csv --force -oy";
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        assert_eq!(
            asked(&words),
            "foretask forecast a.csv --target t --no-rehearsal"
        );
    }
}
