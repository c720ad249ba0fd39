//! The messages of gRPC's server reflection; its two versions have the same.

use super::wire::{Piece, encode_bytes, encode_number, pieces};

/// The services that offer it, the newest version first.
pub const SERVICES: [&str; 2] = [
    "grpc.reflection.v1.ServerReflection",
    "grpc.reflection.v1alpha.ServerReflection",
];

/// Their only method: questions and answers, one for one, on one stream.
pub const METHOD: &str = "ServerReflectionInfo";

/// A message of the client.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub question: Option<Question>,
}

/// What the client asks for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Question {
    /// The file of this name.
    File(String),
    /// The file that declares a service, a method or a type.
    FileOf(String),
    /// The file that extends a message by a field of this number.
    FileOfExtension(String, i32),
    /// The numbers of all fields that extend a message.
    Extensions(String),
    /// The names of all services; the text has no meaning.
    Services(String),
}

impl Request {
    /// Its encoding.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match &self.question {
            Some(Question::File(name)) => encode_bytes(3, name.as_bytes(), &mut out),
            Some(Question::FileOf(symbol)) => encode_bytes(4, symbol.as_bytes(), &mut out),
            Some(Question::FileOfExtension(of, number)) => {
                let mut extension = Vec::new();
                encode_bytes(1, of.as_bytes(), &mut extension);
                encode_number(2, *number, &mut extension);
                encode_bytes(5, &extension, &mut out);
            }
            Some(Question::Extensions(of)) => encode_bytes(6, of.as_bytes(), &mut out),
            Some(Question::Services(text)) => encode_bytes(7, text.as_bytes(), &mut out),
            None => {}
        }
        out
    }

    /// `None` if it is none.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut question = None;
        for (number, piece) in pieces(bytes)? {
            question = match (number, piece) {
                (3, Piece::Bytes(name)) => Some(Question::File(text(name)?)),
                (4, Piece::Bytes(symbol)) => Some(Question::FileOf(text(symbol)?)),
                (5, Piece::Bytes(extension)) => {
                    let (mut of, mut at) = (String::new(), 0);
                    for (number, piece) in pieces(extension)? {
                        match (number, piece) {
                            (1, Piece::Bytes(name)) => of = text(name)?,
                            (2, piece) => at = piece.number(),
                            _ => {}
                        }
                    }
                    Some(Question::FileOfExtension(of, at))
                }
                (6, Piece::Bytes(of)) => Some(Question::Extensions(text(of)?)),
                (7, Piece::Bytes(any)) => Some(Question::Services(text(any)?)),
                _ => question,
            };
        }
        Some(Self { question })
    }
}

/// A message of the server.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    pub answer: Option<Answer>,
}

/// What the server answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Files(Files),
    Extensions(Extensions),
    Services(Services),
    Refused(Refused),
}

/// The file that was asked for and, as the server likes, those that it imports: serialized `FileDescriptorProto`s.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Files {
    pub files: Vec<Vec<u8>>,
}

/// The numbers of the fields that extend a message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extensions {
    pub numbers: Vec<i32>,
}

/// All services.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Services {
    pub services: Vec<Service>,
}

/// A service's full name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Service {
    pub name: String,
}

/// Why there is no answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Refused {
    /// A status code.
    pub code: i32,
    pub message: String,
}

