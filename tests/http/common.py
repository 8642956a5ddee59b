# SPDX-License-Identifier: Apache-2.0
"""One server over the samples for all tests of a script; raw requests where urllib knows better.

A test is a function that takes the server; it fails by an assertion. `main` runs all of a script and
prints "ok NAME" or "not ok NAME: why".
"""

import http.client
import json
import pathlib
import socket
import sys
import traceback
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "faults"))
import harness  # noqa: E402

RUN = "step_1000"


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def text(self):
        return self.body.decode()


def ask(server, path, method="GET", headers=None, body=None, **query):
    """A request as it stands: nothing is followed, packed or mended."""
    target = path + ("?" + urllib.parse.urlencode(query) if query else "")
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request(method, target, body=body, headers=headers or {})
    reply = connection.getresponse()
    answer = Reply(reply.status, reply.headers, reply.read())
    connection.close()
    return answer


def good(server, path, **query):
    reply = ask(server, path, **query)
    assert reply.status == 200, (path, query, reply.status, reply.body[:300])
    return reply


def talk(server, request, wait_s=2):
    """Bytes out, bytes back, until the server closes or says nothing more."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=wait_s) as wire:
        wire.sendall(request)
        got = b""
        try:
            while piece := wire.recv(65536):
                got += piece
        except TimeoutError:
            pass
    return got


def serve_samples(place, *arguments):
    for name in ("step_500", "step_1000", "step_1500"):
        place.sample(name)
    server = place.serve(*arguments)
    server.port = int(server.url.rsplit(":", 1)[1].split("/")[0])
    return server


def main(tests, *arguments):
    place, failed = harness.Place(), 0
    try:
        server = serve_samples(place, *arguments)
        server.until_settled()
        for test in tests:
            if sys.argv[1:] and not any(word in test.__name__ for word in sys.argv[1:]):
                continue
            try:
                test(server)
                print(f"ok {test.__name__}", flush=True)
            except Exception as error:
                failed += 1
                where = traceback.extract_tb(error.__traceback__)[-1]
                print(f"not ok {test.__name__}: {str(error)[:1500] or type(error).__name__} "
                      f"({pathlib.Path(where.filename).name}:{where.lineno} {where.line})", flush=True)
        assert server.process.poll() is None, "the server has ended: " + server.words()[-2000:]
        code = server.stop()
        assert code == 0, f"exit code {code}: {server.words()[-2000:]}"
        words = harness.sanitizer_words(place)
        assert not words, words
    except AssertionError as error:
        failed += 1
        print(f"not ok server: {error}", flush=True)
    finally:
        place.close()
    sys.exit(1 if failed else 0)
