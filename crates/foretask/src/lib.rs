//! Train many classification tasks together, and know the test error before any test.
//!
//! # The problem
//!
//! You have few labels for the task you care about (the *target*) and plenty for related ones. Pooling
//! them may help or hurt, tuning costs a cross-validation you cannot afford, and nobody can say what
//! error to expect. foretask trains all tasks with one least-squares SVM, chooses couplings and labels
//! in closed form from exact leave-one-out algebra and random matrix theory, is not hurt by unrelated or
//! opposed sources, and foretells its own error with an interval.
//!
//! # The mathematics
//!
//! Task i has rows Z (centred, scaled) and labels Y. Its weights are what it shares with all tasks plus what is
//! its own, and both are penalised:
//!
//! <math display="block">
//! <mo>min</mo><mfrac><mrow><mn>1</mn></mrow><mrow><mn>2</mn></mrow></mfrac><munder><mo>∑</mo>
//! <mi>i</mi></munder>
//! <msup><mrow><mo>‖</mo><msub><mi>Y</mi><mi>i</mi></msub><mo>−</mo><msub><mi>Z</mi><mi>i</mi></msub><msub>
//! <mi>w</mi><mi>i</mi></msub><mo>−</mo><mn>1</mn><msub><mi>b</mi><mi>i</mi></msub><mo>‖</mo></mrow>
//! <mn>2</mn></msup>
//! <mo>+</mo><mfrac><mrow><mi>k</mi><mi>p</mi></mrow><mrow><mn>2</mn></mrow></mfrac><mo>[</mo>
//! <mfrac><mrow><msup><mrow><mo>‖</mo><msub><mi>w</mi><mn>0</mn></msub><mo>‖</mo></mrow>
//! <mn>2</mn></msup></mrow><mrow><mi>λ</mi></mrow></mfrac><mo>+</mo><munder><mo>∑</mo><mi>i</mi></munder>
//! <mfrac><mrow><msup><mrow><mo>‖</mo><msub><mi>w</mi><mi>i</mi></msub><mo>−</mo><msub><mi>w</mi>
//! <mn>0</mn></msub><mo>‖</mo></mrow><mn>2</mn></msup></mrow><mrow><msub><mi>γ</mi>
//! <mi>i</mi></msub></mrow></mfrac><mo>]</mo>
//! </math>
//!
//! The coupling λ says how strongly tasks share, γ how freely each may differ. With B the scatter of a task over kp
//! and r its Zᵀy/(kp), the solution is k factorisations and one head; no kp x kp matrix exists:
//!
//! <math display="block">
//! <msub><mi>F</mi><mi>i</mi></msub><mo>=</mo><msup><mrow><mo>(</mo><mi>I</mi><mo>+</mo><msub><mi>γ</mi>
//! <mi>i</mi></msub><msub><mi>B</mi><mi>i</mi></msub><mo>)</mo></mrow><mn>−1</mn></msup><mo>,</mo>
//! <mi>H</mi><mo>=</mo><mi>I</mi><mo>+</mo><mi>λ</mi><munder><mo>∑</mo><mi>i</mi></munder><msub><mi>F</mi>
//! <mi>i</mi></msub><msub><mi>B</mi><mi>i</mi></msub><mo>,</mo>
//! <msub><mi>w</mi><mn>0</mn></msub><mo>=</mo><mi>λ</mi><msup><mi>H</mi><mn>−1</mn></msup><munder><mo>∑</mo>
//! <mi>i</mi></munder><msub><mi>F</mi><mi>i</mi></msub><msub><mi>r</mi><mi>i</mi></msub><mo>,</mo>
//! <msub><mi>w</mi><mi>i</mi></msub><mo>=</mo><msub><mi>F</mi><mi>i</mi></msub><mo>(</mo><msub><mi>γ</mi>
//! <mi>i</mi></msub><msub><mi>r</mi><mi>i</mi></msub><mo>+</mo><msub><mi>w</mi><mn>0</mn></msub><mo>)</mo>
//! </math>
//!
//! The solution is linear in the label values. Give every *cell* (one class of one task) a label value of its own:
//! training is then one linear solve with C right-hand sides, and every classifier is a combination of the C
//! *responses* φ(x). What the responses of a training sample are to the model that never saw it follows from
//! its residuals α and a variance ratio G of the factorisation at hand, J being one for its own cell:
//!
//! <math display="block">
//! <msub><mi>Φ</mi><mi>l</mi></msub><mo>=</mo><msub><mi>J</mi><mi>l</mi></msub><mo>−</mo><mfrac><mrow><msub>
//! <mi>α</mi><mi>l</mi></msub></mrow><mrow><msub><mi>G</mi><mi>ll</mi></msub></mrow></mfrac>
//! </math>
//!
//! Mean and covariance of the responses on new samples are known, from random matrix theory before training or
//! from the left-out responses after it, so that choosing labels and thresholds and foretelling errors are small
//! problems in C dimensions. The default averages all couplings and families of labels by the share of the label
//! variance that their left-out scores miss:
//!
//! <math display="block">
//! <msub><mi>w</mi><mi>a</mi></msub><mo>∝</mo><mfrac><mrow><msub><mi>π</mi><mi>f</mi></msub></mrow><mrow>
//! <msub><mi>N</mi><mi>f</mi></msub></mrow></mfrac>
//! <msup><msub><mi>PRESS</mi><mi>a</mi></msub><mrow><mo>−</mo><mi>η</mi><msub><mi>n</mi><mi>t</mi></msub>
//! <mo>(</mo><mi>m</mi><mo>−</mo><mn>1</mn><mo>)</mo><mo>/</mo><mn>2</mn></mrow></msup>
//! </math>
//!
//! The derivations are in the numbered documents (`docs/1-the-problem.md` and on).
//!
//! # Quick start
//!
//! ```
//! use foretask::{Rows, Settings, Study, Tasks};
//!
//! # let values: Vec<f64> = (0..240).map(|i| ((i * 7919) % 101) as f64 / 50.0 + if i % 4 == 1 && (i / 4) % 2 == 0 { 1.5 } else { 0.0 }).collect();
//! # let domain: Vec<&str> = (0..60).map(|i| if i < 40 { "amazon" } else { "webcam" }).collect();
//! # let label: Vec<&str> = (0..60).map(|i| if i % 2 == 0 { "bike" } else { "mug" }).collect();
//! // 60 rows of 4 features; each row has a task and a class.
//! let rows = Rows::row_major(&values, 4)?;
//! let tasks = Tasks::new(rows, &domain, &label)?;
//!
//! let settings = Settings { target: Some("webcam".into()), ..Settings::default() };
//! let study = Study::new(&tasks, &settings)?;
//! let forecast = study.forecast();
//! println!("expected error {:.1} % ({})", 100.0 * forecast.error, forecast.provenance);
//!
//! let model = study.model()?;
//! let class = model.predict(rows)?;
//! assert_eq!(model.classes()[class[0]], "bike");
//! # Ok::<(), foretask::Error>(())
//! ```
//!
//! # The modules
//!
//! ```text
//! rows ─► tasks ─► statistics ─► solve ────────────► responses (per task, p x C)
//!                                 │  leave-one-out        │
//!                                 ▼                       │
//!  estimate ─► theory ─► moments ◄┤                       │
//!                           │     ▼                       │
//!                           └─► rules, recipe ─► decision ▼
//!                                       └─ forecast ─► study ─► model ─► predict, evaluate
//! ```
//!
//! Rules make a `Decision`, a forecast judges it, a model keeps it. Every file may use only files above it;
//! `tests/architecture.rs` reads this tree and holds the code to it.
//!
//! ```text
//! error.rs                what can go wrong, and what to do about it
//! stop.rs                 a switch that ends a computation
//! words.rs                choices that have a word each, for all faces
//! write.rs                a file, whole or not at all
//! tensors.rs              tables of numbers as a safetensors file
//! numerics/
//!   dense.rs              products, factorisations, eigenvalues
//!   sparse.rs             products of rows that are mostly zero
//!   normal.rs             the normal distribution
//!   spectrum.rs           the range of a covariance
//!   interval.rs           where a share lies that was seen in some samples
//!   points.rs             quasi-random normal points
//!   orthant.rs            the probability that all of several scores are positive
//!   optimise/
//!     bisect.rs           where a monotone condition ends
//!     golden.rs           a minimum along a line
//!     simplex.rs          a quadratic on the simplex
//!     mod.rs
//!   mod.rs
//! data/
//!   importance.rs         how much each sample counts
//!   cells.rs              tasks, classes and counts: the index of everything small
//!   coupling.rs           the hyper-parameters
//!   groups.rs             samples that are left out together
//!   joined.rs             columns that cells of many sources share
//!   rows.rs               a borrowed table, read in panels
//!   tasks.rs              rows grouped by cell, checked
//!   statistics/
//!     rows.rs             the rows of one task, wherever they are
//!     bounds.rs           the least and the largest value of each feature
//!     sums.rs             means, squares and scatter in one pass
//!     portion.rs          some of a task's rows, summed up
//!     dealt.rs            the folds of many rows, and a sample of them
//!     complete.rs         folds that lack a class, joined
//!     weigh.rs            sums over rows that have weights
//!     mod.rs              what is kept of the data, mergeable
//!     folds.rs            how many folds
//!     columns.rs          features by name
//!     scale.rs            one number per task
//!     measure.rs          statistics of rows
//!     view.rs             of rows seen through a map
//!     merge.rs            the union of two
//!     parts.rs            of many, none of them twice
//!     check.rs            whether numbers can be statistics
//!     portions.rs         the rows of a task by fold
//!     bytes.rs            as bytes
//!     share.rs            for others to see
//!     copies.rs           rows that look as if they belonged together
//!   prepare/
//!     naming.rs           names that are stored as numbers
//!     column.rs           a table whose columns are not features yet
//!     plan.rs             how columns become features
//!     learn.rs            what training rows say about them
//!     survey.rs           the same of rows that come in parts
//!     apply.rs            columns to features
//!     check.rs            what to look at before a table is learnt from
//!     mod.rs
//!   mod.rs
//! views/
//!   kernel.rs             a Gaussian kernel
//!   landmarks.rs          the rows that stand for all of them
//!   nystrom.rs            the kernel as features
//!   mod.rs                ways to look at the features
//! solve/
//!   scaling.rs            how features are scaled
//!   block.rs              what training needs of one task
//!   factor.rs             one task's share of the arrowhead
//!   leave_fold_out.rs     the responses of models that never saw a fold
//!   leave_one_out.rs      the response of the model that never saw a sample
//!   arrow.rs              the arrowhead form
//!   dual.rs               the form for few rows
//!   system.rs             all tasks trained at one coupling
//!   weights.rs            weights, and the coordinates they are in
//!   grid.rs               couplings along which one reduction serves every λ
//!   row_space.rs          coordinates of rows where features outnumber them
//!   block_tridiagonal.rs  one reduction for every λ
//!   effective.rs          how many independent errors leave-one-out has
//!   fitted.rs             a target at one coupling
//!   reduced.rs            the tasks in few coordinates
//!   row_grid.rs           the fits of a whole grid where features outnumber rows
//!   path.rs               and where rows outnumber features
//!   fold_grid.rs          the same for a target in folds, from portions
//!   mod.rs
//! moments.rs              mean and covariance of the responses of a new sample
//! shrink.rs               left-out moments pulled toward those of a theory
//! theory/
//!   problem.rs            what the theory is a function of
//!   directions.rs         covariances that are diagonal in one basis
//!   covariances.rs        covariances, given and checked
//!   fixed_point.rs        Newton and Broyden
//!   general.rs            any covariances
//!   sample_means.rs       the noise of class means, taken out
//!   mod.rs                moments before anything is trained
//!   pairs.rs              the joint law of classifiers on different samples
//! estimate/
//!   gram.rs               inner products of class means
//!   covariance.rs         covariances of classes
//!   pooled.rs             the covariance that all classes have in common
//!   relatedness.rs        how alike tasks are
//!   map.rs                tasks placed by that
//!   population.rs         the data as one of the theories sees them
//!   mod.rs
//! stakes.rs               priors, costs, shares
//! decision.rs             scores to class, margins and probabilities, in one place
//! rules/
//!   score_law.rs          two Gaussian scores and their best threshold
//!   pencil.rs             two covariances made diagonal together
//!   binary.rs             two classes, one score
//!   averages.rs           averages over classes
//!   one_hot.rs            one score per class, chosen together
//!   bayes.rs              the posterior of Gaussian responses
//!   one_vs_all.rs         each class against all others
//!   one_vs_one.rs         each pair of classes
//!   false_alarm.rs        a rate that is held
//!   mod.rs
//! recipe/
//!   folds.rs              who is held out together
//!   alike.rs              which sources of many are alike
//!   theory_labels.rs      label scores of least error by the theory
//!   families.rs           restricted label scores for few labels
//!   in_folds.rs           the same where folds stand for samples
//!   grid.rs               the couplings that the default tries
//!   tournament.rs         all candidates, weighted by samples left out
//!   nested.rs             the same without each of several folds
//!   mod.rs
//! forecast/
//!   calibrate.rs          scores to probabilities, and how far these can be believed
//!   design.rs             how much less samples tell that come in groups
//!   judgements.rs         what samples are taken for by rules they had no say in
//!   density.rs            the law of a score
//!   bins.rs               scores that are counted in bins
//!   note.rs               what to know before trusting it
//!   curve.rs              what more labels would bring
//!   rehearsal.rs          what sources did in the target's place
//!   paired.rs             whether one rule is better, sample by sample
//!   value.rs              what a source is worth
//!   mod.rs                what a rule will do on new data
//!   count.rs              from samples left out
//!   recount.rs            the same for other priors and costs
//!   rehearsed.rs          and from sources in the target's place
//!   draw.rs               from draws of a theory's law
//! settings/
//!   words.rs              the words of the settings, and the list of all
//!   mod.rs                what a person may choose
//!   check.rs              settings that fit the data
//! model/
//!   rule.rs               how scores were made, for people
//!   scores.rs             functions of the raw features
//!   mod.rs                a trained decision for one task
//!   check.rs              whether a file can be a model
//!   file.rs               as a safetensors file
//! evaluate.rs             what a model did, next to what was foretold
//! study/
//!   shared.rs             what all targets stand on, computed once
//!   folded.rs             a target with many rows, in folds
//!   fits.rs               the candidates of a target in all views
//!   outcome.rs            what the steps arrive at
//!   target.rs             one target, as every step sees it
//!   choose.rs             1. a coupling
//!   learn.rs              2. labels and thresholds; a new rule is one line here
//!   held_out.rs           3. what samples look like to fits without their fold
//!   judge.rs              3. judge by samples left out
//!   foretell.rs           3. or foretell by a theory
//!   rate.rs               hold a false-alarm rate
//!   averaged.rs           the default
//!   fold_scores.rs        class scores of the rows of each fold, or as their moments say
//!   tally.rs              the same in counts, from where the rows are
//!   one_score.rs          two classes, one score
//!   fold.rs               4. fold a rule by name
//!   pair.rs               one pair of classes
//!   pairs.rs              one-versus-one
//!   route.rs              the steps that settings name
//!   grouped.rs            what groups, or their absence, say about a forecast
//!   weighted.rs           what weights do not go with
//!   schedule.rs           many plans, shared fits
//!   train.rs              5. weights, and a model
//!   alone.rs              a target without its sources
//!   growth.rs             how many times the labels more labels are worth
//!   rehearse.rs           sources in the target's place
//!   mod.rs                the study
//!   counted.rs            a study whose errors are counted elsewhere
//!   batches.rs            a model for every task, in bounded memory
//!   value.rs              fewer sources
//!   alarms.rs             other false-alarm rates
//!   compare.rs            other rules and theories
//!   curve.rs              more labels
//!   spend.rs              in the target, or in its sources
//! ```
//!
//! # Where to start
//!
//! * To use it: [`Tasks`], [`Settings`], [`Study`], [`Model`].
//! * For the linear algebra: [`System`], [`LeaveOneOut`].
//! * For the theory: [`theory`], then [`Moments`] and [`rules`].
//! * For every task as the target: [`Study::all`].
//! * For streams and many machines: [`Statistics`], which a [`Study`] takes in place of the data.
//!
//! Everything is deterministic: the same data give the same bits, whatever the number of
//! threads. Arithmetic is in `f64`; data may be `f32` or `f64`, in rows or in columns.
//!
//! # References
//!
//! * M. Tiomoko, R. Couillet, H. Tiomoko Ali, *Large Dimensional Analysis and Improvement of Multi Task Learning*:
//!   the method and its theory.
//! * O. Ledoit, M. Wolf (2004), *A well-conditioned estimator for large-dimensional covariance matrices*; Y. Chen,
//!   A. Wiesel, Y. Eldar, A. Hero (2010), *Shrinkage algorithms for MMSE covariance estimation*: covariances of few
//!   samples.
//! * A. Genz, F. Bretz (2009), *Computation of Multivariate Normal and t Probabilities*: orthants.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(unreachable_pub))]

