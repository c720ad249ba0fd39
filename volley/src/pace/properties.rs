//! Properties of every schedule.

use std::time::Duration;

use proptest::prelude::*;

use super::{Planned, RateSpec, SECOND_NS, Schedule, ScheduleKind, whole_ns};

/// Any valid schedule, with the flags it was compiled from. Its rates are low enough that five seconds are quickly
/// tested.
fn any_flags() -> impl Strategy<Value = (RateSpec, Schedule)> {
    let steps = prop_oneof![Just(ScheduleKind::Step), Just(ScheduleKind::Line)];
    let end = prop_oneof![Just(None), (0..3000_u32).prop_map(Some)];
    let changing = (
        steps,
        0..2000_u32,
        -700..700_i32,
        end,
        1..3_000_000_000_u64,
        0..9_000_000_000_u64,
    );
    let changing = changing.prop_map(|(schedule, start, step, end, step_ns, max_ns)| RateSpec {
        schedule,
        rps: 0,
        start,
        step,
        end,
        step_duration: Duration::from_nanos(step_ns),
        // Very short steps must end soon, or they lead to billions of calls per second.
        max_duration: Duration::from_nanos(match step_ns {
            0..10_000_000 => max_ns.min(step_ns * 9).max(1),
            _ if max_ns % 2 == 0 => 0,
            _ => max_ns,
        }),
    });
    let constant = (1..3000_u32).prop_map(|rps| RateSpec {
        rps,
        ..RateSpec::default()
    });
    prop_oneof![changing, constant].prop_filter_map("refused", |spec| {
        let schedule = Schedule::new(&spec).ok().flatten()?;
        Some((spec, schedule))
    })
}

fn any_schedule() -> impl Strategy<Value = Schedule> {
    any_flags().prop_map(|(_, schedule)| schedule)
}

/// Calls per second at a moment, directly from the flags, and until when they stay the same.
fn rate(spec: &RateSpec, ns: u64) -> (f64, u64) {
    let step_ns = match spec.schedule {
        ScheduleKind::Const => return (f64::from(spec.rps), u64::MAX),
        ScheduleKind::Step => whole_ns(spec.step_duration),
        ScheduleKind::Line => SECOND_NS,
    };
    let climbed = |ns: u64| {
        let steps = i128::from(ns / step_ns);
        let value = i128::from(spec.start) + i128::from(spec.step) * steps;
        match spec.end.map(i128::from) {
            Some(end) if spec.step > 0 => value.min(end),
            Some(end) => value.max(end),
            None => value.clamp(0, u32::MAX.into()),
        }
    };
    let max_ns = match whole_ns(spec.max_duration) {
        0 => u64::MAX,
        max_ns => max_ns,
    };
    if ns >= max_ns {
        let last = spec.end.map_or_else(|| climbed(max_ns), i128::from);
        return (last as f64, u64::MAX);
    }
    (climbed(ns) as f64, max_ns.min((ns / step_ns + 1) * step_ns))
}

proptest! {
    #[test]
    fn a_later_call_is_never_due_earlier(schedule in any_schedule(), n in 0..20_000_u64) {
        match (schedule.intended_ns(n), schedule.intended_ns(n + 1)) {
            (Some(this), Some(next)) => prop_assert!(this <= next),
            (None, next) => prop_assert_eq!(next, None),
            (Some(_), None) => {}
        }
    }

    #[test]
    fn exactly_n_calls_are_due_before_the_call_n(schedule in any_schedule(), n in 0..20_000_u64) {
        if let Some(ns) = schedule.intended_ns(n) {
            prop_assert_eq!(schedule.count_until(ns), n);
            prop_assert_eq!(schedule.count_until(ns + 1), n + 1);
        }
    }

    #[test]
    fn the_integral_of_the_rate_is_the_count((spec, schedule) in any_flags(), ns in 0..20_000_000_000_u64) {
        let mut area = 0.0;
        let mut at = 0;
        while at < ns {
            let (per_s, until_ns) = rate(&spec, at);
            let next = until_ns.min(ns);
            area += per_s * (next - at) as f64 / 1e9;
            at = next;
        }
        let count = schedule.count_until(ns) as f64;
        prop_assert!(count >= area - 1e-6 * area - 1e-6 && count <= area + 1.0 + 1e-6 * area, "{count} for {area}");
    }

    #[test]
    fn all_threads_together_send_the_schedule(schedule in any_schedule(), threads in 1..5_u64) {
        const CALLS: u64 = 3000;
        let mut sent: Vec<_> = (0..threads)
            .flat_map(|thread| schedule.cursor(thread, threads).take_while(|call| call.number < CALLS))
            .collect();
        sent.sort_by_key(|call| call.number);
        let mut planned = Vec::new();
        for number in 0..CALLS {
            planned.extend(schedule.intended_ns(number).map(|intended_ns| Planned { number, intended_ns }));
        }
        prop_assert_eq!(sent, planned);
    }

    #[test]
    fn the_shares_of_all_threads_add_up(
        schedule in any_schedule(), threads in 1..5_u64, taken in 0..50_usize, ns in 0..9_000_000_000_u64,
    ) {
        let left: u64 = (0..threads).map(|thread| {
            let mut cursor = schedule.cursor(thread, threads);
            let gone = cursor.by_ref().take(taken).filter(|call| call.intended_ns < ns).count();
            gone as u64 + cursor.count_until(ns)
        }).sum();
        prop_assert_eq!(left, schedule.count_until(ns));
    }
}
