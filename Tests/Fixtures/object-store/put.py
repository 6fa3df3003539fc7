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


def put(port, path, body, accepted):
    target = urllib.parse.quote(path)
    now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    fields = {
        "content-type": "image/jpeg", "host": f"127.0.0.1:{port}", "x-amz-content-sha256": hashlib.sha256(body).hexdigest(),
        "x-amz-date": now}
    names = ";".join(fields)
    request = ["PUT", target, ""] + [f"{name}:{value}" for name, value in fields.items()]
    request += ["", names, fields["x-amz-content-sha256"]]
    scope = f"{now[:8]}/us-east-1/s3/aws4_request"
    text = ["AWS4-HMAC-SHA256", now, scope, hashlib.sha256("\n".join(request).encode()).hexdigest()]
    key = b"AWS4testing"
    for word in scope.split("/"):
        key = hmac.digest(key, word.encode(), "sha256")
    signature = hmac.digest(key, "\n".join(text).encode(), "sha256").hex()
    fields["authorization"] = (
        f"AWS4-HMAC-SHA256 Credential=test:tester/{scope}, SignedHeaders={names}, Signature={signature}")
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("PUT", target, body, fields)
    answer = connection.getresponse()
    if answer.status not in accepted:
        sys.exit(f"{path}: {answer.status} {answer.read().decode()}")


if __name__ == "__main__":
    port, file, *paths = sys.argv[1:]
    for bucket in sorted({path.split("/")[0] for path in paths}):
        # 409: it is there already.
        put(int(port), "/" + bucket, b"", [200, 409])
    with open(file, "rb") as source:
        content = source.read()
    for path in paths:
        put(int(port), "/" + path, content, [200])
