use super::*;
use proptest::prelude::*;

type Message = (bool, Vec<u8>);

/// What came out of pushing `data` in pieces that end at `cuts`, and whether it ended between messages.
fn split(data: &[u8], cuts: &[usize], max: usize) -> (Vec<Message>, Result<bool, SplitError>) {
    let mut splitter = Splitter::default();
    let mut messages = Vec::new();
    let mut start = 0;
    for end in cuts.iter().copied().chain([data.len()]) {
        let end = end.clamp(start, data.len());
        let pushed = splitter.push(
            &data[start..end],
            max,
            &Arc::default(),
            &mut |is_compressed: bool, message: &[u8]| {
                messages.push((is_compressed, message.to_vec()));
                ControlFlow::<()>::Continue(())
            },
        );
        if let Err(error) = pushed {
            return (messages, Err(error));
        }
        start = end;
    }
    (messages, Ok(splitter.is_between_messages()))
}

fn joined(messages: &[Message]) -> Vec<u8> {
    let mut data = Vec::new();
    for (is_compressed, message) in messages {
        data.push(u8::from(*is_compressed));
        data.extend_from_slice(&u32::try_from(message.len()).unwrap().to_be_bytes());
        data.extend_from_slice(message);
    }
    data
}

fn two() -> (Vec<Message>, Vec<u8>) {
    let messages = vec![
        (false, b"one".to_vec()),
        (true, Vec::new()),
        (false, b"three".to_vec()),
    ];
    let data = joined(&messages);
    (messages, data)
}

#[test]
fn messages_come_out_the_same_wherever_the_bytes_are_cut() {
    let (messages, data) = two();
    for first in 0..=data.len() {
        for second in first..=data.len() {
            assert_eq!(
                split(&data, &[first, second], 5),
                (messages.clone(), Ok(true))
            );
        }
    }
}

#[test]
fn a_stream_cut_inside_a_message_does_not_end_between_messages() {
    let (messages, data) = two();
    for end in [1, 4, 5, 7, 9, 14, data.len() - 1] {
        let (whole, is_between) = split(&data[..end], &[], 5);
        assert_eq!(is_between, Ok(false), "{end}");
        assert!(messages.starts_with(&whole));
    }
}

#[test]
fn a_message_of_just_the_limit_is_taken_and_one_byte_more_is_refused_at_its_prefix() {
    let (messages, data) = two();
    let error = Err(SplitError::TooLong { length: 5, max: 4 });
    let prefix_end = data.len() - 5;
    for cuts in [vec![], vec![prefix_end - 1], (0..data.len()).collect()] {
        assert_eq!(
            split(&data[..prefix_end], &cuts, 4),
            (messages[..2].to_vec(), error)
        );
    }
}

#[test]
fn a_flag_that_is_neither_0_nor_1_is_refused() {
    let data = [0, 0, 0, 0, 0, 2, 0, 0, 0, 0];
    for cuts in [vec![], vec![5], vec![7], (0..10).collect()] {
        assert_eq!(
            split(&data, &cuts, 10),
            (vec![(false, vec![])], Err(SplitError::Flag(2)))
        );
    }
}

#[test]
fn break_stops_at_that_message_and_comes_back() {
    let (_, data) = two();
    for cut in 0..=data.len() {
        let mut splitter = Splitter::default();
        let mut seen = 0;
        let mut each = |_: bool, _: &[u8]| {
            seen += 1;
            if seen == 2 {
                ControlFlow::Break("enough")
            } else {
                ControlFlow::Continue(())
            }
        };
        let mut flow = splitter.push(&data[..cut], 5, &Arc::default(), &mut each);
        if flow == Ok(ControlFlow::Continue(())) {
            flow = splitter.push(&data[cut..], 5, &Arc::default(), &mut each);
        }
        assert_eq!((flow, seen), (Ok(ControlFlow::Break("enough")), 2));
    }
}

#[test]
fn an_announced_length_takes_no_memory_before_its_bytes_come() {
    let mut splitter = Splitter::default();
    let flow = splitter.push(
        &[0, 0xff, 0xff, 0xff, 0xff, 1],
        usize::MAX,
        &Arc::default(),
        &mut |_, _: &[u8]| ControlFlow::<()>::Continue(()),
    );
    assert_eq!(flow, Ok(ControlFlow::Continue(())));
    assert_eq!(
        splitter.partial.as_ref().map_or(0, |partial| partial.len()),
        6
    );
}

