//! Services and their methods.

use super::super::error::{Fault, Pos};
use super::super::tree::{Method, Service};
use super::Parser;

impl Parser<'_> {
    pub(super) fn service(&mut self) -> Result<Service, Fault> {
        self.cursor.expect("service")?;
        let name = self.cursor.name("the name of the service")?;
        let mut service = Service {
            at: name.at,
            ..Service::default()
        };
        service.proto.name = Some(name.text().to_owned());
        self.cursor.expect("{")?;
        while !self.cursor.take_end()? {
            match self.cursor.token.text() {
                ";" => {
                    self.cursor.advance()?;
                }
                "option" => service.options.push(self.option_statement()?),
                "rpc" => service.methods.push(self.method()?),
                _ => return Err(self.cursor.unexpected("`rpc` or `option`")),
            }
        }
        Ok(service)
    }

    fn method(&mut self) -> Result<Method, Fault> {
        self.cursor.expect("rpc")?;
        let name = self.cursor.name("the name of the method")?;
        let mut method = Method {
            at: name.at,
            ..Method::default()
        };
        let proto = &mut method.proto;
        proto.name = Some(name.text().to_owned());
        let (input, input_at, streams) = self.message_of_method()?;
        (proto.input_type, method.input_at) = (Some(input), input_at);
        proto.client_streaming = streams.then_some(true);
        self.cursor.expect("returns")?;
        let (output, output_at, streams) = self.message_of_method()?;
        (proto.output_type, method.output_at) = (Some(output), output_at);
        proto.server_streaming = streams.then_some(true);
        if self.cursor.take("{")? {
            while !self.cursor.take_end()? {
                if !self.cursor.take(";")? {
                    method.options.push(self.option_statement()?);
                }
            }
            // An empty set of options is one too.
            method.proto.options.get_or_insert_default();
        } else {
            self.cursor.expect(";")?;
        }
        Ok(method)
    }

    /// `([stream] Name)`
    fn message_of_method(&mut self) -> Result<(String, Pos, bool), Fault> {
        self.cursor.expect("(")?;
        let streams = self.cursor.take("stream")?;
        let at = self.cursor.at();
        let name = self.type_name("the name of a message")?;
        self.cursor.expect(")")?;
        Ok((name, at, streams))
    }
}
