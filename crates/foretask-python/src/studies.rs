//! Fitting and foretelling: data become one study per target, and everything is asked of these.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use foretask::{LeftOut, Scaling, Settings, Statistics, Word};
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::arrays::array;
use crate::choices::{Choices, Chosen};
use crate::errors::run;
use crate::forecast::Forecast;
use crate::model::Model;
use crate::samples::{Samples, TaskCounts, tasks_of};
use crate::watch::{Share, watched};

/// One model per target, and the likeness of all tasks, unless they are many.
type Fitted<'py> = (Vec<Model>, Option<Bound<'py, PyArray2<f64>>>);

/// A table of more tasks than this is made only for those who ask for it.
const MOST_IN_TABLE: usize = 1000;

/// Trains on rows, which are not copied: nothing of them outlives the call.
#[pyfunction]
#[pyo3(signature = (samples, choices, tell=None))]
pub fn fit<'py>(
    py: Python<'py>,
    samples: Samples<'py>,
    choices: Choices<'py>,
    tell: Option<Py<PyAny>>,
) -> PyResult<Fitted<'py>> {
    let (named, chosen) = (samples.named()?, choices.settings()?);
    let (models, likeness) = watched(py, chosen.switch(), tell.as_ref(), |share| {
        trained(
            Statistics::try_from((&named.tasks()?, chosen.stop()))?,
            &chosen,
            share,
        )
    })?;
    Ok((models, likeness.map(|likeness| table(py, &likeness))))
}

/// Trains on statistics; the rows that they keep are shared.
#[pyfunction]
#[pyo3(signature = (statistics, choices, tell=None))]
pub fn fit_statistics<'py>(
    py: Python<'py>,
    statistics: &Bound<'py, crate::statistics::Statistics>,
    choices: Choices<'py>,
    tell: Option<Py<PyAny>>,
) -> PyResult<Fitted<'py>> {
    let chosen = choices.settings()?;
    let statistics = statistics.try_borrow()?.0.clone();
    let (models, likeness) = watched(py, chosen.switch(), tell.as_ref(), |share| {
        trained(statistics, &chosen, share)
    })?;
    Ok((models, likeness.map(|likeness| table(py, &likeness))))
}

/// How alike the tasks are, one by one.
type Likeness = Vec<Vec<Option<f64>>>;

/// The model of each target, in batches where there are many: nothing is asked of the studies later.
fn trained(
    statistics: Statistics<'_>,
    chosen: &Chosen,
    share: &Share,
) -> foretask::Result<(Vec<Model>, Option<Likeness>)> {
    let few = statistics.cells().tasks().len() <= MOST_IN_TABLE;
    let likeness = few.then(|| foretask::relatedness(&statistics, chosen.scaling()));
    let settings = chosen.of(statistics.cells())?;
    let models = match settings.target {
        Some(_) => models(&targets(statistics, chosen, share)?)?,
        None => {
            let tell = |done| share.tell(done);
            let models = foretask::Study::models(statistics, &settings, chosen.budget(), &tell)?;
            models.into_iter().map(Model).collect()
        }
    };
    Ok((models, likeness))
}

/// A study of every target, which owns its rows: what is asked later needs them.
#[pyclass(frozen, module = "foretask._foretask")]
pub struct Study {
    statistics: Statistics<'static>,
    settings: Settings,
    scaling: Scaling,
    switch: Arc<AtomicBool>,
    studies: Vec<foretask::Study<'static>>,
}

/// What something is worth: difference, interval and verdict.
type Paired = (f64, [f64; 2], &'static str);

/// A rule that is compared: name, rule, labels, views, forecast, and what the study's rule has over it.
type Told = (
    String,
    String,
    String,
    Vec<String>,
    Forecast,
    Option<Paired>,
);

/// Labels added, the error then, its interval, and that of a forecast then.
type CurvePoint = (usize, f64, [f64; 2], [f64; 2]);

/// The labels that an error needs, and the least and the most.
type Needed = (f64, Option<usize>, [Option<usize>; 2]);

/// Labels by class, the error then, its interval, and the error if they were labelled as they come; the error if they
/// went to the sources, and where they are worth more.
type Budget = (Vec<usize>, f64, [f64; 2], f64, Option<(f64, String)>);

/// A source, or all of them: the error without, its interval, and what it is worth.
type SourceValue = (Option<String>, f64, [f64; 2], Paired);

/// The classes of a target, the threshold and the forecast.
type Foretold = (Vec<String>, Option<f64>, Forecast);

/// The class of each sample left out, and the probabilities of the classes.
type Samplewise<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray2<f64>>);

