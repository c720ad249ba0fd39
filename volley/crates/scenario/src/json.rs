//! Values of a JSON document (RFC 8259) by pointers (RFC 6901), all of them in one pass.
//!
//! The pass checks the whole document, allocates nothing, and limits the nesting. Of names that occur twice in an object,
//! the first one counts.

mod scan;
mod text;

pub use scan::Malformed;
pub use text::text;

use super::plan::Pointer;
use scan::Scanner;

/// Pointers, joined where they have the same beginning.
#[derive(Clone, Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    /// By pointer: its node.
    ends: Vec<usize>,
}

#[derive(Clone, Debug, Default)]
struct Node {
    children: Vec<Child>,
}

/// A way down. A key of digits is also the number of an element: the document decides.
#[derive(Clone, Debug)]
struct Child {
    key: Box<str>,
    index: Option<usize>,
    node: usize,
}

/// Where the values of one document are. It is used again for the next one.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// By node: the first byte of its value, and the byte behind it.
    spans: Vec<Option<(usize, usize)>>,
    /// A key without its escapes.
    key: Vec<u8>,
}

impl Tree {
    /// A tree of pointers, which are numbered in this order.
    pub fn new<'a>(pointers: impl IntoIterator<Item = &'a Pointer>) -> Self {
        let mut tree = Self {
            nodes: vec![Node::default()],
            ends: Vec::new(),
        };
        for pointer in pointers {
            let end = pointer
                .keys
                .iter()
                .fold(0, |node, key| tree.child(node, key));
            tree.ends.push(end);
        }
        tree
    }

    /// The child of a node; a new one if there is none.
    fn child(&mut self, node: usize, key: &str) -> usize {
        let new = self.nodes.len();
        let Some(parent) = self.nodes.get_mut(node) else {
            return node;
        };
        if let Some(known) = parent.children.iter().find(|child| &*child.key == key) {
            return known.node;
        }
        parent.children.push(Child {
            key: key.into(),
            index: index(key),
            node: new,
        });
        self.nodes.push(Node::default());
        new
    }

    fn children(&self, node: usize) -> &[Child] {
        self.nodes.get(node).map_or(&[], |node| &node.children)
    }

    /// Finds the values of all pointers.
    ///
    /// # Errors
    ///
    /// The document is not JSON, or nested too deeply; then nothing is found.
    pub fn find(&self, document: &[u8], found: &mut Found) -> Result<(), Malformed> {
        found.spans.clear();
        found.spans.resize(self.nodes.len(), None);
        Scanner::new(self, document, found)?
            .document()
            .inspect_err(|_| found.spans.clear())
    }
}

impl Found {
    /// The value of a pointer, as the document writes it: a string with its quotes. `None` if there is none.
    #[must_use]
    pub fn get<'a>(&self, tree: &Tree, pointer: usize, document: &'a [u8]) -> Option<&'a [u8]> {
        let (start, end) = (*self.spans.get(*tree.ends.get(pointer)?)?)?;
        document.get(start..end)
    }
}

/// The number of an element (RFC 6901 section 4: no zeros in front).
fn index(key: &str) -> Option<usize> {
    let is_number =
        key == "0" || !key.starts_with('0') && key.bytes().all(|byte| byte.is_ascii_digit());
    key.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests;