impl Response {
    /// Its encoding.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut inner = Vec::new();
        let number = match &self.answer {
            Some(Answer::Files(files)) => {
                for file in &files.files {
                    encode_bytes(1, file, &mut inner);
                }
                4
            }
            Some(Answer::Extensions(extensions)) => {
                for number in &extensions.numbers {
                    encode_number(2, *number, &mut inner);
                }
                5
            }
            Some(Answer::Services(services)) => {
                for service in &services.services {
                    let mut one = Vec::new();
                    encode_bytes(1, service.name.as_bytes(), &mut one);
                    encode_bytes(1, &one, &mut inner);
                }
                6
            }
            Some(Answer::Refused(why)) => {
                encode_number(1, why.code, &mut inner);
                encode_bytes(2, why.message.as_bytes(), &mut inner);
                7
            }
            None => return inner,
        };
        let mut out = Vec::new();
        encode_bytes(number, &inner, &mut out);
        out
    }

    /// `None` if it is none.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut answer = None;
        for (number, piece) in pieces(bytes)? {
            let Piece::Bytes(inner) = piece else {
                continue;
            };
            answer = match number {
                4 => Some(Answer::Files(Files::decode(inner)?)),
                5 => Some(Answer::Extensions(Extensions::decode(inner)?)),
                6 => Some(Answer::Services(Services::decode(inner)?)),
                7 => Some(Answer::Refused(Refused::decode(inner)?)),
                _ => answer,
            };
        }
        Some(Self { answer })
    }
}

impl Files {
    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut files = Vec::new();
        for piece in pieces(bytes)? {
            if let (1, Piece::Bytes(file)) = piece {
                files.push(file.to_vec());
            }
        }
        Some(Self { files })
    }
}

impl Extensions {
    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut numbers = Vec::new();
        for piece in pieces(bytes)? {
            match piece {
                (2, Piece::Bytes(packed)) => {
                    let mut packed = packed;
                    while !packed.is_empty() {
                        let number = buffa::encoding::decode_varint(&mut packed).ok()?;
                        numbers.push(Piece::Varint(number).number());
                    }
                }
                (2, piece) => numbers.push(piece.number()),
                _ => {}
            }
        }
        Some(Self { numbers })
    }
}

impl Services {
    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut services = Vec::new();
        for piece in pieces(bytes)? {
            let (1, Piece::Bytes(service)) = piece else {
                continue;
            };
            let mut name = String::new();
            for piece in pieces(service)? {
                if let (1, Piece::Bytes(own)) = piece {
                    name = text(own)?;
                }
            }
            services.push(Service { name });
        }
        Some(Self { services })
    }
}

impl Refused {
    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut refused = Self::default();
        for piece in pieces(bytes)? {
            match piece {
                (1, piece @ Piece::Varint(_)) => refused.code = piece.number(),
                (2, Piece::Bytes(message)) => refused.message = text(message)?,
                _ => {}
            }
        }
        Some(refused)
    }
}

fn text(bytes: &[u8]) -> Option<String> {
    std::str::from_utf8(bytes).ok().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_as_they_are_written() {
        for question in [
            Question::File("a.proto".to_owned()),
            Question::FileOf("a.B".to_owned()),
            Question::FileOfExtension("a.B".to_owned(), 100),
            Question::Extensions("a.B".to_owned()),
            Question::Services("*".to_owned()),
        ] {
            let request = Request {
                question: Some(question),
            };
            assert_eq!(Request::decode(&request.encode()), Some(request));
        }
        let name = "a.S".to_owned();
        let message = "no\u{e9}".to_owned();
        for answer in [
            Answer::Files(Files {
                files: vec![vec![1, 255], Vec::new()],
            }),
            Answer::Extensions(Extensions {
                numbers: vec![1, 300],
            }),
            Answer::Services(Services {
                services: vec![Service { name }],
            }),
            Answer::Refused(Refused { code: 5, message }),
        ] {
            let answer = Some(answer);
            let response = Response { answer };
            assert_eq!(Response::decode(&response.encode()), Some(response));
        }
        // Packed, and behind a field of another kind.
        let packed = [0x0d, 0, 0, 0, 0, 0x2a, 5, 0x12, 3, 1, 0xac, 2];
        let numbers = vec![1, 300];
        let answer = Some(Answer::Extensions(Extensions { numbers }));
        assert_eq!(Response::decode(&packed), Some(Response { answer }));
        assert_eq!(Response::decode(&[0x22, 9, 1]), None);
        assert_eq!(Response::decode(&[0x3a, 3, 0x12, 1, 0xff]), None);
    }
}
