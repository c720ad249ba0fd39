//! The messages of gRPC's server reflection; its two versions have the same.

use super::wire::{Piece, encode_bytes, encode_number, last_text, pieces, text};

/// The services that offer it, the newest version first.
pub const SERVICES: [&str; 2] = [
    "grpc.reflection.v1.ServerReflection",
    "grpc.reflection.v1alpha.ServerReflection",
];

/// Their only method: questions and answers, one for one, on one stream.
pub const METHOD: &str = "ServerReflectionInfo";

/// What the client asks for, one thing in each of its messages.
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

impl Question {
    /// The message that asks it.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::File(name) => encode_bytes(3, name.as_bytes(), &mut out),
            Self::FileOf(symbol) => encode_bytes(4, symbol.as_bytes(), &mut out),
            Self::FileOfExtension(of, number) => {
                let mut extension = Vec::new();
                encode_bytes(1, of.as_bytes(), &mut extension);
                encode_number(2, *number, &mut extension);
                encode_bytes(5, &extension, &mut out);
            }
            Self::Extensions(of) => encode_bytes(6, of.as_bytes(), &mut out),
            Self::Services(text) => encode_bytes(7, text.as_bytes(), &mut out),
        }
        out
    }

    /// What a message asks, which may be nothing; `None` if it is no message.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Option<Self>> {
        let mut question = None;
        for (number, piece) in pieces(bytes)? {
            question = match (number, piece) {
                (3, Piece::Bytes(name)) => Some(Self::File(text(name)?)),
                (4, Piece::Bytes(symbol)) => Some(Self::FileOf(text(symbol)?)),
                (5, Piece::Bytes(extension)) => {
                    let mut numbers = pieces(extension)?.into_iter().filter(|(n, _)| *n == 2);
                    let number = numbers.next_back().map_or(0, |(_, piece)| piece.number());
                    Some(Self::FileOfExtension(last_text(extension, 1)?, number))
                }
                (6, Piece::Bytes(of)) => Some(Self::Extensions(text(of)?)),
                (7, Piece::Bytes(any)) => Some(Self::Services(text(any)?)),
                _ => question,
            };
        }
        Some(question)
    }
}

/// What the server answers, one thing in each of its messages.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The file that was asked for and, as the server likes, those that it imports: serialized `FileDescriptorProto`s.
    Files(Vec<Vec<u8>>),
    /// The numbers of the fields that extend a message.
    Extensions(Vec<i32>),
    /// The full names of all services.
    Services(Vec<String>),
    /// Why there is no answer, with a status code.
    Refused { code: i32, message: String },
}

impl Answer {
    /// There is none, for this reason.
    #[must_use]
    pub fn refused(code: i32, message: &str) -> Self {
        let message = message.to_owned();
        Self::Refused { code, message }
    }

    /// The message that gives it.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut inner = Vec::new();
        let number = match self {
            Self::Files(files) => {
                for file in files {
                    encode_bytes(1, file, &mut inner);
                }
                4
            }
            Self::Extensions(numbers) => {
                for number in numbers {
                    encode_number(2, *number, &mut inner);
                }
                5
            }
            Self::Services(names) => {
                for name in names {
                    let mut one = Vec::new();
                    encode_bytes(1, name.as_bytes(), &mut one);
                    encode_bytes(1, &one, &mut inner);
                }
                6
            }
            Self::Refused { code, message } => {
                encode_number(1, *code, &mut inner);
                encode_bytes(2, message.as_bytes(), &mut inner);
                7
            }
        };
        let mut out = Vec::new();
        encode_bytes(number, &inner, &mut out);
        out
    }

    /// What a message answers; `None` if it is no message, or answers nothing.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut answer = None;
        for (number, piece) in pieces(bytes)? {
            if let Piece::Bytes(inner) = piece {
                answer = match number {
                    4 => Some(Self::Files(firsts(inner)?.map(<[u8]>::to_vec).collect())),
                    5 => Some(Self::Extensions(numbers(inner)?)),
                    6 => {
                        let names = firsts(inner)?.map(|service| last_text(service, 1));
                        Some(Self::Services(names.collect::<Option<_>>()?))
                    }
                    7 => Some(refused(inner)?),
                    _ => answer,
                };
            }
        }
        answer
    }
}

/// The values of the field 1 of a message, which are text, bytes or messages.
fn firsts(bytes: &[u8]) -> Option<impl Iterator<Item = &[u8]>> {
    let one = |piece| match piece {
        (1, Piece::Bytes(bytes)) => Some(bytes),
        _ => None,
    };
    Some(pieces(bytes)?.into_iter().filter_map(one))
}

fn numbers(bytes: &[u8]) -> Option<Vec<i32>> {
    let mut numbers = Vec::new();
    for piece in pieces(bytes)? {
        match piece {
            (2, Piece::Bytes(mut packed)) => {
                while !packed.is_empty() {
                    let number = buffa::encoding::decode_varint(&mut packed).ok()?;
                    numbers.push(Piece::Varint(number).number());
                }
            }
            (2, piece) => numbers.push(piece.number()),
            _ => {}
        }
    }
    Some(numbers)
}

fn refused(bytes: &[u8]) -> Option<Answer> {
    let mut code = 0;
    for piece in pieces(bytes)? {
        if let (1, piece @ Piece::Varint(_)) = piece {
            code = piece.number();
        }
    }
    let message = last_text(bytes, 2)?;
    Some(Answer::Refused { code, message })
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
            assert_eq!(Question::decode(&question.encode()), Some(Some(question)));
        }
        let message = "no\u{e9}".to_owned();
        for answer in [
            Answer::Files(vec![vec![1, 255], Vec::new()]),
            Answer::Extensions(vec![1, 300]),
            Answer::Services(vec!["a.S".to_owned()]),
            Answer::Refused { code: 5, message },
        ] {
            assert_eq!(Answer::decode(&answer.encode()), Some(answer));
        }
        // Packed, and behind a field of another kind.
        let packed = [0x0d, 0, 0, 0, 0, 0x2a, 5, 0x12, 3, 1, 0xac, 2];
        let numbers = Answer::Extensions(vec![1, 300]);
        assert_eq!(Answer::decode(&packed), Some(numbers));
        assert_eq!(Answer::decode(&[0x22, 9, 1]), None);
        assert_eq!(Answer::decode(&[0x3a, 3, 0x12, 1, 0xff]), None);
    }
}
