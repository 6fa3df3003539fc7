// node sign.js KEYFILE TARGET
const { createHmac } = require("node:crypto");
const { readFileSync } = require("node:fs");

// Raw bytes less one final newline, or what stands behind hex: or base64:.
function readKey(path) {
  let bytes = readFileSync(path);
  if (bytes.at(-1) === 0x0a) bytes = bytes.subarray(0, -1);
  const text = bytes.toString("latin1");
  const hex = /^hex:((?:[0-9a-fA-F]{2})+)$/.exec(text);
  if (hex) return Buffer.from(hex[1], "hex");
  const base64 = /^base64:([\w+/-]+)=*$/.exec(text);
  if (base64) return Buffer.from(base64[1], "base64");
  if (/^(hex|base64):/.test(text)) throw new Error(`${path} holds no key`);
  return bytes;
}

const target = process.argv[3];
if (!target?.startsWith("/") || target.includes("&sig=")) {
  console.error("usage: sign.js KEYFILE TARGET; TARGET is path and query without a signature, such as /img?url=...");
  process.exit(2);
}
const key = readKey(process.argv[2]);
if (key.length < 16) throw new Error(`${process.argv[2]} holds a key of fewer than 16 bytes`);
const code = createHmac("sha256", key).update(target).digest("base64url");
console.log(`${target}&sig=${code}`);