/// Pushes the beginnings of messages of 1 MB to as many streams, of a budget of 8 MiB; returns how many it takes.
fn streams_until_the_budget_ends(splitters: &mut Vec<Splitter>, budget: &Arc<Budget>) -> usize {
    let data = joined(&[(false, vec![7; 1_000_000])]);
    let mut take = |_: bool, _: &[u8]| ControlFlow::<()>::Continue(());
    for count in 0..100 {
        splitters.push(Splitter::default());
        let splitter = splitters.last_mut().unwrap();
        for piece in data[..900_000].chunks(16_384) {
            match splitter.push(piece, usize::MAX, budget, &mut take) {
                Ok(ControlFlow::Continue(())) => {}
                Err(SplitError::OverBudget(OverBudget { most })) => {
                    assert_eq!(most, 8 << 20);
                    return count;
                }
                other => panic!("{other:?}"),
            }
        }
    }
    panic!("there is no limit");
}

#[test]
fn what_all_streams_hold_together_is_limited() {
    let budget = Arc::new(Budget::new(8 << 20));
    let mut splitters = Vec::new();
    let held = streams_until_the_budget_ends(&mut splitters, &budget);
    assert!((8..=9).contains(&held), "{held}");
    splitters.clear();
    assert_eq!(streams_until_the_budget_ends(&mut splitters, &budget), held);
}

#[test]
fn the_memory_of_a_whole_message_goes_to_the_next_one() {
    let data = joined(&[(false, vec![7; 100_000])]);
    let budget = Arc::new(Budget::new(100_005 + 4096));
    for _ in 0..2 {
        let mut splitters = [Splitter::default(), Splitter::default()];
        for splitter in &mut splitters {
            for piece in data.chunks(1000) {
                let mut take = |_: bool, message: &[u8]| ControlFlow::Break(message.len());
                let flow = splitter.push(piece, 100_000, &budget, &mut take).unwrap();
                assert_eq!(flow.is_break(), splitter.is_between_messages());
            }
            assert!(splitter.is_between_messages());
        }
    }
}

#[test]
fn messages_of_the_same_length_are_offered_together() {
    struct Runs {
        seen: Vec<Vec<u8>>,
        /// How many messages to take at once.
        most: usize,
    }
    impl Take<()> for Runs {
        fn message(&mut self, _: bool, message: &[u8]) -> ControlFlow<()> {
            self.seen.push(message.to_vec());
            ControlFlow::Continue(())
        }

        fn run(&mut self, last: &[u8], rest: &[u8]) -> usize {
            let same = rest
                .chunks_exact(last.len())
                .take_while(|piece| piece[..5] == last[..5]);
            let taken: Vec<Vec<u8>> = same
                .take(self.most)
                .map(|piece| piece[5..].to_vec())
                .collect();
            let bytes = taken.len() * last.len();
            self.seen.extend(taken);
            bytes
        }
    }
    let bodies: Vec<Vec<u8>> = (0..20_u8)
        .map(|n| vec![n; if n % 7 == 6 { 3 } else { 2 }])
        .collect();
    let data = joined(
        &bodies
            .iter()
            .map(|body| (false, body.clone()))
            .collect::<Vec<_>>(),
    );
    for most in 0..4 {
        let mut runs = Runs {
            seen: Vec::new(),
            most,
        };
        let flow = Splitter::default().push(&data, 9, &Arc::default(), &mut runs);
        assert_eq!((flow, &runs.seen), (Ok(ControlFlow::Continue(())), &bodies));
    }
}

proptest! {
    #[test]
    fn every_chunking_gives_the_messages_that_were_joined(
        messages in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<u8>(), 0..50)), 0..20),
        mut cuts in prop::collection::vec(0usize..1200, 0..40),
    ) {
        cuts.sort_unstable();
        prop_assert_eq!(split(&joined(&messages), &cuts, 50), (messages, Ok(true)));
    }

    #[test]
    fn arbitrary_bytes_give_the_same_in_every_chunking(
        data in prop::collection::vec(prop_oneof![4 => 0u8..4, 1 => any::<u8>()], 0..200),
        mut cuts in prop::collection::vec(0usize..200, 0..20), max in 0usize..300,
    ) {
        cuts.sort_unstable();
        prop_assert_eq!(split(&data, &cuts, max), split(&data, &[], max));
    }
}
