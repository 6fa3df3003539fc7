# python3 sign.py KEYFILE TARGET
import base64, binascii, hashlib, hmac, sys


def read_key(path):
    """Raw bytes less one final newline, or what stands behind hex: or base64:."""
    text = open(path, "rb").read().removesuffix(b"\n")
    if text.startswith(b"hex:"):
        return binascii.unhexlify(text[4:])
    if text.startswith(b"base64:"):
        text = text[7:].rstrip(b"=").replace(b"-", b"+").replace(b"_", b"/")
        return base64.b64decode(text + b"=" * (-len(text) % 4), validate=True)
    return text


target = sys.argv[2] if len(sys.argv) == 3 else ""
if not target.startswith("/") or "&sig=" in target:
    sys.exit("usage: sign.py KEYFILE TARGET; TARGET is path and query without a signature, such as /img?url=...")
key = read_key(sys.argv[1])
if len(key) < 16:
    sys.exit(f"{sys.argv[1]} holds a key of fewer than 16 bytes")
code = hmac.new(key, target.encode(), hashlib.sha256).digest()
print(target + "&sig=" + base64.urlsafe_b64encode(code).rstrip(b"=").decode())
