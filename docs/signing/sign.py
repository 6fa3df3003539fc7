# python3 sign.py KEYFILE TARGET
import base64, hashlib, hmac, sys

key = open(sys.argv[1], "rb").read().removesuffix(b"\n")
target = sys.argv[2]
code = hmac.new(key, target.encode(), hashlib.sha256).digest()
print(target + "&sig=" + base64.urlsafe_b64encode(code).rstrip(b"=").decode())
