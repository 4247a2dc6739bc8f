"""Hashes that move little when what is chosen from grows or shrinks, the same on every machine.

`jump` chooses one of numbered places (Lamping and Veach, "A fast, minimal memory, consistent hash algorithm", 2014).
`attraction` is the weight in a choice among named places (rendezvous hashing: Thaler and Ravishankar, 1998).
"""

from __future__ import annotations

from hashlib import blake2b

__all__ = ["attraction", "jump", "number_of"]

_64_BITS = (1 << 64) - 1
_STEP = 2862933555777941757
"""The multiplier of the generator in the paper."""
_FRACTION_BITS = 32


def number_of(name: str, secret: bytes = b"") -> int:
    """A number of 64 bits for a name, whatever characters it has. With a secret, nobody without it can choose the number."""
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8, key=secret[:64]).digest())


def jump(number: int, places: int) -> int:
    """One of the places 0, 1, ... `places` - 1. With one place more, a number keeps its place or moves to the new one."""
    place, following = -1, 0
    while following < places:
        place = following
        number = (number * _STEP + 1) & _64_BITS
        # Sums and quotients of doubles are rounded alike everywhere (IEEE 754).
        following = int((place + 1) * ((1 << 31) / ((number >> 33) + 1)))
    return place


def attraction(place: str, name: str, weight: int) -> int:
    """How strongly a place of this weight attracts a name. The strongest gets it: of all names, a share by weight.

    A place that is added takes names and moves none between others. It is weight / -log(u), where u is a number from 0 to 1
    drawn from both names. Logarithms of a system's library differ in their last bits from machine to machine, so this one is
    of integers.
    """
    drawn = number_of(f"{len(place)} {place} {name}")
    return (weight << 2 * _FRACTION_BITS) // _minus_log2(drawn)


def _minus_log2(drawn: int) -> int:
    """-log2((drawn + 1/2) / 2**64) as a fixed-point number, which is never 0."""
    odd = 2 * drawn + 1
    whole = odd.bit_length() - 1
    mantissa, result = odd << (64 - whole), whole
    for _ in range(_FRACTION_BITS):
        mantissa = mantissa * mantissa >> 64
        result *= 2
        if mantissa >> 65:
            mantissa >>= 1
            result += 1
    return (65 << _FRACTION_BITS) - result
