//! [`Records`]: lines of delimited text, one after the other.
//!
//! A line without a quotation mark ends where the next line begins, and its cells end at separators: both are found
//! many bytes at a time. Everything else (quoted cells, which may hold line ends; the line at the end of a buffer;
//! lines that end in a carriage return alone) goes through the machine of `csv_core`, byte by byte. Both take blank
//! lines for nothing.

use std::cell::RefCell;
use std::io::{self, BufRead};
use std::ops::Range;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use memchr::{memchr, memchr_iter, memchr2};

use super::batch::Meter;
use super::packed::{is_too_wide, too_wide};

/// One line, in cells.
#[derive(Default)]
pub struct Record {
    bytes: Vec<u8>,
    /// Where each cell ends.
    ends: Vec<usize>,
    /// Bytes between the end of a cell and the beginning of the next.
    gap: usize,
}

impl Record {
    /// The number of cells.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// A cell; empty if there is none.
    pub fn cell(&self, index: usize) -> &[u8] {
        self.bytes.get(self.range(index)).unwrap_or_default()
    }

    /// The whole line, if it is UTF-8: that is told at once sooner than cell by cell.
    pub fn line(&self) -> Option<Line<'_>> {
        let text = std::str::from_utf8(&self.bytes).ok()?;
        Some(Line { record: self, text })
    }

    fn range(&self, index: usize) -> Range<usize> {
        let end = self.ends.get(index).copied().unwrap_or(0);
        let start = match index.checked_sub(1) {
            Some(before) => self.ends.get(before).map_or(0, |end| end + self.gap),
            None => 0,
        };
        start..end
    }

    /// All cells.
    pub fn cells(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.cell(index))
    }
}

/// A line that is text.
pub struct Line<'a> {
    record: &'a Record,
    text: &'a str,
}

impl<'a> Line<'a> {
    /// A cell, unless two cells are text together only.
    pub fn cell(&self, index: usize) -> Option<&'a str> {
        self.text.get(self.record.range(index))
    }
}

/// Lines of delimited text.
pub struct Records<R> {
    source: R,
    delimiter: u8,
    /// Bytes of files that were read: a line has not many more cells.
    stored: Meter,
    /// Made for the first line that needs it.
    machine: Option<Box<Reader>>,
}

thread_local! {
    /// Machines that were given back, by their separators: making one takes as long as some hundred lines, and a folder may
    /// have thousands of files that have fewer.
    static SPARE: RefCell<Vec<(u8, Box<Reader>)>> = const { RefCell::new(Vec::new()) };
}

fn machine(delimiter: u8) -> Box<Reader> {
    let spare = SPARE.with_borrow_mut(|spare| {
        let place = spare.iter().position(|&(own, _)| own == delimiter)?;
        Some(spare.swap_remove(place).1)
    });
    spare.unwrap_or_else(|| Box::new(ReaderBuilder::new().delimiter(delimiter).build()))
}

impl<R> Drop for Records<R> {
    fn drop(&mut self) {
        if let Some(mut machine) = self.machine.take() {
            machine.reset();
            // A thread that ends may have none any more.
            let _ = SPARE.try_with(|spare| {
                spare.borrow_mut().push((self.delimiter, machine));
            });
        }
    }
}

impl<R: BufRead> Records<R> {
    /// What `source` makes of the bytes that `stored` counts.
    pub fn new(source: R, delimiter: u8, stored: Meter) -> Self {
        Self {
            source,
            delimiter,
            stored,
            machine: None,
        }
    }

    /// Reads the next line that is not blank; false if there is none.
    pub fn next(&mut self, record: &mut Record) -> io::Result<bool> {
        loop {
            let buffer = self.source.fill_buf()?;
            if buffer.is_empty() && self.machine.is_none() {
                return Ok(false);
            }
            let Some(end) = memchr(b'\n', buffer) else {
                return self.next_by_machine(record);
            };
            let line = buffer.get(..end).unwrap_or_default();
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if memchr2(b'"', b'\r', line).is_some() {
                return self.next_by_machine(record);
            }
            let blank = line.is_empty();
            if !blank {
                record.bytes.clear();
                record.bytes.extend_from_slice(line);
                record.ends.clear();
                record.ends.extend(memchr_iter(self.delimiter, line));
                record.ends.push(line.len());
                record.gap = 1;
            }
            self.source.consume(end + 1);
            if !blank {
                bounded(&self.stored, record.len())?;
                return Ok(true);
            }
        }
    }

