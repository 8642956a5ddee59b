# SPDX-License-Identifier: Apache-2.0
"""Chrome JSON made by chance, as text: each is valid JSON of X events with odd values, in threads of several processes. And
what a plain reader says of it, with exact decimals: {(process, thread): {"count", "sum_ps", "start_ps", "end_ps", "names"}}."""

import decimal
import json

import xplane_reader

decimal.getcontext().prec = 80
NAMES = ["step 1", "fusion.2", "a", "", "\u00e9\u2028", "<b>", "x" * 200, "\ud83d\ude00", "\\", "\"q\"", "ProfilerStep#3"]
TIMES = ["0", "1", "1.5", "0.001", "10.0000001", "1e3", "1E+2", "2.5e-1", "100", "7.25", "3.000", "999999.999999", "0.0000004", "0.0000005", "-0", "12345678.9012345"]
DURS = ["0", "1", "0.5", "2", "10", "100.25", "1e2", "0.000001", "0.0000004", "33"]
SPACES = ["", " ", "\n", "\t ", "\r\n"]


def spelled(rng, text):
    """A number, now and then as a text."""
    return f'"{text}"' if rng.random() < 0.05 and "e" not in text.lower() else text


def event(rng):
    start = rng.choice(TIMES) if rng.random() < 0.4 else str(rng.randrange(3000)) + rng.choice(["", ".5", ".125", ".001"])
    parts = [("ph", '"X"'), ("pid", rng.choice(["1", "2", '"3"', "7"])), ("tid", rng.choice(["1", "2", '"4"'])), ("ts", spelled(rng, start)),
             ("name", json.dumps(rng.choice(NAMES), ensure_ascii=rng.random() < 0.5))]
    if rng.random() < 0.95:
        parts.append(("dur", spelled(rng, rng.choice(DURS))))
    if rng.random() < 0.4:
        parts.append(("args", json.dumps({rng.choice(["a", "", "long_name", "x y"]): rng.choice([1, -5, 1.5, None, True, "t", [1, {"b": 2}], {"c": {}}, 2**63, "1e999"])})))
    if rng.random() < 0.2:
        parts.append((rng.choice(["cat", "extra", "sf", "cname"]), rng.choice(['"k"', "null", "[]", "{}", "[[[1]]]", '"\\u0000"'])))
    rng.shuffle(parts)
    return parts


def written(rng, parts):
    space = lambda: rng.choice(SPACES)
    return "{" + ",".join(f"{space()}{json.dumps(key)}{space()}:{space()}{value}" for key, value in parts) + space() + "}"


def made(rng):
    events = [event(rng) for _ in range(rng.choice([1, 2, 5, 40, 200]))]
    if rng.random() < 0.3:
        events += [list(rng.choice(events)) for _ in range(3)]
    texts = [written(rng, parts) for parts in events]
    if rng.random() < 0.3:
        texts.append("{}")
    body = "[" + ("," + rng.choice(SPACES)).join(texts) + "]"
    if rng.random() < 0.7:
        more = "".join(f',{rng.choice(SPACES)}"{key}":{value}' for key, value in
                       rng.sample([("displayTimeUnit", '"ns"'), ("otherData", '{"a":"b"}'), ("metadata", "{}"), ("x", "[1,2]")], 2))
        body = "{" + rng.choice(SPACES) + '"traceEvents":' + body + more + "}"
    return rng.choice(["", "\ufeff", " \n"]) + body + rng.choice(["", "\n", "  "])


def ps(value):
    return int((decimal.Decimal(value) * 1000000).quantize(decimal.Decimal(1), rounding=decimal.ROUND_HALF_UP))


def read(text):
    whole = json.loads(text.lstrip("\ufeff"), parse_float=decimal.Decimal)
    threads = {}
    for one in whole["traceEvents"] if isinstance(whole, dict) else whole:
        if one.get("ph") != "X":
            continue
        start = ps(one["ts"])
        name = one.get("name", "").encode("utf-8", "surrogatepass").decode("latin-1")
        threads.setdefault((int(one["pid"]), int(one["tid"])), []).append(
            {"name": name, "begin_ps": start, "dur_ps": ps(one.get("dur", 0)), "async": False})
    out = {}
    for key, events in threads.items():
        names = {}
        for one, self_ps in zip(events, xplane_reader.self_times(events)):
            sums = names.setdefault(one["name"], [0, 0, 0])
            for at, value in enumerate((1, one["dur_ps"], self_ps)):
                sums[at] += value
        out[key] = {"count": len(events), "names": names, "sum_ps": sum(one["dur_ps"] for one in events),
                    "start_ps": min(one["begin_ps"] for one in events), "end_ps": max(one["begin_ps"] + one["dur_ps"] for one in events)}
    return out
