//! The rows of the report: requests with the same method and host, or with the name that the program gives them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::report::{Names, StepNames};

/// The most rows. Whatever has none is counted in the last one.
pub const MOST: usize = 64;

/// The name of the last one.
const OTHERS: &str = "others";

/// The rows of all threads: their names, and whether their statuses are codes of gRPC.
#[derive(Default)]
pub struct Rows(Mutex<Vec<(String, bool)>>);

impl Rows {
    /// The number of a row.
    pub fn of(&self, name: &str, is_grpc: bool) -> usize {
        let mut rows = self.rows();
        let known = |(known, grpc): &(String, bool)| known == name && *grpc == is_grpc;
        if let Some(at) = rows.iter().position(known) {
            return at;
        }
        let name = match rows.len() + 1 < MOST {
            true => name,
            false => OTHERS,
        };
        if rows.len() < MOST {
            rows.push((name.to_owned(), is_grpc));
        }
        rows.len() - 1
    }

    /// The names of a program's report.
    pub fn names(&self, program: &str) -> Names {
        let rows = self.rows();
        let steps = rows.iter().map(|(name, is_grpc)| StepNames {
            name: name.clone(),
            scenario: program.to_owned(),
            is_grpc: *is_grpc,
            ..StepNames::default()
        });
        Names {
            scenarios: vec![program.to_owned()],
            steps: steps.collect(),
        }
    }

    fn rows(&self) -> MutexGuard<'_, Vec<(String, bool)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_finds_no_row_is_in_the_last_one() {
        let rows = Rows::default();
        for at in 0..2 * MOST {
            assert_eq!(rows.of(&at.to_string(), false), at.min(MOST - 1));
        }
        assert_eq!(rows.of("0", false), 0);
        let names = rows.names("x.lua").steps;
        assert_eq!((names.len(), &*names[MOST - 1].name), (MOST, OTHERS));
    }
}
