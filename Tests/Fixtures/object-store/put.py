#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stores a file in buckets of serve.py, which are made first.

Usage: put.py PORT FILE BUCKET/KEY…; keys as they are, not percent-encoded.
"""
import hashlib
import hmac
import http.client
import sys
import time
import urllib.parse


def send(server, method, path, body=b"", query=None):
    """Sends one signed request to "ADDRESS:PORT", and returns the status and the body of its answer."""
    target = urllib.parse.quote(path)
    text = "&".join(
        f"{urllib.parse.quote(name, safe='')}={urllib.parse.quote(value, safe='')}" for name, value in sorted((query or {}).items()))
    now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    fields = {
        "content-type": "image/jpeg", "host": server, "x-amz-content-sha256": hashlib.sha256(body).hexdigest(), "x-amz-date": now}
    names = ";".join(fields)
    request = [method, target, text] + [f"{name}:{value}" for name, value in fields.items()]
    request += ["", names, fields["x-amz-content-sha256"]]
    scope = f"{now[:8]}/us-east-1/s3/aws4_request"
    signed = ["AWS4-HMAC-SHA256", now, scope, hashlib.sha256("\n".join(request).encode()).hexdigest()]
    key = b"AWS4testing"
    for word in scope.split("/"):
        key = hmac.digest(key, word.encode(), "sha256")
    signature = hmac.digest(key, "\n".join(signed).encode(), "sha256").hex()
    fields["authorization"] = (
        f"AWS4-HMAC-SHA256 Credential=test:tester/{scope}, SignedHeaders={names}, Signature={signature}")
    connection = http.client.HTTPConnection(server, timeout=60)
    try:
        connection.request(method, target + ("?" + text if text else ""), body, fields)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def put(server, path, body, accepted):
    status, answer = send(server, "PUT", path, body)
    for _ in range(60):
        # The store has too much to do, as S3 may have: clients try it again.
        if status != 503:
            break
        time.sleep(1)
        status, answer = send(server, "PUT", path, body)
    if status not in accepted:
        sys.exit(f"{path}: {status} {answer.decode()}")


if __name__ == "__main__":
    port, file, *paths = sys.argv[1:]
    store = f"127.0.0.1:{port}"
    for bucket in sorted({path.split("/")[0] for path in paths}):
        # 409: it is there already.
        put(store, "/" + bucket, b"", [200, 409])
    with open(file, "rb") as source:
        content = source.read()
    for path in paths:
        put(store, "/" + path, content, [200])
