# SPDX-License-Identifier: Apache-2.0
"""Dependency graphs whose critical path, slack and what-if answers are known by construction: plain longest paths.

    graph = Graph(begin)
    a = graph.add("a", "thread", 300)
    b = graph.add("b", "stream 7", 400, after=[(a, 20)])        not before 20 behind the end of a
    c = graph.add("c", "stream 7", 100, since=[(a, 90)])        not before 90 behind the begin of a
    d = graph.add("wait", "thread", until=[(c, 5)])             ends 5 behind the end of c, however long that is
    graph.join([x, y], 40)                                      none ends before 40 behind the begin of the last one

Each node has two points in time, its begin and its end. An edge says that a point is not before another and so much: of a node's own length,
of what stands before it on its lane, of the four above. A point is as late as its edges say. Times are whole nanoseconds.
"""

import collections
import dataclasses

Edge = collections.namedtuple("Edge", "source target length node")  # node: whose time it is; None of a delay


@dataclasses.dataclass(eq=False)
class Node:
    name: str
    lane: str
    dur: int
    facts: dict
    start: int = 0
    end: int = 0


class Graph:
    def __init__(self, begin):
        self.begin, self.nodes, self.links, self.last = begin, [], [], {}

    def add(self, name, lane, dur=0, after=(), since=(), until=(), beside=False, **facts):
        """`beside`: it holds up nobody on its lane, and nobody it: a transfer."""
        node = Node(name, lane, dur, facts)
        self.nodes.append(node)
        if not beside:
            if lane in self.last:
                self.links.append(((self.last[lane], 1), (node, 0), 0, None))
            self.last[lane] = node
        self.links += [((other, 1), (node, 0), delay, None) for other, delay in after]
        self.links += [((other, 0), (node, 0), delay, None) for other, delay in since]
        self.links += [((other, 1), (node, 1), delay, None) for other, delay in until]
        return node

    def join(self, nodes, cost):
        self.links += [((other, 0), (node, 1), cost, node) for node in nodes for other in nodes]

    def edges(self, scale):
        own = [((node, 0), (node, 1), node.dur, node) for node in self.nodes]
        return [Edge(source, target, round(length * scale(node)) if node else length, node) for source, target, length, node in own + self.links]

    def times(self, edges):
        """{point: when}; repeated until nothing moves, which is slow and plain."""
        at = {(node, side): self.begin for node in self.nodes for side in (0, 1)}
        for _ in range(len(at) + 1):
            moved = False
            for edge in edges:
                if at[edge.source] + edge.length > at[edge.target]:
                    at[edge.target], moved = at[edge.source] + edge.length, True
            if not moved:
                return at
        raise AssertionError("the graph has a cycle")

    def run(self, scale=lambda node: 1):
        """Fills the times of the nodes; the last end."""
        at = self.times(self.edges(scale))
        for node in self.nodes:
            node.start, node.end = at[node, 0], at[node, 1]
        return max(at.values())

    def path(self):
        """[(start, end, node or None)] from begin to the last end; None is a delay, which is no node's."""
        edges = self.edges(lambda node: 1)
        at, out = self.times(edges), []
        point = max(at, key=at.get)
        while at[point] > self.begin:
            tight = [edge for edge in edges if edge.target == point and at[edge.source] + edge.length == at[point]]
            assert len({edge.source for edge in tight if edge.length or at[edge.source] > self.begin}) <= 1, f"two paths lead to {point}"
            edge = max(tight, key=lambda edge: at[edge.source])
            out.append((at[edge.source], at[point], edge.node))
            point = edge.source
        return merged(out[::-1])

    def slack(self):
        """{node: how much later it might end, itself alone, until the last end moves}"""
        edges = self.edges(lambda node: 1)
        at = self.times(edges)
        late = dict.fromkeys(at, max(at.values()))
        for _ in range(len(at)):
            for edge in edges:
                late[edge.source] = min(late[edge.source], late[edge.target] - edge.length)
        return {node: late[node, 1] - at[node, 1] for node in self.nodes}


def merged(pieces):
    """What follows each other and is one node's is one piece; pieces of no length are none."""
    out = []
    for start, end, node in pieces:
        if out and out[-1][2] is node and out[-1][1] == start:
            out[-1] = (out[-1][0], end, node)
        elif end > start:
            out.append((start, end, node))
    return out
