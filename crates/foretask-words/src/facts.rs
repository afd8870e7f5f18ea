//! [`Facts`]: what a verdict is made of.

use foretask::{Forecast, Result, SourceValue, Study};

/// What is known of a target. What was not asked for, because it takes time, is none.
#[derive(Debug, Clone)]
pub struct Facts<'a> {
    /// The classes that are decided between.
    pub classes: &'a [String],
    /// The labels that the target has in each.
    pub counts: &'a [usize],
    /// What is expected.
    pub forecast: &'a Forecast,
    /// What twice the labels would bring.
    pub labels: Option<MoreLabels>,
    /// Whether there are sources that are used.
    pub has_sources: bool,
    /// What they are worth, as [`Study::source_values`] has it.
    pub sources: Option<&'a [SourceValue]>,
    /// How alike the sources are to the target, as [`Study::relatedness`] has it.
    pub relatedness: Vec<(String, Option<f64>)>,
    /// How a sentence begins that ends in what was not asked for, such as "foretask forecast says".
    pub ask: Option<&'a str>,
}

/// What twice the labels would bring.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MoreLabels {
    /// Labels added to each class.
    pub added: usize,
    /// The expected error then; where a false-alarm rate is held, what is missed.
    pub error: f64,
    /// Its interval.
    pub interval: [f64; 2],
    /// Labels to be added to each class that would halve what there is now; none where that is out of reach, or not
    /// known.
    pub halved: Option<usize>,
}

impl<'a> Facts<'a> {
    /// What a study knows by itself.
    pub fn of(study: &'a Study<'_>) -> Self {
        let tasks = study.cells().tasks();
        let target = &tasks[study.target()];
        Self {
            classes: &target.classes,
            counts: &target.counts,
            forecast: study.forecast(),
            labels: None,
            has_sources: tasks.len() > 1 && study.rule().labels != foretask::Labels::Alone,
            sources: None,
            relatedness: study.relatedness(),
            ask: None,
        }
    }

    /// And what more labels would bring.
    ///
    /// # Errors
    /// As [`Study::learning_curve`].
    pub fn with_labels(mut self, study: &Study<'_>) -> Result<Self> {
        let counts = self.counts;
        // Twice the labels: as many for each class as a class has on average.
        let added = counts.iter().sum::<usize>().div_ceil(counts.len().max(1));
        let (now, _) = self.aim();
        let needed = study.labels_needed(&[0.5 * now])?;
        let curve = study.learning_curve(&[added], &|_| {})?;
        self.labels = curve.first().map(|point| MoreLabels {
            added,
            error: point.error,
            interval: point.interval,
            // Of nothing there is no half.
            halved: (needed.first())
                .and_then(|needed| needed.added)
                .filter(|&more| more > 0),
        });
        Ok(self)
    }

    /// And what the sources are worth.
    pub fn with_sources(mut self, sources: &'a [SourceValue]) -> Self {
        self.sources = Some(sources);
        self
    }

    /// And what would tell the rest.
    pub fn with_ask(mut self, ask: &'a str) -> Self {
        self.ask = Some(ask);
        self
    }

    /// What is to be small, and its interval: the error or, where a rate is held, what is missed.
    pub(crate) fn aim(&self) -> (f64, [f64; 2]) {
        match &self.forecast.alarm {
            None => (self.forecast.error, self.forecast.interval),
            Some(alarm) => {
                let [low, high] = alarm.detection_interval;
                (1.0 - alarm.detection, [1.0 - high, 1.0 - low])
            }
        }
    }

    /// The commonest class in use, and the error of always saying it; none without classes.
    pub(crate) fn commonest(&self) -> Option<(&'a str, f64)> {
        let priors = &self.forecast.priors;
        let (most, share) = (priors.iter().enumerate())
            // The first of several.
            .rev()
            .max_by(|a, b| a.1.total_cmp(b.1))?;
        let class = self.classes.get(most)?;
        Some((class, 1.0 - share))
    }

    /// How the expected error compares with that of the commonest class. Costs and held rates aim at something else.
    pub(crate) fn beside_commonest(&self) -> Beside {
        let forecast = self.forecast;
        let costs = (forecast.cost - forecast.error).abs() > f64::EPSILON;
        let Some((_, commonest)) = self.commonest() else {
            return Beside::Better;
        };
        match () {
            () if costs || forecast.alarm.is_some() || !forecast.told => Beside::Better,
            () if forecast.error >= commonest - ROUNDING => Beside::NoBetter,
            () if forecast.interval[1] >= commonest => Beside::Unsure,
            () => Beside::Better,
        }
    }

    /// Sources whose classes point the other way.
    pub(crate) fn opposed(&self) -> Vec<String> {
        let opposed = |(_, likeness): &&(String, Option<f64>)| likeness.is_some_and(is_opposed);
        let names = self.relatedness.iter().filter(opposed);
        names.map(|(name, _)| name.clone()).collect()
    }
}

/// An error beside that of the commonest class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beside {
    /// Smaller, by all of its interval; or there is nothing to compare.
    Better,
    /// Its interval reaches as far.
    Unsure,
    /// It is not smaller.
    NoBetter,
}

/// Errors that differ by less are equal.
const ROUNDING: f64 = 1e-9;

/// From this likeness on a task is called related, and from its opposite on opposed.
pub const RELATED: f64 = 0.25;

fn is_opposed(likeness: f64) -> bool {
    likeness <= -RELATED
}
