"""Every verb of the front door, on every kind, with the problem given in each of four ways."""

import pytest

import optmodels as om
from heuristics.testing import Knapsack
from optmodels import registry
from optmodels.errors import InstanceError, RequestError, UnknownName
from optmodels.instance import Instance
from optmodels.kinds import Kind
from optmodels.protocols import origin_of
from optmodels.results import result_to_data
from optmodels.solving import as_instance, as_problem

#: A small shipped instance of each kind, a strategy that answers at once, what to vary, two measures.
CASES = {
    "threshold": ("avrachenkov-k3", "exhaustive", {"data.capacity": [2, 3]}, ("starvation", "response_time")),
    "robots": ("talim-two-robots", "policy-iteration", {"data.capacity": [2, 3]}, ("starvation", "loss_rate")),
    "freshness": ("coffman-4", "lagrangian", {"data.access_time.value": [0.5, 1]}, ("obsolescence", "largest_gap")),
    "routing": ("loss-3", "min-mean-cycle", {"data.arrivals.rate": [0.5, 1]}, ("cost", "period")),
    "placement": ("gautam-2x3", "exhaustive", {"data.service_rate": [20, 25]}, ("opening", "mean_delay")),
}

#: What a kind cannot do, and a word of the sentence that says so.
REFUSED = {
    **{("visits", kind): "visits are made in problems of kind freshness" for kind in CASES if kind != "freshness"},
    ("simulate", "placement"): "cannot be simulated",
    ("pareto", "freshness"): "too many to enumerate",
    ("pareto", "routing"): "too many to enumerate",
}

SPENT = ("seconds", "seconds_to_best", "trace", "versions", "key")


def ways(instances, kind):
    """One problem, given in four ways."""
    name = CASES[kind][0]
    path = instances / kind / f"{name}.json"
    return {"path": path, "name": name, "instance": om.read_instance(path), "problem": om.load(path)}


def without_time(data):
    return {key: value for key, value in data.items() if key not in SPENT}


def loaded(given, kind):
    return om.load(given).to_data()


def solved(given, kind):
    return without_time(result_to_data(om.solve(given, CASES[kind][1])))


def evaluated(given, kind):
    best = om.read_instance(CASES[kind][0]).best_known.decision
    return without_time(result_to_data(om.evaluate(given, best)))


def compared(given, kind):
    return [without_time(row) for row in om.compare(given, CASES[kind][1]).rows()]


def swept(given, kind):
    rows = om.sweep(given, CASES[kind][2], CASES[kind][1]).rows()
    assert [row["error"] for row in rows] == [None, None]
    assert len({row["objective"] for row in rows}) == 2
    return [without_time(row) for row in rows]


def front(given, kind):
    found = om.pareto(given, CASES[kind][3])
    assert found.points
    return [without_time(row) for row in found.rows()]


def simulated(given, kind):
    best = om.read_instance(CASES[kind][0]).best_known.decision
    best = {"schedule": [0, 1, 3, 2, 3]} if kind == "freshness" else best  # frequencies alone are no plan
    seen = om.simulate(given, best, replications=3, time=50.0)
    assert seen.replications == 3
    return without_time(seen.to_data())


def verified(given, kind):
    return om.verify(om.solve(CASES[kind][0], CASES[kind][1]), given).findings


def drawn(given, kind):
    figure = om.plot(given, om.solve(given, CASES[kind][1]))
    return [len(axes.get_children()) for axes in figure.axes]


def visited(given, kind):
    table = om.visits(given, om.solve(given, CASES[kind][1]), slots=20)
    assert len(table["page"]) == 20
    return {name: list(column) for name, column in table.items()}


VERBS = {
    "load": loaded, "solve": solved, "evaluate": evaluated, "compare": compared, "sweep": swept, "pareto": front,
    "simulate": simulated, "verify": verified, "plot": drawn, "visits": visited,
}  # fmt: skip


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_takes_a_problem_in_four_ways(instances, verb, kind):
    answers = {}
    for way, given in ways(instances, kind).items():
        if (verb, kind) in REFUSED:
            with pytest.raises(RequestError, match=REFUSED[verb, kind]):
                VERBS[verb](given, kind)
        else:
            answers[way] = VERBS[verb](given, kind)
            assert answers[way] == answers["path"], way


