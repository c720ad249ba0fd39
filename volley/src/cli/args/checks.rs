use clap::Args;

use crate::cli::value::whole;

/// What the replies must be.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Checks")]
pub struct CheckArgs {
    /// + Rule for each reply, such as 'result = a + b + i' (fields of the request, i: index of the
    ///   reply); repeatable
    #[arg(long, value_name = "RULE")]
    pub expect: Option<Vec<String>>,

    /// + Replies each call must get
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub expect_replies: Option<u64>,
}
