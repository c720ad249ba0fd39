//! The message splitter: neither chunking nor stopping early changes the output, and nothing is lost or made up.
#![no_main]

use std::ops::ControlFlow;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use volley_http::grpc::{SplitError, Splitter};

type Message = (bool, Vec<u8>);

fuzz_target!(|input: (u8, Vec<u8>, Vec<Message>, &[u8])| {
    let (max, chunks, messages, noise) = input;
    let max = usize::from(max);
    let mut data = joined(&messages);
    if messages.iter().all(|(_, message)| message.len() <= max) {
        assert_eq!(split(&data, &chunks, max), (messages, Ok(true)));
    }
    data.extend_from_slice(noise);
    let (messages, end) = split(&data, &[], max);
    assert_eq!(split(&data, &chunks, max), (messages.clone(), end));
    assert!(messages.iter().all(|(_, message)| message.len() <= max));
    let consumed = joined(&messages);
    assert!(
        data.starts_with(&consumed),
        "messages are not what was sent"
    );
    match end {
        Ok(is_between) => assert_eq!(is_between, consumed.len() == data.len()),
        Err(error) => assert!(is_due(error, &data[consumed.len()..], max)),
    }
    stops_where_told(&data, &messages, max);
});

/// Pushes `data` in chunks of the given sizes, then the rest. Returns whether it ended between messages.
fn split(data: &[u8], chunks: &[u8], max: usize) -> (Vec<Message>, Result<bool, SplitError>) {
    let mut splitter = Splitter::default();
    let mut messages = Vec::new();
    let mut rest = data;
    for chunk in chunks
        .iter()
        .map(|&size| usize::from(size))
        .chain([usize::MAX])
    {
        let (piece, after) = rest.split_at(chunk.min(rest.len()));
        rest = after;
        let pushed = splitter.push(
            piece,
            max,
            &Arc::default(),
            &mut |is_compressed: bool, message: &[u8]| {
                messages.push((is_compressed, message.to_vec()));
                ControlFlow::<()>::Continue(())
            },
        );
        match pushed {
            Ok(flow) => assert_eq!(flow, ControlFlow::Continue(())),
            Err(error) => return (messages, Err(error)),
        }
    }
    (messages, Ok(splitter.is_between_messages()))
}

fn joined(messages: &[Message]) -> Vec<u8> {
    let mut data = Vec::new();
    for (is_compressed, message) in messages {
        data.push(u8::from(*is_compressed));
        data.extend_from_slice(&u32::try_from(message.len()).expect("short").to_be_bytes());
        data.extend_from_slice(message);
    }
    data
}

/// Whether `rest` begins with a prefix that must give `error`.
fn is_due(error: SplitError, rest: &[u8], max: usize) -> bool {
    let Some(&[flag, a, b, c, d]) = rest.first_chunk() else {
        return false;
    };
    let length = u32::from_be_bytes([a, b, c, d]) as usize;
    match error {
        SplitError::Flag(byte) => byte == flag && flag > 1,
        SplitError::TooLong {
            length: announced, ..
        } => announced == length && length > max,
        // All of them fit.
        SplitError::OverBudget(_) => false,
    }
}

/// Breaking at the last message returns that message's index.
fn stops_where_told(data: &[u8], messages: &[Message], max: usize) {
    let Some(last) = messages.len().checked_sub(1) else {
        return;
    };
    let mut seen = 0;
    let flow = Splitter::default().push(data, max, &Arc::default(), &mut |_, _: &[u8]| {
        seen += 1;
        if seen > last {
            ControlFlow::Break(last)
        } else {
            ControlFlow::Continue(())
        }
    });
    assert_eq!((flow, seen), (Ok(ControlFlow::Break(last)), messages.len()));
}
