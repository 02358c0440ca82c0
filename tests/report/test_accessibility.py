"""What WCAG 2.2 asks for at level AA, measured on the rendered page in light and dark, at a desk and on a telephone.

With the environment variable AXE_JS naming the file axe.min.js of axe-core, its rules are checked too.
"""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import costcurves as cc
from browser import browser, open_tab

RNG = np.random.default_rng(2)
LABEL = RNG.random(200) < 0.3
SCORES = {
    name: np.clip(np.round(0.3 + 0.3 * LABEL * gap + RNG.normal(0, 0.2, LABEL.size), 2), 0, 1)
    for name, gap in (
        ("forest", 1.4),
        ("logit", 1.1),
        ("a classifier with a name that is much too long for a button", 0.5),
    )
}
SCENARIOS = {
    "usual": cc.OperatingCondition(0.3, cost_fp=1, cost_fn=5),
    "unsure": cc.OperatingRange(prevalence=(0.1, 0.4), cost_fp=1, cost_fn=(3, 8)),
}
CLASSES = ["low", "middle", "high", "none"]

# Every element with text of its own, with its colour, the colours of all backgrounds behind it, and its size.
TEXTS = """() => {
  const found = [];
  for (const e of document.querySelectorAll("body *")) {
    const words = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    const own = words || (e.matches("select, textarea, [type=number]") && e.value);
    const box = e.getBoundingClientRect(), look = getComputedStyle(e);
    if (!own || box.width < 2 || box.height < 2 || look.visibility !== "visible") continue;
    if (e.closest("script, .unseen, .skip")) continue;
    const grounds = [];
    for (let p = e; p; p = p.parentElement) grounds.push(getComputedStyle(p).backgroundColor);
    const colour = e instanceof SVGElement ? look.fill : look.color;
    found.push({ text: (e.value || e.textContent).trim().slice(0, 40), colour, grounds,
      size: parseFloat(look.fontSize), bold: +look.fontWeight >= 700, stroke: look.stroke });
  }
  return found;
}"""


@pytest.fixture(scope="module")
def running():
    with browser() as one:
        yield one


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    truth = RNG.choice(4, size=200)
    guesses = {
        name: [CLASSES[i] for i in np.where(RNG.random(200) < wrong, RNG.choice(4, size=200), truth)]
        for name, wrong in (("a", 0.2), ("b", 0.4))
    }
    costs = cc.CostMatrix(1 - np.eye(4), labels=CLASSES)
    reports = {
        "two": cc.Report.from_predictions(
            LABEL, SCORES, scenarios=SCENARIOS, currency="€", command="costcurves report"
        ),
        "many": cc.Report.from_class_predictions([CLASSES[i] for i in truth], guesses, costs, currency="€"),
    }
    return {name: report.write_html(folder / f"{name}.html") for name, report in reports.items()}


@pytest.fixture(scope="module", params=["two", "many"])
def tab(request, running, pages):
    one = open_tab(running)
    one.go(pages[request.param])
    one.page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true })")
    yield one
    assert one.complaints == []
    one.page.close()


def rgb(colour):
    if colour.startswith("color(srgb "):  # a mixture of two colours
        return [255 * float(part) for part in colour[len("color(srgb ") : -1].split()], 1.0
    numbers = [float(part) for part in colour[colour.index("(") + 1 : -1].replace("/", ",").split(",")]
    return numbers[:3], numbers[3] if len(numbers) > 3 else 1.0


def over(colour, ground):
    (front, alpha), back = rgb(colour), ground
    return [alpha * a + (1 - alpha) * b for a, b in zip(front, back, strict=True)]


def luminance(colour):
    shares = [value / 255 for value in colour]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def ground(colours):
    """Return what shines through backgrounds, of which the innermost comes first."""
    seen = [255.0, 255.0, 255.0]
    for colour in reversed(colours):
        seen = over(colour, seen)
    return seen


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_as_it_is_rendered_has_enough_contrast(tab, scheme):
    tab.page.emulate_media(color_scheme=scheme)
    texts = tab.page.evaluate(TEXTS)
    tab.page.emulate_media(color_scheme="light")
    assert len(texts) > 60
    weak = []
    for one in texts:
        behind = ground(one["grounds"])
        if one["stroke"] != "none" and contrast(over(one["colour"], behind), behind) < 1.01:
            continue  # the outline below a label, in the colour of the page
        if one["colour"].startswith("rgb") and one["text"].isdigit() and one["size"] == 11:
            continue  # the number on a badge of a picture, whose colours are checked as those of the page's badges
        large = one["size"] >= 24 or (one["bold"] and one["size"] >= 18.66)
        if contrast(over(one["colour"], behind), behind) < (3.0 if large else 4.5):
            weak.append(one)
    assert weak == []


