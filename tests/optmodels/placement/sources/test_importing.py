"""Files in the layouts of the OR-Library and TSPLIB, drawn here, against slow computations of their own."""

import itertools
import json
import math

import numpy as np
import pytest
from typer.testing import CliRunner

import optmodels as om
from heuristics import run
from heuristics.search import Exhaustive
from optmodels.cli.commands import app
from optmodels.errors import InstanceError, RequestError
from optmodels.placement.sources import read_pmed, read_tsplib, whole_distances

#: Cities of Burma, by latitude and longitude in degrees and minutes; the best tour has length 3323 (TSPLIB).
BURMA = """\
NAME: burma14
TYPE: TSP
COMMENT: 14-Staedte in Burma (Zaw Win)
DIMENSION: 14
EDGE_WEIGHT_TYPE: GEO
EDGE_WEIGHT_FORMAT: FUNCTION
DISPLAY_DATA_TYPE: COORD_DISPLAY
NODE_COORD_SECTION
   1  16.47       96.10
   2  16.47       94.44
   3  20.09       92.54
   4  22.39       93.37
   5  25.23       97.24
   6  22.00       96.05
   7  20.47       97.02
   8  17.20       96.29
   9  16.30       97.38
  10  14.05       98.12
  11  16.53       97.38
  12  21.52       95.59
  13  19.41       97.13
  14  20.09       94.55
EOF
"""
TOUR = [1, 2, 14, 3, 4, 5, 6, 12, 7, 13, 8, 11, 9, 10]


def written(folder, text, name="file.txt"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def pmed(seed, nodes=9, sites=3, more=12):
    """Lines of a p-median problem: a random tree, then edges that may repeat others or join a node to itself."""
    rng = np.random.default_rng(seed)
    edges = [(node, int(rng.integers(1, node)), int(rng.integers(1, 30))) for node in range(2, nodes + 1)]
    edges += [(*rng.integers(1, nodes + 1, 2).tolist(), int(rng.integers(1, 30))) for _ in range(more)]
    return [f" {nodes} {len(edges)} {sites} ", *(f" {u} {v} {cost} " for u, v, cost in edges)]


def by_floyd(lines):
    """Distances as the OR-Library tells to compute them: costs entered in turn, own distances 0, Floyd's algorithm."""
    nodes = int(lines[0].split()[0])
    apart = [[math.inf] * nodes for _ in range(nodes)]
    for line in lines[1:]:
        u, v, cost = (int(word) for word in line.split())
        apart[u - 1][v - 1] = apart[v - 1][u - 1] = cost
    for node in range(nodes):
        apart[node][node] = 0
    for k, i, j in itertools.product(range(nodes), repeat=3):
        apart[i][j] = min(apart[i][j], apart[i][k] + apart[k][j])
    return np.array(apart)


@pytest.mark.parametrize("seed", range(8))
def test_medians_are_those_of_floyd_and_enumeration(tmp_path, seed):
    lines = pmed(seed)
    file = written(tmp_path, "\n".join(lines) + "\n", "PMED0.txt")
    instance = om.import_file(file, "orlib-pmed")
    problem, apart = instance.problem(), by_floyd(lines)
    assert problem.distances.tolist() == apart.tolist()
    best = min(apart[list(chosen)].min(axis=0).sum() for chosen in itertools.combinations(range(9), 3))
    found = run(problem, Exhaustive())
    assert (found.objective, sum(found.decision)) == (pytest.approx(best, rel=1e-12), 3)
    assert instance.name == "pmed0" and problem.layout.names[0] == "1"


def test_of_several_lines_about_an_edge_the_last_one_counts(tmp_path):
    file = written(tmp_path, "3 4 1\n1 2 5\n2 3 1\n2 1 9\n3 3 4\n")
    found = read_pmed(file)
    assert found.edges == ((0, 1, 9.0), (1, 2, 1.0)) and found.repeated == 2
    assert "2 more lines repeat an edge" in om.import_file(file, "orlib-pmed").notes


def test_highs_and_annealing_agree_on_an_imported_file(tmp_path):
    lines = pmed(3, nodes=12, sites=3)
    problem = om.import_file(written(tmp_path, "\n".join(lines)), "orlib-pmed").problem()
    apart = by_floyd(lines)
    best = min(apart[list(chosen)].min(axis=0).sum() for chosen in itertools.combinations(range(12), 3))
    proved = om.solve(problem, "highs")
    assert (proved.status, proved.objective) == ("optimal", pytest.approx(best))
    assert om.solve(problem, "annealing", evaluations=20_000, seed=1).objective == pytest.approx(best)


def slowly(rule, one, other):
    """A distance by TSPLIB's own words, number by number."""
    if rule == "GEO":

        def radians(x):
            degrees = int(x)
            return 3.141592 * (degrees + 5.0 * (x - degrees) / 3.0) / 180.0

        q1 = math.cos(radians(one[1]) - radians(other[1]))
        q2 = math.cos(radians(one[0]) - radians(other[0]))
        q3 = math.cos(radians(one[0]) + radians(other[0]))
        inside = max(-1.0, min(1.0, 0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3)))
        return int(6378.388 * math.acos(inside) + 1.0)
    x, y = one[0] - other[0], one[1] - other[1]
    if rule == "ATT":
        r = math.sqrt((x * x + y * y) / 10.0)
        t = int(r + 0.5)
        return t + 1 if t < r else t
    r = math.sqrt(x * x + y * y)
    return math.ceil(r) if rule == "CEIL_2D" else int(r + 0.5)


