from __future__ import annotations

from parcahyd.partition.superpages.cool_sample import CoolSample


def test_every_visit_is_as_likely_whenever_it_comes() -> None:
    sample = CoolSample(1000, b"secret")
    for number in range(20_000):
        sample.add(f"key {number}")
    drawn = [int(key.removeprefix("key ")) for _, key in sample.drawn()]
    assert len(drawn) == 1000
    assert sum(number < 10_000 for number in drawn) in range(440, 560)


def test_visits_that_come_together_count_as_many() -> None:
    sample = CoolSample(500, b"secret")
    for number in range(2000):
        sample.add(f"single {number}")
    for number in range(200):
        sample.add(f"tenfold {number}", 10)
    tenfold = sum(key.startswith("tenfold") for _, key in sample.drawn())
    # One entry stands for ten visits, so at most 200 can be there, and most of them are.
    assert tenfold > 120


def test_chance_is_the_secret() -> None:
    samples = []
    for secret in (b"one", b"one", b"other"):
        sample = CoolSample(10, secret)
        for number in range(1000):
            sample.add(str(number))
        samples.append(sample.drawn())
    assert samples[0] == samples[1] != samples[2]
