"""The charts and SmartArt graphics of Office become tables and lists; their formats are tested in presentations."""

from xml.etree import ElementTree

from pychunk.parsing.converters import graphics

C = 'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"'
A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
D = 'xmlns:d="http://schemas.openxmlformats.org/drawingml/2006/diagram"'


def data(name: str, *values: str) -> str:
    points = "".join(f"<c:pt idx='{at}'><c:v>{value}</c:v></c:pt>" for at, value in enumerate(values))
    return f"<c:{name}>{points}</c:{name}>"


def chart(*series: str, title: str = "") -> ElementTree.Element:
    rows = "".join(f"<c:ser>{each}</c:ser>" for each in series)
    return ElementTree.fromstring(f"<c:chartSpace {C} {A}><c:chart>{title}<c:x>{rows}</c:x></c:chart></c:chartSpace>")


def test_series_of_the_same_categories_share_a_table() -> None:
    days = data("cat", "May", "June")
    found = graphics.tables_of_chart(
        chart(
            data("tx", "mm") + days + data("val", "3", "4"),
            data("tx", "h") + days + data("val", "5"),
            data("cat", "July") + data("val", "6"),
        )
    )
    assert found == [[["", "mm", "h"], ["May", "3", "5"], ["June", "4", ""]], [["July", "6"]]]
    assert graphics.tables_of_chart(chart()) == []


def test_the_title_is_that_of_the_chart_in_one_line() -> None:
    title = "<c:title><a:p><a:r><a:t>Rain</a:t></a:r></a:p><a:p><a:r><a:t> in\n May</a:t></a:r></a:p></c:title>"
    assert graphics.title_of_chart(chart(title=title)) == "Rain in May"
    assert graphics.title_of_chart(chart(title.replace("Rain", "Axis"))) == ""


def test_nodes_come_before_those_below_them() -> None:
    points = "".join(
        f"<d:pt modelId='{at}' type='{kind}'><d:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></d:t></d:pt>"
        for at, (kind, text) in enumerate([("doc", ""), ("node", "b"), ("node", "a"), ("node", "c"), ("pres", "x")])
    )
    links = "".join(f"<d:cxn srcId='{a}' destId='{b}' srcOrd='{n}'/>" for a, b, n in ((0, 1, 1), (0, 2, 0), (2, 3, 0)))
    model = f"<d:dataModel {D} {A}><d:ptLst>{points}</d:ptLst><d:cxnLst>{links}</d:cxnLst></d:dataModel>"
    assert list(graphics.nodes(model.encode())) == [(1, "a"), (2, "c"), (1, "b")]
