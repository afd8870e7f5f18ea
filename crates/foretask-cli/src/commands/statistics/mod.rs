//! Files of statistics: told from tables, read, united.

mod digest;
mod plan;

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use foretask::Statistics;
use foretask_words::printable;

use crate::arguments::{Data, Missing};
use crate::failure::Failure;
use crate::output;
use crate::read::{self, Names, ReadError};
pub use digest::Digest;
pub use plan::Plan;

/// The extension of such files.
const EXTENSION: &str = "stats";

/// What their beginning holds, beside others.
const MARK: &[u8] = b"foretask-statistics-";

/// Bytes in which the mark is looked for.
const LOOK: u64 = 1 << 16;

/// Statistics from files.
pub struct Gathered {
    /// Of all rows.
    pub statistics: Statistics<'static>,
    /// How columns became features, where all files say so.
    pub plan: Option<Plan>,
}

/// The files, if they are statistics; none if they are tables.
pub fn files(paths: &[PathBuf]) -> Result<Option<Vec<PathBuf>>, Failure> {
    // A folder holds tables.
    if paths.iter().any(|path| path.is_dir()) {
        return Ok(None);
    }
    let files: Vec<PathBuf> = read::parts(paths)?
        .into_iter()
        .map(|part| part.path)
        .collect();
    let mut found: Vec<&PathBuf> = Vec::new();
    for path in &files {
        if are_statistics(path)? {
            found.push(path);
        }
    }
    match found.first() {
        None => Ok(None),
        Some(_) if found.len() == files.len() => Ok(Some(files)),
        Some(path) => Err(Failure::Mixed {
            path: (*path).clone(),
        }),
    }
}

fn are_statistics(path: &Path) -> Result<bool, Failure> {
    if path.extension().is_some_and(|own| own == EXTENSION) {
        return Ok(true);
    }
    // What can be read once only must not be looked into.
    if !path.is_file() {
        return Ok(false);
    }
    let mut start = Vec::new();
    let file = read::Input::open(path);
    let read = file.and_then(|file| file.take(LOOK).read_to_end(&mut start));
    read.map_err(|source| Failure::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    Ok(start.windows(MARK.len()).any(|window| window == MARK))
}

/// Options about columns mean nothing here.
pub fn refuse_options(data: &Data) -> Result<(), Failure> {
    let given = [
        ("label", data.label.is_some()),
        ("task", data.task.is_some()),
        ("group", data.group.is_some()),
        ("features", data.features.is_some()),
        ("ignore", !data.ignore.is_empty()),
        ("numeric", !data.numeric.is_empty()),
        ("categorical", !data.categorical.is_empty()),
        ("missing", data.missing != Missing::Impute),
        ("format", data.written.format.is_some()),
        ("delimiter", data.written.delimiter.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(Failure::OfTables { option }),
        None => Ok(()),
    }
}

/// Reads one file.
pub fn load(path: &Path) -> Result<Statistics<'static>, Failure> {
    parsed(path, &bytes(path)?)
}

fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    read::bytes(path).map_err(|source| Failure::Unreadable {
        path: path.to_owned(),
        source,
    })
}

fn parsed(path: &Path, bytes: &[u8]) -> Result<Statistics<'static>, Failure> {
    Statistics::from_bytes(bytes).map_err(|source| Failure::Statistics {
        path: path.to_owned(),
        source,
    })
}

/// Reads files and unites them in the order given, in fixed pairs; the same part twice is an error unless it is to
/// count `again`.
pub fn read(files: &[PathBuf], again: bool) -> Result<Gathered, Failure> {
    let mut union = Union::new(again);
    let mut plans = Vec::with_capacity(files.len());
    for path in files {
        let bytes = bytes(path)?;
        union.add(path.display().to_string(), parsed(path, &bytes)?)?;
        plans.push(plan_beside(path, &bytes)?);
    }
    let statistics = union.finish()?;
    Ok(Gathered {
        statistics,
        plan: joined(plans)?,
    })
}

/// The plan of statistics, and its file.
fn plan_beside(statistics: &Path, bytes: &[u8]) -> Result<Option<(PathBuf, Plan)>, Failure> {
    let path = Plan::beside(statistics);
    if !path.is_file() {
        return Ok(None);
    }
    let plan = Plan::read_of(&path, &Digest::of(bytes))?;
    if plan.is_none() {
        let (path, own) = (path.display(), statistics.display());
        let told = format!("{path}: is of other statistics than {own}, and not looked at");
        eprintln!("{}", printable(&told));
    }
    Ok(plan.map(|plan| (path, plan)))
}

/// The plan of all files, if each has one.
fn joined(plans: Vec<Option<(PathBuf, Plan)>>) -> Result<Option<Plan>, Failure> {
    let mut joined: Option<Plan> = None;
    for plan in plans {
        let Some((path, plan)) = plan else {
            return Ok(None);
        };
        joined = Some(match joined {
            None => plan,
            Some(first) => first
                .joined(&plan)
                .map_err(|why| Failure::Columns { path, why })?,
        });
    }
    Ok(joined)
}

