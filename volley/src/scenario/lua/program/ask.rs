//! What a coroutine waits for, as it says it.

use mlua::{BString, FromLuaMulti, Lua, MultiValue, Value};

use super::call::{Base, Draft};
use super::shared::Group;
use super::{MOST_COROUTINES, MOST_THREADS};

const MS: f64 = 1e6;

/// What a coroutine waits for.
pub enum Ask {
    SetUp(Group),
    Connect(Base),
    Send {
        draft: Box<Draft>,
        /// For the response, and not only until it is sent.
        waits: bool,
    },
    /// A response: client and stream.
    Await(u64, u64),
    Sleep {
        ns: u64,
    },
    Resolve {
        name: String,
        ttl_ns: u64,
    },
    /// Nothing that would ever come.
    Forever,
    /// It has asked for something that cannot be: a request, or a connection. Why, and what it gets.
    Nonsense(Refusal, String),
}

/// Which answer says that something did not work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    Client,
    Sent,
    Response,
    /// No answer: the program must be mended.
    Error,
}

impl Ask {
    /// What a coroutine has yielded.
    pub fn parse(lua: &Lua, mut values: MultiValue) -> mlua::Result<Self> {
        let what = values.pop_front();
        let what = what.as_ref().and_then(Value::as_string);
        let what = what.map(|what| what.as_bytes().to_vec());
        match what.as_deref().unwrap_or_default() {
            b"set_up" => {
                let (threads, connections, coroutines) = FromLuaMulti::from_lua_multi(values, lua)?;
                Ok(set_up(threads, connections, coroutines))
            }
            b"connect" => {
                let (url,): (Value,) = FromLuaMulti::from_lua_multi(values, lua)?;
                let url = url.as_string().map(|url| url.as_bytes().to_vec());
                Ok(match Base::of_url(&url.unwrap_or_default()) {
                    Ok(base) => Self::Connect(base),
                    Err(why) => Self::Nonsense(Refusal::Client, why),
                })
            }
            b"send" => Self::send(lua, values),
            b"await" => {
                let (client, stream): (f64, f64) = FromLuaMulti::from_lua_multi(values, lua)?;
                // A cast of what is below 0 is 0, which nothing has.
                Ok(Self::Await(client as u64, stream as u64))
            }
            b"sleep" => {
                let (ms,): (f64,) = FromLuaMulti::from_lua_multi(values, lua)?;
                Ok(Self::Sleep {
                    ns: (ms * MS) as u64,
                })
            }
            b"resolve" => {
                let (name, ttl): (Option<BString>, f64) =
                    FromLuaMulti::from_lua_multi(values, lua)?;
                Ok(Self::Resolve {
                    name: String::from_utf8_lossy(&name.unwrap_or_default()).into_owned(),
                    ttl_ns: (ttl * MS) as u64,
                })
            }
            b"wait" => Ok(Self::Forever),
            _ => Ok(Self::Nonsense(
                Refusal::Error,
                "coroutine.yield: only a coroutine that the program makes itself can yield"
                    .to_owned(),
            )),
        }
    }

    fn send(lua: &Lua, values: MultiValue) -> mlua::Result<Self> {
        type Sent = (bool, BString, Value, usize, Value, Value);
        let (waits, kind, headers, count, body, timeout) = Sent::from_lua_multi(values, lua)?;
        let refusal = match waits {
            true => Refusal::Response,
            false => Refusal::Sent,
        };
        let (Value::String(headers), Some(body), Some(timeout)) =
            (&headers, body.as_string(), lua.coerce_number(timeout)?)
        else {
            let why = "a request has a table of headers, a text as its body, and a time in ms";
            return Ok(Self::Nonsense(refusal, why.to_owned()));
        };
        let timeout_ns = (timeout * MS) as u64;
        let made = Draft::new(
            &headers.as_bytes(),
            count,
            &body.as_bytes(),
            &kind,
            timeout_ns,
        );
        Ok(match made {
            Ok(draft) => Self::Send {
                draft: Box::new(draft),
                waits,
            },
            Err(why) => Self::Nonsense(refusal, why),
        })
    }
}

fn set_up(threads: f64, connections: f64, coroutines: f64) -> Ask {
    let wrong =
        |words: String| Ask::Nonsense(Refusal::Error, format!("setup_parallel_test: {words}"));
    let is_count = |number: f64, most: f64| number >= 1.0 && number <= most;
    let most = MOST_COROUTINES as f64;
    if !is_count(threads, MOST_THREADS.into()) {
        return wrong(format!("1 to {MOST_THREADS} threads"));
    }
    if !is_count(connections, 65_536.0) {
        return wrong("1 to 65536 connections to each host".to_owned());
    }
    if !is_count(coroutines, most * threads) {
        return wrong(format!("1 to {MOST_COROUTINES} coroutines for each thread"));
    }
    Ask::SetUp(Group {
        threads: threads as u32,
        connections: connections as u32,
        coroutines: coroutines as u64,
    })
}
