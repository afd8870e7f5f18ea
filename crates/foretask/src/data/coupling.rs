//! The hyper-parameters: how strongly tasks share, and how freely each may differ.

use crate::error::{Error, Result};

/// The coupling of k tasks: w_i = w_0 + v_i with |w_0|² penalised by 1/λ and |v_i|² by 1/γ_i.
///
/// In terms of the task matrix of the theory, A = diag(γ) + λ 1 1ᵀ. λ = 0 trains every task alone,
/// γ = 0 trains one weight vector for all.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Coupling {
    lambda: f64,
    gamma: Vec<f64>,
}

impl Coupling {
    /// A coupling with one γ per task.
    ///
    /// # Errors
    /// [`Error::Setting`] unless all values are finite and not negative, and every task has
    /// γ_i + λ > 0 (otherwise its weights would be zero whatever the data).
    ///
    /// ```
    /// use foretask::Coupling;
    /// let coupling = Coupling::new(10.0, vec![1.0, 1.0])?;
    /// assert_eq!(coupling.lambda(), 10.0);
    /// assert!(Coupling::new(0.0, vec![1.0, 0.0]).is_err());
    /// # Ok::<(), foretask::Error>(())
    /// ```
    pub fn new(lambda: f64, gamma: Vec<f64>) -> Result<Self> {
        let valid = |value: f64| value.is_finite() && value >= 0.0;
        if !valid(lambda) {
            return Err(Error::Setting {
                setting: "lambda",
                value: lambda.to_string(),
                expected: "a finite number, zero or more",
            });
        }
        for &value in &gamma {
            if !valid(value) {
                return Err(Error::Setting {
                    setting: "gamma",
                    value: value.to_string(),
                    expected: "a finite number, zero or more",
                });
            }
            if value + lambda == 0.0 {
                return Err(Error::Setting {
                    setting: "gamma",
                    value: value.to_string(),
                    expected: "lambda and gamma must not both be zero, or nothing is learnt",
                });
            }
        }
        Ok(Self { lambda, gamma })
    }

    /// The same γ for each of `tasks` tasks.
    ///
    /// # Errors
    /// As [`Coupling::new`].
    pub fn uniform(lambda: f64, gamma: f64, tasks: usize) -> Result<Self> {
        Self::new(lambda, vec![gamma; tasks])
    }

    /// How strongly the tasks share.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// How freely each task may differ.
    pub fn gamma(&self) -> &[f64] {
        &self.gamma
    }

    /// Checks that there is one γ for each of `tasks` tasks.
    pub(crate) fn check(&self, tasks: usize) -> Result<()> {
        if self.gamma.len() == tasks {
            Ok(())
        } else {
            Err(Error::Shape {
                what: "values of gamma (one per task)",
                expected: tasks,
                got: self.gamma.len(),
            })
        }
    }
}