/// The union of parts in the canonical order, `Statistics::merge_all`; errors name files.
pub struct Union {
    again: bool,
    /// The first file that holds each part.
    seen: HashMap<String, String>,
    /// The first file, and its features.
    first: Option<(String, Option<Vec<String>>)>,
    /// The first file with targets in folds, and how many.
    folds: Option<(String, usize)>,
    /// Subtrees of falling height.
    subtrees: Vec<(u32, Statistics<'static>)>,
}

impl Union {
    /// Of nothing.
    pub fn new(again: bool) -> Self {
        Self {
            again,
            seen: HashMap::new(),
            first: None,
            folds: None,
            subtrees: Vec::new(),
        }
    }

    /// Adds a part that comes from a file.
    pub fn add(&mut self, file: String, part: Statistics<'static>) -> Result<(), Failure> {
        for identity in part.parts() {
            let first = self.seen.insert(identity, file.clone());
            if let (Some(first), false) = (first, self.again) {
                return Err(Failure::SamePart {
                    first,
                    second: file,
                });
            }
        }
        self.compare(&file, &part)?;
        self.subtrees.push((0, part));
        while let [.., (a, _), (b, _)] = self.subtrees[..] {
            if a != b {
                break;
            }
            self.fold()?;
        }
        Ok(())
    }

    /// Whether features and folds are those of the first file.
    fn compare(&mut self, file: &str, part: &Statistics<'_>) -> Result<(), Failure> {
        match (&self.folds, part.target_folds()) {
            (None, Some(folds)) => self.folds = Some((file.to_owned(), folds)),
            (Some((first, expected)), Some(folds)) if *expected != folds => {
                return Err(Failure::OtherFolds {
                    first: first.clone(),
                    expected: *expected,
                    file: file.to_owned(),
                    folds,
                });
            }
            _ => {}
        }
        let names = part.feature_names().map(<[String]>::to_vec);
        let Some((first, expected)) = &self.first else {
            self.first = Some((file.to_owned(), names));
            return Ok(());
        };
        let (Some(names), Some(expected)) = (&names, expected) else {
            return Ok(());
        };
        let beyond = |these: &[String], those: &[String]| {
            let own = these.iter().filter(|name| !those.contains(name));
            own.cloned().collect::<Vec<String>>()
        };
        let (missing, extra) = (beyond(expected, names), beyond(names, expected));
        match missing.is_empty() && extra.is_empty() {
            true => Ok(()),
            false => Err(Failure::Read(ReadError::DifferentFeatures {
                file: file.to_owned(),
                first: first.clone(),
                missing: Names(missing),
                extra: Names(extra),
            })),
        }
    }

    fn fold(&mut self) -> Result<(), Failure> {
        if let (Some((_, right)), Some((height, mut left))) =
            (self.subtrees.pop(), self.subtrees.pop())
        {
            // Parts were compared above, where their files are known.
            left.merge_again(right)?;
            self.subtrees.push((height + 1, left));
        }
        Ok(())
    }

    /// The union.
    pub fn finish(mut self) -> Result<Statistics<'static>, Failure> {
        while self.subtrees.len() > 1 {
            self.fold()?;
        }
        let whole = self.subtrees.pop().map(|(_, whole)| whole);
        Ok(whole.ok_or(ReadError::NoFiles)?)
    }
}

/// Writes statistics and, where there is one, the plan beside them: both or none, whatever fails and whenever the
/// process ends.
pub fn write(path: &Path, gathered: &Gathered) -> Result<usize, Failure> {
    let bytes = gathered.statistics.to_bytes()?;
    let place = Plan::beside(path);
    let old = of_a_file(&place);
    let Some(plan) = &gathered.plan else {
        output::file(path, &bytes)?;
        if old.is_some() {
            // It is of other statistics; where it stays it is not looked at.
            let _ = std::fs::remove_file(&place);
        }
        return Ok(bytes.len());
    };
    let digest = Digest::of(&bytes);
    let before = old.as_ref().and_then(|_| {
        let earlier = Digest::of(&of_a_file(path)?);
        let plan = Plan::read_of(&place, &earlier).ok()??;
        Some(plan.of(&earlier, None))
    });
    let replaces = before.is_some();
    output::file(&place, &plan.clone().of(&digest, before).bytes()?)?;
    let alone = plan.clone().of(&digest, None);
    let written = output::file(path, &bytes);
    let is_new = written.is_ok() || of_a_file(path).is_some_and(|own| own == bytes);
    // What follows tidies up: each of the two has its plan already.
    let _ = match (is_new, old) {
        (true, _) if replaces => output::file(&place, &alone.bytes()?),
        (true, _) => Ok(()),
        (false, Some(old)) => output::file(&place, &old),
        (false, None) => std::fs::remove_file(&place).map_err(|source| Failure::Write {
            to: place.display().to_string(),
            source,
        }),
    };
    written.map(|()| bytes.len())
}

/// What is in a file. A device may have no end.
fn of_a_file(path: &Path) -> Option<Vec<u8>> {
    let is_file = std::fs::metadata(path).is_ok_and(|found| found.is_file());
    is_file.then(|| read::bytes(path).ok()).flatten()
}
