//! Tables of numbers by name, with one description: a safetensors file. Loading runs no code, and the same
//! content is the same bytes.

use std::collections::HashMap;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};

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
