#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What pictures are drawn from: the tree of ops against the tables of ops and of the roofline, callers and callees of one name
against the folded stacks of the whole tree. Each level sums to its parent."""

import collections
import math

import common
import openapi
from common import RUN, ask, good


def tree(server, **query):
    reply = good(server, "/api/op_tree", run=RUN, **query).json
    openapi.check(reply, "/api/op_tree")
    return reply


def walk(node, path=()):
    yield path, node
    for child in node["children"]:
        yield from walk(child, path + (child["name"],))


def near(a, b):
    return a == b or (a is not None and b is not None and math.isclose(a, b, rel_tol=1e-9))


def total(nodes, key):
    known = [node[key] for node in nodes if node[key] is not None]
    return sum(known) if known else None


def levels_sum_to_their_parent(server):
    for first in ("program", "category", "scope"):
        for limit in (10000, 30, 1):
            reply = tree(server, first=first, limit=limit)
            assert reply["root"]["children"], first
            for path, node in walk(reply["root"]):
                below = node["children"]
                if not below:
                    continue
                for key in ("self_ps", "count", "op_count", "flops_unknown_ps", "bytes_unknown_ps"):
                    assert sum(child[key] for child in below) == node[key], (first, limit, path, key)
                assert near(total(below, "flops"), node["flops"]) and near(total(below, "bytes"), node["bytes"]), path
                assert near(sum(child["share"] for child in below), node["share"]), path
                assert [child["self_ps"] for child in below if child["level"] != "others"] == \
                    sorted((child["self_ps"] for child in below if child["level"] != "others"), reverse=True), path


def the_whole_is_the_table(server):
    steps = [row["step"] for row in good(server, "/api/steps", run=RUN, limit=100).json["rows"]]
    for query in ({}, {"step": f"{steps[1]}-{steps[3]}"}, {"step": steps[2]}, {"module": "jit_train_step"}, {"q": "dot"}):
        root = tree(server, limit=10000, **query)["root"]
        top = good(server, "/api/top", run=RUN, limit=10000, spread="none", **query).json
        assert root["self_ps"] == top["total_self_ps"] and root["op_count"] == top["row_count"] and root["self_ps"] > 0, query
        whole = good(server, "/api/roofline", run=RUN, limit=1, **query).json["program"]
        assert near(root["flops"], whole["flops"]) and near(root["bytes"], whole["bytes"]), (query, root["flops"], whole)
        want = collections.Counter()
        for row in top["rows"]:
            path = (row["module"] or "(no program)", row["category"] or row["kind"], row["scope"] or "(no scope)", row["name"])
            for depth in range(5):
                want[path[:depth]] += row["self_ps"]
        got = collections.Counter({path: node["self_ps"] for path, node in walk(root)})
        assert got == want, query


def unknown_devices_have_no_shares(server):
    """A copy computes nothing, and that is no 0 % of a peak which nobody knows: the table of ops says no share either."""
    shares = {row["peak_share"] for row in good(server, "/api/top", run=RUN, limit=10000).json["rows"]}
    assert shares == {None}, shares
    for path, node in walk(tree(server, limit=10000)["root"]):
        for key in ("flops_share", "bandwidth_share"):
            assert node[key] is None and node["reasons"][key], (path, key, node)


def orders_have_the_same_leaves(server):
    def leaves(first):
        return collections.Counter({(node["name"], node["self_ps"]): 1 for _, node in walk(tree(server, first=first, limit=10000)["root"])
                                    if node["level"] == "op"})
    assert leaves("program") == leaves("category") == leaves("scope")
    for query, status in (({"first": "op"}, 400), ({"limit": 0}, 400), ({"q": "no such op"}, 200)):
        assert ask(server, "/api/op_tree", run=RUN, **query).status == status, query
    nothing = tree(server, q="no such op")
    assert nothing["root"]["op_count"] == 0 and nothing["root"]["share"] is None and nothing["notes"], nothing


def folded(server, **query):
    """[(frames below the root, own weight)] of the whole tree."""
    lines = good(server, "/api/flame", run=RUN, format="folded", limit=20000, **query).text.splitlines()
    return [(line.rsplit(" ", 1)[0].split(";"), int(line.rsplit(" ", 1)[1])) for line in lines]


def paths(node, path=()):
    """{path: (total, self)} below a root."""
    ret = {path: (node["total_ps"], node["self_ps"])} if path else {}
    for child in node["children"]:
        ret |= paths(child, path + (child["name"],))
    return ret


def sandwich_is_made_of_stacks(server):
    """Self times of a scope tree in whole nanoseconds would be rounded by the folded text: counts are not."""
    for by in ("scope", "track"):
        stacks = folded(server, by=by, weight="count")
        names = collections.Counter(frame for frames, _ in stacks for frame in set(frames))
        for name in [name for name, _ in names.most_common(40)][::4]:
            reply = good(server, "/api/flame", run=RUN, by=by, weight="count", focus=name, sandwich="yes", limit=20000).json
            openapi.check(reply, "/api/flame")
            above, below = collections.Counter(), collections.Counter()
            for frames, weight in stacks:
                if name not in frames:
                    continue
                at = frames.index(name)
                for depth in range(1, at + 1):
                    above[tuple(reversed(frames[:at]))[:depth]] += weight
                for depth in range(at + 1, len(frames)):
                    below[tuple(frames[at + 1:depth + 1])] += weight
                above[()] += weight
            both = reply["sandwich"]
            counted = {path: node["total"] for path, node in walk(both["callers"])}
            assert counted == dict(above), (by, name)
            assert {path: node["total"] for path, node in walk(both["callees"]) if path} == dict(below), (by, name)
            assert both["callers"]["total"] == both["callees"]["total"] == reply["focus"]["total"], name
            for side in both.values():
                for path, node in walk(side):
                    assert node["total"] == node["self"] + sum(child["total"] for child in node["children"]), (by, name, path)
    reply = good(server, "/api/flame", run=RUN, focus="no such frame", sandwich="yes", limit=5).json
    assert reply["focus"] is None and "sandwich" not in reply


if __name__ == "__main__":
    common.main([levels_sum_to_their_parent, the_whole_is_the_table, unknown_devices_have_no_shares, orders_have_the_same_leaves, sandwich_is_made_of_stacks])
