//! Random values, from the thread's generator: a call seeds it with its own.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gotmpl::Value;

use super::args::{Args, Functions, Outcome, string};

pub fn add(all: &mut Functions) {
    all.add(&["randAlphaNum"], |args| {
        drawn(args, fastrand::alphanumeric)
    });
    all.add(&["randAlpha"], |args| drawn(args, fastrand::alphabetic));
    all.add(&["randNumeric"], |args| drawn(args, || fastrand::digit(10)));
    all.add(&["randAscii"], |args| {
        drawn(args, || fastrand::char(' '..='~'))
    });
    all.add(&["randBytes"], |args| {
        let count = args.count(0)?;
        let bytes: Vec<u8> = (0..count).map(|_| fastrand::u8(..)).collect();
        string(STANDARD.encode(bytes))
    });
    all.add(&["randInt"], |args| {
        let (least, below) = (args.int(0)?, args.int(1)?);
        if least >= below {
            return Err(args.wrong(format_args!(
                "cannot choose a number that is at least {least} and below {below}"
            )));
        }
        Ok(Value::Int(fastrand::i64(least..below)))
    });
    all.add(&["shuffle"], |args| {
        let mut characters: Vec<char> = args.text(0)?.chars().collect();
        fastrand::shuffle(&mut characters);
        string(characters.into_iter().collect::<String>())
    });
}

fn drawn(args: &Args, draw: fn() -> char) -> Outcome {
    let count = args.count(0)?;
    string((0..count).map(|_| draw()).collect::<String>())
}
