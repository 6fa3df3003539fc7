#!/bin/sh
# sign.sh KEYFILE TARGET
key=$(od -An -v -tx1 "$1" | tr -d ' \n' | sed 's/0a$//')
sig=$(printf %s "$2" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A | tr '+/' '-_' | tr -d '=')
printf '%s&sig=%s\n' "$2" "$sig"
