//! Where results go: standard output, or a file that appears whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use foretask::{write_atomically, write_in_steps};

use crate::failure::Failure;

/// Refuses, before any work is done, an output file that could not be written at the end or that
/// would destroy an input.
pub fn check(path: &Path, inputs: &[PathBuf]) -> Result<(), Failure> {
    let path = path.to_owned();
    if path.is_dir() {
        return Err(Failure::IsFolder { path });
    }
    let folder = folder(&path).to_owned();
    if !folder.is_dir() {
        return Err(Failure::NoFolder { path, folder });
    }
    let same = |input: &PathBuf| match (fs::canonicalize(input), fs::canonicalize(&path)) {
        (Ok(input), Ok(output)) => input == output,
        _ => false,
    };
    if is_regular_or_new(&path) && inputs.iter().any(same) {
        return Err(Failure::OverwritesInput { path });
    }
    match fs::metadata(&path) {
        Ok(old) if old.is_file() && old.permissions().readonly() => {
            Err(Failure::Protected { path })
        }
        _ => Ok(()),
    }
}

/// The same of a file that is not to take the place of another unless that is wanted.
pub fn check_new(path: &Path, inputs: &[PathBuf], force: bool) -> Result<(), Failure> {
    check(path, inputs)?;
    match fs::symlink_metadata(path) {
        Ok(there) if there.is_file() && !force => Err(Failure::Exists {
            path: path.to_owned(),
        }),
        _ => Ok(()),
    }
}

/// Writes text to a file, or to standard output if none is named.
pub fn text(to: Option<&Path>, text: &str) -> Result<(), Failure> {
    match to {
        Some(path) => file(path, text.as_bytes()),
        None => standard(text.as_bytes()),
    }
}

/// Writes to standard output.
pub fn standard(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    // A full disk shows at the flush, which dropping the lock would swallow.
    out.write_all(bytes)
        .and_then(|()| out.flush())
        .map_err(|source| Failure::Write {
            to: "standard output".into(),
            source,
        })
}

/// Writes a file, whole or not at all.
pub fn file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_atomically(path, bytes).map_err(|error| match error {
        foretask::Error::Io { source, .. } => Failure::Write {
            to: path.display().to_string(),
            source,
        },
        other => other.into(),
    })
}

/// Rows that are written as they come: to standard output, or to a file that appears whole or not at all.
pub struct Rows<'w> {
    to: String,
    out: &'w mut dyn Write,
    /// What is not written yet; where an error comes early nothing is.
    waiting: Vec<u8>,
}

/// Bytes that are written at a time.
const AT_ONCE: usize = 1 << 20;

impl Rows<'_> {
    /// Appends to what is to be written, and writes if that is enough.
    pub fn append(
        &mut self,
        more: impl FnOnce(&mut Vec<u8>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        more(&mut self.waiting)?;
        match self.waiting.len() < AT_ONCE {
            true => Ok(()),
            false => self.write(),
        }
    }

    fn write(&mut self) -> Result<(), Failure> {
        let written = self.out.write_all(&self.waiting);
        self.waiting.clear();
        written
            .and_then(|()| self.out.flush())
            .map_err(|source| Failure::Write {
                to: self.to.clone(),
                source,
            })
    }
}

/// Writes rows as they come.
pub fn rows(
    to: Option<&Path>,
    each: impl FnOnce(&mut Rows) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let run = |to: String, out: &mut dyn Write| {
        let waiting = Vec::new();
        let mut rows = Rows { to, out, waiting };
        each(&mut rows)?;
        rows.write()
    };
    match to {
        None => run("standard output".into(), &mut io::stdout().lock()),
        Some(path) => {
            let name = path.display().to_string();
            let written = write_in_steps(path, |file| run(name.clone(), file));
            written.map_err(|failure| match failure {
                Failure::Library(foretask::Error::Io { source, .. }) => {
                    Failure::Write { to: name, source }
                }
                other => other,
            })
        }
    }
}

fn folder(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

fn is_regular_or_new(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |metadata| metadata.is_file())
}
