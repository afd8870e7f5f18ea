//! The order of the modules, as drawn in the crates' documentation, holds: every file uses only files above it.

// A failure here is a failed test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What users see, at most: functions, types, constants and methods. Rehearsals, paired statements, labels needed and
/// budgets are answers of their own; tables as people keep them are a vocabulary of their own (`prepare`), and parts of
/// statistics have seven: features by name, parts that are known, their one order, what others may see. Tables of any size
/// have five: a survey of columns in parts, and a file that is written piece by piece. A page that a person plays with asks
/// five: a forecast counted again for other priors and costs, thresholds for other rates, and the spread of features.
/// Two say whether a forecast or a preparation that comes from outside, in a pickle, can be one. The number of folds has
/// two, and errors that are counted where the rows are eight: a tally is made, filled, merged, stored, and used. The report asks two more: a
/// forecast without some sources, and the map of likeness; what a budget is worth in the target or in sources is one.
const PUBLIC_ITEMS: usize = 270;
/// Lines of a file of `study/`, at most: each is one step.
const LONGEST_STEP: usize = 350;

fn source(of: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(of)
}

/// The files of the tree that is drawn in the documentation of a crate, in its order.
fn drawn(root: &Path, main: &str) -> Vec<String> {
    let text = fs::read_to_string(root.join(main)).unwrap();
    let mut folders: Vec<String> = Vec::new();
    let mut files = Vec::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("//! ")) {
        let depth = line.len() - line.trim_start().len();
        let Some(name) = line.split_whitespace().next() else {
            continue;
        };
        let inside = depth / 2 <= folders.len() && depth % 2 == 0;
        if inside && name.ends_with('/') && line.trim() == name {
            folders.truncate(depth / 2);
            folders.push(name.to_owned());
        } else if inside && name.ends_with(".rs") && !name.contains('`') {
            folders.truncate(depth / 2);
            files.push(folders.concat() + name);
        }
    }
    files
}

/// All source files below a folder, relative to it; unit tests in files of their own left out.
fn present(root: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() {
                folders.extend((name != "tests").then_some(path));
            } else if name.ends_with(".rs") && name != "tests.rs" {
                let relative = path.strip_prefix(root).unwrap();
                found.insert(relative.to_str().unwrap().to_owned());
            }
        }
    }
    found
}

/// The code of a file: no comments, no unit tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let tests = text.find("#[cfg(test)]\nmod tests").unwrap_or(text.len());
    let lines = text[..tests].lines().map(|line| match line.find("//") {
        // An address in a string is no comment.
        Some(at) if !line[..at].contains('"') => &line[..at],
        _ => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The module of a file: `study/judge.rs` and `study/mod.rs` are study::judge and study.
fn module(file: &str) -> Vec<String> {
    let path = file.trim_end_matches(".rs").trim_end_matches("/mod");
    path.split('/').map(str::to_owned).collect()
}

/// Every path that begins at `start` in the code, braces expanded.
fn paths(code: &str, start: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices(start) {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
            continue;
        }
        expand(&code[at..], &mut Vec::new(), &mut found);
    }
    found
}

/// Reads a path, and if it ends in a brace each path in there; returns what follows.
fn expand<'c>(
    mut text: &'c str,
    so_far: &mut Vec<String>,
    found: &mut Vec<Vec<String>>,
) -> &'c str {
    let depth = so_far.len();
    loop {
        text = text.trim_start();
        if let Some(mut inside) = text.strip_prefix('{') {
            loop {
                inside = expand(inside, so_far, found).trim_start();
                match inside.strip_prefix(',') {
                    Some(rest) if !rest.trim_start().starts_with('}') => inside = rest,
                    Some(rest) => inside = rest.trim_start(),
                    None => break,
                }
                if inside.starts_with('}') {
                    break;
                }
            }
            so_far.truncate(depth);
            return inside.strip_prefix('}').unwrap_or(inside);
        }
        let end = text
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(text.len());
        so_far.push(text[..end].to_owned());
        text = &text[end..];
        match text.strip_prefix("::") {
            Some(rest) if !rest.starts_with('<') => text = rest,
            _ => break,
        }
    }
    found.push(so_far.clone());
    so_far.truncate(depth);
    text
}

