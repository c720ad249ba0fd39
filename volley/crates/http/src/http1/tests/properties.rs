//! Properties: cuts do not show, whatever is sent.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// A response, from which both its bytes and its events are made.
#[derive(Clone, Debug)]
struct Response {
    interim: usize,
    status: u16,
    fields: Vec<(String, String)>,
    body: Body,
}

#[derive(Clone, Debug)]
enum Body {
    Length(Vec<u8>),
    Chunked(Vec<(Vec<u8>, String)>, Vec<(String, String)>),
}

fn pairs() -> impl Strategy<Value = Vec<(String, String)>> {
    vec(
        ("[X-Z][a-zA-Z0-9!-]{0,9}", "([!-~]([ -~]{0,20}[!-~])?)?"),
        0..4,
    )
}

fn response() -> impl Strategy<Value = Response> {
    let bytes = || vec(any::<u8>(), 0..40);
    let chunk = (vec(any::<u8>(), 1..40), "(;[a-z]{1,4}(=[a-z]{1,4})?)?");
    let body = prop_oneof![
        bytes().prop_map(Body::Length),
        (vec(chunk, 0..4), pairs()).prop_map(|(chunks, trailers)| Body::Chunked(chunks, trailers)),
    ];
    let status = prop_oneof![Just(200u16), Just(404), Just(302), 205u16..304];
    (0usize..3, status, pairs(), body).prop_map(|(interim, status, fields, body)| Response {
        interim,
        status,
        fields,
        body,
    })
}

fn lines(fields: &[(String, String)]) -> String {
    let line = |(name, value): &(String, String)| format!("{name}: {value}\r\n");
    fields.iter().map(line).collect()
}

fn lower(fields: &[(String, String)]) -> Vec<(String, String)> {
    let pair = |(name, value): &(String, String)| (name.to_lowercase(), value.clone());
    fields.iter().map(pair).collect()
}

impl Response {
    fn bytes(&self) -> Vec<u8> {
        let mut head = "HTTP/1.1 100 Continue\r\nA: b\r\n\r\n".repeat(self.interim);
        head += &format!("HTTP/1.1 {} Reason\r\n{}", self.status, lines(&self.fields));
        match &self.body {
            Body::Length(bytes) => {
                head += &format!("Content-Length: {}\r\n\r\n", bytes.len());
                [head.as_bytes(), bytes].concat()
            }
            Body::Chunked(chunks, trailers) => {
                let mut all = [head.as_bytes(), b"Transfer-Encoding: chunked\r\n\r\n"].concat();
                for (chunk, extension) in chunks {
                    all.extend(format!("{:x}{extension}\r\n", chunk.len()).bytes());
                    all.extend(chunk);
                    all.extend(b"\r\n");
                }
                all.extend(format!("0\r\n{}\r\n", lines(trailers)).bytes());
                all
            }
        }
    }

    fn events(&self) -> Vec<Event> {
        let mut head = vec![(":status".to_owned(), self.status.to_string())];
        head.extend(lower(&self.fields));
        match &self.body {
            Body::Length(bytes) => {
                head.push(("content-length".to_owned(), bytes.len().to_string()));
                let head = Event::Fields(head, bytes.is_empty());
                let body = (!bytes.is_empty()).then(|| Event::Data(bytes.clone(), true));
                [head].into_iter().chain(body).chain([ENDED]).collect()
            }
            Body::Chunked(chunks, trailers) => {
                head.push(("transfer-encoding".to_owned(), "chunked".to_owned()));
                let all: Vec<u8> = chunks.iter().flat_map(|(chunk, _)| chunk.clone()).collect();
                let has_trailers = !trailers.is_empty();
                let data = Event::Data(all, !has_trailers);
                let body = (!chunks.is_empty() || !has_trailers).then_some(data);
                let trailers = has_trailers.then(|| Event::Fields(lower(trailers), true));
                let head = [Event::Fields(head, false)];
                let events = head.into_iter().chain(body).chain(trailers);
                events.chain([ENDED]).collect()
            }
        }
    }
}

/// The bytes in pieces of these sizes, which come again and again.
fn cut<'a>(mut bytes: &'a [u8], sizes: &[usize]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    for size in sizes.iter().cycle() {
        if bytes.is_empty() {
            break;
        }
        let (piece, rest) = bytes.split_at(bytes.len().min(*size));
        pieces.push(piece);
        bytes = rest;
    }
    pieces
}

proptest! {
    #[test]
    fn responses_read_the_same_wherever_they_are_cut(
        responses in vec(response(), 1..4), sizes in vec(1usize..60, 1..8),
    ) {
        let mut connection = connection();
        let mut recorder = Recorder::default();
        for response in responses {
            prop_assert_eq!(connection.capacity(), 1);
            connection.open((), b"", false);
            recorder.events.clear();
            for piece in cut(&response.bytes(), &sizes) {
                prop_assert_eq!(connection.receive(piece, &mut recorder), Ok(()));
            }
            prop_assert_eq!(&recorder.events, &response.events());
        }
    }

    #[test]
    fn a_response_with_a_wrong_byte_reads_the_same_wherever_it_is_cut(
        response in response(), at in any::<prop::sample::Index>(), byte in any::<u8>(),
        sizes in vec(1usize..60, 1..8),
    ) {
        let mut bytes = response.bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let outcome = |sizes: &[usize]| {
            let mut connection = connection();
            connection.open((), b"", false);
            let mut recorder = Recorder::default();
            let mut pieces = cut(&bytes, sizes).into_iter();
            let broken = pieces.find_map(|piece| connection.receive(piece, &mut recorder).err());
            let end = connection.end_of_stream(&mut recorder);
            (broken, end, recorder.events, connection.take_call())
        };
        prop_assert_eq!(outcome(&[usize::MAX]), outcome(&sizes));
    }
}
