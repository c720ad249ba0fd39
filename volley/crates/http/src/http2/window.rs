//! Flow-control windows (RFC 9113 §5.2, §6.9), in bytes.

/// The largest window (RFC 9113 §6.9.1).
pub const MAX_WINDOW: u32 = (1 << 31) - 1;

/// The size of a window before SETTINGS or WINDOW_UPDATE change it (RFC 9113 §6.9.2).
pub const DEFAULT_WINDOW: u32 = 65_535;

/// A window exceeded [`MAX_WINDOW`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow;

/// What the peer allows us to send. Negative if the peer has lowered SETTINGS_INITIAL_WINDOW_SIZE (RFC 9113 §6.9.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendWindow(i64);

impl SendWindow {
    /// A window of `size` bytes.
    pub fn new(size: u32) -> Self {
        Self(i64::from(size))
    }

    /// Bytes that may be sent now.
    pub fn available(self) -> usize {
        usize::try_from(self.0).unwrap_or(0)
    }

    /// Counts `bytes` as sent; at most [`available`](Self::available).
    pub fn consume(&mut self, bytes: usize) {
        debug_assert!(bytes <= self.available());
        self.0 = self.0.saturating_sub_unsigned(bytes as u64);
    }

    /// Changes the window by `delta` bytes: a WINDOW_UPDATE, or a new initial size.
    pub fn shift(&mut self, delta: i64) -> Result<(), Overflow> {
        let moved = self.0 + delta;
        if moved > i64::from(MAX_WINDOW) {
            return Err(Overflow);
        }
        self.0 = moved;
        Ok(())
    }
}

/// What to do after bytes were received in a [`ReceiveWindow`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// More than half of the window is left.
    Fine,
    /// Half of it is used: time for a WINDOW_UPDATE.
    Low,
    /// The peer sent more than it was allowed.
    Exceeded,
}

/// What we allow the peer to send. It is always refilled up to `target`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveWindow(i64);

impl ReceiveWindow {
    /// A window of `size` bytes.
    pub fn new(size: u32) -> Self {
        Self(i64::from(size))
    }

    /// Counts a DATA payload, padding included.
    #[inline]
    pub fn take(&mut self, bytes: u32, target: u32) -> Taken {
        self.0 -= i64::from(bytes);
        if self.0 > i64::from(target / 2) {
            Taken::Fine
        } else if self.0 < 0 && bytes > 0 {
            Taken::Exceeded
        } else {
            Taken::Low
        }
    }

    /// How many bytes may come until half of the window is used.
    #[inline]
    pub fn room(self, target: u32) -> usize {
        usize::try_from(self.0 - i64::from(target / 2) - 1).unwrap_or(0)
    }

    /// Counts bytes for which there was [`room`](Self::room).
    #[inline]
    pub fn consume(&mut self, bytes: usize) {
        self.0 = self.0.saturating_sub_unsigned(bytes as u64);
    }

    /// Changes the window's size: our SETTINGS_INITIAL_WINDOW_SIZE came into force.
    pub fn shift(&mut self, delta: i64) {
        self.0 += delta;
    }

    /// Refills a window that is half used. Returns the WINDOW_UPDATE increment, if one is due.
    pub fn refill(&mut self, target: u32) -> Option<u32> {
        if self.0 > i64::from(target / 2) {
            return None;
        }
        let missing = i64::from(target) - self.0;
        let increment = u32::try_from(missing).unwrap_or(0).min(MAX_WINDOW);
        self.0 += i64::from(increment);
        (increment > 0).then_some(increment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_send_window_may_be_negative_and_must_be_filled_up_before_bytes_go() {
        let mut window = SendWindow::new(10);
        window.consume(10);
        assert_eq!(window.shift(-7), Ok(()));
        assert_eq!(window.available(), 0);
        assert_eq!(window.shift(7), Ok(()));
        assert_eq!(window.available(), 0);
        assert_eq!(window.shift(3), Ok(()));
        assert_eq!(window.available(), 3);
    }

    #[test]
    fn a_send_window_is_at_most_two_to_the_31_less_one() {
        let mut window = SendWindow::new(MAX_WINDOW);
        assert_eq!(window.shift(1), Err(Overflow));
        window.consume(1);
        assert_eq!(window.shift(1), Ok(()));
        assert_eq!(window.available(), MAX_WINDOW as usize);
    }

    #[test]
    fn a_receive_window_is_refilled_when_half_is_used() {
        let mut window = ReceiveWindow::new(100);
        assert_eq!(window.take(49, 100), Taken::Fine);
        assert_eq!(window.refill(100), None);
        assert_eq!(window.take(1, 100), Taken::Low);
        assert_eq!(window.refill(100), Some(50));
        assert_eq!(window.refill(100), None);
    }

    #[test]
    fn there_is_room_until_half_of_a_window_is_used() {
        let mut window = ReceiveWindow::new(100);
        assert_eq!(window.room(100), 49);
        window.consume(49);
        assert_eq!((window.room(100), window.refill(100)), (0, None));
        assert_eq!(window.take(1, 100), Taken::Low);
        assert_eq!(ReceiveWindow::new(10).room(100), 0);
    }

    #[test]
    fn a_window_of_one_byte_is_refilled_after_each_byte() {
        let mut window = ReceiveWindow::new(1);
        assert_eq!(window.take(1, 1), Taken::Low);
        assert_eq!(window.refill(1), Some(1));
        assert_eq!(window.take(2, 1), Taken::Exceeded);
    }

    #[test]
    fn an_empty_frame_never_exceeds_a_window() {
        let mut window = ReceiveWindow::new(5);
        window.shift(-10);
        assert_eq!(window.take(0, 5), Taken::Low);
        assert_eq!(window.refill(5), Some(10));
    }
}
