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

    def __init__(self, answer, tls=None, password=None):
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
                """A proxy: what is asked of hosts behind it is answered here, with their certificate."""
                stand_in.asked.append(("CONNECT", self.path, {}, b""))
                if password and self.headers.get("Proxy-Authorization") != "Basic " + base64.b64encode(password.encode()).decode():
                    self.say(407, {"Proxy-Authenticate": 'Basic realm="p"'}, b"")
                    return
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


HOSTS = ("storage.googleapis.com", "oauth2.googleapis.com", "sts.googleapis.com", "iamcredentials.googleapis.com", "login.microsoftonline.com",
         "devstoreaccount1.blob.core.windows.net", "team.s3.us-east-1.amazonaws.com", "team.s3.eu-west-1.amazonaws.com")


def authority(place):
    """A certificate of the providers' hosts by an authority of this test, and what trusts it."""
    if shutil.which("openssl") is None:
        raise Skip("no openssl to make a certificate with")
    folder = place.dir / "tls"
    folder.mkdir()
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-subj", "/CN=stand-in",
                    "-addext", "subjectAltName=" + ",".join(f"DNS:{host}" for host in HOSTS) + ",IP:127.0.0.1"], cwd=folder, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context, folder / "cert.pem"


def behind(proxy, trusted):
    """The environment that leads through this proxy."""
    return {"https_proxy": proxy.url, "HTTPS_PROXY": proxy.url, "CURL_CA_BUNDLE": str(trusted), "no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"}


def passed_on(address, method, path, headers, body, kept, tls=None):
    """What the store at this address answers; of the headers those that are kept go along."""
    connection = http.client.HTTPSConnection(address, timeout=30, context=tls) if tls else http.client.HTTPConnection(address, timeout=30)
    connection.request(method, path, body=body or None, headers={name: value for name, value in headers.items() if name in kept})
    reply = connection.getresponse()
    data = reply.read()
    connection.close()
    return reply.status, {name: value for name, value in reply.getheaders() if name.lower() not in ("content-length", "transfer-encoding", "connection")}, data


def google_put(place):
    """An emulator of Google with a run in it: its address, and how more is written."""
    address, post, _ = buckets.google(place)

    def put(name, data, bucket="team"):
        part = (b'--x\r\nContent-Type: application/json\r\n\r\n' + json.dumps({"name": name}).encode() +
                b'\r\n--x\r\nContent-Type: application/octet-stream\r\n\r\n' + data + b'\r\n--x--')
        post(f"/upload/storage/v1/b/{bucket}/o?uploadType=multipart", part, 'multipart/related; boundary="x"')
    for path in (buckets.samples(place) / "step_1000").rglob("*.pb"):
        put("runs/step_1000/" + path.name, path.read_bytes())
    return address, put, post


