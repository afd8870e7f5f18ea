//! `foretask completions` and `foretask man`: what shells and manuals want to know of the options.

use std::env;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap::error::ErrorKind;
use clap_complete::Shell;

use crate::arguments::{Cli, Completions, Man};
use crate::exit::Answer;
use crate::failure::Failure;
use crate::output;
use crate::show::words;

/// Prints a completion script, or puts it where the shell looks for it, with the manual.
pub fn completions(arguments: &Completions) -> Result<Answer, Failure> {
    if arguments.install {
        return install(arguments.shell);
    }
    // The parser asks for a shell where nothing is to be installed.
    if let Some(shell) = arguments.shell {
        output::standard(&script(shell))?;
    }
    Ok(Answer::Yes)
}

fn script(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "foretask", &mut script);
    script
}

/// Writes the script of a shell, or of the one that is used, and the manual to the user's folders.
fn install(shell: Option<Shell>) -> Result<Answer, Failure> {
    let shell = match shell.or_else(Shell::from_env) {
        Some(shell) => shell,
        None => {
            let found = env::var("SHELL").unwrap_or_default();
            return Err(Failure::UnknownShell { found });
        }
    };
    let data = data_folder(
        env::var_os("XDG_DATA_HOME").map(PathBuf::from),
        env::home_dir(),
    )
    .ok_or(Failure::NoHome)?;
    let place = place(shell).ok_or_else(|| Failure::NoCompletions {
        shell: shell.to_string(),
    })?;
    let mut written = vec![(data.join(place), script(shell))];
    for (name, page) in pages()? {
        written.push((data.join("man/man1").join(name), page));
    }
    let mut told = String::new();
    for (path, bytes) in &written {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|source| Failure::Write {
                to: folder.display().to_string(),
                source,
            })?;
        }
        output::file(path, bytes)?;
        told += &format!("wrote {}\n", words::path(path));
    }
    told += &match shell {
        Shell::Zsh => format!(
            "\nzsh looks there if ~/.zshrc has, before compinit:\n  fpath=('{}' $fpath)\n",
            words::path(&data.join("zsh/site-functions"))
        ),
        Shell::Bash => "\nbash looks there by itself where the package bash-completion is installed; start a new \
                        shell.\n"
            .to_owned(),
        _ => format!("\n{shell} looks there by itself; start a new shell.\n"),
    };
    output::standard(told.as_bytes())?;
    Ok(Answer::Yes)
}

/// The folder of the user's data: `XDG_DATA_HOME`, which must be absolute, or `.local/share` at home.
fn data_folder(named: Option<PathBuf>, home: Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |path: &PathBuf| path.is_absolute();
    named
        .filter(absolute)
        .or_else(|| Some(home.filter(absolute)?.join(".local/share")))
}

/// Where a shell looks for completions, in the folder of the user's data; none where it has no such place.
fn place(shell: Shell) -> Option<&'static Path> {
    let place = match shell {
        Shell::Bash => "bash-completion/completions/foretask",
        Shell::Zsh => "zsh/site-functions/_foretask",
        Shell::Fish => "fish/vendor_completions.d/foretask.fish",
        _ => return None,
    };
    Some(Path::new(place))
}

/// Prints a manual page.
pub fn manual(arguments: &Man) -> Result<Answer, Failure> {
    let mut command = Cli::command();
    // Gives the pages of subcommands their full names.
    command.build();
    if let Some(name) = &arguments.command {
        command = match command.find_subcommand(name) {
            Some(found) => found.clone(),
            None => {
                let message = format!("there is no command '{name}'");
                return Err(command.error(ErrorKind::InvalidSubcommand, message).into());
            }
        };
    }
    output::standard(&page(command)?)?;
    Ok(Answer::Yes)
}

fn page(command: clap::Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(command).render(&mut page);
    rendered.map_err(|source| Failure::Write {
        to: "the manual page".into(),
        source,
    })?;
    Ok(page)
}

/// The page of foretask and those of its commands, with the names of their files.
fn pages() -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let mut command = Cli::command();
    command.build();
    let shown = command
        .get_subcommands()
        .filter(|sub| !sub.is_hide_set() && sub.get_name() != "help");
    let mut pages = Vec::new();
    for sub in shown.cloned().collect::<Vec<_>>() {
        pages.push((format!("foretask-{}.1", sub.get_name()), page(sub)?));
    }
    pages.insert(0, ("foretask.1".to_owned(), page(command)?));
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_go_where_the_user_says() {
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(data_folder(path("/data"), path("/home/a")), path("/data"));
        let usual = path("/home/a/.local/share");
        assert_eq!(data_folder(None, path("/home/a")), usual);
        assert_eq!(data_folder(path("relative"), path("/home/a")), usual);
        assert_eq!(data_folder(path(""), None), None);
    }
}
