use super::*;

fn shown(expression: &Expression<Word>) -> String {
    match expression {
        Expression::Leaf(Word::Integer(value)) => value.to_string(),
        Expression::Leaf(Word::Name(name)) => name.clone(),
        Expression::Leaf(Word::SumOf(name)) => format!("sum[{name}]"),
        Expression::Negated(inner) => format!("-{}", shown(inner)),
        Expression::Sum(left, right) => format!("({} + {})", shown(left), shown(right)),
        Expression::Difference(left, right) => format!("({} - {})", shown(left), shown(right)),
        Expression::Product(left, right) => format!("({} * {})", shown(left), shown(right)),
    }
}

#[test]
fn operators_bind_as_in_arithmetic() {
    let sentence = parse("result = a - b - -2*(c + 1) * sum ( d )").unwrap();
    assert_eq!(sentence.field, "result");
    assert_eq!(
        shown(&sentence.expression),
        "((a - b) - ((-2 * (c + 1)) * sum[d]))"
    );
    assert_eq!(sentence.text, "a - b - -2*(c + 1) * sum ( d )");
}

#[test]
fn sum_is_a_name_where_no_bracket_follows() {
    assert_eq!(shown(&parse("r==sum+1").unwrap().expression), "(sum + 1)");
}

#[test]
fn what_is_wrong_is_said() {
    for (rule, reason) in [
        ("", "it has no `=`"),
        ("result", "it has no `=`"),
        ("= 1", "`` left of `=` is not a field name"),
        ("a b = 1", "`a b` left of `=` is not a field name"),
        ("r =", "it ends too early"),
        ("r = (1", "it ends too early"),
        ("r = 1)", "`)` is not expected at the end"),
        ("r = 1 $ 2", "`$` is not expected before `2`"),
        ("r = a b", "`b` is not expected at the end"),
        ("r = sum(1)", "`1` is not expected before `)`"),
        (
            "r = 18446744073709551616",
            "`18446744073709551616` is not a 64-bit integer",
        ),
        ("r = 1x", "`1x` is not a 64-bit integer"),
    ] {
        assert_eq!(parse(rule).unwrap_err(), reason, "{rule}");
    }
}

#[test]
fn nesting_and_length_are_bounded() {
    let nested = format!("r = {}1{}", "(".repeat(200), ")".repeat(200));
    assert_eq!(
        parse(&nested).unwrap_err(),
        "it is nested deeper than 64 levels"
    );
    let minus = format!("r = {}1", "-".repeat(200));
    assert_eq!(
        parse(&minus).unwrap_err(),
        "it is nested deeper than 64 levels"
    );
    let long = format!("r = 1{}", "+1".repeat(1000));
    assert_eq!(parse(&long).unwrap_err(), "it is longer than 1024 bytes");
}