#[pymethods]
impl Study {
    /// Of rows, which are copied.
    #[classmethod]
    #[pyo3(signature = (samples, choices, tell=None))]
    fn of_rows(
        _: &Bound<'_, PyType>,
        py: Python<'_>,
        samples: Samples<'_>,
        choices: Choices<'_>,
        tell: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let (named, chosen) = (samples.named()?, choices.settings()?);
        watched(py, chosen.switch(), tell.as_ref(), |share| {
            let tasks = named.tasks()?;
            // The union with nothing has the same numbers, and rows of its own.
            let mut statistics = Statistics::new(tasks.features()).keeping_all_rows();
            statistics.merge(Statistics::try_from((&tasks, chosen.stop()))?)?;
            Self::new(statistics, &chosen, share)
        })
    }

    /// Of statistics; the rows that they keep are shared.
    #[classmethod]
    #[pyo3(signature = (statistics, choices, tell=None))]
    fn of_statistics(
        _: &Bound<'_, PyType>,
        py: Python<'_>,
        statistics: &Bound<'_, crate::statistics::Statistics>,
        choices: Choices<'_>,
        tell: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let chosen = choices.settings()?;
        let statistics = statistics.try_borrow()?.0.clone();
        watched(py, chosen.switch(), tell.as_ref(), |share| {
            Self::new(statistics, &chosen, share)
        })
    }

    /// Name, classes and counts of every task.
    #[getter]
    fn tasks(&self) -> Vec<TaskCounts> {
        tasks_of(self.statistics.cells().tasks())
    }

    /// The targets, in the order of all answers.
    #[getter]
    fn targets(&self) -> Vec<String> {
        self.studies.iter().map(target_of).collect()
    }

    /// What is expected of each target; nothing is trained.
    fn forecasts(&self, py: Python<'_>) -> PyResult<Vec<Foretold>> {
        self.each(py, |study| {
            Ok((
                study.cells().tasks()[study.target()].classes.clone(),
                study.rule().threshold,
                Forecast(study.forecast().clone()),
            ))
        })
    }

    /// The expected error with more labels in each target.
    #[pyo3(signature = (added, tell=None))]
    fn learning_curves(
        &self,
        py: Python<'_>,
        added: Vec<usize>,
        tell: Option<Py<PyAny>>,
    ) -> PyResult<Vec<Vec<CurvePoint>>> {
        self.told(py, tell, |study, tell| {
            let points = study.learning_curve(&added, tell)?.into_iter();
            Ok(points
                .map(|one| (one.added, one.error, one.interval, one.foretold_interval))
                .collect())
        })
    }

    /// The labels that errors need in each target; none from a theory.
    fn labels_needed(&self, py: Python<'_>, errors: Vec<f64>) -> PyResult<Vec<Vec<Needed>>> {
        self.each(py, |study| {
            let needed = study.labels_needed(&errors)?.into_iter();
            Ok(needed
                .map(|one| (one.error, one.added, one.interval))
                .collect())
        })
    }

    /// How to spend labels on each target; None from a theory.
    fn budgets(&self, py: Python<'_>, labels: usize) -> PyResult<Vec<Option<Budget>>> {
        self.each(py, |study| {
            let budget = study.budget(labels)?;
            Ok(budget.map(|one| {
                let other = one.in_sources;
                let other = other.map(|other| (other.error, other.better.to_string()));
                (one.added, one.error, one.interval, one.as_they_come, other)
            }))
        })
    }

    /// The expected error of each target without all sources, where there are several, and without each.
    #[pyo3(signature = (tell=None))]
    fn source_values(
        &self,
        py: Python<'_>,
        tell: Option<Py<PyAny>>,
    ) -> PyResult<Vec<Vec<SourceValue>>> {
        self.told(py, tell, |study, tell| {
            let values = study.source_values(tell)?.into_iter();
            Ok(values
                .map(|one| {
                    let paired = paired(&one.paired);
                    (one.task, one.error_without, one.interval, paired)
                })
                .collect())
        })
    }

    /// The rule of each target, then what it is compared with.
    #[pyo3(signature = (tell=None))]
    fn compare(&self, py: Python<'_>, tell: Option<Py<PyAny>>) -> PyResult<Vec<Vec<Told>>> {
        self.told(py, tell, |study, tell| {
            let compared = study.compare(tell)?.into_iter();
            Ok(compared
                .map(|one| {
                    let (rule, labels) = (one.rule.to_string(), one.labels.to_string());
                    let views = one.views.iter().map(ToString::to_string).collect();
                    let paired = one.paired.as_ref().map(paired);
                    (
                        one.name,
                        rule,
                        labels,
                        views,
                        Forecast(one.forecast),
                        paired,
                    )
                })
                .collect())
        })
    }