def google_store(place, token_of, others=None, password=None):
    """The emulator behind the name storage.googleapis.com, which takes only the token that token_of(headers) says; others(host) answer for theirs."""
    address, put, post = google_put(place)

    def forward(method, path, headers, body):
        host = headers["Host"].removesuffix(":443")
        if host != "storage.googleapis.com":
            return others[host](method, path, headers, body)
        if headers.get("Authorization") != f"Bearer {token_of(headers)}":
            return 401, {}, b'{"error": {"message": "Invalid Credentials"}}'
        return passed_on(address, method, path, headers, body, ("Range", "Content-Type"))

    context, trusted = authority(place)
    proxy = StandIn(forward, context, password)
    proxy.put, proxy.post = put, post
    return proxy, behind(proxy, trusted)


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
    proxy, env = google_store(place, lambda _: given[-1] if given else "none")
    account = {"type": "service_account", "client_email": "reader@p.iam.gserviceaccount.com", "private_key_id": "k1",
               "private_key": (place.dir / "sa.pem").read_text(), "token_uri": place.tokens.url + "/token"}
    (place.dir / "account.json").write_text(json.dumps(account))
    env = {**env, "GOOGLE_APPLICATION_CREDENTIALS": str(place.dir / "account.json")}
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
    """A TPU VM: no key, no setup. A token that ends before its time, between two ranges, is asked for anew, once."""
    given, refused = [], []

    def metadata(method, path, headers, body):
        if headers.get("Metadata-Flavor") != "Google" or path != "/computeMetadata/v1/instance/service-accounts/default/token":
            return 403, {}, b"Missing Metadata-Flavor:Google header."
        given.append(f"MACHINE-TOKEN-{len(given)}")
        return 200, {"Metadata-Flavor": "Google"}, json.dumps({"access_token": given[-1], "expires_in": 3599, "token_type": "Bearer"}).encode()

    def token_of(headers):
        if ends and "Range" in headers and len(given) == 1:
            refused.append(headers["Range"])
            time.sleep(10.5)  # one that was found just now is not asked for again
            return "ANOTHER"
        return given[-1] if given else "none"

    place.metadata, ends = StandIn(metadata), []
    proxy, env = google_store(place, token_of)
    env = {**env, "GCE_METADATA_HOST": place.metadata.host}
    done = jviewd(place, "top", "gs://team/runs/step_1000", env=env, cache="tpu")
    assert done.returncode == 0 and "fusion" in done.stdout and len(given) == 1, (done, given)
    proxy.post("/storage/v1/b?project=p", json.dumps({"name": "my-bucket"}), "application/json")
    proxy.put("maxtext/run-17/host.xplane.pb", next((harness.SAMPLES / "step_1000").rglob("*.pb")).read_bytes(), "my-bucket")
    (place.dir / "bin").mkdir()
    (place.dir / "bin/jviewd").symlink_to(harness.program())
    command = buckets.recipes()[0]  # word by word
    listed = subprocess.run(["sh", "-c", command + " --list-only"], cwd=place.dir, capture_output=True, text=True, timeout=60,
                            env={**os.environ, **env, "HOME": str(place.dir / "home"), "XDG_CACHE_HOME": str(place.dir / "xdg"),
                                 "PATH": f"{place.dir / 'bin'}:{os.environ['PATH']}"})
    assert listed.returncode == 0 and "run-17" in listed.stdout, (command, listed)
    data = buckets.large(place)
    given.clear()
    proxy.put("big/host.xplane.pb", data)
    ends.append(1)
    done = jviewd(place, "top", "gs://team/big", env=env, cache="ends")
    local = jviewd(place, "top", place.dir / "big", cache="local")
    assert done.returncode == 0 and done.stdout == local.stdout and len(refused) > 1 and len(given) == 2, (done, refused, given)


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


def a_user_of_gcloud(place):
    """The file that `gcloud auth application-default login` leaves, where it leaves it."""
    def tokens(method, path, headers, body):
        form = dict(urllib.parse.parse_qsl(body.decode()))
        if (method, path, form) != ("POST", "/token", {"client_id": "C.apps.googleusercontent.com", "client_secret": "CLIENT+SECRET",
                                                       "grant_type": "refresh_token", "refresh_token": "1//REFRESH-TOKEN"}):
            return 400, {}, b'{"error": "invalid_grant", "error_description": "Token has been expired or revoked."}'
        return 200, {}, b'{"access_token": "USER-TOKEN", "expires_in": 3599, "token_type": "Bearer"}'

    _, env = google_store(place, lambda _: "USER-TOKEN", {"oauth2.googleapis.com": tokens})
    path = place.dir / "home/.config/gcloud/application_default_credentials.json"
    path.parent.mkdir(parents=True)

    def leave(refresh):
        path.write_text(json.dumps({"type": "authorized_user", "client_id": "C.apps.googleusercontent.com", "client_secret": "CLIENT+SECRET",
                                    "refresh_token": refresh, "quota_project_id": "p", "universe_domain": "googleapis.com"}))
    leave("1//REFRESH-TOKEN")
    done = jviewd(place, "top", "gs://team/runs/step_1000", env=env, cache="user")
    assert done.returncode == 0 and "fusion" in done.stdout, done
    leave("1//REVOKED-TOKEN")
    done = jviewd(place, "list", "gs://team/runs", env=env, cache="user2")
    words = done.stdout + done.stderr
    assert done.returncode == 4 and str(path) in done.stderr and "invalid_grant" in done.stderr, done
    assert not any(secret in words for secret in ("REVOKED-TOKEN", "CLIENT+SECRET", "USER-TOKEN")), done


