//! Properties of every schedule.

use std::time::Duration;

use proptest::prelude::*;

use super::{
    Agenda, Cursor, Lane, Phase, PhasedRate, PhasedUsers, Planned, RateSpec, SECOND_NS, Schedule,
    ScheduleKind, Timetable, whole_ns,
};

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
        poisson: None,
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
    // For ghz, an end of 0 is none, unless the rate falls.
    let end = spec.end.filter(|end| *end > 0 || spec.step < 0);
    let climbed = |ns: u64| {
        let steps = i128::from(ns / step_ns);
        let value = i128::from(spec.start) + i128::from(spec.step) * steps;
        match end.map(i128::from) {
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
        let last = end.map_or_else(|| climbed(max_ns), i128::from);
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

/// Phases whose rates are low enough that all iterations are quickly visited; rates are not whole iterations a second.
fn any_phases() -> impl Strategy<Value = Vec<Phase>> {
    let rate = || prop_oneof![Just(0), 1..3_000_u64, 0..2_000_000_000_u64];
    let length = prop_oneof![Just(0), 1..20_u64, 1..3_000_000_000_u64];
    let phase = (rate(), rate(), any::<bool>(), length);
    let phase = phase.prop_map(|(from, to, flat, length_ns)| Phase {
        from,
        to: if flat { from } else { to },
        length_ns: Some(length_ns),
    });
    prop::collection::vec(phase, 1..5)
}

/// Whether iteration `n` is due before a moment, by the integral as a fraction with one denominator per phase.
fn is_due(phases: &[Phase], n: u64, ns: u64) -> bool {
    let wanted = i128::from(n) * 2_000_000_000_000_000;
    let (mut at, mut area) = (0, 0);
    for phase in phases {
        let length = i128::from(phase.length_ns.unwrap());
        let (from, to) = (i128::from(phase.from), i128::from(phase.to));
        let passed = (i128::from(ns) - at).min(length);
        if length > 0
            && passed > 0
            && (area - wanted) * length + 2 * from * passed * length + (to - from) * passed * passed
                > 0
        {
            return true;
        }
        at += length;
        area += (from + to) * length;
    }
    false
}

proptest! {
    #[test]
    fn phases_count_what_rational_arithmetic_counts(phases in any_phases(), n in 0..6_000_u64, ns in 0..9_000_000_000_u64) {
        let rate = PhasedRate::new(&phases);
        let count = rate.count_until(ns);
        prop_assert!(count == 0 || is_due(&phases, count - 1, ns));
        prop_assert!(!is_due(&phases, count, ns));
        match rate.intended_ns(n) {
            Some(ns) => prop_assert!(!is_due(&phases, n, ns) && is_due(&phases, n, ns + 1), "{n} at {ns}"),
            None => prop_assert!(!is_due(&phases, n, u64::MAX)),
        }
    }

    #[test]
    fn the_cursors_of_all_threads_visit_each_iteration_of_the_phases_once(phases in any_phases(), threads in 1..4_u64) {
        let rate = PhasedRate::new(&phases);
        let all = rate.count_until(u64::MAX).min(3_000);
        let mut visited: Vec<_> = (0..threads)
            .flat_map(|thread| Cursor::new(rate.clone(), thread, threads).take_while(|one| one.number < all))
            .collect();
        visited.sort_by_key(|one| one.number);
        let planned: Vec<_> = (0..all)
            .map(|number| Planned { number, intended_ns: rate.intended_ns(number).unwrap() })
            .collect();
        prop_assert_eq!(visited, planned);
    }

    #[test]
    fn the_agendas_of_all_threads_are_the_whole_through_pauses_and_new_rates(
        phases in any_phases(), threads in 1..4_u64, at in 0..4_000_000_000_u64, pause in 0..2_000_000_000_u64, rate in 0..900_000_000_u64,
    ) {
        const END_NS: u64 = 9 * SECOND_NS;
        let taken = |lane: Lane| {
            let mut agenda = Agenda::new(&PhasedRate::new(&phases), lane, 0);
            agenda.pause(at);
            agenda.resume(at + pause);
            agenda.change(at + pause + SECOND_NS, &PhasedRate::constant(rate));
            let due = agenda.due_until(END_NS);
            let mut all = Vec::new();
            while let Some(ns) = agenda.next_ns().filter(|ns| *ns < END_NS) {
                agenda.take();
                all.push(ns);
            }
            assert_eq!((all.len() as u64, agenda.left_until(END_NS)), (due, 0));
            all
        };
        let whole = Lane { first: 0, every: 1 };
        let mut parts: Vec<u64> = (0..threads).flat_map(|thread| taken(whole.part(thread, threads))).collect();
        parts.sort_unstable();
        prop_assert_eq!(parts, taken(whole));
    }

    #[test]
    fn users_change_only_when_it_is_announced(phases in any_phases(), ns in 0..9_000_000_000_u64, part in 0..1_000_u64) {
        let users = PhasedUsers::new(&phases);
        let next = users.next_change_after(ns).unwrap_or(u64::MAX);
        prop_assert!(next > ns);
        let between = ns + ((next - ns - 1) as u128 * u128::from(part) / 1_000) as u64;
        prop_assert_eq!(users.active_at(between), users.active_at(ns));
        prop_assert!(users.active_at(ns) <= users.most());
    }
}
