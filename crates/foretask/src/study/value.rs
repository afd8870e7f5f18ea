//! What sources are worth: the study is done again without them, and both are compared sample by sample, on the same
//! folds (`docs/4-when-to-trust-a-forecast.md#paired-statements`).

use super::Study;
use super::alone::without_source;
use super::target::Target;
use crate::data::Task;
use crate::error::{Error, Result};
use crate::forecast::{Forecast, Judgement, Judgements, Paired, SourceValue};
use crate::rules::false_alarm::threshold_of;
use crate::settings::Settings;

impl Study<'_> {
    /// The expected error without all sources, where there are several, and without each; `progress` is told the
    /// share that is done.
    ///
    /// # Errors
    /// As [`Study::new`].
    pub fn source_values(&self, progress: &dyn Fn(f64)) -> Result<Vec<SourceValue>> {
        let tasks = self.cells().tasks();
        let sources: Vec<usize> = (0..tasks.len())
            .filter(|&task| task != self.target())
            .collect();
        let mut left_out: Vec<Vec<usize>> = sources.iter().map(|&source| vec![source]).collect();
        if sources.len() > 1 {
            left_out.insert(0, sources);
        }
        let mut values = Vec::with_capacity(left_out.len());
        for (done, sources) in left_out.iter().enumerate() {
            let tell = |share: f64| progress((done as f64 + share) / left_out.len() as f64);
            values.push(self.value_of(sources, &tell)?);
        }
        progress(1.0);
        Ok(values)
    }

    /// The expected error without some sources, by name, and what they are worth together. `task` is set where it is
    /// one.
    ///
    /// ```
    /// use foretask::{Rows, Settings, Study, Tasks};
    /// # let values: Vec<f64> = (0..120).map(|i| ((i * 37) % 11) as f64 + if i % 2 == 1 && (i / 2) % 2 == 0 { 9.0 } else { 0.0 }).collect();
    /// # let task: Vec<&str> = (0..60).map(|i| ["amazon", "dslr", "webcam"][i / 20]).collect();
    /// # let class: Vec<&str> = (0..60).map(|i| if i % 2 == 0 { "bike" } else { "mug" }).collect();
    /// let tasks = Tasks::new(Rows::row_major(&values, 2)?, &task, &class)?;
    /// let settings = Settings { target: Some("webcam".into()), ..Settings::default() };
    /// let alone = Study::new(&tasks, &settings)?.without(&["amazon", "dslr"], &|_| {})?;
    /// println!("{:.1} % without them", 100.0 * alone.error_without);
    /// # Ok::<(), foretask::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Study::new`]; if a name is not that of a source.
    pub fn without<S: AsRef<str>>(
        &self,
        sources: &[S],
        progress: &dyn Fn(f64),
    ) -> Result<SourceValue> {
        let tasks = self.cells().tasks();
        let index = |name: &S| {
            let named = |task: &Task| task.name == name.as_ref();
            let found = tasks.iter().position(named);
            found
                .filter(|&task| task != self.target())
                .ok_or_else(|| Error::UnknownTask {
                    name: name.as_ref().to_owned(),
                    known: (self.cells().task_names().into_iter().enumerate())
                        .filter(|(task, _)| *task != self.target())
                        .map(|(_, name)| name)
                        .collect(),
                })
        };
        let mut sources = sources.iter().map(index).collect::<Result<Vec<_>>>()?;
        sources.sort_unstable();
        sources.dedup();
        self.value_of(&sources, progress)
    }

    /// The worth of some sources together, ascending.
    fn value_of(&self, sources: &[usize], progress: &dyn Fn(f64)) -> Result<SourceValue> {
        let tasks = self.cells().tasks();
        let mut statistics = self.done.shared.raw.clone();
        let mut coupling = self.done.plan.settings.coupling.clone();
        // From the last to the first, so that the others keep their places.
        for (gone, &source) in sources.iter().rev().enumerate() {
            statistics = statistics.without(source);
            coupling = coupling
                .map(|(lambda, gamma)| without_source(lambda, &gamma, tasks.len() - gone, source));
        }
        let settings = Settings {
            target: Some(tasks[self.target()].name.clone()),
            coupling,
            rehearse: false,
            ..self.done.plan.settings.clone()
        };
        let mut studies = Study::each(statistics, std::slice::from_ref(&settings), progress)?;
        let study = match studies.pop() {
            Some(study) => study,
            None => return Err(Error::NoTarget { known: Vec::new() }),
        };
        let own = self.judged()?;
        let without = study.done.outcome.judgements.as_ref();
        let (error_without, interval) = told(study.forecast());
        Ok(SourceValue {
            task: match sources {
                [source] => Some(tasks[*source].name.clone()),
                _ => None,
            },
            error_without,
            interval,
            paired: match own.zip(without) {
                Some((own, without)) if !self.has_drawn_samples() => {
                    let with = self.done.target().losses(&own);
                    let without = study.done.target().losses(without);
                    Paired::new(&without, &with, &own.groups, &own.importance)
                }
                // A theory and moments know no samples: two separate forecasts.
                _ => Paired::of_intervals((error_without, interval), told(self.forecast())),
            },
        })
    }
}

/// What is lost: errors, or what is missed at the rate that is held.
fn told(forecast: &Forecast) -> (f64, [f64; 2]) {
    match &forecast.alarm {
        None => (forecast.error, forecast.interval),
        Some(alarm) => {
            let [low, high] = alarm.detection_interval;
            (1.0 - alarm.detection, [1.0 - high, 1.0 - low])
        }
    }
}

impl Target<'_, '_> {
    /// The loss of each sample, times its weight, averaged over partitions; their mean is the error, or what is missed where a rate is
    /// held.
    pub(super) fn losses(&self, judgements: &Judgements) -> Vec<f64> {
        let mut losses = vec![0.0; judgements.class.len()];
        for repeat in &judgements.repeats {
            let own = self.losses_of(repeat, judgements);
            let both = losses.iter_mut().zip(own);
            both.for_each(|(sum, loss)| *sum += loss / judgements.repeats.len() as f64);
        }
        losses
    }

    /// The same in one partition.
    pub(super) fn losses_of(&self, judgement: &Judgement, of: &Judgements) -> Vec<f64> {
        let (stakes, class) = (self.stakes(), &of.class);
        let asked = self.plan.null.zip(self.settings().false_alarm.as_ref());
        let Some((null, asked)) = asked else {
            let wrong = judgement.wrong(class);
            let both = wrong.iter().zip(class).enumerate();
            return both
                .map(|(l, (wrong, &c))| {
                    of.importance.of(l) * wrong * stakes.priors[c] / stakes.shares[c]
                })
                .collect();
        };
        let score = |l: usize| judgement.scores[(l, 0)] - judgement.scores[(l, 1)];
        let of_null: Vec<f64> = (0..class.len())
            .filter(|&l| class[l] == null)
            .map(score)
            .collect();
        let threshold = threshold_of(&of_null, null, asked.rate, asked.tail).value;
        let missed = |(l, &c): (usize, &usize)| match c == null {
            true => 0.0,
            false => {
                let detected = (score(l) > threshold) == (null == 1);
                of.importance.of(l) * f64::from(u8::from(!detected)) / stakes.shares[c]
            }
        };
        class.iter().enumerate().map(missed).collect()
    }
}