@pytest.mark.parametrize("rule", ["EUC_2D", "CEIL_2D", "ATT", "GEO"])
@pytest.mark.parametrize("seed", range(3))
def test_distances_are_rounded_as_tsplib_says(rule, seed):
    rng = np.random.default_rng(seed)
    if rule == "GEO":
        places = np.round(np.column_stack([rng.uniform(-89, 89, 20), rng.uniform(-179, 179, 20)]), 2)
    else:
        places = rng.integers(-20, 20, (20, 2)).astype(float) if seed else np.round(rng.normal(0, 500, (20, 2)), 1)
    found = whole_distances(places, rule)
    for i, j in itertools.product(range(20), repeat=2):
        assert found[i, j] == (0 if i == j else slowly(rule, places[i].tolist(), places[j].tolist()))


def test_the_best_tour_of_burma_is_as_long_as_tsplib_says(tmp_path):
    cities = read_tsplib(written(tmp_path, BURMA))
    at = [cities.labels.index(str(city)) for city in TOUR]
    assert sum(int(cities.distances[here, there]) for here, there in zip(at, at[1:] + at[:1], strict=True)) == 3323
    assert cities.drawn[0] == pytest.approx([96 + 10 / 60, 16 + 47 / 60], abs=1e-4)


def test_cities_are_sites_at_whole_distances_plus_one(tmp_path):
    file = written(tmp_path, BURMA, "burma14.tsp")
    instance = om.import_file(file, "tsplib", sites=3)
    problem, cities = instance.problem(), read_tsplib(file)
    assert problem.distances.tolist() == (cities.distances + 1).tolist()
    assert problem.layout.names == tuple(str(city) for city in range(1, 15))
    best = min(cities.distances[list(chosen)].min(axis=0).sum() for chosen in itertools.combinations(range(14), 3))
    assert om.solve(problem, "exhaustive").objective == pytest.approx(best + 14)
    assert "1 more than in TSPLIB" in instance.notes and "No capacity binds." in instance.notes
    assert np.array_equal(problem.layout.places, cities.drawn)


def test_options_make_capacities_that_bind_and_the_notes_tell(tmp_path):
    file = written(tmp_path, "\n".join(pmed(1)))
    server = {"service_rate": 50, "base": 0.48, "per_distance": 0.02, "min_throughput": 1.7, "delay": 0.16}
    instance = om.import_file(file, "orlib-pmed", sites=5, clients=4, max_delay_probability=0.1, name="own", **server)
    problem = instance.problem()
    assert instance.name == "own" and problem.demand.tolist() == [4] * 9 and problem.numbers == (5, 5)
    assert problem.quality.delay == 0.16 and problem.capacity[0, 0] < 36
    assert "a capacity is below" in instance.notes and "were given" in instance.notes
    assert problem.weights == {"mean_distance": 36}


GOOD = "3 2 1\n1 2 5\n2 3 1\n"

BROKEN_PMED = {
    "": "the file is empty; the first line has three whole numbers",
    "\n\n": "the file ends after line 2; the first line has three",
    "3 2\n": 'line 1 is "3 2"; the first line has three',
    "3 2 1 0\n1 2 5\n": "the first line has three",
    "3 2 4\n": 'p is a whole number from 1 to 3, not "4"',
    "3 2 0\n": 'p is a whole number from 1 to 3, not "0"',
    "0 2 1\n": "the number of nodes is a whole number from 1",
    "999999 2 1\n": "the number of nodes is a whole number from 1 to 5000",
    "3 -1 1\n": "the number of edges is a whole number from 0",
    "3.5 2 1\n": "the number of nodes is a whole number",
    "3 2 1\n1 2 5\n": "the file ends after line 2; the first line says that there are 2 edges, and there are 1",
    GOOD + "1 3 1\n": 'line 4 is "1 3 1"; the first line says that there are 2 edges, and here is one more',
    "3 2 1\n1 2 5\n2 4 1\n": 'an end of an edge is a whole number from 1 to 3, not "4"',
    "3 2 1\n1 2 5\n0 3 1\n": 'an end of an edge is a whole number from 1 to 3, not "0"',
    "3 2 1\n1 2\n2 3 1\n": 'line 2 is "1 2"; an edge is a line of three numbers',
    "3 2 1\n1 2 -5\n2 3 1\n": "costs are positive",
    "3 2 1\n1 2 0\n2 3 1\n": "costs are positive",
    "3 2 1\n1 2 nan\n2 3 1\n": 'a cost is a number, not "nan"',
    "3 2 1\n1 2 inf\n2 3 1\n": 'a cost is a number, not "inf"',
    "3 2 1\n1 2 x\n2 3 1\n": 'a cost is a number, not "x"',
    "3 1 1\n1 2 5\n": "cannot be reached",
    b"\x89PNG\r\n\x1a\n\x00\x00": "line 1 is no text",
    b"3 2 1\n1 2 5\n\xff\xfe\x00": "line 3 is no text",
    b"1 " * 2000: "line 1 is no text",
}


