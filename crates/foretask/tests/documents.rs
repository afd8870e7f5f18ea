//! The documents say what the code does: constants, links, citations, files and the drawn modules.
//!
//! | in a document | must be |
//! |---|---|
//! | `` `NAME = value` ``, `` `module::NAME = value` `` | `const NAME: T = value;` in `crates/*/src`, in a file or folder of that name |
//! | `` `NAME` `` of a constant, without a value | not there: a name without its value drifts |
//! | a relative link | a file, and a heading of it |
//! | `` `folder/file.rs` `` | a file |
//! | `` `Type::name` `` | two words of the core's sources |
//!
//! In a comment of the sources, `docs/….md#heading` must be a heading, and nothing else may be cited.

#![allow(clippy::unwrap_used, clippy::panic)] // a failure here is a failed test

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Constants that documents name: fewer means that they were not found.
const FEWEST_CONSTANTS: usize = 20;
/// Links between documents, likewise.
const FEWEST_LINKS: usize = 60;
/// Citations of documents in the sources, likewise.
const FEWEST_CITATIONS: usize = 40;
/// Source files that documents name, likewise.
const FEWEST_FILES: usize = 20;
/// Types and functions of the library that documents name, likewise.
const FEWEST_NAMES: usize = 40;
/// Lines of the README.
const README_LINES: usize = 120;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All files below a folder with one of these extensions, by path from the root.
fn files(folder: &str, extensions: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if let Some(extension) = path.extension()
                && extensions.iter().any(|wanted| extension == *wanted)
            {
                found.push(path.strip_prefix(root()).unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> String {
    let text = fs::read_to_string(root().join(path));
    text.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// README, the documents and the other texts at the root.
fn documents() -> Vec<(PathBuf, String)> {
    let top = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(PathBuf::from);
    let paths = top.into_iter().chain(files("docs", &["md"]));
    paths
        .map(|path| {
            let text = read(&path);
            (path, text)
        })
        .collect()
}

/// The sources of all crates and of the Python package, tests and examples included.
fn sources() -> Vec<(PathBuf, String)> {
    let paths = [files("crates", &["rs"]), files("python", &["py", "pyi"])].concat();
    paths
        .into_iter()
        .map(|path| {
            let text = read(&path);
            (path, text)
        })
        .collect()
}

/// The text outside fenced blocks, line by line.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fence && !fenced
    })
}

/// The code spans of a line; those that are broken over two lines are not allowed (below).
fn spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

#[test]
fn code_spans_are_not_broken_over_lines() {
    for (path, text) in documents() {
        for (line, words) in prose(&text) {
            let whole = words.matches('`').count() % 2 == 0;
            assert!(whole, "{}:{}: {words}", path.display(), line + 1);
        }
    }
}

/// GitHub's names for the headings of a document.
fn anchors(text: &str) -> HashSet<String> {
    let mut seen = HashMap::new();
    let mut found = HashSet::new();
    for (_, line) in prose(text) {
        let level = line.bytes().take_while(|&byte| byte == b'#').count();
        let Some(title) = line[level..].strip_prefix(' ').filter(|_| level > 0) else {
            continue;
        };
        let name: String = title
            .trim()
            .to_lowercase()
            .chars()
            .filter(|&c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        let count = seen.entry(name.clone()).or_insert(0);
        found.insert(match count {
            0 => name,
            _ => format!("{name}-{count}"),
        });
        *count += 1;
    }
    found
}

/// Numbers in the order they are written: `1e-13`, `0.66`, `1 << 14`, `[0.1, 1.0]`.
fn numbers(value: &str) -> Option<Vec<f64>> {
    let list = value.trim();
    let list = list
        .strip_prefix('[')
        .map_or(list, |rest| rest.strip_suffix(']').unwrap_or(rest));
    list.trim_end_matches(',').split(',').map(number).collect()
}

fn number(text: &str) -> Option<f64> {
    let plain = |text: &str| text.trim().replace('_', "").parse::<f64>().ok();
    match text.split_once("<<") {
        Some((value, bits)) => Some(plain(value)? * plain(bits)?.exp2()),
        None => plain(text),
    }
}

/// A constant of the sources: where it is and what it is.
struct Constant {
    path: PathBuf,
    value: Vec<f64>,
}

impl Constant {
    /// Whether a document that says `module::NAME` may mean it: its file or one of its folders is called so.
    fn is_in(&self, module: &str) -> bool {
        let stem = self.path.file_stem().is_some_and(|stem| stem == module);
        stem || self.path.iter().any(|part| part == module)
    }
}

/// All constants that are numbers or lists of numbers, by name.
fn constants() -> BTreeMap<String, Vec<Constant>> {
    let mut found: BTreeMap<String, Vec<Constant>> = BTreeMap::new();
    for (path, text) in sources() {
        if !path.iter().any(|part| part == "src") {
            continue;
        }
        for (start, _) in text.match_indices("const ") {
            let end = text[start..].find(';').map_or(text.len(), |at| start + at);
            // The type of an array has a semicolon of its own.
            let end = match text[start..end].contains('=') {
                true => end,
                false => match text[end + 1..].find(';') {
                    Some(more) => end + 1 + more,
                    None => continue,
                },
            };
            let Some((head, value)) = text[start + 6..end].split_once('=') else {
                continue;
            };
            let Some((name, _)) = head.split_once(':') else {
                continue;
            };
            let name = name.trim();
            if is_constant(name)
                && let Some(value) = numbers(value)
            {
                let path = path.clone();
                found
                    .entry(name.to_owned())
                    .or_default()
                    .push(Constant { path, value });
            }
        }
    }
    found
}

fn is_constant(name: &str) -> bool {
    name.len() > 2
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

#[test]
fn constants_in_documents_are_those_of_the_code() {
    let constants = constants();
    let mut checked = 0;
    let mut wrong = Vec::new();
    for (path, text) in documents() {
        for (line, words) in prose(&text) {
            let mut say = |what: String| {
                wrong.push(format!("{}:{}: {what}", path.display(), line + 1));
            };
            for span in spans(words) {
                let (name, value) = match span.split_once(" = ") {
                    Some((name, value)) => (name, Some(value)),
                    None => (span, None),
                };
                let (module, name) = match name.rsplit_once("::") {
                    Some((module, name)) => (Some(module), name),
                    None => (None, name),
                };
                if !is_constant(name) {
                    continue;
                }
                let known = constants.get(name);
                let Some(value) = value else {
                    if known.is_some() {
                        say(format!("`{name}` has no value; write `{name} = value`"));
                    }
                    continue;
                };
                let Some(value) = numbers(value) else {
                    say(format!("`{span}` is no number"));
                    continue;
                };
                let meant: Vec<&Constant> = known
                    .into_iter()
                    .flatten()
                    .filter(|constant| module.is_none_or(|module| constant.is_in(module)))
                    .collect();
                checked += 1;
                let Some(first) = meant.first() else {
                    say(format!("`{span}`: there is no such constant"));
                    continue;
                };
                if meant.iter().any(|constant| constant.value != first.value) {
                    let places: Vec<String> = (meant.iter())
                        .map(|constant| constant.path.display().to_string())
                        .collect();
                    say(format!(
                        "`{span}` may be any of {}; write `module::{name} = value`",
                        places.join(", ")
                    ));
                } else if first.value != value {
                    say(format!(
                        "`{span}`, but {} has {:?}",
                        first.path.display(),
                        first.value
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(
        checked >= FEWEST_CONSTANTS,
        "only {checked} constants found"
    );
}

/// What a relative link or a citation points at, if it is wrong.
fn broken(from: &Path, target: &str) -> Option<String> {
    let (file, anchor) = match target.split_once('#') {
        Some((file, anchor)) => (file, Some(anchor)),
        None => (target, None),
    };
    let path = match file {
        "" => from.to_owned(),
        _ => from.parent().unwrap_or(Path::new("")).join(file),
    };
    if !root().join(&path).exists() {
        return Some(format!("{target}: there is no such file"));
    }
    let anchor = anchor.filter(|_| path.extension().is_some_and(|kind| kind == "md"))?;
    (!anchors(&read(&path)).contains(anchor)).then(|| format!("{target}: there is no such heading"))
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut checked = 0;
    let mut wrong = Vec::new();
    for (path, text) in documents() {
        let whole: String = prose(&text).map(|(_, line)| format!("{line}\n")).collect();
        for (start, _) in whole.match_indices("](") {
            let rest = &whole[start + 2..];
            let target = &rest[..rest.find(')').unwrap()];
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            checked += 1;
            if let Some(what) = broken(&path, target) {
                wrong.push(format!("{}: {what}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(checked >= FEWEST_LINKS, "only {checked} links found");
}

/// `tests/…`, `examples/…` and `benches/…` are those of any crate, other paths those of its sources.
#[test]
fn source_files_that_documents_name_exist() {
    let known = [files("crates", &["rs"]), files("python", &["py", "pyi"])].concat();
    let mut checked = 0;
    let mut wrong = Vec::new();
    for (path, text) in documents() {
        for (line, words) in prose(&text) {
            for span in spans(words) {
                let file = span.ends_with(".rs") || span.ends_with(".py");
                if !file || span.contains([' ', '*', '$']) || span.contains("NAME") {
                    continue;
                }
                checked += 1;
                if !known.iter().any(|path| path.ends_with(span)) {
                    let place = format!("{}:{}", path.display(), line + 1);
                    wrong.push(format!("{place}: there is no {span}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(checked >= FEWEST_FILES, "only {checked} files found");
}

/// Not that the one belongs to the other, but that neither was renamed.
#[test]
fn types_and_functions_that_documents_name_exist() {
    let core = files("crates/foretask/src", &["rs"]);
    let core: String = core.iter().map(|path| read(path)).collect();
    let known: HashSet<&str> = core
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .collect();
    let mut checked = 0;
    let mut wrong = Vec::new();
    for (path, text) in documents() {
        for (line, words) in prose(&text) {
            for span in spans(words) {
                let parts: Vec<&str> = span.split("::").collect();
                let name = |part: &&str| part.chars().all(|c| c.is_alphanumeric() || c == '_');
                if parts.len() < 2 || !parts.iter().all(name) {
                    continue;
                }
                checked += 1;
                let modules = ["foretask"];
                let missing =
                    (parts.iter()).find(|part| !modules.contains(part) && !known.contains(**part));
                if let Some(part) = missing {
                    let place = format!("{}:{}", path.display(), line + 1);
                    wrong.push(format!("{place}: `{span}`: there is no {part}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(checked >= FEWEST_NAMES, "only {checked} names found");
}

#[test]
fn citations_in_sources_point_at_headings() {
    let mut checked = 0;
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        for (number, line) in text.lines().enumerate() {
            for (start, _) in line.match_indices("docs/") {
                let rest = &line[start..];
                let end = rest
                    .find(|c: char| !c.is_ascii_alphanumeric() && !"-_./#".contains(c))
                    .unwrap_or(rest.len());
                let target = rest[..end].trim_end_matches('.');
                if !target.contains(".md") || target.contains("NAME") {
                    continue;
                }
                checked += 1;
                if let Some(what) = broken(Path::new(""), target) {
                    wrong.push(format!("{}:{}: {what}", path.display(), number + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(
        checked >= FEWEST_CITATIONS,
        "only {checked} citations found"
    );
}

/// Whoever reads the repository has nothing else.
#[test]
fn nothing_outside_the_repository_is_cited() {
    // Split, so that this file does not cite them.
    let elsewhere = [
        concat!("THE", "ORY "),
        concat!("REC", "IPE"),
        concat!("PAPER", "-NOTES"),
        concat!("proto", "type"),
    ];
    // Where tests and benchmarks look for data if nobody tells them; no document and no shipped source does.
    let beside = concat!("../sha", "red");
    let mut wrong = Vec::new();
    for (path, text) in documents().into_iter().chain(sources()) {
        let shipped = ["docs", "src", "README.md"];
        let shipped = path
            .iter()
            .any(|part| shipped.iter().any(|name| part == *name));
        for (number, line) in text.lines().enumerate() {
            let mut words = elsewhere.iter().chain(shipped.then_some(&beside));
            if let Some(word) = words.find(|word| line.contains(**word)) {
                wrong.push(format!("{}:{}: {word}", path.display(), number + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Every module of the core is drawn in `docs/architecture.md`, and no other.
#[test]
fn the_drawn_modules_are_those_of_the_core() {
    let text = read(Path::new("docs/architecture.md"));
    let section = text.split("## The modules of the core").nth(1).unwrap();
    let drawn = section.split("```").nth(1).unwrap();
    let source = Path::new("crates/foretask/src");
    let names = |folder: &Path| -> HashSet<String> {
        let entries = fs::read_dir(root().join(folder));
        let entries = entries.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let paths = entries.map(|entry| entry.unwrap().path());
        paths
            .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
            .filter(|name| !matches!(name.as_str(), "lib" | "mod" | "tests"))
            .collect()
    };
    let mut modules = HashSet::new();
    for line in drawn.lines().skip(1) {
        let mut words = line.split_whitespace();
        let Some(module) = words.next() else {
            continue;
        };
        let name = module.trim_end_matches(".rs").trim_end_matches('/');
        modules.insert(name.to_owned());
        if module.ends_with('/') {
            let files: HashSet<String> = words.map(str::to_owned).collect();
            assert_eq!(files, names(&source.join(name)), "the files of {module}");
        }
    }
    assert_eq!(modules, names(source), "the modules");
}

#[test]
fn the_readme_is_short_and_names_the_check() {
    let text = read(Path::new("README.md"));
    let lines = text.lines().count();
    assert!(lines <= README_LINES, "{lines} lines");
    assert!(
        text.contains("\n./check\n") && text.contains("cargo run --release --bin foretask -- demo")
    );
}

#[test]
fn every_dependency_has_a_line() {
    let mut used = HashSet::new();
    for manifest in files("crates", &["toml"]) {
        let text = read(&manifest);
        let mut inside = false;
        for line in text.lines() {
            if line.starts_with('[') {
                inside = line.ends_with("dependencies]");
            } else if let (true, Some((name, _))) = (inside, line.split_once(" = "))
                && !name.starts_with("foretask")
                && !name.starts_with('#')
            {
                used.insert(name.to_owned());
            }
        }
    }
    let text = read(Path::new("docs/dependencies.md"));
    let rust = text.split("## Python").next().unwrap_or_default();
    let rows = rust.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.filter_map(|line| line.split('|').nth(1));
    let listed: HashSet<String> = cells
        .flat_map(|cell| spans(cell).map(str::to_owned).collect::<Vec<_>>())
        .collect();
    assert!(used.len() > 30, "{used:?}");
    let unlisted: Vec<_> = used.difference(&listed).collect();
    let unused: Vec<_> = listed.difference(&used).collect();
    assert!(unlisted.is_empty(), "without a line: {unlisted:?}");
    assert!(unused.is_empty(), "not used any more: {unused:?}");
}