def workload_identity(place):
    """A token of somebody else's, in a file, exchanged at Google for one of a service account's."""
    def exchange(method, path, headers, body):
        form = dict(urllib.parse.parse_qsl(body.decode()))
        good = form == {"audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/k",
                        "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
                        "requested_token_type": "urn:ietf:params:oauth:token-type:access_token", "scope": "https://www.googleapis.com/auth/cloud-platform",
                        "subject_token": "CLUSTER-TOKEN", "subject_token_type": "urn:ietf:params:oauth:token-type:jwt"}
        if not good or (method, path) != ("POST", "/v1/token"):
            return 400, {}, b'{"error": "invalid_request", "error_description": "' + str(sorted(form)).replace('"', "").encode() + b'"}'
        return 200, {}, b'{"access_token": "EXCHANGED-TOKEN", "issued_token_type": "urn:ietf:params:oauth:token-type:access_token", "expires_in": 3600}'

    def impersonate(method, path, headers, body):
        if headers.get("Authorization") != "Bearer EXCHANGED-TOKEN" or path != "/v1/projects/-/serviceAccounts/r@p.iam.gserviceaccount.com:generateAccessToken":
            return 403, {}, b'{"error": {"status": "PERMISSION_DENIED", "message": "iam.serviceAccounts.getAccessToken denied"}}'
        ends = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
        return 200, {}, json.dumps({"accessToken": "ACCOUNT-TOKEN", "expireTime": ends.strftime("%Y-%m-%dT%H:%M:%SZ")}).encode()

    _, env = google_store(place, lambda _: "ACCOUNT-TOKEN", {"sts.googleapis.com": exchange, "iamcredentials.googleapis.com": impersonate})
    (place.dir / "subject.json").write_text('{"id_token": "CLUSTER-TOKEN"}')
    account = {"type": "external_account", "audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/k",
               "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "token_url": "https://sts.googleapis.com/v1/token",
               "credential_source": {"file": str(place.dir / "subject.json"), "format": {"type": "json", "subject_token_field_name": "id_token"}},
               "service_account_impersonation_url":
                   "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/r@p.iam.gserviceaccount.com:generateAccessToken"}
    path = place.dir / "external.json"
    path.write_text(json.dumps(account))
    env = {**env, "GOOGLE_APPLICATION_CREDENTIALS": str(path)}
    done = jviewd(place, "top", "gs://team/runs/step_1000", env=env, cache="wi")
    assert done.returncode == 0 and "fusion" in done.stdout, done
    path.write_text(json.dumps({**account, "service_account_impersonation_url": "https://elsewhere.example/x"}))
    done = jviewd(place, "list", "gs://team/runs", env=env, cache="wi2")
    assert done.returncode == 4 and "does not belong to Google" in done.stderr and "-TOKEN" not in done.stderr, done


def a_proxy_that_wants_a_password(place):
    """One sentence and what mends it, at once; the password is told nowhere."""
    proxy, env = google_store(place, lambda _: "USER-TOKEN", {"oauth2.googleapis.com": lambda *_: (200, {}, b'{"access_token": "USER-TOKEN", "expires_in": 3599}')},
                              "me:pass word")
    path = place.dir / "user.json"
    path.write_text(json.dumps({"type": "authorized_user", "client_id": "C", "client_secret": "S", "refresh_token": "R"}))
    env["GOOGLE_APPLICATION_CREDENTIALS"] = str(path)
    done = jviewd(place, "list", "gs://team/runs", env=env, cache="proxy")
    assert done.returncode == 4 and "requires a password (407)" in done.stderr and "https_proxy=http://USER:PASSWORD@HOST" in done.stderr, done
    assert len(done.stderr.strip().splitlines()) == 1 and len(proxy.asked) <= 2, (done, proxy.asked)
    for password, code in (("me:pass%20word", 0), ("me:wrong%20one", 4)):
        proxy.asked.clear()
        with_it = {**env, "https_proxy": proxy.url.replace("//", f"//{password}@"), "HTTPS_PROXY": ""}
        done = jviewd(place, "top", "gs://team/runs/step_1000", env=with_it, cache=f"proxy-{code}")
        words = done.stdout + done.stderr
        assert done.returncode == code and "pass word" not in words and "%20" not in words and "wrong" not in words, done


