use std::io::repeat;

use super::*;

const MIB: usize = 1 << 20;

#[test]
fn a_little_is_not_leased() {
    let budget = Arc::default();
    let mut buffer = Buffer::default();
    for _ in 0..FREE {
        buffer.extend(b"a", usize::MAX, &budget).unwrap();
    }
    assert_eq!((buffer.len(), budget.leased()), (FREE, 0));
    buffer.extend(b"a", usize::MAX, &budget).unwrap();
    assert_eq!(budget.leased(), 2 * FREE);
    assert_eq!(&buffer[..], [b'a'; FREE + 1]);
}

#[test]
fn all_that_it_has_can_be_leased_and_not_a_byte_more() {
    let budget = Arc::new(Budget::new(MIB));
    let mut buffer = Buffer::default();
    let mut other = Buffer::default();
    other.extend(&[1; 2 * FREE], usize::MAX, &budget).unwrap();
    while buffer.len() + 1000 <= MIB - 2 * FREE {
        buffer.extend(&[2; 1000], usize::MAX, &budget).unwrap();
    }
    let length = buffer.len();
    let over = buffer.extend(&[2; 1000], usize::MAX, &budget);
    assert_eq!(over, Err(OverBudget { most: MIB }));
    assert_eq!((buffer.len(), other.len()), (length, 2 * FREE));
    // What others give back can be had.
    drop(other);
    buffer.extend(&[2; 1000], usize::MAX, &budget).unwrap();
    assert!(budget.leased() <= MIB);
}

#[test]
fn what_is_given_back_is_used_again_or_freed() {
    let budget = Arc::new(Budget::new(64 * MIB));
    let mut buffers: Vec<Buffer> = Vec::new();
    for _ in 0..6 {
        let mut buffer = Buffer::default();
        buffer.extend(&[0; 9 * MIB], usize::MAX, &budget).unwrap();
        buffers.push(buffer);
    }
    assert_eq!(budget.leased(), 54 * MIB);
    buffers.clear();
    assert_eq!(budget.leased(), 9 * MIB);
    let mut buffer = Buffer::default();
    buffer.extend(&[0; 5 * MIB], usize::MAX, &budget).unwrap();
    assert_eq!(budget.leased(), 9 * MIB);
    buffer.clear();
    // A spare buffer that is too small makes way.
    buffer.extend(&[0; 60 * MIB], usize::MAX, &budget).unwrap();
    assert_eq!(budget.leased(), 60 * MIB);
}

#[test]
fn a_reader_is_read_up_to_the_limit_and_no_further() {
    let budget = Arc::new(Budget::new(MIB));
    for most in [0, 1, 4095, 4096, 4097, 100_000] {
        let mut buffer = Buffer::default();
        buffer.read_all(&[7; 200_000][..], most, &budget).unwrap();
        assert_eq!(buffer.len(), most + 1);
        assert!(buffer.bytes.capacity() <= (most + 1).max(FREE), "{most}");
    }
    let mut buffer = Buffer::default();
    buffer.read_all(&b"abc"[..], 3, &budget).unwrap();
    assert_eq!(&buffer[..], b"abc");
}

#[test]
fn an_endless_reader_is_stopped_by_the_budget() {
    let budget = Arc::new(Budget::new(MIB));
    let mut buffer = Buffer::default();
    let error = buffer.read_all(repeat(7), usize::MAX, &budget).unwrap_err();
    assert_eq!(OverBudget::of(&error), Some(OverBudget { most: MIB }));
    assert!(buffer.len() > MIB * 8 / 10, "{}", buffer.len());
    assert!(error.to_string().contains("`--max-memory`"), "{error}");
    let length = buffer.len();
    buffer.clear();
    assert_eq!((buffer.len(), budget.leased()), (0, length));
}

/// Ones, and how often it was asked for them.
struct Counted(usize);

impl Read for Counted {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0 += 1;
        into.fill(1);
        Ok(into.len())
    }
}

#[test]
fn a_reader_is_not_read_byte_for_byte_where_the_budget_ends() {
    let budget = Arc::new(Budget::new(3 * MIB));
    let mut reader = Counted(0);
    let over = Buffer::default().read_all(&mut reader, usize::MAX, &budget);
    assert!(OverBudget::of(&over.unwrap_err()).is_some());
    assert!(reader.0 < 100, "{}", reader.0);
}

#[test]
fn threads_never_lease_more_than_there_is() {
    let budget = Arc::new(Budget::new(MIB));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for round in 0..1000 {
                    let mut buffer = Buffer::default();
                    let _ = buffer.extend(&[0; 8192][round..], usize::MAX, &budget);
                    let _ = buffer.read_all(repeat(1), round * 1000, &budget);
                    assert!(budget.leased() <= MIB);
                }
            });
        }
    });
    budget.lease(MIB).unwrap();
    assert_eq!(budget.leased(), MIB);
}

#[test]
fn a_budget_is_raised_for_a_message_that_may_be_longer() {
    let most = 16 << 20;
    assert_eq!(raised(most, 8 * MIB - MARGIN), None);
    assert_eq!(raised(most, 8 * MIB), Some(16 * MIB + 2 * MARGIN));
}
