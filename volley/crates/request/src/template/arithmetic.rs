//! Arithmetic on the call's numbers, as `{{mod .RequestNumber 100}}`. It gives what sprig's functions give.

use super::function::Action;
use super::{ActionError, CallData};

/// A function of integers, with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arithmetic {
    name: &'static str,
    step: Step,
    first: Number,
    others: Vec<Number>,
}

/// An argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Number {
    Constant(i64),
    /// It gives an integer in every call.
    Action(Box<Action>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Arithmetic {
    /// `None`: it is another function, or takes other arguments.
    pub fn new(name: &str, mut arguments: Vec<Number>) -> Option<Self> {
        let (name, step, most) = match name {
            "add" => ("add", Step::Add, usize::MAX),
            "add1" => ("add1", Step::Add, 1),
            "sub" => ("sub", Step::Subtract, 2),
            "mul" => ("mul", Step::Multiply, usize::MAX),
            "div" => ("div", Step::Divide, 2),
            "mod" => ("mod", Step::Remainder, 2),
            _ => return None,
        };
        let least = if most == 2 { 2 } else { 1 };
        if !(least..=most).contains(&arguments.len()) {
            return None;
        }
        if name == "add1" {
            arguments.push(Number::Constant(1));
        }
        let others = arguments.split_off(1);
        Some(Self {
            name,
            step,
            first: arguments.pop()?,
            others,
        })
    }

    /// Its value in one call.
    pub fn value(&self, call: &mut CallData) -> Result<i64, Box<ActionError>> {
        let mut value = self.number(&self.first, call)?;
        for other in &self.others {
            let by = self.number(other, call)?;
            value = match self.step {
                Step::Add => value.wrapping_add(by),
                Step::Subtract => value.wrapping_sub(by),
                Step::Multiply => value.wrapping_mul(by),
                Step::Divide | Step::Remainder if by == 0 => {
                    return Err(self.wrong("divides by zero"));
                }
                Step::Divide => value.wrapping_div(by),
                Step::Remainder => value.wrapping_rem(by),
            };
        }
        Ok(value)
    }

    fn number(&self, number: &Number, call: &mut CallData) -> Result<i64, Box<ActionError>> {
        match number {
            Number::Constant(value) => Ok(*value),
            Number::Action(action) => action.number(call).map_err(|error| {
                error.unwrap_or_else(|| self.wrong("takes a number, not a value of type string"))
            }),
        }
    }

    #[cold]
    fn wrong(&self, reason: &str) -> Box<ActionError> {
        Box::new(ActionError::Go(format!("`{}` {reason}", self.name)))
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;
    use proptest::prelude::*;

    use super::super::program::Program;
    use super::super::tests::method;
    use super::super::{Piece, Template};
    use super::*;
    use crate::CallNumber;

    fn rendered(action: &Action, number: u64) -> Result<String, ActionError> {
        let (mut random, mut out) = (Rng::with_seed(1), String::new());
        let number = CallNumber { worker: 0, number };
        let mut call = CallData::new(number, "", 1, &mut random);
        action.write(&mut call, &mut out).map(|()| out)
    }

    fn native(text: &str) -> Option<Action> {
        let template = Template::parse(text, method(), true).unwrap();
        match template.pieces() {
            [Piece::Action(action @ Action::Arithmetic(_))] => Some(action.clone()),
            _ => None,
        }
    }

    fn expression() -> impl Strategy<Value = String> {
        let number = prop_oneof![
            3 => (-3_i64..9).prop_map(|number| number.to_string()),
            1 => Just(i64::MAX.to_string()),
            3 => Just(".RequestNumber".to_owned()),
        ];
        let name = prop::sample::select(vec!["add", "add1", "sub", "mul", "div", "mod"]);
        number.prop_recursive(3, 12, 3, move |inner| {
            (name.clone(), prop::collection::vec(inner, 1..4)).prop_map(|(name, arguments)| {
                let arguments: Vec<_> = arguments
                    .into_iter()
                    .map(|argument| match argument.contains(' ') {
                        true => format!("({argument})"),
                        false => argument,
                    })
                    .collect();
                format!("{name} {}", arguments.join(" "))
            })
        })
    }

    proptest! {
        #[test]
        fn it_gives_what_sprig_gives(
            expression in expression(), number in prop_oneof![0_u64..20, Just(i64::MAX as u64)],
        ) {
            let text = format!("{{{{{expression}}}}}");
            if let Some(action) = native(&text) {
                let program = Program::new(&text, method(), true).unwrap();
                prop_assert_eq!(rendered(&action, number), rendered(&Action::Program(program), number));
            }
        }
    }

    #[test]
    fn numbers_are_calculated_here_and_the_rest_is_left_to_sprig() {
        for text in [
            "{{mod .RequestNumber 100}}",
            "{{.RequestNumber | mod 7 | add 1}}",
            "{{add1 (mul .TimestampUnix 2)}}",
            "{{sub (randomInt 5 9) 1}}",
        ] {
            assert!(native(text).is_some(), "{text}");
        }
        for text in [
            "{{mod 7}}",
            "{{add .WorkerID 1}}",
            "{{add1 1 2}}",
            "{{int .RequestNumber}}",
        ] {
            assert!(native(text).is_none(), "{text}");
        }
    }
}
