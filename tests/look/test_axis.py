from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from dashboard.look.axis import IDLE_WIDTH, MOST_CUT, PERSON_WIDTH, make_axis
from dashboard.look.timeline import axis_ticks, nice_step

START = datetime(2026, 12, 1, 9, 20, 41, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def test_waiting_for_a_person_has_a_fixed_width_however_long_it_is() -> None:
    for wait in (60, 86_400):
        axis = make_axis(at(0), at(wait + 10), [(at(5), at(5 + wait))], [(at(0), at(5)), (at(5 + wait), at(10 + wait))])
        person = next(stretch for stretch in axis.stretches if stretch.person)
        assert person.right - person.left == pytest.approx(PERSON_WIDTH)


def test_computing_time_keeps_its_proportions() -> None:
    axis = make_axis(at(0), at(130), [(at(10), at(110))], [(at(0), at(10)), (at(110), at(130))])
    first, _, last = axis.stretches
    assert (last.right - last.left) == pytest.approx(2 * (first.right - first.left))
    assert axis.x(at(0)) == 0
    assert axis.x(at(130)) == pytest.approx(1)
    assert axis.x(at(120)) == pytest.approx((last.left + last.right) / 2)


def test_a_long_standstill_is_cut_and_a_short_one_is_not() -> None:
    long = make_axis(at(0), at(10_020), [], [(at(0), at(10)), (at(10_010), at(10_020))])
    assert [stretch.idle for stretch in long.stretches] == [False, True, False]
    assert long.stretches[1].right - long.stretches[1].left == pytest.approx(IDLE_WIDTH)
    short = make_axis(at(0), at(21), [], [(at(0), at(10)), (at(11), at(21))])
    assert not any(stretch.idle for stretch in short.stretches)


def test_many_waits_leave_room_for_computing() -> None:
    waits = [(at(20 * n + 1), at(20 * n + 20)) for n in range(12)]
    work = [(at(20 * n), at(20 * n + 1)) for n in range(12)]
    axis = make_axis(at(0), at(240), waits, work)
    people = sum(stretch.right - stretch.left for stretch in axis.stretches if stretch.person)
    assert people == pytest.approx(MOST_CUT)


def test_only_a_wait_fills_the_axis() -> None:
    axis = make_axis(at(0), at(60), [(at(0), at(60))], [])
    assert axis.stretches[0].right == pytest.approx(1)


def test_a_run_that_just_began_has_an_axis() -> None:
    axis = make_axis(at(0), at(0), [], [])
    assert axis.x(at(0)) == 0
    assert axis_ticks(axis)[0] == (0, "09:20:41")


def test_ticks_keep_apart() -> None:
    axis = make_axis(at(0), at(130), [(at(1), at(110))], [(at(0), at(1)), (at(110), at(130))])
    places = sorted(x for x, _ in axis_ticks(axis))
    assert all(b - a >= 0.085 for a, b in pairwise(places))
    assert any(words.startswith("+") for _, words in axis_ticks(axis))


def test_a_live_run_ends_now_and_at_no_clock_time() -> None:
    axis = make_axis(at(0), at(60), [(at(1), at(60))], [(at(0), at(1))])
    assert axis_ticks(axis)[-1] == (1.0, "09:21:41")
    assert all(x < 1 for x, _ in axis_ticks(axis, live=True))


@pytest.mark.parametrize(
    ("seconds", "step"),
    [(0, 1), (0.0031, 0.005), (0.7, 1), (1, 1), (3, 5), (7, 10), (45, 60), (400, 600), (90_000, 86_400)],
)
def test_steps_are_round(seconds: float, step: float) -> None:
    assert nice_step(seconds) == pytest.approx(step)
