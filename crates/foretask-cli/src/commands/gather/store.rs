//! [`Store`]: what was gathered of each part, in a folder, so that nothing is done twice.
//!
//! A part is known by its content and by all that decides what becomes of it, not by its name or date: a file that was
//! moved is known, one that was edited is not.

use std::io::Read;
use std::path::{Path, PathBuf};

use foretask::Statistics;

use crate::commands::statistics::{self, Digest, Plan};
use crate::failure::Failure;
use crate::output;
use crate::read::{Input, Part};

/// A folder of parts.
pub struct Store {
    folder: PathBuf,
    /// Whether it is gone when all is done.
    is_temporary: bool,
}

impl Store {
    /// The folder that the user names, or one beside the output while that is not finished.
    pub fn new(named: Option<&Path>, output: &Path) -> Self {
        let mut beside = output.as_os_str().to_owned();
        beside.push(".parts");
        Self {
            folder: named.map_or_else(|| PathBuf::from(beside), Path::to_owned),
            is_temporary: named.is_none(),
        }
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A part that was gathered before.
    pub fn part(&self, key: &str) -> Option<Statistics<'static>> {
        // What cannot be read is gathered again.
        statistics::load(&self.folder.join(format!("{key}.stats"))).ok()
    }

    /// Keeps a part.
    pub fn keep(&self, key: &str, part: &Statistics<'_>) -> Result<(), Failure> {
        self.write(&format!("{key}.stats"), &part.to_bytes()?)
    }

    /// The plan that was made of these parts before.
    pub fn plan(&self, key: &str) -> Option<Plan> {
        Plan::read(&self.folder.join(format!("{key}.columns.json"))).ok()
    }

    /// Keeps a plan.
    pub fn keep_plan(&self, key: &str, plan: &Plan) -> Result<(), Failure> {
        self.write(&format!("{key}.columns.json"), &plan.bytes()?)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        std::fs::create_dir_all(&self.folder).map_err(|source| Failure::Write {
            to: self.folder.display().to_string(),
            source,
        })?;
        output::file(&self.folder.join(name), bytes)
    }

    /// All is done: a folder that nobody asked for goes.
    pub fn close(self) {
        if self.is_temporary {
            // What stays does no harm.
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

/// What some texts are known by.
pub fn key(texts: &[&str]) -> String {
    let mut digest = Digest::new();
    for text in texts {
        digest.add(&(text.len() as u64).to_le_bytes());
        digest.add(text.as_bytes());
    }
    digest.text()
}

/// What the content of a file is known by.
pub fn content(part: &Part) -> Result<String, Failure> {
    let unreadable = |source| Failure::Unreadable {
        path: part.path.clone(),
        source,
    };
    let mut file = Input::open(&part.path).map_err(unreadable)?;
    let mut digest = Digest::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut buffer).map_err(unreadable)?;
        if read == 0 {
            return Ok(digest.text());
        }
        digest.add(buffer.get(..read).unwrap_or_default());
    }
}
