"""Reads an export as its datapackage.json describes it and recomputes medians of the board from iterations.csv.

Usage: load_exports.py FOLDER <ROWS, or load_exports.py --types FOLDER, which only reads. A board median is one over cells, each with the median of its
iterations; iterations.csv has two decimals, so that the result may be off by the last of them."""
import csv
import datetime
import json
import os
import statistics
import sys

METRICS = {"ttftMs": "ttftMs", "decodeCharsPerSec": "decodeCharsPerSec",
           "overallCharsPerSec": "overallCharsPerSec", "singleLatencyMs": "durationMs"}
STREAMED = {"ttftMs", "decodeCharsPerSec"}
TYPES = {"string": str, "any": str, "number": float, "integer": int,
         "boolean": lambda text: {"true": True, "false": False}[text],
         "datetime": lambda text: datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))}


def load(folder, resource):
    fields = resource["schema"]["fields"]
    with open(os.path.join(folder, resource["path"]), encoding=resource["encoding"], newline="") as file:
        lines = csv.reader(file, strict=True)
        assert next(lines) == [field["name"] for field in fields], resource["path"]
        rows = []
        for line in lines:
            assert len(line) == len(fields), line
            rows.append({field["name"]: TYPES[field["type"]](text) if text else None
                         for field, text in zip(fields, line)})
        return rows


def medians(rows):
    """The median of each board row, by its key and metric."""
    cells = {}
    for row in rows:
        if row["status"] == "ok" and row["iteration"] is not None:
            cells.setdefault((row["runId"], row["cellId"]), []).append(row)
    values = {}
    for iterations in cells.values():
        head = iterations[0]
        key = tuple(head[name] for name in ("protocol", "deviceSubclass", "runtimeId", "benchModelId", "workloadId"))
        for metric, column in METRICS.items():
            if metric in STREAMED and not all(row["streamIncremental"] for row in iterations):
                continue
            if metric == "singleLatencyMs" and head["embedCount"] != 1:
                continue
            found = [row[column] for row in iterations if row[column] is not None]
            if found:
                values.setdefault((key, metric), []).append(statistics.median(found))
    return {key: statistics.median(found) for key, found in values.items()}


def main(folder, only_types):
    csv.field_size_limit(1 << 30)
    with open(os.path.join(folder, "datapackage.json"), encoding="utf-8") as file:
        package = json.load(file)
    tables = {resource["name"]: load(folder, resource) for resource in package["resources"]
              if resource["format"] == "csv"}
    if only_types:
        return
    found = medians(tables["iterations"])
    compared = dict.fromkeys(METRICS, 0)
    for row in json.load(sys.stdin):
        key = tuple(row[name] for name in ("protocol", "deviceSubclass", "runtimeId", "benchModelId", "workloadId"))
        for metric in METRICS:
            assert (metric in row) == ((key, metric) in found), (key, metric)
            if metric in row:
                assert abs(row[metric] - found[key, metric]) < 0.0101, (key, metric, row[metric], found[key, metric])
                compared[metric] += 1
    print(json.dumps({"compared": compared, "tables": {name: len(rows) for name, rows in tables.items()}}))


main(sys.argv[-1], "--types" in sys.argv)
