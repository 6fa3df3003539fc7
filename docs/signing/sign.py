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


target = sys.argv[2]
if not target.startswith("/"):
    sys.exit("TARGET is path and query, such as /img?url=...")
code = hmac.new(read_key(sys.argv[1]), target.encode(), hashlib.sha256).digest()
print(target + "&sig=" + base64.urlsafe_b64encode(code).rstrip(b"=").decode())
