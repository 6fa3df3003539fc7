#!/bin/sh
# sign.sh KEYFILE TARGET
set -eu

case ${2-} in
*'&sig='*) echo "the target has a signature already: path and query come without one" >&2; exit 2 ;;
/*) ;;
*) echo "usage: sign.sh KEYFILE TARGET; TARGET is path and query without a signature, such as /img?url=..." >&2; exit 2 ;;
esac

hex() { od -An -v -tx1 | tr -d ' \n'; }

# Raw bytes less one final newline, or what stands behind hex: or base64:.
key=$(hex <"$1" | sed 's/0a$//')
case $key in
6865783a*) key=$(tail -c +5 "$1" | tr -d '\n') ;;
6261736536343a*)
    text=$(tail -c +8 "$1" | tr -d '=\n' | tr _ / | tr - +)
    while [ $((${#text} % 4)) -ne 0 ]; do text="$text="; done
    key=$(printf %s "$text" | openssl base64 -d -A | hex)
    ;;
esac
case $key in *[!0-9A-Fa-f]*) key='' ;; esac
if [ ${#key} -lt 32 ] || [ $((${#key} % 2)) -ne 0 ]; then
    echo "$1 holds no key" >&2
    exit 1
fi

sig=$(printf %s "$2" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A | tr '+/' '-_' | tr -d '=')
printf '%s&sig=%s\n' "$2" "$sig"
