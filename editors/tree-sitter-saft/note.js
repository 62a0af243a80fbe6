// Notes in src/parser.c what it was made from; a test compares that.

const { createHash } = require("node:crypto");
const { appendFileSync, readFileSync } = require("node:fs");

const hash = createHash("sha256").update(readFileSync("grammar.js")).digest("hex");
appendFileSync("src/parser.c", `// made from ${hash}\n`);
