//! SETTINGS: ours and the client's.

use super::breach::Breach;

pub(super) const MAX_CONCURRENT_STREAMS: u16 = 3;
pub(super) const INITIAL_WINDOW_SIZE: u16 = 4;
pub(super) const MAX_HEADER_LIST_SIZE: u16 = 6;
const ENABLE_PUSH: u16 = 2;
const MAX_FRAME_SIZE: u16 = 5;

/// The initial window of both sides (RFC 9113 §6.9.2), in bytes.
pub(super) const DEFAULT_WINDOW: u32 = 65_535;
/// The largest window (RFC 9113 §6.9.1), in bytes.
pub(super) const MAX_WINDOW: u32 = (1 << 31) - 1;

/// The `SETTINGS_INITIAL_WINDOW_SIZE` in the payload of a client's SETTINGS, if there is one.
///
/// The other settings are only checked: no frame here exceeds the smallest limit, and headers use no dynamic table.
pub(super) fn read_initial_window(payload: &[u8]) -> Result<Option<u32>, Breach> {
    let (entries, rest) = payload.as_chunks::<6>();
    if !rest.is_empty() {
        return Err(Breach::size("SETTINGS is not a multiple of six bytes"));
    }
    let mut window = None;
    for &[i0, i1, v0, v1, v2, v3] in entries {
        let value = u32::from_be_bytes([v0, v1, v2, v3]);
        match u16::from_be_bytes([i0, i1]) {
            ENABLE_PUSH if value > 1 => {
                return Err(Breach::protocol("SETTINGS_ENABLE_PUSH is neither 0 nor 1"));
            }
            INITIAL_WINDOW_SIZE if value > MAX_WINDOW => {
                return Err(Breach::flow("SETTINGS_INITIAL_WINDOW_SIZE is over 2^31-1"));
            }
            INITIAL_WINDOW_SIZE => window = Some(value),
            MAX_FRAME_SIZE if !(1 << 14..1 << 24).contains(&value) => {
                return Err(Breach::protocol("SETTINGS_MAX_FRAME_SIZE is out of range"));
            }
            _ => {}
        }
    }
    Ok(window)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http2::ErrorCode;

    fn code(payload: &[u8]) -> Result<Option<u32>, ErrorCode> {
        read_initial_window(payload).map_err(|breach| breach.code)
    }

    #[test]
    fn the_last_window_counts_and_unknown_settings_are_ignored() {
        let payload = [0, 4, 0, 0, 0, 9, 0, 99, 1, 2, 3, 4, 0, 4, 0, 1, 0, 0];
        assert_eq!(code(&payload), Ok(Some(65_536)));
        assert_eq!(code(&[]), Ok(None));
    }

    #[test]
    fn values_out_of_range_are_breaches_of_the_kind_the_rfc_names() {
        assert_eq!(
            code(&[0, 4, 0x80, 0, 0, 0]),
            Err(ErrorCode::FlowControlError)
        );
        assert_eq!(code(&[0, 2, 0, 0, 0, 2]), Err(ErrorCode::ProtocolError));
        assert_eq!(
            code(&[0, 5, 0, 0, 0x3f, 0xff]),
            Err(ErrorCode::ProtocolError)
        );
        assert_eq!(code(&[0, 5, 1, 0, 0, 0]), Err(ErrorCode::ProtocolError));
        assert_eq!(code(&[0, 4, 0]), Err(ErrorCode::FrameSizeError));
    }
}
