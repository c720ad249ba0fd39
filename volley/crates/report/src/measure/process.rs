//! What this process has used of the host.

use rustix::time::{ClockId, clock_gettime};

/// User and system time of all threads since the process started, in seconds.
#[must_use]
pub fn cpu_s() -> f64 {
    spent_s(ClockId::ProcessCPUTime)
}

/// The same of the calling thread.
#[must_use]
pub fn thread_cpu_s() -> f64 {
    spent_s(ClockId::ThreadCPUTime)
}

fn spent_s(clock: ClockId) -> f64 {
    let spent = clock_gettime(clock);
    spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9
}

/// The unit of times in proc_pid_stat(5), per second.
const TICKS: f64 = 100.0;

/// User and system time of a thread of this process, in seconds; `None` if `/proc` does not show it.
#[must_use]
pub fn cpu_of_thread_s(thread: i32) -> Option<f64> {
    let stat = std::fs::read_to_string(format!("/proc/self/task/{thread}/stat")).ok()?;
    // The thread's name is in parentheses, and may have any of them itself.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_ascii_whitespace().skip(11);
    let mut next = || times.next()?.parse::<f64>().ok();
    Some((next()? + next()?) / TICKS)
}

/// The peak resident memory of the process, in bytes; 0 if `/proc` does not show it.
#[must_use]
pub fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    high_water_mark(&status).unwrap_or(0)
}

/// `VmHWM` of proc_pid_status(5), which the kernel gives in units of 1,024 bytes.
fn high_water_mark(status: &str) -> Option<u64> {
    let mut lines = status.lines();
    let value = lines.find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = value.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_high_water_mark_is_read_in_bytes() {
        let status =
            "Name:\tvolley\nVmPeak:\t  999999 kB\nVmHWM:\t    5304 kB\nVmRSS:\t    1111 kB\n";
        assert_eq!(high_water_mark(status), Some(5304 * 1024));
    }

    #[test]
    fn a_status_without_the_line_tells_nothing() {
        assert_eq!(high_water_mark("Name:\tkthreadd\n"), None);
        assert_eq!(high_water_mark("VmHWM:\t many kB\n"), None);
    }

    #[test]
    fn work_costs_cpu_time() {
        let before = cpu_s();
        let mut sum = 0_u64;
        while cpu_s() <= before {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert!(cpu_s() > before);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_in_use_is_seen() {
        let block = vec![1_u8; 32 << 20];
        std::hint::black_box(&block);
        assert!(peak_bytes() >= 32 << 20);
    }
}
