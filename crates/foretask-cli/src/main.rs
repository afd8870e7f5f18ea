//! `foretask`, the command line.
#![allow(dead_code)]

mod digits;
mod plot;
mod read;

fn main() {}
