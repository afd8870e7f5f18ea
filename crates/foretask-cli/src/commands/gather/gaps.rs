//! Rows with missing values, where they are not filled in.

use foretask::prepare::Preparation;

use crate::arguments::{self, Missing};
use crate::failure::Failure;
use crate::read::{Part, ReadError, Table};

/// Does with gaps what the user wants, and says how many rows were dropped.
pub fn refuse_or_drop(
    arguments: &arguments::Gather,
    part: &Part,
    table: &mut Table,
    preparation: &Preparation,
) -> Result<usize, Failure> {
    let what = arguments.data.missing;
    if what == Missing::Impute || table.array {
        return Ok(0);
    }
    let mut whole = vec![true; table.rows()];
    for (name, column) in table.frame.names().iter().zip(table.frame.columns()) {
        if !preparation.columns.iter().any(|own| own.name == *name) {
            continue;
        }
        let gaps = column.gaps();
        if let (Some(&row), Missing::Refuse) = (gaps.first(), what) {
            return Err(Failure::Read(ReadError::Cell {
                place: table.origin.place(&part.file, row, name),
                why: "the value is missing, and --missing refuse is given".to_owned(),
            }));
        }
        for row in gaps {
            whole[row] = false;
        }
    }
    let dropped = whole.iter().filter(|&&whole| !whole).count();
    if dropped > 0 {
        table.retain(&whole);
    }
    Ok(dropped)
}
