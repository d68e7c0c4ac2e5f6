"""The recorded trials behind Tables II–XIII."""

from dpfair_lib.experiments.isit.printed_sentences import AS_RUN, CERTIFIED, SENTENCES
from dpfair_lib.experiments.isit.twelve_tables_records import provenance, record_name, test_sizes, trials
from dpfair_lib.experiments.printed import printed_tables

test_sizes.__test__ = False  # a function, no test


def test_trials_are_read_with_their_data_set():
    rows = trials()
    assert set(rows["data"]) == {"adult", "credit"}
    for data in ("adult", "credit"):
        part = rows[rows["data"] == data]
        assert part["split"].nunique() == provenance(data)["parameters"]["trials"] == 100
        assert sum(test_sizes(data)) < provenance(data)["data"]["rows"]
    assert record_name("adult", fresh=True) == "isit-tables-adult-fresh-test"


def test_the_sentences_are_on_printed_rows():
    printed = printed_tables().query("accountant == 'PRV' and method == 'DP-FERMI'")
    places = {(row["data"], row["epsilon"], row["strength"]) for row in printed.to_dict("records")}
    assert {(line.data, line.epsilon, line.strength) for line in SENTENCES} <= places
    assert (AS_RUN, CERTIFIED) == (12, 8)
