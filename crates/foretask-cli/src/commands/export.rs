//! `foretask export`: a model for programs that do not know foretask.

use std::path::Path;

use foretask::Model;
use foretask_onnx::{Holds, Input};

use crate::arguments;
use crate::commands::load;
use crate::exit::Answer;
use crate::failure::Failure;
use crate::output;
use crate::show::words;

/// More inputs than this are counted instead of listed.
const INPUTS_LISTED: usize = 12;

/// Runs the command. It prints nothing, so that the file may be standard output, and then it says nothing either.
pub fn run(arguments: &arguments::Export) -> Result<Answer, Failure> {
    output::check(&arguments.onnx, std::slice::from_ref(&arguments.model))?;
    let model = load::model(&arguments.model)?;
    output::file(&arguments.onnx, &foretask_onnx::to_onnx(&model)?)?;
    if arguments.onnx != Path::new("/dev/stdout") {
        eprintln!("{}", words::printable(&wrote(&arguments.onnx, &model)));
    }
    Ok(Answer::Yes)
}

/// "wrote model.onnx: inputs island (text), mass (number); outputs label, decision, probabilities".
fn wrote(path: &Path, model: &Model) -> String {
    let inputs = foretask_onnx::inputs(model);
    let input = |input: &Input| match input.holds {
        Holds::Features(features) => {
            format!("{} ({})", input.name, words::count(features, "feature"))
        }
        Holds::Number => format!("{} (number)", input.name),
        Holds::Text => format!("{} (text)", input.name),
    };
    let listed: Vec<String> = inputs.iter().take(INPUTS_LISTED).map(input).collect();
    let noun = if inputs.len() == 1 { "input" } else { "inputs" };
    let more = match inputs.len().saturating_sub(INPUTS_LISTED) {
        0 => String::new(),
        hidden => format!(" and {hidden} more"),
    };
    format!(
        "wrote {}: {noun} {}{more}; outputs {}",
        path.display(),
        listed.join(", "),
        foretask_onnx::OUTPUTS.join(", ")
    )
}
