"""A tag for Jinja templates that marks volatile regions.

    env = Environment(extensions=["parcahyd.authoring.jinja_tag.Volatile"])

    {% volatile "price" %}{{ price }}{% endvolatile %}            <span data-vol="price">11.00 EUR</span>
    {% volatile "news", tag="div" %}...{% endvolatile %}          <div data-vol="news">...</div>
    {% volatile "rows", tag="" %}<tr>...{% endvolatile %}         <!--vol rows--><tr>...<!--/vol rows-->

The last form is for places where no element fits, as between the rows of a table. The ID may be any expression:
`{% volatile "price-" ~ item.id %}`. Each must be unique in its document, which `parcahyd augment check` checks.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from jinja2 import TemplateRuntimeError, nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from markupsafe import Markup

from parcahyd.augment.tvi import REGION_ID

__all__ = ["Volatile"]

_is_id = re.compile(REGION_ID).fullmatch
_is_tag = re.compile("[A-Za-z][A-Za-z0-9-]*+").fullmatch
_UNFIT = re.compile(
    "area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr"  # no end tag
    "|iframe|noembed|noframes|plaintext|script|style|textarea|title|xmp",  # text only, in which there are no markers
    re.IGNORECASE,
).fullmatch


class Volatile(Extension):
    """The tag `volatile`. Errors in constants are reported when the template is compiled, others when it is rendered."""

    tags = {"volatile"}  # noqa: RUF012 - as Jinja declares it

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        region = parser.parse_expression()
        tag: nodes.Expr = nodes.Const("span")
        if parser.stream.skip_if("comma"):
            name = parser.stream.expect("name")
            if name.value != "tag":
                parser.fail(f"volatile takes an ID and tag=..., not {name.value}", name.lineno)
            parser.stream.expect("assign")
            tag = parser.parse_expression()
        for constant, error_of in ((region, _id_error), (tag, _tag_error)):
            if isinstance(constant, nodes.Const) and (sentence := error_of(constant.value)):
                parser.fail(sentence, line)
        body = parser.parse_statements(("name:endvolatile",), drop_needle=True)
        call = self.call_method("_marked", [region, tag])
        return nodes.CallBlock(call, [], [], body).set_lineno(line)

    def _marked(self, region: object, tag: object, caller: Callable[[], str]) -> str:
        sentence = _id_error(region) or _tag_error(tag)
        if sentence:
            raise TemplateRuntimeError(sentence)
        content = caller()
        begin, end = (f'<{tag} data-vol="{region}">', f"</{tag}>") if tag else (f"<!--vol {region}-->", f"<!--/vol {region}-->")
        marked = f"{begin}{content}{end}"
        # The template has escaped the content; the markers need no escaping.
        return Markup(marked) if isinstance(content, Markup) else marked  # noqa: S704


def _id_error(region: object) -> str:
    if isinstance(region, str) and _is_id(region):
        return ""
    return f"{region!r} is no ID of a region: 1 to 64 letters, digits and . _ : -, the first a letter or a digit"


def _tag_error(tag: object) -> str:
    if tag == "" or (isinstance(tag, str) and _is_tag(tag) and not _UNFIT(tag)):
        return ""
    return f"{tag!r} cannot mark a region: choose an element with an end tag, or an empty tag for a pair of comments"
