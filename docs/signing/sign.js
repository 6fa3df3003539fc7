// node sign.js KEYFILE TARGET
const { createHmac } = require("node:crypto");
const { readFileSync } = require("node:fs");

let key = readFileSync(process.argv[2]);
if (key.at(-1) === 0x0a) key = key.subarray(0, -1);
const target = process.argv[3];
console.log(`${target}&sig=${createHmac("sha256", key).update(target).digest("base64url")}`);
