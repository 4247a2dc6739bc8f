"""All expanders as one: finds who takes an archive apart, and holds them to the bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from parcahyd.core.documents import Expander, Member, Skipped
from parcahyd.formats.choosing import Choice
from parcahyd.formats.misconduct import Misconduct
from parcahyd.rules.member_url import clean_name

if TYPE_CHECKING:
    from parcahyd.config.schema import WorkConf

__all__ = ["Expanders"]


class Expanders:
    """Asks the first that names the format. Never raises; a plugin that does ends the archive there."""

    def __init__(self, plugins: Iterable[tuple[str, Expander]], conf: WorkConf, report: Callable[[str], None]) -> None:
        self._choice = Choice(plugins)
        self._conf = conf
        self._misconduct = Misconduct("expander", report)

    def can_expand(self, media_type: str) -> bool:
        """Whether documents of this type are taken apart."""
        return bool(self._choice.for_type(media_type))

    def expand(self, body: bytes, media_type: str, url: str) -> Iterator[Member]:
        """The members, each name once, each within MaxBytes, all within ExpandMembers and ExpandBytes."""
        for name, expander in self._choice.for_type(media_type)[:1]:
            seen: set[str] = set()
            left = self._conf.ExpandBytes
            members = self._asked(name, expander, body, media_type, url)
            for number, member in enumerate(members):
                # One more than the bound: an expander that keeps to it says so with its last word.
                if number > self._conf.ExpandMembers:
                    return
                left -= len(member.body)
                if left < 0:
                    yield Member("", skipped=Skipped.BYTES)
                    return
                yield self._checked(member, seen)

    def _asked(self, name: str, expander: Expander, body: bytes, media_type: str, url: str) -> Iterator[Member]:
        try:
            for member in expander.expand(body, media_type, url):
                if not isinstance(member, Member):
                    self._misconduct.told(name, f"gave {type(member).__name__}, not a Member")
                    return
                yield member
        except Exception as error:
            self._misconduct.raised(name, error)

    def _checked(self, member: Member, seen: set[str]) -> Member:
        name = clean_name(member.name)
        skipped = member.skipped
        if not skipped and len(member.body) > self._conf.MaxBytes:
            skipped = Skipped.SIZE
        if not skipped and (not name or name in seen):
            skipped = Skipped.DUPLICATE if name else Skipped.NAME
        seen.add(name)
        return (
            member
            if name == member.name and skipped == member.skipped
            else Member(name, b"" if skipped else member.body, skipped)
        )
