//! `luaScript`: `make_request` and `validate_response` of a request.

use super::Importer;
use super::object::Object;
use super::tree::Tree;
use crate::file;

impl Importer<'_> {
    /// Reads the script of a request, a text or a file; and whether it says itself what a good response is.
    pub(super) fn lua(&mut self, request: &mut Object<'_>) -> Option<(Tree, bool)> {
        let script = self
            .text(request, "luaScript")
            .filter(|it| !it.is_empty())?;
        let file = self.how.from.join(script);
        let (tree, text) = match file::text(&file) {
            Ok(text) => (Tree::pair("file", self.file_name(script)), text),
            Err(_) => (script.into(), script.to_owned()),
        };
        let tree = tree.at(&request.at.key("luaScript"));
        Some((tree, text.contains("validate_response")))
    }
}
