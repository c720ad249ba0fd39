//! The kinds of frame.

/// The type of a frame (RFC 9113 §6). Unknown types must be ignored (§5.5), so they are not errors here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Data,
    Headers,
    Priority,
    RstStream,
    Settings,
    PushPromise,
    Ping,
    GoAway,
    WindowUpdate,
    Continuation,
    /// Any number from 10 on.
    Unknown(u8),
}

impl Kind {
    /// The kind with this number.
    #[inline]
    pub fn from_u8(number: u8) -> Self {
        match number {
            0 => Self::Data,
            1 => Self::Headers,
            2 => Self::Priority,
            3 => Self::RstStream,
            4 => Self::Settings,
            5 => Self::PushPromise,
            6 => Self::Ping,
            7 => Self::GoAway,
            8 => Self::WindowUpdate,
            9 => Self::Continuation,
            other => Self::Unknown(other),
        }
    }

    /// The kind's number on the wire.
    #[inline]
    pub fn to_u8(self) -> u8 {
        match self {
            Self::Data => 0,
            Self::Headers => 1,
            Self::Priority => 2,
            Self::RstStream => 3,
            Self::Settings => 4,
            Self::PushPromise => 5,
            Self::Ping => 6,
            Self::GoAway => 7,
            Self::WindowUpdate => 8,
            Self::Continuation => 9,
            Self::Unknown(number) => number,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_a_kind_and_every_kind_keeps_its_number() {
        for number in 0..=u8::MAX {
            assert_eq!(Kind::from_u8(number).to_u8(), number);
        }
    }

    #[test]
    fn only_the_ten_numbers_of_the_rfc_are_known() {
        assert_eq!(Kind::from_u8(9), Kind::Continuation);
        assert_eq!(Kind::from_u8(10), Kind::Unknown(10));
    }
}
