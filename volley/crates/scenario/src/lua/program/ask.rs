//! What a coroutine waits for, as it says it.

use mlua::{BString, FromLuaMulti, Lua, MultiValue, Value};

use super::open_request::{Base, Draft, MOST_NAME};
use super::shared::Group;

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
                let group = Group::new(threads, connections, coroutines);
                group.map(Self::SetUp).map_err(mlua::Error::runtime)
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
                // There is no longer name.
                let name = name.filter(|name| name.len() <= MOST_NAME);
                Ok(Self::Resolve {
                    name: String::from_utf8_lossy(&name.unwrap_or_default()).into_owned(),
                    ttl_ns: (ttl * MS) as u64,
                })
            }
            b"wait" => Ok(Self::Forever),
            _ => Err(mlua::Error::runtime("it waits for nothing that there is")),
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
