use clap::Args;

use crate::cli::value::whole;

/// What the replies must be.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Checks")]
pub struct CheckArgs {
    /// + Rule that every reply must satisfy, such as 'result = a + b + i' (a and b: fields of the
    ///   request; i: index of the reply); repeatable
    #[arg(long, value_name = "RULE")]
    pub expect: Option<Vec<String>>,

    /// + Number of replies that each call must get
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub expect_replies: Option<u64>,
}
