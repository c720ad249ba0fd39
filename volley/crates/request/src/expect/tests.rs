//! Folding is arithmetic: for any expression, the polynomial has the same value as the expression
//! evaluated step by step.

use proptest::prelude::*;

use super::expression::Expression;
use super::number::Number;
use super::parse::{Word, parse};
use super::polynomial::Polynomial;

/// All combinations of `i` and constants.
fn expressions() -> impl Strategy<Value = Expression<Option<u64>>> {
    let constant = prop_oneof![
        0_u64..5,
        any::<u64>(),
        (-5_i64..0).prop_map(i64::cast_unsigned)
    ];
    let leaf = prop_oneof![Just(None), constant.prop_map(Some)].prop_map(Expression::Leaf);
    leaf.prop_recursive(6, 40, 2, |inner| {
        let pair = || {
            (
                inner.clone().prop_map(Box::new),
                inner.clone().prop_map(Box::new),
            )
        };
        prop_oneof![
            inner
                .clone()
                .prop_map(|inner| Expression::Negated(Box::new(inner))),
            pair().prop_map(|(left, right)| Expression::Sum(left, right)),
            pair().prop_map(|(left, right)| Expression::Difference(left, right)),
            pair().prop_map(|(left, right)| Expression::Product(left, right)),
        ]
    })
}

fn fold(expression: &Expression<Option<u64>>) -> Polynomial {
    expression.fold(&|leaf| leaf.map_or_else(Polynomial::index, Polynomial::constant))
}

/// The same in 64-bit words, step by step.
fn evaluate(expression: &Expression<Option<u64>>, i: u64) -> u64 {
    match expression {
        Expression::Leaf(leaf) => leaf.unwrap_or(i),
        Expression::Negated(inner) => evaluate(inner, i).wrapping_neg(),
        Expression::Sum(left, right) => evaluate(left, i).wrapping_add(evaluate(right, i)),
        Expression::Difference(left, right) => evaluate(left, i).wrapping_sub(evaluate(right, i)),
        Expression::Product(left, right) => evaluate(left, i).wrapping_mul(evaluate(right, i)),
    }
}

/// The same in int32, truncated after each step.
#[expect(clippy::cast_possible_truncation)]
fn evaluate_in_32_bits(expression: &Expression<Option<u64>>, i: u64) -> i32 {
    let side = |side: &Expression<_>| evaluate_in_32_bits(side, i);
    match expression {
        Expression::Leaf(leaf) => leaf.unwrap_or(i) as i32,
        Expression::Negated(inner) => side(inner).wrapping_neg(),
        Expression::Sum(left, right) => side(left).wrapping_add(side(right)),
        Expression::Difference(left, right) => side(left).wrapping_sub(side(right)),
        Expression::Product(left, right) => side(left).wrapping_mul(side(right)),
    }
}

fn written(expression: &Expression<Option<u64>>) -> String {
    match expression {
        Expression::Leaf(None) => "i".to_owned(),
        Expression::Leaf(Some(value)) => value.to_string(),
        Expression::Negated(inner) => format!("-({})", written(inner)),
        Expression::Sum(left, right) => format!("({})+({})", written(left), written(right)),
        Expression::Difference(left, right) => {
            format!("({}) - ({})", written(left), written(right))
        }
        Expression::Product(left, right) => format!("({})*({})", written(left), written(right)),
    }
}

proptest! {
    #[test]
    fn a_folded_expression_has_the_value_of_the_expression(
        expression in expressions(),
        i in prop_oneof![0_u64..100, any::<u64>()],
    ) {
        let value = evaluate(&expression, i);
        prop_assert_eq!(fold(&expression).at(i), value);
        prop_assert_eq!(expression.word(&|leaf| leaf.unwrap_or(i)), value);
    }

    #[test]
    fn cutting_off_once_at_the_end_is_cutting_off_at_each_step(
        expression in expressions(),
        i in prop_oneof![0_u64..100, any::<u64>()],
    ) {
        let wide = Number::Signed32.wrap(fold(&expression).at(i));
        let narrow = i64::from(evaluate_in_32_bits(&expression, i));
        prop_assert_eq!(wide, narrow.cast_unsigned());
    }

    #[test]
    fn an_expression_is_read_as_it_was_written(expression in expressions()) {
        let rule = format!("x = {}", written(&expression));
        prop_assume!(rule.len() <= 1024);
        let read = parse(&rule).unwrap().expression.map(&mut |word| match word {
            Word::Integer(value) => Ok(Some(value)),
            Word::Name(name) if name == "i" => Ok(None),
            other => Err(other),
        });
        prop_assert_eq!(read.unwrap(), expression);
    }

    #[test]
    fn any_text_is_parsed_or_refused(rule in "[a-z0-9=+*() i-]{0,40}|\\PC{0,40}") {
        let _ = parse(&rule);
    }
}

#[test]
fn most_rules_fold_to_a_line() {
    let folded = |text: &str| {
        let expression = parse(text).unwrap().expression.map(&mut |word| match word {
            Word::Integer(value) => Ok::<_, ()>(Some(value)),
            _ => Ok(None),
        });
        fold(&expression.unwrap())
    };
    assert_eq!(folded("x = (3 + i) * 2 - i"), Polynomial::from(vec![6, 1]));
    assert_eq!(
        folded("x = i*i - i*(i + 1)"),
        Polynomial::from(vec![0, 0_u64.wrapping_sub(1)])
    );
    assert_eq!(folded("x = 0*i*i"), Polynomial::constant(0));
    assert_eq!(folded("x = i*i"), Polynomial::from(vec![0, 0, 1]));
}
