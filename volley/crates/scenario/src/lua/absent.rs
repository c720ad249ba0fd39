//! In place of all this, in a volley without the feature `lua`: a script is refused before the load.

use crate::plan::Script;
pub use crate::script::none as open_scripts;
use volley_base::Lacks;

pub fn check(_: &Script) -> Result<(), String> {
    Err(Lacks("lua").to_string())
}