@pytest.mark.parametrize("verb", ["solve", "compare", "verify", "evaluate"])
def test_what_is_none_of_the_four_is_refused_by_a_sentence(verb):
    answer = om.solve("gautam-2x3", "exhaustive")
    calls = {
        "solve": lambda: om.solve(3.5, "exhaustive"),
        "compare": lambda: om.compare([3.5], "exhaustive"),
        "verify": lambda: om.verify(answer, 3.5),
        "evaluate": lambda: om.evaluate(None, [0]),
    }
    with pytest.raises(RequestError, match=r"a problem is the path of a file, the name of a shipped instance, an Inst"):
        calls[verb]()


def test_the_names_of_the_contract_are_at_the_front_door():
    verbs = "load solve evaluate compare sweep pareto simulate verify plot generate fit visits instances"
    assert set(verbs.split()) <= set(om.__all__)
    assert not hasattr(om, "pareto_front")


# -- shipped instances -------------------------------------------------------------------------------------------------


def test_shipped_instances_are_listed_by_kind(instances):
    assert om.instances("placement") == sorted(file.stem for file in (instances / "placement").glob("*.json"))
    assert om.instances() == [name for kind in sorted(CASES) for name in om.instances(kind)]
    with pytest.raises(UnknownName, match=r"no problem kind is called 'placment'. Did you mean 'placement'"):
        om.instances("placment")


# -- where problems come from ------------------------------------------------------------------------------------------


def test_a_problem_remembers_its_best_known_and_a_changed_one_does_not():
    problem = om.load("gautam-2x3")
    assert origin_of(problem).best_known.objective == 8.0
    written, read = as_instance(problem), om.read_instance("gautam-2x3")
    assert (written.kind, written.name, written.best_known) == (read.kind, read.name, read.best_known)
    assert written.data == problem.to_data()
    assert om.solve(problem, "exhaustive").gap_to_best_known == 0.0
    changed = Instance.from_problem(problem).problem()
    assert origin_of(changed).best_known is None
    assert om.solve(changed, "exhaustive").gap_to_best_known is None


def test_what_is_remembered_of_a_problem_goes_with_it():
    from optmodels import protocols

    problem = om.load("gautam-2x3")
    place = id(problem)
    assert place in protocols._origins
    del problem
    assert place not in protocols._origins