def test_the_structure_can_be_read_out(tab):
    page = tab.page
    assert page.locator("main").count() == page.locator("header").count() == page.locator("h1").count() == 1
    assert page.get_attribute("html", "lang") == "en"
    levels = page.eval_on_selector_all("h1, h2, h3, h4", "all => all.map((e) => +e.tagName[1])")
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    for selector in ("section:not([aria-labelledby])", "table:not(:has(caption))", "th:not([scope])"):
        assert page.locator(selector).count() == 0, selector
    names = page.eval_on_selector_all("[aria-labelledby]", "all => all.map((e) => e.getAttribute('aria-labelledby'))")
    assert all(page.locator(f"#{name}").count() == 1 for name in names)
    ids = page.eval_on_selector_all("[id]", "all => all.map((e) => e.id)")
    assert len(ids) == len(set(ids))
    assert page.locator("form[aria-label]").count() == 1
    assert page.locator("[role=status]").count() > 0


def test_controls_have_names_and_targets_of_24_pixels(tab):
    small = tab.page.evaluate(
        """() => [...document.querySelectorAll("button, select, summary, input:not([type=hidden]), textarea, nav a")]
            .filter((e) => e.checkVisibility()).map((e) => {
              const target = e.type === "checkbox" ? e.closest("label") : e, box = target.getBoundingClientRect();
              const name = e.getAttribute("aria-label") || e.labels?.[0]?.textContent || e.textContent;
              return { name: name.trim(), id: e.id, width: box.width, height: box.height };
            }).filter((one) => !one.name || one.width < 24 || one.height < 24)"""
    )
    assert small == []


def test_the_focus_can_be_seen_and_is_not_covered_in_either_direction(tab):
    page = tab.page
    page.set_viewport_size({"width": 1280, "height": 700})
    page.evaluate("() => { document.documentElement.style.scrollBehavior = 'auto'; scrollTo(0, 0); }")
    count = page.evaluate(
        "() => [...document.querySelectorAll('*')].filter((e) => e.checkVisibility() && e.tabIndex >= 0).length"
    )
    script = """() => {
      const e = document.activeElement, look = getComputedStyle(e), box = e.getBoundingClientRect();
      const x = Math.min(Math.max(box.x + box.width / 2, 1), innerWidth - 2);
      const y = (Math.max(box.top, 0) + Math.min(box.bottom, innerHeight)) / 2;
      const top = document.elementFromPoint(x, y);
      return { name: `${e.tagName} ${e.id} ${e.textContent.slice(0, 30)}`,
        width: parseFloat(look.outlineWidth), style: look.outlineStyle,
        colour: look.outlineColor, page: getComputedStyle(document.body).backgroundColor,
        seen: !!top && (e.contains(top) || top.contains(e) && !top.matches(".controls") || !!e.closest(".controls")) };
    }"""
    for key in ("Tab", "Shift+Tab"):
        bad, seen = [], set()
        for _ in range(count):
            page.keyboard.press(key)
            found = page.evaluate(script)
            if found["name"].startswith("BODY"):
                continue
            seen.add(found["name"])
            visible = found["width"] >= 2 and found["style"] != "none"
            if not (visible and found["seen"] and contrast(rgb(found["colour"])[0], rgb(found["page"])[0]) >= 3):
                bad.append(found)
        assert bad == []
        assert len(seen) >= 8
    page.set_viewport_size({"width": 1280, "height": 900})


def test_the_page_reflows_at_320_pixels(running, pages):
    for path in pages.values():
        narrow = open_tab(running, viewport={"width": 320, "height": 640})
        narrow.go(path)
        assert narrow.page.evaluate("() => document.documentElement.scrollWidth") <= 320
        narrow.page.close()


@pytest.mark.skipif("AXE_JS" not in os.environ, reason="AXE_JS does not name a file of axe-core")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(tab, scheme):
    tab.page.emulate_media(color_scheme=scheme)
    tab.page.evaluate(Path(os.environ["AXE_JS"]).read_text(encoding="utf-8"))
    rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    found = tab.page.evaluate("(rules) => axe.run(document, { runOnly: rules })", rules)
    tab.page.emulate_media(color_scheme="light")
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found["violations"]] == []
    assert len(found["passes"]) > 30
