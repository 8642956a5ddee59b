#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who asks: signatures made again by botocore, claims checked by OpenSSL, tokens that end, clocks that are wrong."""

import base64
import datetime
import hashlib
import http.client
import http.server
import json
import os
import shutil
import ssl
import subprocess
import threading
import time
import urllib.parse

import test_reads as buckets
from test_reads import KEY, SECRET, Skip, harness, jviewd, store

from botocore.auth import S3SigV4Auth  # noqa: E402
from botocore.awsrequest import AWSRequest  # noqa: E402
from botocore.credentials import Credentials  # noqa: E402


class StandIn:
    """Answers by a function of (method, path, headers, body): (status, headers, bytes)."""

    def __init__(self, answer, tls=None):
        self.asked = []
        stand_in = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                headers = {name.title(): value for name, value in self.headers.items()}
                stand_in.asked.append((self.command, self.path, headers, body))
                self.say(*answer(self.command, self.path, headers, body))

            def say(self, status, headers, body):
                self.send_response_only(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_CONNECT(self):
                """A proxy for one host: what is asked of that is answered here, with its certificate."""
                stand_in.asked.append(("CONNECT", self.path, {}, b""))
                self.send_response_only(200)
                self.end_headers()
                self.connection = tls.wrap_socket(self.connection, server_side=True)
                self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", buffering=0)
                self.close_connection = False

            do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = do

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None
        self.host = f"127.0.0.1:{self.server.server_address[1]}"
        self.url = f"http://{self.host}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def signed_again(method, url, headers, region):
    """The signature as botocore makes it."""
    said = headers["Authorization"]
    names = said.split("SignedHeaders=")[1].split(",")[0].split(";")
    request = AWSRequest(method=method, url=url, headers={name: headers[name.title()] for name in names if name != "host"})
    request.context["timestamp"] = headers["X-Amz-Date"]
    signer = S3SigV4Auth(Credentials(KEY, SECRET), "s3", region)
    whole = signer.canonical_request(request)
    return signer.signature(signer.string_to_sign(request, whole), request) == said.split("Signature=")[1]


def every_signature_is_botocores(place):
    """Names with spaces, plus, percent and umlauts in lists, ranges, parts and removals."""
    s3 = store(place)
    s3.bucket("signed")
    run = buckets.samples(place) / "step_500"
    for key in ("a b+c%20d/ü.jvz", "q?x=1&y#z/h.jvz"):
        assert jviewd(place, "bundle", run, "-o", f"s3://signed/{key}", env=s3.env, cache="signed").returncode == 0
        assert jviewd(place, "top", f"s3://signed/{key}", env=s3.env, cache="signed").returncode == 0
    large = place.dir / "large.xplane.pb"
    harness.make_profile(large, events=700000)
    assert jviewd(place, "extract", large, "--format", "csv", "-o", "s3://signed/100%/x+y.csv", env=s3.env, cache="signed").returncode == 0
    assert jviewd(place, "prune", "s3://signed", "--keep", "0", "--delete", env=s3.env, cache="signed").returncode == 0
    methods = {method for method, _, _ in s3.proxy.asked}
    assert methods == {"GET", "PUT", "POST", "HEAD", "DELETE"}, methods
    for method, path, headers in s3.proxy.asked:
        assert signed_again(method, s3.proxy.url + path, headers, "us-east-1"), (method, path, headers)
    method, path, headers = s3.proxy.asked[0]
    assert not signed_again(method, s3.proxy.url + path + "x", headers, "us-east-1"), "the check can fail"


def hmac_keys_of_google(place):
    s3 = store(place)
    env = {"GS_ACCESS_KEY_ID": KEY, "GS_SECRET_ACCESS_KEY": SECRET, "STORAGE_EMULATOR_HOST": s3.proxy.url}
    local = jviewd(place, "top", buckets.samples(place) / "step_1000", cache="local")
    done = jviewd(place, "top", "gs://team/runs/step_1000", env=env, cache="hmac")
    assert done.returncode == 0 and done.stdout == local.stdout, done
    assert s3.proxy.asked and all(signed_again(method, s3.proxy.url + path, headers, "auto") for method, path, headers in s3.proxy.asked), s3.proxy.asked
    told = subprocess.run([harness.program(), "doctor", "gs://team/runs", "--cache-dir", str(place.dir / "hmac")], capture_output=True, text=True,
                          env={**os.environ, **env})
    assert f"the HMAC key {KEY}" in told.stdout and SECRET not in told.stdout + told.stderr, told
    half = jviewd(place, "list", "gs://team/runs", env={**env, "GS_SECRET_ACCESS_KEY": ""}, cache="hmac")
    assert half.returncode == 2 and "only one of GS_ACCESS_KEY_ID" in half.stderr, half
    done = jviewd(place, "bundle", buckets.samples(place) / "step_500", "-o", "gs://team/x.jvz", env=env, cache="hmac")
    assert done.returncode == 2 and "read only" in done.stderr, done


def single_sign_on(place):
    s3 = store(place)
    home = place.dir / "home" / ".aws"
    (home / "sso/cache").mkdir(parents=True)
    (home / "config").write_text("[profile team]\nsso_session = corp\nsso_account_id = 123456789012\nsso_role_name = Reader\nregion = us-east-1\n"
                                 f"endpoint_url = {s3.proxy.url}\n\n[sso-session corp]\nsso_region = eu-west-1\nsso_start_url = https://corp.example/start\n")
    token = home / "sso/cache" / (hashlib.sha1(b"corp").hexdigest() + ".json")
    refuses = []

    def portal(method, path, headers, body):
        if refuses or headers.get("X-Amz-Sso_Bearer_Token") != "SSO-TOKEN":
            return 401, {}, b'{"message": "Session token not found or invalid"}'
        assert path == "/federation/credentials?account_id=123456789012&role_name=Reader", path
        return 200, {}, json.dumps({"roleCredentials": {"accessKeyId": KEY, "secretAccessKey": SECRET, "sessionToken": "SESSION",
                                                        "expiration": int((time.time() + 3600) * 1000)}}).encode()

    place.portal = StandIn(portal)
    env = {"AWS_PROFILE": "team", "AWS_EC2_METADATA_DISABLED": "true", "AWS_ENDPOINT_URL_SSO": place.portal.url}

    def leave(seconds):
        ends = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
        token.write_text(json.dumps({"startUrl": "https://corp.example/start", "region": "eu-west-1", "accessToken": "SSO-TOKEN",
                                     "expiresAt": ends.strftime("%Y-%m-%dT%H:%M:%SZ")}))

    for prepare, part in ((lambda: None, "was not done on this machine"), (lambda: leave(-60), "has expired"),
                          (lambda: (leave(3600), refuses.append(1)), "is refused")):
        prepare()
        done = jviewd(place, "list", "s3://team/runs", env=env, cache="sso")
        assert done.returncode == 4 and part in done.stderr and "aws sso login --profile team" in done.stderr, (part, done)
        assert "SSO-TOKEN" not in done.stderr + done.stdout, done
    refuses.clear()
    s3.proxy.forget()
    done = jviewd(place, "list", "s3://team/runs", env=env, cache="sso")
    assert done.returncode == 0 and "step_1000" in done.stdout, done
    assert s3.proxy.asked[0][2]["X-Amz-Security-Token"] == "SESSION" and signed_again("GET", s3.proxy.url + s3.proxy.asked[0][1], s3.proxy.asked[0][2],
                                                                                      "us-east-1")


def a_clock_that_is_wrong(place):
    """The store's Date is taken for the next try; a store that is never content is told, not asked for ever."""
    s3 = store(place)
    refused = []

    def ahead(handler, _, shift=7200):
        there = time.time() + shift
        asked = datetime.datetime.strptime(handler.headers["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc).timestamp()
        if abs(asked - there) < 900:
            return False
        refused.append(1)
        date = datetime.datetime.fromtimestamp(there, datetime.timezone.utc).strftime("%a, %d %b %Y %H:%M:%S GMT")
        handler.reply(403, [("Date", date)], b"<Error><Code>RequestTimeTooSkewed</Code><Message>far</Message></Error>")
        return True

    s3.proxy.fault = ahead
    done = jviewd(place, "top", "s3://team/runs/step_1000", env=s3.env, cache="skew")
    assert done.returncode == 0 and "fusion" in done.stdout and len(refused) == 1, (refused, done)
    s3.proxy.forget()

    def never(handler, _):
        handler.reply(403, [("Date", "Thu, 01 Jan 2026 00:00:00 GMT")], b"<Error><Code>RequestTimeTooSkewed</Code></Error>")
        return True

    s3.proxy.fault = never
    done = jviewd(place, "list", "s3://team", env=s3.env, cache="skew")
    assert done.returncode == 4 and "RequestTimeTooSkewed" in done.stderr and len(s3.proxy.asked) == 2, (s3.proxy.asked, done)


def authority(place):
    """A certificate of storage.googleapis.com by an authority of this test, and what trusts it."""
    folder = place.dir / "tls"
    folder.mkdir()

    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-subj", "/CN=storage.googleapis.com",
            "-addext", "subjectAltName=DNS:storage.googleapis.com")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context, folder / "cert.pem"


def google_store(place, token_of):
    """An emulator behind the name storage.googleapis.com, which takes only the token that token_of() says."""
    address, post, _ = buckets.google(place)
    for path in (buckets.samples(place) / "step_1000").rglob("*.pb"):
        part = (b'--x\r\nContent-Type: application/json\r\n\r\n' + json.dumps({"name": "runs/step_1000/" + path.name}).encode() +
                b'\r\n--x\r\nContent-Type: application/octet-stream\r\n\r\n' + path.read_bytes() + b'\r\n--x--')
        post("/upload/storage/v1/b/team/o?uploadType=multipart", part, 'multipart/related; boundary="x"')

    def forward(method, path, headers, body):
        if headers.get("Authorization") != f"Bearer {token_of()}":
            return 401, {}, b'{"error": {"message": "Invalid Credentials"}}'
        connection = http.client.HTTPConnection(address, timeout=30)
        connection.request(method, path, body=body, headers={name: value for name, value in headers.items() if name in ("Range", "Content-Type")})
        reply = connection.getresponse()
        data = reply.read()
        return reply.status, {name: value for name, value in reply.getheaders() if name.lower() in ("content-range", "x-goog-generation", "etag")}, data

    context, trusted = authority(place)
    proxy = StandIn(forward, context)
    return proxy, {"https_proxy": proxy.url, "HTTPS_PROXY": proxy.url, "CURL_CA_BUNDLE": str(trusted), "no_proxy": "", "NO_PROXY": ""}


def a_claim_that_openssl_checks(place):
    """A service account: its JWT's signature, its claims, and the token that it gets, which ends soon and is renewed."""
    if shutil.which("openssl") is None:
        raise Skip("no openssl to check a claim with")
    subprocess.run(["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", "sa.pem"], cwd=place.dir, check=True,
                   capture_output=True)
    subprocess.run(["openssl", "pkey", "-in", "sa.pem", "-pubout", "-out", "sa.pub"], cwd=place.dir, check=True, capture_output=True)
    given, wrong = [], []

    def bytes_of(text):
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))

    def tokens(method, path, headers, body):
        form = dict(urllib.parse.parse_qsl(body.decode()))
        head, claim, signature = form["assertion"].split(".")
        (place.dir / "signed").write_text(f"{head}.{claim}")
        (place.dir / "signature").write_bytes(bytes_of(signature))
        check = subprocess.run(["openssl", "dgst", "-sha256", "-verify", "sa.pub", "-signature", "signature", "signed"], cwd=place.dir, capture_output=True)
        head, claim = json.loads(bytes_of(head)), json.loads(bytes_of(claim))
        if not (check.returncode == 0 and head == {"alg": "RS256", "typ": "JWT", "kid": "k1"} and claim["iss"] == "reader@p.iam.gserviceaccount.com" and
                claim["aud"] == place.tokens.url + "/token" and claim["scope"].startswith("https://www.googleapis.com/auth/devstorage") and
                abs(claim["iat"] - time.time()) < 60 and claim["exp"] - claim["iat"] == 3600 and
                form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"):
            wrong.append((check, head, claim))
            return 400, {}, b'{"error": "invalid_grant"}'
        given.append(f"GIVEN-TOKEN-{len(given)}")
        return 200, {}, json.dumps({"access_token": given[-1], "expires_in": 1, "token_type": "Bearer"}).encode()

    place.tokens = StandIn(tokens)
    proxy, env = google_store(place, lambda: given[-1] if given else "none")
    account = {"type": "service_account", "client_email": "reader@p.iam.gserviceaccount.com", "private_key_id": "k1",
               "private_key": (place.dir / "sa.pem").read_text(), "token_uri": place.tokens.url + "/token"}
    (place.dir / "account.json").write_text(json.dumps(account))
    env = {**env, "GOOGLE_APPLICATION_CREDENTIALS": str(place.dir / "account.json"), "no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"}
    done = jviewd(place, "top", "gs://team/runs/step_1000", env=env, cache="jwt")
    assert done.returncode == 0 and "fusion" in done.stdout and not wrong, (done, wrong)
    assert len(given) >= 2, "a token that has ended is not used again"
    assert ("CONNECT", "storage.googleapis.com:443", {}, b"") in proxy.asked and not any("GIVEN-TOKEN" in path for _, path, _, _ in proxy.asked)
    assert "GIVEN-TOKEN" not in done.stdout + done.stderr and "PRIVATE" not in done.stdout + done.stderr
    untrusted = jviewd(place, "list", "gs://team/runs", env={**env, "CURL_CA_BUNDLE": ""}, cache="jwt2")
    assert untrusted.returncode == 4 and "is not trusted" in untrusted.stderr and "CURL_CA_BUNDLE" in untrusted.stderr, untrusted
    away = {**account, "token_uri": "https://elsewhere.example/token"}
    (place.dir / "account.json").write_text(json.dumps(away))
    done = jviewd(place, "list", "gs://team/runs", env=env, cache="jwt3")
    assert done.returncode == 4 and "does not belong to Google" in done.stderr, done


def the_metadata_server_of_google(place):
    """A TPU VM: no key, no setup."""
    if shutil.which("openssl") is None:
        raise Skip("no openssl to make a certificate with")
    given = []

    def metadata(method, path, headers, body):
        if headers.get("Metadata-Flavor") != "Google" or path != "/computeMetadata/v1/instance/service-accounts/default/token":
            return 403, {}, b"Missing Metadata-Flavor:Google header."
        given.append(f"MACHINE-TOKEN-{len(given)}")
        return 200, {"Metadata-Flavor": "Google"}, json.dumps({"access_token": given[-1], "expires_in": 3599, "token_type": "Bearer"}).encode()

    place.metadata = StandIn(metadata)
    _, env = google_store(place, lambda: given[-1] if given else "none")
    done = jviewd(place, "top", "gs://team/runs/step_1000", env={**env, "GCE_METADATA_HOST": place.metadata.host}, cache="tpu")
    assert done.returncode == 0 and "fusion" in done.stdout and len(given) == 1, (done, given)


def the_metadata_of_amazon(place):
    """IMDSv2: a session's token first, then the role's keys."""
    s3 = store(place)

    def metadata(method, path, headers, body):
        if method == "PUT" and path == "/latest/api/token":
            return 200, {}, b"IMDS-TOKEN"
        if headers.get("X-Aws-Ec2-Metadata-Token") != "IMDS-TOKEN":
            return 401, {}, b""
        if path.endswith("/security-credentials/"):
            return 200, {}, b"trainer"
        return 200, {}, json.dumps({"Code": "Success", "AccessKeyId": KEY, "SecretAccessKey": SECRET, "Token": "SESSION",
                                    "Expiration": (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")}).encode()

    place.metadata = StandIn(metadata)
    env = {"AWS_ENDPOINT_URL": s3.proxy.url, "AWS_EC2_METADATA_SERVICE_ENDPOINT": place.metadata.url}
    done = jviewd(place, "list", "s3://team/runs", env=env, cache="imds")
    assert done.returncode == 0 and "step_1000" in done.stdout, done
    assert s3.proxy.asked[0][2]["X-Amz-Security-Token"] == "SESSION"


if __name__ == "__main__":
    harness.main([every_signature_is_botocores, hmac_keys_of_google, single_sign_on, a_clock_that_is_wrong, a_claim_that_openssl_checks,
                  the_metadata_server_of_google, the_metadata_of_amazon])