/// The files that a file uses.
fn used(files: &[String], file: &str, code: &str) -> BTreeSet<String> {
    let own = module(file);
    let mut targets: Vec<Vec<String>> = Vec::new();
    for path in paths(code, "crate::") {
        targets.push(path[1..].to_vec());
    }
    for path in paths(code, "super::") {
        let ups = path.iter().take_while(|name| *name == "super").count();
        let mut target = own[..own.len().saturating_sub(ups)].to_vec();
        target.extend_from_slice(&path[ups..]);
        targets.push(target);
    }
    // A folder's own file names its children without a prefix.
    if file.ends_with("mod.rs") {
        let children = files.iter().map(|file| module(file));
        for child in
            children.filter(|child| child.len() == own.len() + 1 && child.starts_with(&own))
        {
            let name = format!("{}::", child[own.len()]);
            if !paths(code, &name).is_empty() {
                targets.push(child);
            }
        }
    }
    let known: Vec<(Vec<String>, &String)> =
        files.iter().map(|file| (module(file), file)).collect();
    let deepest = |target: &Vec<String>| {
        let holding = known
            .iter()
            .filter(|(module, _)| target.starts_with(module));
        let found = holding.max_by_key(|(module, _)| module.len());
        found.map(|(_, file)| (*file).clone())
    };
    targets.iter().filter_map(deepest).collect()
}

fn assert_order(root: &Path, main: &str) {
    let mut files = drawn(root, main);
    files.push(main.to_owned());
    let listed: BTreeSet<String> = files.iter().cloned().collect();
    assert_eq!(listed.len(), files.len(), "a file is drawn twice");
    assert_eq!(listed, present(root), "drawn (left) and present (right)");
    let mut uses = 0;
    for (place, file) in files.iter().enumerate() {
        for other in used(&files, file, &code(&root.join(file))) {
            let where_ = files.iter().position(|file| *file == other).unwrap();
            assert!(where_ <= place, "{file} uses {other}, which is below it");
            uses += usize::from(where_ < place);
        }
    }
    assert!(uses > files.len(), "only {uses} uses were seen");
}

#[test]
fn the_core_is_in_order() {
    assert_order(&source("src"), "lib.rs");
}

#[test]
fn the_command_line_is_in_order() {
    assert_order(&source("../foretask-cli/src"), "main.rs");
}

#[test]
fn a_use_of_what_is_below_is_seen() {
    let files: Vec<String> = ["a.rs", "b/c.rs", "b/mod.rs"].map(String::from).into();
    let code = "use crate::b::{self, c::{One, Two}};\nfn f() { super::a::g::<u8>(); }";
    let seen: Vec<String> = used(&files, "a.rs", code).into_iter().collect();
    assert_eq!(seen, ["a.rs", "b/c.rs", "b/mod.rs"]);
    let seen = used(&files, "b/mod.rs", "use c::One;");
    assert!(seen.contains("b/c.rs"));
}

#[test]
fn the_public_surface_is_small() {
    let root = source("src");
    let words = ["fn", "struct", "enum", "trait", "type", "const", "static"];
    let public = |line: &&str| {
        let rest = line.trim_start().strip_prefix("pub ");
        rest.is_some_and(|rest| {
            words
                .iter()
                .any(|word| rest.starts_with(&format!("{word} ")))
        })
    };
    let count = |file: &String| code(&root.join(file)).lines().filter(public).count();
    let items: usize = present(&root).iter().map(count).sum();
    assert!(
        (100..=PUBLIC_ITEMS).contains(&items),
        "{items} public items"
    );
}

#[test]
fn every_step_of_a_study_is_short() {
    let root = source("src/study");
    for file in present(&root) {
        let lines = fs::read_to_string(root.join(&file))
            .unwrap()
            .lines()
            .count();
        assert!(lines <= LONGEST_STEP, "{file} has {lines} lines");
    }
}
