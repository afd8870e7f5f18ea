//! Aligned columns of text.

use unicode_width::UnicodeWidthStr;

use super::words::printable;

/// On which side a column is flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Rows of cells, printed with two spaces before each column.
#[derive(Debug)]
pub struct Table {
    aligns: Vec<Align>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns.
    pub fn new(aligns: &[Align]) -> Self {
        Self {
            aligns: aligns.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Appends a row; names in it become printable.
    pub fn row<S: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let cells = cells.into_iter();
        self.rows.push(
            cells
                .map(|cell| printable(cell.as_ref()).into_owned())
                .collect(),
        );
    }

    /// The lines, each with its end.
    pub fn text(&self) -> String {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.width()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.aligns.len()).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for ((cell, &width), align) in row.iter().zip(&widths).zip(&self.aligns) {
                let padding = " ".repeat(width.saturating_sub(cell.width()));
                line.push_str("  ");
                match align {
                    Align::Left => line.extend([cell.as_str(), &padding]),
                    Align::Right => line.extend([&padding, cell.as_str()]),
                }
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_what_is_seen_and_lines_have_no_trailing_space() {
        let mut table = Table::new(&[Align::Left, Align::Right, Align::Left]);
        table.row(["né", "1", "a"]);
        table.row(["東京", "10", ""]);
        assert_eq!(table.text(), "  né     1  a\n  東京  10\n");
    }

    #[test]
    fn names_do_nothing_to_a_terminal() {
        let mut table = Table::new(&[Align::Left, Align::Left]);
        table.row(["a\nb", "\u{1b}[31m"]);
        assert_eq!(table.text(), "  a\\nb  \\u{1b}[31m\n");
    }
}
