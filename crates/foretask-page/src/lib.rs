//! A study as one page that a person can play with, and as the JSON that it is made of.
//!
//! ```text
//! summary.rs     what there is to say of a study or a model
//! json.rs        that for machines: the keys of docs/json.md
//! html.rs        that in one file
//! played.rs      what the page needs to answer by itself
//! page/          page.html, style.css and page.js, which are put into it
//! ```
//!
//! The page holds the very object that `foretask forecast --json` prints, with one more key, `report`. Its script
//! computes only what `page.js` lists at its top, and `browser/` compares that with the command line.
#![forbid(unsafe_code)]

mod html;
pub mod json;
mod played;
mod summary;

pub use html::html;
pub use played::{Played, page, played};
pub use summary::Summary;
