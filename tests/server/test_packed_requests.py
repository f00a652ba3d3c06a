import gzip

import pytest

from dashboard.otlp_intake import GZIP_PIECE, Refusal, unpacked

LIMIT = 200_000
MEMBER = gzip.compress(b"{}", mtime=0)


@pytest.mark.parametrize("size", [0, 1, 999, LIMIT])
@pytest.mark.parametrize("members", [1, 2, 3 * GZIP_PIECE // len(MEMBER)])
def test_every_member_is_unpacked(size: int, members: int) -> None:
    body = bytes(number % 251 for number in range(size))
    step = size // members + 1
    packed = [gzip.compress(body[number * step : (number + 1) * step]) for number in range(members)]
    assert unpacked(b"".join(packed), LIMIT) == body


@pytest.mark.parametrize("end", [b"rubbish", b"\0", b"\x1f", b"\x1f\x8b", MEMBER[:-9], MEMBER[:-1] + b"\xff"])
def test_what_follows_a_member_and_is_none_is_refused(end: bytes) -> None:
    with pytest.raises(Refusal) as told:
        unpacked(MEMBER + end, LIMIT)
    assert told.value.status == 400


@pytest.mark.parametrize("sizes", [[LIMIT + 1], [LIMIT, 1], [LIMIT // 2] * 3, [500 * LIMIT]])
def test_members_are_unpacked_up_to_the_limit_together(sizes: list[int]) -> None:
    with pytest.raises(Refusal) as told:
        unpacked(b"".join(gzip.compress(bytes(size)) for size in sizes), LIMIT)
    assert told.value.status == 413
