//! Files that appear whole or not at all, whatever fails and whenever the process ends.
//!
//! What is written has no name until it is whole and on the disk, and then takes its name in one step. On Linux a
//! process that is killed leaves nothing at all: a file without a name goes with it. Elsewhere, and on file systems
//! that know no such files, a temporary file `.tmp…` lies beside the output meanwhile, which an error removes and only a
//! kill leaves. The same holds for the moment in which a file that is there is replaced: the new one has to have some
//! name before it can take that of another.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// Writes a file whole or not at all. Links are followed and devices written to; a file that is replaced keeps its
/// permissions, and one that is write-protected is not replaced.
///
/// # Errors
/// [`Error::Io`].
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    write_in_steps(path, |file| {
        file.write_all(bytes).map_err(|source| Error::Io {
            path: path.to_owned(),
            source,
        })
    })
}

/// The same for what comes piece by piece: nothing appears if `write` fails.
///
/// # Errors
/// [`Error::Io`], and what `write` returns.
pub fn write_in_steps<E: From<Error>>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let failed = |source| {
        E::from(Error::Io {
            path: path.to_owned(),
            source,
        })
    };
    let old = std::fs::metadata(path).ok();
    // A device such as /dev/null is written to; a renamed file would take its place.
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        let mut device = File::create(path).map_err(failed)?;
        write(&mut device)?;
        return device.flush().map_err(failed);
    }
    let permissions = old.map(|old| old.permissions());
    if permissions.as_ref().is_some_and(|old| old.readonly()) {
        return Err(failed(protected()));
    }
    // What a link points to is replaced, not the link.
    let place = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = place
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let mut draft = Draft::new(folder).map_err(failed)?;
    write(&mut draft)?;
    draft.finish(permissions, folder, &place).map_err(failed)
}

/// What is said of a file that nobody may write to.
fn protected() -> io::Error {
    let kind = io::ErrorKind::PermissionDenied;
    io::Error::new(kind, "the file is write-protected")
}

/// A file that is being written.
enum Draft {
    /// Without a name.
    #[cfg(target_os = "linux")]
    Unnamed(File),
    /// With a name that goes if it is not finished.
    Named(NamedTempFile),
}

impl Draft {
    fn new(folder: &Path) -> io::Result<Self> {
        step()?;
        #[cfg(target_os = "linux")]
        if let Ok(file) = unnamed::open(folder) {
            return Ok(Self::Unnamed(file));
        }
        Ok(Self::Named(named(folder)?))
    }

    fn file(&mut self) -> &mut File {
        match self {
            #[cfg(target_os = "linux")]
            Self::Unnamed(file) => file,
            Self::Named(file) => file.as_file_mut(),
        }
    }

    /// Puts the file to the disk, and then under its name.
    fn finish(
        mut self,
        permissions: Option<std::fs::Permissions>,
        folder: &Path,
        place: &Path,
    ) -> io::Result<()> {
        if let Some(permissions) = permissions {
            step()?;
            self.file().set_permissions(permissions)?;
        }
        step()?;
        self.file().sync_all()?;
        match self {
            #[cfg(target_os = "linux")]
            Self::Unnamed(file) => unnamed::publish(file, folder, place)?,
            Self::Named(file) => {
                step()?;
                file.persist(place)?;
            }
        }
        sync_folder(folder)
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        step()?;
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        step()?;
        self.file().flush()
    }
}

/// A temporary file that is as readable as any that the user makes.
fn named(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

/// The new name is on the disk when the folder is.
fn sync_folder(folder: &Path) -> io::Result<()> {
    step()?;
    #[cfg(unix)]
    if let Ok(folder) = File::open(folder) {
        use io::ErrorKind::{InvalidInput, Unsupported};
        match folder.sync_all() {
            // Some file systems cannot sync folders.
            Err(error) if ![InvalidInput, Unsupported].contains(&error.kind()) => {
                return Err(error);
            }
            _ => {}
        }
    }
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

#[cfg(target_os = "linux")]
mod unnamed {
    use std::fs::{File, OpenOptions};
    use std::io::{self, ErrorKind, Seek};
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, OFlags, linkat};

    use super::step;

    pub(super) fn open(folder: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        // The flag is a bit of a C int.
        let unnamed = OFlags::TMPFILE.bits() as i32;
        options.read(true).write(true).mode(0o666);
        options.custom_flags(unnamed).open(folder)
    }

    /// Gives the file its name.
    pub(super) fn publish(file: File, folder: &Path, place: &Path) -> io::Result<()> {
        match name(&file, place) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            // There is no /proc, say.
            Err(_) => return copy(file, folder, place),
        }
        let named = tempfile::Builder::new().make_in(folder, |path| name(&file, path))?;
        step()?;
        named.persist(place)?;
        Ok(())
    }

    /// A name for a file that has none, where nothing has that name.
    fn name(file: &File, path: &Path) -> io::Result<()> {
        step()?;
        let own = format!("/proc/self/fd/{}", file.as_raw_fd());
        Ok(linkat(CWD, own, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
    }

    /// The other way.
    fn copy(mut file: File, folder: &Path, place: &Path) -> io::Result<()> {
        let mut named = super::named(folder)?;
        file.rewind()?;
        io::copy(&mut file, named.as_file_mut())?;
        let permissions = file.metadata()?.permissions();
        named.as_file().set_permissions(permissions)?;
        named.as_file().sync_all()?;
        step()?;
        named.persist(place)?;
        Ok(())
    }
}

/// Before each step that may fail. Tests set `FORETASK_FAULT` to `fail:K` or `end:K`, and the K-th step of the process
/// fails, or ends it; no such thing is in a release.
#[cfg(debug_assertions)]
fn step() -> io::Result<()> {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static STEPS: AtomicUsize = AtomicUsize::new(0);
    let Ok(fault) = std::env::var("FORETASK_FAULT") else {
        return Ok(());
    };
    let taken = STEPS.fetch_add(1, Ordering::Relaxed) + 1;
    match fault.split_once(':') {
        Some(("fail", at)) if at.parse() == Ok(taken) => {
            Err(io::Error::other("the fault of a test"))
        }
        // As if it was killed: nothing is cleaned up.
        Some(("end", at)) if at.parse() == Ok(taken) => std::process::exit(137),
        _ => Ok(()),
    }
}

#[cfg(not(debug_assertions))]
fn step() -> io::Result<()> {
    Ok(())
}