def keys_of_a_container(place):
    """ECS and EKS: an address on this machine, with a token from a file; one elsewhere is not told the token."""
    s3 = store(place)

    def agent(method, path, headers, body):
        if (method, path, headers.get("Authorization")) != ("GET", "/v1/credentials", "POD-TOKEN"):
            return 401, {}, b'{"message": "no"}'
        return 200, {}, json.dumps({"AccessKeyId": KEY, "SecretAccessKey": SECRET, "Token": "SESSION", "AccountId": "1",
                                    "Expiration": (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")}).encode()

    place.agent = StandIn(agent)
    (place.dir / "pod").write_text("POD-TOKEN\n")
    env = {"AWS_ENDPOINT_URL": s3.proxy.url, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": str(place.dir / "pod"), "AWS_EC2_METADATA_DISABLED": "true"}
    done = jviewd(place, "list", "s3://team/runs", env={**env, "AWS_CONTAINER_CREDENTIALS_FULL_URI": place.agent.url + "/v1/credentials"}, cache="pod")
    assert done.returncode == 0 and "step_1000" in done.stdout, done
    method, path, headers = s3.proxy.asked[0]
    assert headers["X-Amz-Security-Token"] == "SESSION" and signed_again(method, s3.proxy.url + path, headers, "us-east-1"), s3.proxy.asked
    place.agent.asked.clear()
    for elsewhere in (f"http://{place.agent.host.replace('127.0.0.1', '127.0.0.2')}/v1/credentials", "http://127.0.0.1.example/v1/credentials"):
        done = jviewd(place, "list", "s3://team/runs", env={**env, "AWS_CONTAINER_CREDENTIALS_FULL_URI": elsewhere}, cache="pod2")
        assert done.returncode == 4 and "neither on this machine nor https" in done.stderr and not place.agent.asked, done


def a_bucket_of_another_region(place):
    """Amazon's own hosts: the answer 301 names the region; it is asked there from then on, and signed for it."""
    s3 = store(place)
    port = s3.server.get_host_and_port()[1]

    def amazon(method, path, headers, body):
        host = headers["Host"].removesuffix(":443")
        region = host.split(".")[2]
        if region != "eu-west-1":
            return 301, {"x-amz-bucket-region": "eu-west-1", "Content-Type": "application/xml"}, \
                b"<Error><Code>PermanentRedirect</Code><Endpoint>team.s3-eu-west-1.amazonaws.com</Endpoint><Bucket>team</Bucket></Error>"
        if not signed_again(method, f"https://{host}{path}", headers, region):
            return 403, {}, b"<Error><Code>SignatureDoesNotMatch</Code></Error>"
        return passed_on(f"127.0.0.1:{port}", method, path, headers, body, ("Host", "Range", "If-Match", "Authorization", "X-Amz-Date", "X-Amz-Content-Sha256"))

    context, trusted = authority(place)
    proxy = StandIn(amazon, context)
    env = {**behind(proxy, trusted), **buckets.LENDER, "AWS_REGION": "us-east-1", "AWS_CA_BUNDLE": str(trusted)}
    done = jviewd(place, "top", "s3://team/runs/step_1000", env=env, cache="region")
    assert done.returncode == 0 and "fusion" in done.stdout, (done, proxy.asked)
    hosts = [headers["Host"] for method, _, headers, _ in proxy.asked if method != "CONNECT"]
    assert hosts[0].startswith("team.s3.us-east-1.") and all(host.startswith("team.s3.eu-west-1.") for host in hosts[1:]) and len(hosts) > 2, hosts


def a_shared_access_signature(place):
    """Azurite checks it; by variable and by connection string. It is a secret like a key."""
    connection, client = buckets.azurite(place)
    client.create_container("team")
    for path in (buckets.samples(place) / "step_1000").rglob("*.pb"):
        client.get_blob_client("team", "runs/step_1000/" + path.name).upload_blob(path.read_bytes())
    from azure.storage.blob import ContainerSasPermissions, generate_container_sas
    ends = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
    sas = generate_container_sas("devstoreaccount1", "team", account_key=buckets.AZURITE_KEY, permission=ContainerSasPermissions(read=True, list=True), expiry=ends)
    endpoint = connection.split("BlobEndpoint=")[1].rstrip(";")
    for given in (sas, "?" + sas):
        env = {"AZURE_STORAGE_CONNECTION_STRING": f"BlobEndpoint={endpoint};SharedAccessSignature={given}"}
        done = jviewd(place, "top", "az://team/runs/step_1000", env=env, cache="sas")
        assert done.returncode == 0 and "fusion" in done.stdout, done
    signature = sas.split("sig=")[1].split("&")[0]
    env = {"AZURE_STORAGE_CONNECTION_STRING": f"BlobEndpoint={endpoint};SharedAccessSignature={sas.replace('sp=rl', 'sp=rlw')}"}
    done = jviewd(place, "list", "az://team/runs", env=env, cache="sas2")
    assert done.returncode == 4 and "a shared access signature" in done.stderr and signature not in done.stderr + done.stdout, done
    for path in place.dir.rglob("*"):
        assert "azurite" in path.parts or not path.is_file() or signature.encode() not in path.read_bytes(), path


def a_token_of_entra(place):
    """An application's secret, and a token of the cluster, for one bearer token that Azurite checks; over https alone."""
    context, trusted = authority(place)
    connection, client = buckets.azurite(place, "--oauth", "basic", "--cert", str(trusted), "--key", str(place.dir / "tls/key.pem"))
    client.create_container("team")
    for path in (buckets.samples(place) / "step_1000").rglob("*.pb"):
        client.get_blob_client("team", "runs/step_1000/" + path.name).upload_blob(path.read_bytes())
    address = connection.split("BlobEndpoint=https://")[1].split("/")[0]
    now = int(time.time())

    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
    token = part({"alg": "RS256", "typ": "JWT"}) + "." + part({"aud": "https://storage.azure.com", "iss": "https://sts.windows.net/tenant-1/", "iat": now,
                                                               "nbf": now - 5, "exp": now + 3600, "tid": "tenant-1", "oid": "o"}) + ".c2lnbmVk"
    forms = []

    def azure(method, path, headers, body):
        if headers["Host"].startswith("login."):
            forms.append(dict(urllib.parse.parse_qsl(body.decode())))
            if path != "/tenant-1/oauth2/v2.0/token" or "WRONG" in body.decode():
                return 401, {}, b'{"error": "invalid_client", "error_description": "AADSTS7000215: Invalid client secret provided."}'
            return 200, {}, json.dumps({"token_type": "Bearer", "expires_in": 3599, "access_token": token}).encode()
        return passed_on(address, method, "/devstoreaccount1" + path, headers, body, ("Authorization", "Range", "If-Match", "X-Ms-Date", "X-Ms-Version"),
                         ssl._create_unverified_context())

    proxy = StandIn(azure, context)
    env = {**behind(proxy, trusted), "AZURE_STORAGE_ACCOUNT": "devstoreaccount1", "AZURE_TENANT_ID": "tenant-1", "AZURE_CLIENT_ID": "app-1"}
    (place.dir / "federated").write_text("CLUSTER-TOKEN")
    common = {"client_id": "app-1", "grant_type": "client_credentials", "scope": "https://storage.azure.com/.default"}
    for name, more, form in (("secret", {"AZURE_CLIENT_SECRET": "s+/="}, {"client_secret": "s+/="}),
                             ("federated", {"AZURE_FEDERATED_TOKEN_FILE": str(place.dir / "federated")},
                              {"client_assertion": "CLUSTER-TOKEN", "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"})):
        done = jviewd(place, "top", "az://team/runs/step_1000", env={**env, **more}, cache=f"entra-{name}")
        assert done.returncode == 0 and "fusion" in done.stdout and forms[-1] == {**common, **form}, (done, forms)
    done = jviewd(place, "list", "az://team/runs", env={**env, "AZURE_CLIENT_SECRET": "WRONG-SECRET"}, cache="entra-wrong")
    assert done.returncode == 4 and "AADSTS7000215" in done.stderr and "WRONG" not in done.stderr + done.stdout, done
    plain = {**env, "AZURE_CLIENT_SECRET": "s+/=", "AZURE_STORAGE_CONNECTION_STRING": f"BlobEndpoint=http://{address}/devstoreaccount1;AccountName=devstoreaccount1"}
    done = jviewd(place, "list", "az://team/runs", env=plain, cache="entra-plain")
    assert done.returncode == 4 and "sent over https only" in done.stderr, done


if __name__ == "__main__":
    harness.main([every_signature_is_botocores, hmac_keys_of_google, single_sign_on, a_clock_that_is_wrong, a_claim_that_openssl_checks,
                  the_metadata_server_of_google, the_metadata_of_amazon, a_user_of_gcloud, workload_identity, a_proxy_that_wants_a_password,
                  keys_of_a_container, a_bucket_of_another_region, a_shared_access_signature, a_token_of_entra])
