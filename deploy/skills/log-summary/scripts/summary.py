#!/usr/bin/env python3
"""Counts the lines of a log by level, and its messages with numbers and addresses left out."""
import collections
import json
import os
import re
import sys

MOST_LINES = 2_000_000
PRIORITY = re.compile(r"^<(\d{1,3})>")
WORD = re.compile(r"\b(fatal|panic|critical|crit|error|err|warning|warn|notice|info|debug|trace)\b", re.I)
TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d")
ADDRESS = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b|\b[0-9a-f]{1,4}(?::[0-9a-f]{0,4}){2,7}\b", re.I)
NUMBER = re.compile(r"\b(?:0x[0-9a-f]+|[0-9a-f]*\d[0-9a-f]*)\b", re.I)
ERRORS = {"fatal", "panic", "critical", "crit", "error", "err"}
WARNINGS = {"warning", "warn"}


def level(line):
    priority = PRIORITY.match(line)
    if priority:
        severity = int(priority.group(1)) % 8
        return "error" if severity < 4 else "warning" if severity == 4 else "info"
    word = WORD.search(line)
    if not word:
        return "none"
    name = word.group(1).lower()
    return "error" if name in ERRORS else "warning" if name in WARNINGS else "info"


def shape(line):
    text = ADDRESS.sub("@", TIME.sub("", PRIORITY.sub("", line)))
    return " ".join(NUMBER.sub("#", text).split())[:200]


def main():
    arguments = json.load(sys.stdin)
    path = os.path.join(os.environ["SVC_PROJECT"], arguments["path"])
    levels, shapes, first, last, count = collections.Counter(), collections.Counter(), "", "", 0
    try:
        with open(path, encoding="utf-8", errors="replace") as log:
            for line in log:
                if not line.strip():
                    continue
                count += 1
                if count > MOST_LINES:
                    break
                name = level(line)
                levels[name] += 1
                shapes[name, shape(line)] += 1
                time = TIME.search(line)
                if time:
                    first, last = first or time.group(0), time.group(0)
    except OSError as e:
        sys.exit(f"{arguments['path']}: {e.strerror}")
    print(f"{count} lines, from {first or 'no time'} to {last or 'no time'}")
    print(", ".join(f"{levels[name]} {name}" for name in ("error", "warning", "info", "none")))
    rank = {"error": 0, "warning": 1, "info": 2, "none": 3}
    most = sorted(shapes.items(), key=lambda s: (rank[s[0][0]], -s[1], s[0][1]))[: arguments.get("top", 10)]
    for (name, text), n in most:
        print(f"{n:6} {name:7} {text}")


main()
