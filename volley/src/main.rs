//! The program: parse the command line, make the run, print its report.

use std::io::{self, Write};
use std::panic;
use std::process::{ExitCode, abort};

use volley::cli::{self, Command};
use volley::program;

fn main() -> ExitCode {
    // LuaJIT's errors must be able to unwind the stack, but a panic is a bug: no thread waits for one that has ended by it.
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |bug| {
        print(bug);
        abort();
    }));
    let done = match cli::parse(std::env::args_os()) {
        Ok(Command::Run(run)) => program::run(&run),
        Ok(Command::Blast(blast)) => program::blast(&blast),
        Ok(Command::Find(find)) => program::find(&find),
        Ok(Command::Try(trial)) => program::try_once(&trial),
        Ok(Command::Look(look)) => program::look(&look),
        Ok(Command::Serve(args)) => program::serve(&args),
        Ok(Command::Merge(merge)) => program::merge(&merge),
        Ok(Command::Compare(compare)) => program::compare(&compare),
        Ok(Command::Scenario(run)) => program::run_scenario(&run),
        Ok(Command::Check(file)) => program::check(&file),
        Ok(Command::Edit(edit)) => program::edit(&edit),
        Ok(Command::Import(file)) => program::import(&file),
        Ok(Command::Text(text)) => program::text(text),
        Err(exit) => return exit.print(),
    };
    done.unwrap_or_else(|failure| {
        // The exit status stands, even if nobody can read why.
        let _ = writeln!(io::stderr(), "error: {}", failure.line());
        ExitCode::from(failure.status)
    })
}
