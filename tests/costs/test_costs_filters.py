from cost_rows import row, seen

from dashboard.costs.filters import choices_of, filter_label


def test_filters_say_what_they_are_set_to_and_offer_what_there_is() -> None:
    assert filter_label("model", ()) == "All models"
    assert filter_label("model", ("gpt-5",)) == "gpt-5"
    assert filter_label("agent", ("a", "b")) == "2 agents"
    assert filter_label("status", ("error",)) == "failed"
    shown = seen(choices=[row(model="b", user="x"), row(model="a", user=None), row(model=None, user="x")])
    assert choices_of("model", shown, ("gone",)) == ["a", "b", "gone"]
    assert choices_of("user", shown, ()) == ["x"]
    assert choices_of("status", shown, ()) == ["ok", "error"]
