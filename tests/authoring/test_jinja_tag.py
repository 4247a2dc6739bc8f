"""The tag for Jinja templates, rendered by Jinja."""

from __future__ import annotations

import pytest

from parcahyd.augment.markers import find_regions

jinja2 = pytest.importorskip("jinja2", reason="jinja2 is not installed: pip install '.[author-test]'")


def _rendered(template: str, autoescape: bool = True, **values: object) -> str:
    environment = jinja2.Environment(extensions=["parcahyd.authoring.jinja_tag.Volatile"], autoescape=autoescape)
    return str(environment.from_string(template).render(**values))


@pytest.mark.parametrize(
    ("template", "html"),
    [
        ('{% volatile "price" %}{{ price }}{% endvolatile %}', '<span data-vol="price">1 &lt; 2</span>'),
        ('{% volatile "n", tag="div" %}<p>x</p>{% endvolatile %}', '<div data-vol="n"><p>x</p></div>'),
        ('{% volatile "r", tag="" %}<tr>{% endvolatile %}', "<!--vol r--><tr><!--/vol r-->"),
        ('{% volatile "p-" ~ 7 %}{% endvolatile %}', '<span data-vol="p-7"></span>'),
        ('{% volatile "a" %}x{% endvolatile %}|{{ price }}', '<span data-vol="a">x</span>|1 &lt; 2'),
    ],
)
def test_regions(template: str, html: str) -> None:
    assert _rendered(template, price="1 < 2") == html
    marked = find_regions(html.encode())
    assert (len(marked.spans), marked.errors) == (1, ())


def test_in_a_loop_and_with_other_blocks() -> None:
    template = "{% for i in (1, 2) %}{% volatile 'i' ~ i %}{% if i > 1 %}{{ i }}{% endif %}{% endvolatile %}{% endfor %}"
    assert _rendered(template) == '<span data-vol="i1"></span><span data-vol="i2">2</span>'


def test_without_escaping() -> None:
    assert _rendered('{% volatile "a" %}{{ x }}{% endvolatile %}', autoescape=False, x="<b>") == '<span data-vol="a"><b></span>'


@pytest.mark.parametrize(
    "template",
    [
        '\n{% volatile "a b" %}{% endvolatile %}',
        "\n{% volatile 7 %}{% endvolatile %}",
        '\n{% volatile "a", tag="br" %}{% endvolatile %}',
        '\n{% volatile "a", tag="p onclick=x" %}{% endvolatile %}',
        '\n{% volatile "a", form="p" %}{% endvolatile %}',
    ],
)
def test_mistakes_are_told_with_their_line(template: str) -> None:
    with pytest.raises(jinja2.TemplateSyntaxError) as told:
        _rendered(template)
    assert told.value.lineno == 2


def test_mistakes_of_values_are_told_when_rendered() -> None:
    with pytest.raises(jinja2.TemplateRuntimeError, match="no ID"):
        _rendered("{% volatile x %}{% endvolatile %}", x='"><script>')
