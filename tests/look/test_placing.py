from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from agent.planning.ordering import layers
from agent.records import PlanStep
from dashboard.look.placing import place

NODE, GAP = 80.0, 20.0


def placed(dependencies: dict[str, list[str]]):
    steps = [PlanStep(name, name, None, dependencies=tuple(after)) for name, after in dependencies.items()]
    columns = layers(steps)
    edges = [(before, name) for name, after in dependencies.items() for before in after]
    return columns, place(columns, edges, node_height=NODE, gap=GAP)


def test_a_chain_is_one_straight_line() -> None:
    _, drawing = placed({"a": [], "b": ["a"], "c": ["b"]})
    assert drawing.height == NODE
    assert set(drawing.y.values()) == {NODE / 2}
    assert all(len(set(path.ys)) == 1 for path in drawing.paths)


def test_a_step_stands_beside_what_it_waits_for() -> None:
    _, drawing = placed({"a": [], "b": [], "c": ["a", "b"]})
    assert drawing.y["c"] == (drawing.y["a"] + drawing.y["b"]) / 2


def test_an_edge_that_passes_a_column_goes_round_its_nodes() -> None:
    _, drawing = placed({"a": [], "b": ["a"], "c": ["a", "b"]})
    path = next(path for path in drawing.paths if (path.source, path.target) == ("a", "c"))
    assert len(path.ys) == 3
    assert abs(path.ys[1] - drawing.y["b"]) > NODE / 2


def test_an_empty_plan_takes_no_room() -> None:
    assert place({}, [], node_height=NODE, gap=GAP).height == 0


def before(number: int) -> st.SearchStrategy[list[str]]:
    earlier = [f"s{other}" for other in range(number)]
    return st.lists(st.sampled_from(earlier), unique=True) if earlier else st.just([])


graphs = st.integers(1, 9).flatmap(lambda count: st.fixed_dictionaries({f"s{n}": before(n) for n in range(count)}))


@given(graphs)
def test_nodes_never_overlap_and_stay_inside(dependencies: dict[str, list[str]]) -> None:
    columns, drawing = placed(dependencies)
    for column in set(columns.values()):
        ys = sorted(drawing.y[name] for name in columns if columns[name] == column)
        assert all(below - above >= NODE + GAP - 0.001 for above, below in pairwise(ys))
    assert all(NODE / 2 - 0.001 <= y <= drawing.height - NODE / 2 + 0.001 for y in drawing.y.values())


@given(graphs)
def test_no_line_crosses_a_node(dependencies: dict[str, list[str]]) -> None:
    columns, drawing = placed(dependencies)
    for path in drawing.paths:
        for offset, y in enumerate(path.ys[1:-1], start=1):
            column = columns[path.source] + offset
            beside = [drawing.y[name] for name in columns if columns[name] == column]
            assert all(abs(y - other) > NODE / 2 for other in beside)
