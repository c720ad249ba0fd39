//! `luaScript`: `make_request` and `validate_response` of a request.

use super::Importer;
use super::object::Object;

impl Importer<'_> {
    /// Reads the script of a request, and reports that it cannot be translated.
    pub(super) fn lua(&mut self, request: &mut Object<'_>) {
        let script = self.text(request, "luaScript");
        if script.is_some_and(|script| !script.is_empty()) {
            let problem = "Lua cannot be translated: write what the script does as `expect`, `save` and headers, or drop it";
            self.wrong(&request.at.key("luaScript"), problem);
        }
    }
}
