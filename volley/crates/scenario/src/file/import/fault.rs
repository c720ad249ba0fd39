//! Where h2loadrunner does something else than its schema says.

/// One of them, as in the table of H2LOADRUNNER.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its name in warnings. It never changes.
    pub name: &'static str,
    /// What the schema says.
    pub says: &'static str,
    /// What h2loadrunner does.
    pub does: &'static str,
    /// What volley does.
    pub by_schema: &'static str,
    /// What volley does with `--as-run`. Where `does` begins with it, there is no warning.
    pub as_run: &'static str,
}

impl Fault {
    const fn new(
        name: &'static str,
        says: &'static str,
        does: &'static str,
        by_schema: &'static str,
        as_run: &'static str,
    ) -> Self {
        Self {
            name,
            says,
            does,
            by_schema,
            as_run,
        }
    }

    /// One in which volley does the same with and without `--as-run`.
    const fn same(
        name: &'static str,
        says: &'static str,
        does: &'static str,
        volley: &'static str,
    ) -> Self {
        Self::new(name, says, does, volley, volley)
    }
}

/// Each fault as a constant, and all of them as a list.
macro_rules! faults {
    ($($id:ident = $make:ident($($text:literal),*);)*) => {
        $(pub(super) const $id: Fault = Fault::$make($($text),*);)*

        /// All faults.
        pub const FAULTS: &[Fault] = &[$($id),*];
    };
}

faults! {
    DEFAULT_STREAMS = new(
        "default-streams",
        "32 streams if `max-concurrent-streams` is missing",
        "has 1",
        "has 32",
        "has 1"
    );
    DEFAULT_DURATION = new(
        "default-duration",
        "60 s if `duration` and `total-requests` are missing",
        "refuses the file",
        "runs 60 s",
        "refuses the file"
    );
    DEFAULT_SLICING = new(
        "default-slicing",
        "a slice for each connection if `user-id-range-slicing` is missing",
        "has no slices",
        "has slices",
        "has no slices"
    );
    DEFAULT_SUCCESS = new(
        "default-success",
        "2xx is success if nothing else is expected",
        "takes every status below 400",
        "expects 2xx",
        "takes every status below 400"
    );
    RANDOM_START = same(
        "random-start",
        "each connection goes through all values",
        "begins at a random value on each connection",
        "deals the values out in order, to all connections together"
    );
    WEIGHTS = new(
        "weights",
        "a weight is a share of the iterations",
        "makes it a share of the requests, at random",
        "keeps exact shares of the iterations",
        "keeps exact shares of the requests"
    );
    WAIT_ALONE = new(
        "wait-alone",
        "the scenario waits before it starts",
        "does not wait if there is no other, and refuses the file if all of several wait",
        "waits",
        "does not wait if there is no other"
    );
    PARALLEL = new(
        "parallel",
        "each request is sent once, all at the same time",
        "sends the second in place of each later one, and the first last",
        "sends each once",
        "sends the second in place of each later one, and the first last"
    );
    CHAIN = new(
        "chain",
        "requests follow each other",
        "goes on after a request that has failed",
        "ends the iteration",
        "goes on"
    );
    LOST_URI = new(
        "lost-uri",
        "the URI is in a header of the last response",
        "ends the iteration silently if the header is missing",
        "fails the request that lacks it, and ends the iteration",
        "fails the request that lacks it, and those that need the URI"
    );
    POINTER_URI = new(
        "pointer-uri",
        "the URI is a value of the last response's JSON (to be implemented)",
        "sends an empty path",
        "takes the value",
        "refuses the file"
    );
    PICK_NOTHING = new(
        "pick-nothing",
        "a picker saves what it finds",
        "saves an empty text if it finds nothing",
        "fails the request",
        "saves an empty text"
    );
    PICK_POINTER = new(
        "pick-pointer",
        "the picker reads the request's payload",
        "reads the response's",
        "reads the request's",
        "reads the response's"
    );
    PICK_PSEUDO = new(
        "pick-pseudo",
        "the picker reads a header of the request",
        "finds nothing in `:path`, `:method`, `:scheme` and `:authority`",
        "finds them",
        "finds nothing"
    );
    JSON_TEXT = same(
        "json-text",
        "a JSON pointer leads to a value",
        "takes lists and negative numbers as empty texts, and writes fractions with six digits",
        "takes all values as the response has them"
    );
    UNSET_VARIABLE = new(
        "unset-variable",
        "a picked value stands in later requests",
        "sends an empty text before a request has saved it",
        "refuses the file",
        "sends an empty text in its place"
    );
    PAYLOAD_FILE = new(
        "payload-file",
        "a payload may be the name of a file",
        "sends the name, unless `user-id-variable-in-path-and-data` is there",
        "sends the file's content",
        "sends the name"
    );
    PAYLOAD_16K = same(
        "payload-16k",
        "a payload is sent",
        "sends its first 16 KiB again and again if it is longer, over HTTP/2",
        "sends it whole"
    );
    HEADER_BLANK = same(
        "header-blank",
        "a header is written as `name: value`",
        "sends the blank, too, which HTTP/2 forbids",
        "sends none"
    );
    COOKIES_KEPT = same(
        "cookies-kept",
        "`clear-old-cookies` removes all cookies",
        "removes only those of the last response",
        "has no cookies if each request but the first clears them, otherwise it keeps them"
    );
    COOKIES_BY_PATH = new(
        "cookies-by-path",
        "cookies of responses are sent with later requests",
        "sends none with a URI that is only a path",
        "sends them",
        "has no cookies if all later URIs are paths, otherwise it sends them"
    );
    CSV = same(
        "csv",
        "the file is CSV",
        "knows no quotes, and tears rows that are too long or too short",
        "knows quotes, and refuses such rows"
    );
    REGEXP_NEEDED = same(
        "regexp-needed",
        "`.*` if `regexp` is missing",
        "refuses the file",
        "takes `.*`"
    );
    HEADERS_NEEDED = same(
        "headers-needed",
        "`response-match` may have `payload` alone",
        "refuses the file",
        "takes it"
    );
    RATE_KEPT = same(
        "rate-kept",
        "so many requests are sent a second",
        "drops what it cannot send in time, and reports nothing",
        "reports what it has dropped"
    );
    FEED_FILE = same(
        "feed-file",
        "a rate in this file changes the load",
        "crashes at a rate below 1, and stops if there was no rate before",
        "does not read it: send `PATCH /v1/load` to `control`"
    );
    CONTROL_PORT = same(
        "control-port",
        "`/config?rps=100` at this port changes the rate",
        "listens on all addresses without a token, and answers 404",
        "listens on 127.0.0.1, and takes `PATCH /v1/load`"
    );
    SERVER_NAME = same(
        "server-name",
        "a certificate that is not valid fails",
        "does not compare its name, and trusts no roots but `caCert`",
        "compares its name, and trusts the system's roots if there is no `caCert`"
    );
    ACTIVE_TIMEOUT = same(
        "active-timeout",
        "a connection is closed after so many milliseconds",
        "counts seconds from the last request on",
        "keeps connections open"
    );
    INACTIVITY_TIMEOUT = same(
        "inactivity-timeout",
        "an idle connection is closed",
        "reads another key, `connection-inactive-timeout`, and closes nothing",
        "keeps connections open"
    );
    BUFFERS = same(
        "buffers",
        "both buffers of a socket have their size",
        "sets only the receive buffer, to the size of the other",
        "leaves them to the system"
    );
}
