//! Tables of numbers by name, with one description: a safetensors file. Loading runs no code, and the same
//! content is the same bytes.

use std::collections::HashMap;
use std::hash::Hasher;
use std::ops::Range;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use twox_hash::XxHash64;

/// A table: its name, its shape, its numbers with the last index running fastest.
pub(crate) type Table = (String, Vec<usize>, Vec<f64>);

/// The file of `tables`, described by one entry named `format`: the order of several would differ from file
/// to file.
pub(crate) fn write(
    format: &str,
    description: &impl serde::Serialize,
    tables: Vec<Table>,
) -> Result<Vec<u8>, String> {
    let bytes: Vec<(String, Vec<usize>, Vec<u8>)> = tables
        .into_iter()
        .map(|(name, shape, values)| {
            let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
            (name, shape, bytes)
        })
        .collect();
    let views = bytes
        .iter()
        .map(|(name, shape, data)| {
            TensorView::new(Dtype::F64, shape.clone(), data).map(|view| (name.as_str(), view))
        })
        .collect::<Result<Vec<_>, _>>()
        .map_err(|e| e.to_string())?;
    let description = serde_json::to_string(description).map_err(|e| e.to_string())?;
    let metadata = HashMap::from([(format.to_owned(), description)]);
    safetensors::serialize(views, Some(metadata)).map_err(|e| e.to_string())
}

/// The table with the checksum of a file: two halves of 64 bits, which are whole numbers as doubles.
const SEAL: &str = "checksum";

/// As `write`, with a checksum of all bytes but its own.
pub(crate) fn write_sealed(
    format: &str,
    description: &impl serde::Serialize,
    mut tables: Vec<Table>,
) -> Result<Vec<u8>, String> {
    tables.push((SEAL.into(), vec![2], vec![0.0; 2]));
    let mut bytes = write(format, description, tables)?;
    let place =
        Tables(SafeTensors::deserialize(&bytes).map_err(|e| e.to_string())?).place(&bytes)?;
    let seal = seal(&bytes, place.clone());
    bytes[place].copy_from_slice(&seal);
    Ok(bytes)
}

/// The same file with the checksum of what is in it now, for tests of what a checksum does not see.
#[cfg(test)]
pub(crate) fn sealed_anew(bytes: &[u8]) -> Option<Vec<u8>> {
    let place = Tables(SafeTensors::deserialize(bytes).ok()?)
        .place(bytes)
        .ok()?;
    let mut bytes = bytes.to_vec();
    let seal = seal(&bytes, place.clone());
    bytes[place].copy_from_slice(&seal);
    Some(bytes)
}

/// The checksum of all bytes but those at `place`, as it is stored.
fn seal(bytes: &[u8], place: Range<usize>) -> [u8; 16] {
    let mut hash = XxHash64::with_seed(0);
    hash.write(&bytes[..place.start]);
    hash.write(&bytes[place.end..]);
    let sum = hash.finish();
    let halves = [sum >> 32, sum & u64::from(u32::MAX)].map(|half| (half as f64).to_le_bytes());
    let mut stored = [0; 16];
    stored[..8].copy_from_slice(&halves[0]);
    stored[8..].copy_from_slice(&halves[1]);
    stored
}

/// A file that was written by `write`.
pub(crate) struct Tables<'b>(SafeTensors<'b>);

impl<'b> Tables<'b> {
    /// The description and the tables; `what` the file should be, in words.
    pub(crate) fn read<D: serde::de::DeserializeOwned>(
        bytes: &'b [u8],
        format: &str,
        what: &str,
    ) -> Result<(D, Self), String> {
        let broken = |e| format!("it is not a whole safetensors file ({e})");
        let other = || format!("it is a safetensors file, but not {what}");
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(broken)?;
        let metadata = header.metadata().as_ref().ok_or_else(other)?;
        let description = match metadata.get(format) {
            Some(description) => serde_json::from_str(description).map_err(|e| e.to_string())?,
            None => match metadata.keys().find(|key| key.starts_with("foretask-")) {
                Some(found) => {
                    return Err(format!("it is a '{found}', this version reads '{format}'"));
                }
                None => return Err(other()),
            },
        };
        let tables = SafeTensors::deserialize(bytes).map_err(broken)?;
        Ok((description, Self(tables)))
    }

    /// Where the checksum is.
    fn place(&self, bytes: &[u8]) -> Result<Range<usize>, String> {
        let view = self.0.tensor(SEAL).map_err(|_| "it has no checksum")?;
        let data = view.data();
        let start = (data.as_ptr() as usize).wrapping_sub(bytes.as_ptr() as usize);
        let end = start
            .checked_add(data.len())
            .filter(|&end| end <= bytes.len());
        match end {
            Some(end) if data.len() == 16 => Ok(start..end),
            _ => Err("its checksum has the wrong size".into()),
        }
    }

    /// Whether these are the bytes that were written.
    pub(crate) fn check_seal(&self, bytes: &[u8]) -> Result<(), String> {
        let place = self.place(bytes)?;
        match bytes[place.clone()] == seal(bytes, place) {
            true => Ok(()),
            false => Err("its checksum is wrong: it was damaged or edited".into()),
        }
    }

    /// How many tables there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.tensor(name).is_ok()
    }

    /// Shape and numbers of a table.
    pub(crate) fn get(&self, name: &str) -> Result<(Vec<usize>, Vec<f64>), String> {
        let view = self.0.tensor(name).map_err(|e| e.to_string())?;
        if view.dtype() != Dtype::F64 {
            return Err(format!("'{name}' is not in double precision"));
        }
        let values = view.data().chunks_exact(8);
        let values = values.map(|b| f64::from_le_bytes(b.try_into().unwrap_or_default()));
        Ok((view.shape().to_vec(), values.collect()))
    }
}
