//! What a coroutine gets when it goes on.

use mlua::{IntoLua, Lua, MultiValue, Table, UserData, Value};
use tokio::sync::oneshot::Sender;

use super::open_request::{Fields, Response};
use volley_base::budget::Buffer;

/// What a coroutine gets.
#[derive(Debug, Default)]
pub enum Answer {
    #[default]
    Nothing,
    /// The number of the coroutine.
    Number(u64),
    /// A connection; `None`: it could not be made.
    Client(Option<u64>),
    /// The connection and the stream of a request; `None`: it was not sent.
    Sent(Option<(u64, u64)>),
    /// `None`: there is none.
    Response(Option<Box<Response>>),
    Addresses(Vec<String>),
    /// A request that the program is to answer.
    Request(Box<Received>),
}

/// A function of the program that answers requests.
#[derive(Debug)]
pub struct Registered {
    pub name: String,
    /// The line that registers it, as `name:line: `.
    pub place: String,
}

/// A request that came to a server of the program.
#[derive(Debug)]
pub struct Received {
    pub fields: Fields,
    pub body: Buffer,
    pub address: Address,
}

/// Where its response goes. Without a response, the server says that there is none.
#[derive(Debug)]
pub struct Address(Option<Sender<Reply>>);

/// A response of the program.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    pub fields: Fields,
    pub body: Vec<u8>,
    pub trailers: Fields,
}

impl UserData for Address {}

impl Address {
    pub fn new(sender: Sender<Reply>) -> Self {
        Self(Some(sender))
    }

    /// Sends the response, unless there was one before.
    pub fn send(&mut self, reply: Reply) -> bool {
        let sender = self.0.take();
        // Nobody may wait for it any more.
        sender.map(|sender| sender.send(reply)).is_some()
    }
}

impl Answer {
    /// The values that a coroutine gets.
    pub fn into_values(self, lua: &Lua) -> mlua::Result<MultiValue> {
        let number =
            |number: Option<u64>| number.map_or(Value::Integer(-1), |n| Value::Number(n as f64));
        let values = match self {
            Self::Nothing => vec![],
            Self::Number(n) => vec![Value::Number(n as f64)],
            Self::Client(client) => vec![number(client)],
            Self::Sent(sent) => {
                let (client, stream) = sent.unzip();
                vec![number(client), number(stream)]
            }
            Self::Response(response) => {
                let response = response.unwrap_or_default();
                vec![
                    Value::Table(table(lua, &response.fields)?),
                    lua.create_string(&response.body)?.into_lua(lua)?,
                    Value::Table(table(lua, &response.trailers)?),
                ]
            }
            Self::Addresses(addresses) => vec![Value::Table(lua.create_sequence_from(addresses)?)],
            Self::Request(request) => {
                let Received {
                    fields,
                    body,
                    address,
                } = *request;
                vec![
                    Value::UserData(lua.create_userdata(address)?),
                    Value::Table(table(lua, &fields)?),
                    lua.create_string(&body)?.into_lua(lua)?,
                ]
            }
        };
        Ok(MultiValue::from_vec(values))
    }
}

/// The fields by their names. Those that come several times become one.
fn table(lua: &Lua, fields: &Fields) -> mlua::Result<Table> {
    let mut joined: Vec<(&[u8], Vec<u8>)> = Vec::with_capacity(fields.len());
    for (name, value) in fields {
        match joined.iter_mut().find(|(known, _)| *known == &name[..]) {
            Some((_, text)) => {
                let between: &[u8] = if &name[..] == b"cookie" { b"; " } else { b", " };
                text.extend_from_slice(between);
                text.extend_from_slice(value);
            }
            None => joined.push((name, value.clone())),
        }
    }
    let text = |(name, value): (&[u8], Vec<u8>)| {
        Ok((lua.create_string(name)?, lua.create_string(&value)?))
    };
    let pairs: mlua::Result<Vec<_>> = joined.into_iter().map(text).collect();
    lua.create_table_from(pairs?)
}
