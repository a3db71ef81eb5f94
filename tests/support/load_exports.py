"""Reads an export with pandas, as its datapackage.json describes it, and recomputes medians of the board from iterations.csv.

Usage: load_exports.py FOLDER <ROWS, or load_exports.py --types FOLDER, which only reads. A board median is one over cells, each with the median of its
iterations; iterations.csv has two decimals, so that the result may be off by the last of them."""
import json
import os
import sys

import pandas

KEY = ["protocol", "deviceSubclass", "runtimeId", "benchModelId", "workloadId"]
METRICS = {"ttftMs": "ttftMs", "decodeCharsPerSec": "decodeCharsPerSec",
           "overallCharsPerSec": "overallCharsPerSec", "singleLatencyMs": "durationMs"}
STREAMED = {"ttftMs", "decodeCharsPerSec"}
TYPES = {"string": "string", "any": "string", "number": "float64", "integer": "Int64", "boolean": "boolean",
         "datetime": "string"}


def load(folder, resource):
    fields = {field["name"]: field["type"] for field in resource["schema"]["fields"]}
    table = pandas.read_csv(os.path.join(folder, resource["path"]), encoding=resource["encoding"],
                            dtype={name: TYPES[kind] for name, kind in fields.items()},
                            keep_default_na=False, na_values=[""])
    assert list(table.columns) == list(fields), resource["path"]
    for name, kind in fields.items():
        if kind == "datetime":
            table[name] = pandas.to_datetime(table[name], utc=True)
    return table


def medians(iterations):
    """The median of each board row, by its key and metric."""
    rows = iterations[(iterations["status"] == "ok") & iterations["iteration"].notna()]
    cell = ["runId", "cellId"]
    streamed = rows.groupby(cell)["streamIncremental"].transform(lambda said: bool(said.fillna(False).all()))
    found = {}
    for metric, column in METRICS.items():
        chosen = rows[streamed.astype(bool)] if metric in STREAMED else rows
        if metric == "singleLatencyMs":
            chosen = chosen[chosen["embedCount"] == 1]
        cells = chosen.dropna(subset=[column]).groupby(KEY + cell, dropna=False)[column].median()
        found.update({(key, metric): value for key, value in cells.groupby(KEY).median().items()})
    return found


def main(folder, only_types):
    with open(os.path.join(folder, "datapackage.json"), encoding="utf-8") as file:
        package = json.load(file)
    tables = {resource["name"]: load(folder, resource) for resource in package["resources"]
              if resource["format"] == "csv"}
    texts = pandas.read_json(os.path.join(folder, "texts.jsonl"), lines=True)
    if only_types:
        return
    found = medians(tables["iterations"])
    compared = dict.fromkeys(METRICS, 0)
    for row in json.load(sys.stdin):
        key = tuple(row[name] for name in KEY)
        for metric in METRICS:
            assert (metric in row) == ((key, metric) in found), (key, metric)
            if metric in row:
                assert abs(row[metric] - found[key, metric]) < 0.0101, (key, metric, row[metric], found[key, metric])
                compared[metric] += 1
    print(json.dumps({"compared": compared, "tables": {name: len(rows) for name, rows in tables.items()},
                      "texts": len(texts)}))


main(sys.argv[-1], "--types" in sys.argv)