    #[cold]
    fn next_by_machine(&mut self, record: &mut Record) -> io::Result<bool> {
        let delimiter = self.delimiter;
        let machine = self.machine.get_or_insert_with(|| machine(delimiter));
        let (mut written, mut cells) = (0, 0);
        record.gap = 0;
        record.bytes.resize(record.bytes.capacity().max(256), 0);
        record.ends.resize(record.ends.capacity().max(16), 0);
        loop {
            let input = self.source.fill_buf()?;
            let (result, read, bytes, ends) = machine.read_record(
                input,
                record.bytes.get_mut(written..).unwrap_or_default(),
                record.ends.get_mut(cells..).unwrap_or_default(),
            );
            self.source.consume(read);
            written += bytes;
            cells += ends;
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => record.bytes.resize(2 * record.bytes.len(), 0),
                ReadRecordResult::OutputEndsFull => {
                    bounded(&self.stored, cells)?;
                    record.ends.resize(2 * record.ends.len(), 0);
                }
                ReadRecordResult::Record | ReadRecordResult::End => {
                    record.bytes.truncate(written);
                    record.ends.truncate(cells);
                    bounded(&self.stored, cells)?;
                    return Ok(result == ReadRecordResult::Record);
                }
            }
        }
    }
}

/// Refuses a line of so many cells if no table that is stored in so many bytes can have them.
fn bounded(stored: &Meter, cells: usize) -> io::Result<()> {
    match is_too_wide(stored.bytes(), cells as u64) {
        true => Err(io::Error::other(too_wide())),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn ours(text: &[u8], buffer: usize) -> Vec<Vec<Vec<u8>>> {
        let source = BufReader::with_capacity(buffer, text);
        let mut records = Records::new(source, b',', Meter::default());
        let (mut record, mut all) = (Record::default(), Vec::new());
        while records.next(&mut record).unwrap() {
            all.push(record.cells().map(<[u8]>::to_vec).collect());
        }
        all
    }

    fn theirs(text: &[u8]) -> Vec<Vec<Vec<u8>>> {
        let mut reader = ::csv::ReaderBuilder::new()
            .flexible(true)
            .has_headers(false)
            .from_reader(text);
        let records = reader.byte_records().map(Result::unwrap);
        records
            .map(|record| record.iter().map(<[u8]>::to_vec).collect())
            .collect()
    }

    #[test]
    fn lines_are_those_of_the_csv_crate_whatever_the_buffer() {
        let texts: [&[u8]; 12] = [
            b"",
            b"\n\n",
            b"a,b\n1,2\n",
            b"a,b\n1,2",
            b"a,b\r\n1,2\r\n\r\n3,4\r\n",
            b"a,b\r1,2\r\r3,4\r",
            b"\"a\nx\",b\n1,\"2\"\"3\"\n,\n,,\n4,5\n",
            b"a\n\n \nb\n",
            b"\"unclosed,1\n2,3\n",
            b"a\"b,c\nd\r\ne,\"f\"g\nh,i\rj,k\n",
            b"one,two\n\"\",\"\"\n\"\"\n\xff,\xfe\n",
            b"a,\"b\"\r\n\"c\",d\r\n\n\r\ne,f",
        ];
        for text in texts {
            for buffer in [1, 2, 3, 5, 8, 64, 4096] {
                let shown = String::from_utf8_lossy(text);
                assert_eq!(ours(text, buffer), theirs(text), "{shown:?} {buffer}");
            }
        }
    }

    #[test]
    fn long_cells_fit() {
        let long = "x".repeat(10_000);
        let many = vec!["y"; 500].join(",");
        let text = format!("\"{long}\",1\n{many}\n\"z\",{many}\n");
        assert_eq!(ours(text.as_bytes(), 100), theirs(text.as_bytes()));
    }
}
