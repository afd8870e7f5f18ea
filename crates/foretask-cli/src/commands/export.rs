//! `foretask export`: a model for programs that do not know foretask.

use crate::arguments;
use crate::commands::load;
use crate::exit::Answer;
use crate::failure::Failure;
use crate::output;

/// Runs the command. It prints nothing, so that the file may be standard output.
pub fn run(arguments: &arguments::Export) -> Result<Answer, Failure> {
    output::check(&arguments.onnx, std::slice::from_ref(&arguments.model))?;
    let model = load::model(&arguments.model)?;
    output::file(&arguments.onnx, &foretask_onnx::to_onnx(&model)?)?;
    Ok(Answer::Yes)
}
