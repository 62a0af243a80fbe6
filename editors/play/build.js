// Bundles the editor, with the licences of what is in it, and notes what it was made from.

import { createHash } from "node:crypto";
import { appendFileSync, readFileSync, readdirSync } from "node:fs";
import { build } from "esbuild";

const outfile = "../../saftc/play/editor.js";
const sources = ["editor.js", "package-lock.json"];

const { metafile } = await build({
  entryPoints: ["editor.js"],
  bundle: true,
  minify: true,
  format: "iife",
  globalName: "saft",
  metafile: true,
  outfile,
});
const folders = Object.keys(metafile.inputs).map((path) => /^node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0]);
const licences = new Map();
for (const folder of [...new Set(folders)].filter(Boolean).sort()) {
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  if (file === undefined) throw new Error(`${folder} has no licence`);
  const text = readFileSync(`${folder}/${file}`, "utf8").trim().replaceAll("*/", "* /");
  licences.set(text, [...(licences.get(text) ?? []), folder.slice("node_modules/".length)]);
}
for (const [text, names] of licences) appendFileSync(outfile, `/* ${names.join(", ")}:\n\n${text}\n*/\n`);
const hash = createHash("sha256");
for (const source of sources) hash.update(readFileSync(source));
appendFileSync(outfile, `// made from ${hash.digest("hex")}\n`);
