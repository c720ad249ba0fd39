//! The page, as scripts/volley-page.sh has made it.

/// The parts of the page.
#[derive(Clone, Debug)]
#[cfg_attr(
    not(has_page),
    allow(dead_code, reason = "without the page, only tests make one")
)]
pub struct Page {
    pub html: &'static str,
    pub css: &'static str,
    pub js: &'static str,
    /// Of what the page is made of.
    pub licenses: &'static str,
}

impl Page {
    /// The page that is a part of this program, if it was built with one.
    #[cfg(has_page)]
    pub fn embedded() -> Option<Self> {
        Some(Self {
            html: include_str!("../../../edit/dist/page.html"),
            css: include_str!("../../../edit/dist/page.css"),
            js: include_str!("../../../edit/dist/page.js"),
            licenses: include_str!("../../../edit/dist/licenses.txt"),
        })
    }

    #[cfg(not(has_page))]
    pub fn embedded() -> Option<Self> {
        None
    }
}