    /// The error that each theory foretells for each target.
    #[pyo3(signature = (tell=None))]
    fn theories(
        &self,
        py: Python<'_>,
        tell: Option<Py<PyAny>>,
    ) -> PyResult<Vec<Vec<(&'static str, f64)>>> {
        self.told(py, tell, |study, tell| {
            let foretold = study.theories(tell)?.into_iter();
            Ok(foretold
                .map(|one| (one.provenance.word(), one.error))
                .collect())
        })
    }

    /// What the samples of each target are taken for when they are left out; None from a theory.
    fn left_out<'py>(&self, py: Python<'py>) -> PyResult<Vec<Option<Samplewise<'py>>>> {
        let arrays = |left_out: LeftOut| {
            let class: Vec<i64> = left_out.class.iter().map(|&class| class as i64).collect();
            (class.into_pyarray(py), array(py, &left_out.probabilities))
        };
        let found = self.each(py, |study| Ok(study.left_out()))?;
        Ok(found.into_iter().map(|one| one.map(arrays)).collect())
    }

    /// How alike all tasks are.
    fn relatedness<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let likeness = run(py, || {
            Ok(foretask::relatedness(&self.statistics, self.scaling))
        })?;
        Ok(table(py, &likeness))
    }

    /// The page of each target.
    #[pyo3(signature = (details, features=None, tell=None))]
    fn pages(
        &self,
        py: Python<'_>,
        details: bool,
        features: Option<Vec<String>>,
        tell: Option<Py<PyAny>>,
    ) -> PyResult<Vec<String>> {
        self.told(py, tell, |study, tell| {
            let model = study.model()?;
            let model = match &features {
                Some(names) => model.with_feature_names(names.clone())?,
                None => model,
            };
            let asked = foretask_page::Played {
                study,
                statistics: &self.statistics,
                settings: &self.settings,
                model: &model,
                labels: details,
            };
            foretask_page::page(&asked, tell)
        })
    }

    /// The trained model of each target.
    fn models(&self, py: Python<'_>) -> PyResult<Vec<Model>> {
        watched(py, &self.switch, None, |_| models(&self.studies))
    }
}

impl Study {
    fn new(
        statistics: Statistics<'static>,
        chosen: &Chosen,
        share: &Share,
    ) -> foretask::Result<Self> {
        Ok(Self {
            studies: targets(statistics.clone(), chosen, share)?,
            settings: chosen.of(statistics.cells())?,
            statistics,
            scaling: chosen.scaling(),
            switch: chosen.switch().clone(),
        })
    }

    fn each<T: Send>(
        &self,
        py: Python<'_>,
        of: impl Fn(&foretask::Study<'static>) -> foretask::Result<T> + Send + Sync,
    ) -> PyResult<Vec<T>> {
        self.told(py, None, |study, _| of(study))
    }

    /// The same of a question that takes long.
    fn told<T: Send>(
        &self,
        py: Python<'_>,
        tell: Option<Py<PyAny>>,
        of: impl Fn(&foretask::Study<'static>, &dyn Fn(f64)) -> foretask::Result<T> + Send + Sync,
    ) -> PyResult<Vec<T>> {
        let count = self.studies.len() as f64;
        watched(py, &self.switch, tell.as_ref(), |share| {
            let studies = self.studies.iter().enumerate();
            studies
                .map(|(number, study)| of(study, &|own| share.tell((number as f64 + own) / count)))
                .collect()
        })
    }
}

/// The study of the target, or of every task that has classes to tell apart.
fn targets<'a>(
    statistics: Statistics<'a>,
    chosen: &Chosen,
    share: &Share,
) -> foretask::Result<Vec<foretask::Study<'a>>> {
    let settings = chosen.of(statistics.cells())?;
    let tell = |done| share.tell(done);
    match settings.target {
        Some(_) => foretask::Study::each(statistics, &[settings], &tell),
        None => foretask::Study::all(statistics, &settings, &tell),
    }
}

fn models(studies: &[foretask::Study<'_>]) -> foretask::Result<Vec<Model>> {
    studies
        .iter()
        .map(|study| study.model().map(Model))
        .collect()
}

fn paired(paired: &foretask::Paired) -> Paired {
    (paired.difference, paired.interval, paired.verdict.word())
}

fn target_of(study: &foretask::Study<'_>) -> String {
    study.cells().tasks()[study.target()].name.clone()
}

/// NaN where classes do not correspond.
pub fn table<'py>(py: Python<'py>, likeness: &[Vec<Option<f64>>]) -> Bound<'py, PyArray2<f64>> {
    let shape = (likeness.len(), likeness.len());
    Array2::from_shape_fn(shape, |(i, j)| likeness[i][j].unwrap_or(f64::NAN)).into_pyarray(py)
}