@pytest.mark.parametrize(("text", "told"), BROKEN_PMED.items(), ids=range(len(BROKEN_PMED)))
def test_what_is_no_median_problem_ends_in_a_sentence(tmp_path, text, told):
    file = written(tmp_path, text)
    with pytest.raises(RequestError) as failure:
        om.import_file(file, "orlib-pmed")
    assert str(failure.value).startswith(f"{file}: ") and told in str(failure.value)
    assert "\n" not in str(failure.value)


HEAD = "NAME: x\nDIMENSION: 2\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"

BROKEN_TSPLIB = {
    "": "the file is empty; a TSPLIB file has a NODE_COORD_SECTION",
    "hello\n": 'line 1 is "hello"; a line before the coordinates is "KEY : value"',
    "DIMENSION: 2\n": "the file ends after line 1; a TSPLIB file has a NODE_COORD_SECTION",
    "DIMENSION: two\n": 'DIMENSION is a whole number from 1 to 2000, not "two"',
    "DIMENSION: 100000\n": "DIMENSION is a whole number from 1 to 2000",
    "NODE_COORD_SECTION\n1 2 3\n": "no line before says DIMENSION",
    "DIMENSION: 1\nNODE_COORD_SECTION\n1 2 3\n": "no line before says EDGE_WEIGHT_TYPE",
    "DIMENSION: 2\nEDGE_WEIGHT_TYPE: EXPLICIT\n": "rules that are known are EUC_2D, CEIL_2D, ATT, GEO",
    "EDGE_WEIGHT_SECTION\n": "this file lists them",
    HEAD + "1 0 0\n": "the file ends after line 5; DIMENSION says that there are 2 cities, and there are 1",
    HEAD + "1 0 0\nEOF\n": "DIMENSION says that there are 2 cities, and there are 1",
    HEAD + "1 0 0\n2 0 1\n3 1 1\n": "here is one more",
    HEAD + "1 0 0\n1 0 1\n": "city 1 was there already",
    HEAD + "1 0\n2 0 1\n": "a city is a line of three",
    HEAD + "1 0 x\n": 'a coordinate is a number, not "x"',
    HEAD + "1 0 1e30\n": "coordinates up to 1e+07 are supported",
    HEAD.replace("EUC_2D", "GEO") + "1 95 0\n": "latitude and longitude",
    b"\x00\x01\x02": "line 1 is no text",
}


@pytest.mark.parametrize(("text", "told"), BROKEN_TSPLIB.items(), ids=range(len(BROKEN_TSPLIB)))
def test_what_is_no_list_of_cities_ends_in_a_sentence(tmp_path, text, told):
    file = written(tmp_path, text)
    with pytest.raises(InstanceError) as failure:
        om.import_file(file, "tsplib", sites=1)
    assert str(failure.value).startswith(f"{file}: ") and told in str(failure.value)


def test_wrong_options_end_in_a_sentence(tmp_path):
    file = written(tmp_path, GOOD)
    burma = written(tmp_path, BURMA, "burma14.tsp")
    for make, told in (
        (lambda: om.import_file(file, "orlib-pmed", sites=4), "sites must be at most 3"),
        (lambda: om.import_file(file, "orlib-pmed", sites=0), "sites must be a whole number from 1, got 0"),
        (lambda: om.import_file(file, "orlib-pmed", clients=1.5), "clients must be a whole number from 1"),
        (lambda: om.import_file(file, "gis"), "format must be one of orlib-pmed, tsplib"),
        (lambda: om.import_file(file, "orlib-pmed", servicerate=3), "[Dd]id you mean 'service_rate'"),
        (lambda: om.import_file(file, "orlib-pmed", service_rate=-3), "service rates are positive"),
        (lambda: om.import_file(burma, "tsplib"), "does not say how many sites"),
        (lambda: om.import_file(tmp_path / "none", "tsplib", sites=1), "cannot be read: No such file"),
        (lambda: om.import_file(tmp_path, "tsplib", sites=1), "cannot be read: Is a directory"),
    ):
        with pytest.raises(RequestError, match=told):
            make()


def test_the_command_writes_an_instance_that_check_takes(tmp_path):
    file, out = written(tmp_path, GOOD), tmp_path / "made.json"
    asked = ["import", str(file), "--format", "orlib-pmed", "--out", str(out), "--json"]
    answer = CliRunner().invoke(app, asked, standalone_mode=False)
    told = json.loads(answer.stdout)
    assert (told["nodes"], told["open_sites"]) == (3, 1) and "No capacity binds." in told["notes"]
    assert om.solve(str(out), "exhaustive").objective == 6.0
    assert om.load(str(out)).name == "file"
