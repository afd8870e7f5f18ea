//! What there is to say of a study or a model.

pub use foretask_page::Summary;
