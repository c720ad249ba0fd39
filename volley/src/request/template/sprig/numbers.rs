//! Numbers. Integers wrap, as in Go.

use gotmpl::Value;

use super::args::{Args, Functions, LONGEST, Outcome, float, int, list, string, text};

pub fn add(all: &mut Functions) {
    all.add(&["add"], |args| {
        Ok(Value::Int(
            args.ints(0)?.into_iter().fold(0, i64::wrapping_add),
        ))
    });
    all.add(&["mul"], |args| {
        let first = args.int(0)?;
        Ok(Value::Int(
            args.ints(1)?.into_iter().fold(first, i64::wrapping_mul),
        ))
    });
    all.add(&["add1"], |args| {
        Ok(Value::Int(args.int(0)?.wrapping_add(1)))
    });
    all.add(&["sub"], |args| {
        Ok(Value::Int(args.int(0)?.wrapping_sub(args.int(1)?)))
    });
    all.add(&["div"], |args| divided(args, i64::wrapping_div));
    all.add(&["mod"], |args| divided(args, i64::wrapping_rem));
    all.add(&["max", "biggest"], |args| {
        let first = args.int(0)?;
        Ok(Value::Int(args.ints(1)?.into_iter().fold(first, i64::max)))
    });
    all.add(&["min"], |args| {
        let first = args.int(0)?;
        Ok(Value::Int(args.ints(1)?.into_iter().fold(first, i64::min)))
    });
    all.add(&["addf"], |args| floats(args, |a, b| a + b));
    all.add(&["add1f"], |args| Ok(Value::Float(args.float(0)? + 1.0)));
    all.add(&["subf"], |args| floats(args, |a, b| a - b));
    all.add(&["mulf"], |args| floats(args, |a, b| a * b));
    all.add(&["divf"], |args| floats(args, |a, b| a / b));
    all.add(&["maxf"], |args| floats(args, f64::max));
    all.add(&["minf"], |args| floats(args, f64::min));
    all.add(&["floor"], |args| Ok(Value::Float(args.float(0)?.floor())));
    all.add(&["ceil"], |args| Ok(Value::Float(args.float(0)?.ceil())));
    all.add(&["round"], |args| {
        let places = i32::try_from(args.int(1)?).unwrap_or(0).clamp(-300, 300);
        let scale = 10_f64.powi(places);
        Ok(Value::Float((args.float(0)? * scale).round() / scale))
    });
    all.add(&["int", "int64", "atoi"], |args| {
        Ok(Value::Int(int(args.at(0)?).unwrap_or(0)))
    });
    all.add(&["float64"], |args| {
        Ok(Value::Float(float(args.at(0)?).unwrap_or(0.0)))
    });
    all.add(&["toDecimal"], |args| {
        let octal = i64::from_str_radix(args.text(0)?.trim(), 8);
        Ok(Value::Int(octal.unwrap_or(0)))
    });
    all.add(&["until"], |args| {
        let end = args.int(0)?;
        steps(args, 0, end, end.signum())
    });
    all.add(&["untilStep"], |args| {
        steps(args, args.int(0)?, args.int(1)?, args.int(2)?)
    });
    all.add(&["seq"], |args| {
        let toward = |first: i64, last: i64| if last < first { -1 } else { 1 };
        let (first, last, step) = match *args.ints(0)?.as_slice() {
            [last] => (1, last, toward(1, last)),
            [first, last] => (first, last, toward(first, last)),
            [first, step, last] => (first, last, step),
            _ => return string(""),
        };
        let Value::List(items) = steps(args, first, last.saturating_add(step.signum()), step)?
        else {
            return string("");
        };
        string(items.iter().map(text).collect::<Vec<_>>().join(" "))
    });
}

fn divided(args: &Args, step: fn(i64, i64) -> i64) -> Outcome {
    match (args.int(0)?, args.int(1)?) {
        (_, 0) => Err(args.wrong("divides by zero")),
        (number, by) => Ok(Value::Int(step(number, by))),
    }
}

fn floats(args: &Args, step: fn(f64, f64) -> f64) -> Outcome {
    let first = args.float(0)?;
    Ok(Value::Float(args.floats(1)?.into_iter().fold(first, step)))
}

fn steps(args: &Args, from: i64, until: i64, step: i64) -> Outcome {
    let mut items = Vec::new();
    let mut at = from;
    while (step > 0 && at < until) || (step < 0 && at > until) {
        if items.len() >= LONGEST / 16 {
            return Err(args.wrong("makes too long a list"));
        }
        items.push(Value::Int(at));
        at = at.saturating_add(step);
    }
    list(items)
}