mod data;
mod decision;
mod error;
mod estimate;
mod evaluate;
mod forecast;
mod model;
mod moments;
mod numerics;
mod recipe;
pub mod rules;
mod settings;
mod shrink;
mod solve;
mod stakes;
mod stop;
mod study;
mod tensors;
pub mod theory;
mod views;
mod words;
mod write;

pub use data::prepare;
pub use data::{Cells, Coupling, Element, Rows, Statistics, Task, Tasks};
pub use decision::{Decision, Discriminant, Form, Quadratic, Ties};
pub use error::{Error, Result};
pub use estimate::{LikenessMap, Place, relatedness};
pub use evaluate::{Measured, MeasuredAlarm, Rate, evaluate};
pub use forecast::recount::Recount;
pub use forecast::{
    AlarmForecast, Budget, CurvePoint, Density, Forecast, InSources, LabelsNeeded, Note, Paired,
    Rehearsal, Rehearsed, Reliability, RocPoint, SourceValue, Unrehearsed, Verdict, WorthMore,
};
pub use model::{CandidateWeight, Model, Rule, Term};
pub use moments::{Moments, Provenance};
pub use numerics::COVERAGE;
pub use recipe::Family;
pub use rules::Tail;
pub use settings::{Evidence, FalseAlarm, Labels, Prior, RuleName, Settings, vocabulary};
pub use solve::{LeaveOneOut, Scaling, System};
pub use stop::Stop;
pub use study::compare::{Compared, Foretold};
pub use study::tally::Tally;
pub use study::{LeftOut, Study};
pub use views::kernel::Kernel;
pub use views::{Skipped, View, Views};
pub use words::{Named, Word};
pub use write::{write_atomically, write_in_steps};

/// The normal distribution, and probabilities of orthants.
pub mod normal {
    pub use crate::numerics::normal::{cumulative, density, tail};
    pub use crate::numerics::{Orthant, orthant};
}

#[cfg(test)]
extern crate self as foretask;
#[cfg(test)]
#[path = "../tests/suite/mod.rs"]
mod suite;

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}