def test_an_instance_finds_the_files_beside_the_one_it_was_read_from(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    from optmodels.generating import generate_to

    (tmp_path / "in").mkdir()
    generate_to(tmp_path / "in" / "pages.parquet", "freshness", {"pages": 50, "seed": 1})
    [file] = (tmp_path / "in").glob("*.json")
    instance = om.read_instance(file)
    monkeypatch.chdir(tmp_path)
    by_instance, by_path = om.solve(instance, "lagrangian"), om.solve(file, "lagrangian")
    assert by_instance.objective == by_path.objective
    with pytest.raises(InstanceError, match="only an instance read from a file can name other files"):
        om.load(Instance.from_data(instance.to_data()))


def test_errors_of_an_instance_name_the_file_that_it_was_read_from(tmp_path):
    content = om.read_instance("gautam-2x3").to_data()
    content["data"]["service_rate"] = -1
    om.write_instance(Instance.from_data(content), tmp_path / "wrong.json")
    instance = om.read_instance(tmp_path / "wrong.json")
    for given in (instance, tmp_path / "wrong.json"):
        with pytest.raises(InstanceError, match=r"wrong\.json: data\.service_rate is -1"):
            om.load(given)


def test_a_problem_of_no_kind_is_solved_and_compared_but_not_swept():
    problem = Knapsack()
    assert as_problem(problem) is problem
    assert om.solve(problem, "exhaustive").status == "optimal"
    assert om.solve(problem, "exhaustive").gap_to_best_known is None
    assert om.compare([problem, "gautam-2x3"], "exhaustive").complete
    with pytest.raises(RequestError, match="cannot be written as an instance"):
        om.sweep(problem, {"data.x": [1, 2]}, "exhaustive")


def test_a_comparison_takes_problems_given_in_all_ways_and_confirms_best_known(instances):
    four = om.load("gautam-4x4")
    comparison = om.compare([om.read_instance("gautam-2x3"), four], "annealing", evaluations=50)
    assert comparison.best_known == {"gautam-2x3": 8.0, "gautam-4x4": origin_of(four).best_known.objective}
    assert all(run.result.asked is not None for run in comparison.runs)


def test_a_best_known_that_does_not_hold_is_told_whichever_way_it_comes(tmp_path):
    content = om.read_instance("gautam-2x3").to_data()
    content["best_known"]["objective"] = 7.0
    instance = Instance.from_data(content)
    comparison = om.compare(instance, "exhaustive")
    assert comparison.best_known == {}
    assert "best_known.objective is 7.0" in comparison.warnings[0]
    with pytest.raises(InstanceError, match=r"best_known\.objective"):
        om.verify(om.solve(instance, "exhaustive"))


def test_a_result_that_crossed_to_another_process_knows_its_problem_again():
    comparison = om.compare("gautam-2x3", ["exhaustive", "dejavu"], workers=2)
    assert [run.result.asked.name for run in comparison.runs] == ["gautam-2x3"] * 2
    assert [run.result.gap_to_best_known for run in comparison.runs] == [0.0, 0.0]


# -- fit and visits belong to kinds ------------------------------------------------------------------------------------

LOG = "url,interval,changed\na,1,1\na,2,0\nb,1,0\nb,3,1\nb,1,1\nc,4,0\n"


def test_a_log_is_fitted_and_solved(tmp_path):
    (tmp_path / "crawl.csv").write_text(LOG)
    fitted = om.fit(tmp_path / "crawl.csv", access_time=0.1, out=[tmp_path / "pages.csv", tmp_path / "pages.json"])
    assert repr(fitted).endswith("crawl.csv: pages: 3, visits: 6, intervals: 6, with a change: 3>")
    instance = fitted.instance(access_time="exponential:0.1")
    assert instance.name == "crawl"
    assert instance.data["access_time"] == {"law": "exponential", "mean": 0.1}
    assert om.load(tmp_path / "pages.json").to_data()["access_time"] == {"law": "constant", "value": 0.1}
    assert (tmp_path / "pages.csv").read_text().startswith("url,change_rate,")
    answer = om.solve(instance, "lagrangian")
    table = om.visits(answer, slots=5)
    assert set(table["url"]) <= {"a", "b", "c"}
    written = om.visits(instance, answer, slots=5, out=tmp_path / "visits.csv")
    assert written["rows"] == 5
    assert len((tmp_path / "visits.csv").read_text().splitlines()) == 6


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"prio": "none"}, "fit 'freshness' has no option 'prio'. Did you mean 'prior'"),
        ({"confidence": 95}, "confidence is a number between 0 and 1"),
        ({"kind": "placement"}, "problems of kind 'placement' cannot be fitted to a log, only those of kind freshness"),
        ({"access_time": None, "out": "x.json"}, "an instance needs the distribution of the access time"),
        ({"access_time": [1], "out": "x.json"}, r'access_time is "\[1\]"; this law has no name a file could use'),
    ],
)
def test_what_cannot_be_fitted_is_told(tmp_path, monkeypatch, options, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "crawl.csv").write_text(LOG)
    with pytest.raises(RequestError, match=sentence):
        om.fit("crawl.csv", **options)


def test_visits_need_a_decision_of_the_problem(tmp_path):
    answer = om.solve("coffman-4", "lagrangian")
    om.write_result(answer, tmp_path / "r.json")
    by_path = om.visits("coffman-4", tmp_path / "r.json", slots=4)
    assert list(by_path["page"]) == list(om.visits("coffman-4", answer.decision, slots=4)["page"])
    with pytest.raises(RequestError, match="there is no decision of 'coffman-4' to follow; solve it first"):
        om.visits("coffman-4")
    with pytest.raises(RequestError, match="this is an answer to 'gautam-2x3', not to 'coffman-4'"):
        om.visits("coffman-4", om.solve("gautam-2x3", "exhaustive"))
    with pytest.raises(RequestError, match="this result does not hold its problem, 'coffman-4'; tell it"):
        om.visits(om.read_result(tmp_path / "r.json"))
    with pytest.raises(UnknownName, match="visits of kind 'freshness' has no option 'slot'"):
        om.visits(answer, slot=3)


class Tour(Knapsack):
    """A problem of somebody else's kind."""

    kind = "tour"


def fit_tour(log, *, day=1):
    return f"{log} on day {day}"


def visits_of_tour(problem, decision, *, out=None, slots=None, seed=0):
    return {"stop": [index for index, taken in enumerate(decision) if taken][:slots]}


def test_a_kind_of_others_offers_the_same(monkeypatch):
    record = Kind("tour", "Where to?", "nobody", Tour, {"x": "how many"}, fit=fit_tour, visits=visits_of_tour)
    registry.kinds.register("tour", record)
    try:
        assert om.fit("a.log", kind="tour", day=2) == "a.log on day 2"
        assert om.visits(om.solve(Tour(), "exhaustive"), slots=2) == {"stop": [1, 2]}
        with pytest.raises(UnknownName, match="fit 'tour' has no option 'week'"):
            om.fit("a.log", kind="tour", week=1)
    finally:
        registry.kinds.unregister("tour")
