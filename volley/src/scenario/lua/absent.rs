//! In place of all this, in a volley without the feature `lua`: a script is refused before the load.

use crate::features::Lacks;
use crate::scenario::plan::Script;
pub use crate::scenario::script::none as open_scripts;

pub fn check(_: &Script) -> Result<(), String> {
    Err(Lacks("lua").to_string())
}
