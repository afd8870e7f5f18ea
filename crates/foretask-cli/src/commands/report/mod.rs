//! `foretask report`: what is foretold, as one page to look at and play with.

mod origin;

use foretask_page::{Played, html, played};
use serde_json::{Map, Value, json};

use crate::arguments;
use crate::commands::evaluate::Test;
use crate::commands::forecast::{ADDED, Answers, Questions};
use crate::commands::{check, gather, load};
use crate::exit::Answer;
use crate::failure::Failure;
use crate::output;
use crate::progress::Progress;
use crate::read::Columns;
use crate::show::words;

/// Runs the command.
pub fn run(arguments: &arguments::Page) -> Result<Answer, Failure> {
    let settings = arguments.choices.settings()?;
    let data = &arguments.data;
    let mut inputs = data.files.clone();
    inputs.extend(arguments.test.iter().cloned());
    output::check_new(&arguments.output, &inputs, arguments.force)?;
    let looked = match gather::can_be_read_twice(data)? {
        true => Some(check::looked(data)?),
        false => None,
    };
    let source = gather::open(data, settings.target.as_deref(), settings.folds)?;
    let statistics = source.statistics()?;
    let study = load::study(&statistics, &settings)?;
    let study = load::counted(study, &arguments.choices.tally)?;
    let model = source.taught(study.model()?)?;
    let mut more = Map::new();
    more.insert("check".into(), json!(looked));
    let test = match arguments.test.as_slice() {
        [] => None,
        files => {
            let columns = Columns {
                label: data.label.clone(),
                task: data.task.clone(),
                features: data.features.clone(),
                ..Columns::default()
            };
            Some(Test::new(&model, files, data.written.written(), &columns)?.report(&model))
        }
    };
    more.insert("evaluation".into(), json!(test));
    more.insert("command".into(), json!(origin::command()));
    more.insert("ask".into(), json!(origin::ask()));
    more.insert("prior".into(), json!(origin::prior()));
    more.insert("files".into(), origin::files(&inputs)?);
    let of = Played {
        study: &study,
        statistics: &statistics,
        settings: &settings,
        model: &model,
        labels: !arguments.no_details,
    };
    let page = page(&of, more)?;
    output::check_new(&arguments.output, &inputs, arguments.force)?;
    output::file(&arguments.output, page.as_bytes())?;
    let path = words::path(&arguments.output);
    output::text(None, &format!("{path}: open it in a browser\n"))?;
    Ok(Answer::Yes)
}

/// The page of a study; `more` are further keys of `report` (docs/json.md).
pub fn page(of: &Played<'_, '_>, more: Map<String, Value>) -> Result<String, Failure> {
    let questions = Questions {
        added: &ADDED,
        reach: &[],
        budget: None,
        details: false,
        no_details: !of.labels,
        compare: false,
        json: true,
    };
    let features = of.statistics.features();
    let answers = Answers::new(of.study, of.settings, features, &questions)?;
    let mut report = answers.report();
    let progress = Progress::new("leaving out several sources");
    let mut extra = played(of, answers.sources(), &|share| progress.tell(share))?;
    extra.extend(more);
    report.insert("report".into(), Value::Object(extra));
    Ok(html(report))
}
