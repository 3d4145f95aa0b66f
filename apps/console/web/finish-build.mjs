// Ends the build of the web app: writes each file's gzip and Brotli form beside it, and fails where a first visit of the
// inbox loads more script than its budget.
//   node finish-build.mjs [--budget 200000]
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const FOLDER = join(dirname(fileURLToPath(import.meta.url)), "..", "dist-web");
const MANIFEST = "build-manifest.json";
/** Bytes of script after `gzip -9` that the inbox loads before it is usable. */
const BUDGET_BYTES = 200_000;
/** What a first visit of the inbox starts from: the page itself, the inbox's own part, the longer texts of a language. */
const ENTRIES = ["index.html", "src/inbox/inbox-page.tsx", "src/i18n/de.json?first"];
const TEXTS = /\.(?:js|css|html|svg|json|webmanifest)$/;

/** The files of these entries and of all that they import at once, each once. */
function filesOf(manifest, entries) {
  const files = new Set();
  const seen = new Set();
  const visit = (name) => {
    const chunk = manifest[name];
    if (seen.has(name)) return;
    if (chunk === undefined) throw new Error(`The build has no ${name}. Mend ENTRIES in finish-build.mjs.`);
    seen.add(name);
    files.add(chunk.file);
    for (const other of chunk.imports ?? []) visit(other);
  };
  for (const entry of entries) visit(entry);
  return [...files];
}

function compress(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !TEXTS.test(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = readFileSync(path);
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }));
  }
}

const { values } = parseArgs({ options: { budget: { type: "string" } } });
const budget = Number(values.budget ?? BUDGET_BYTES);
const manifest = JSON.parse(readFileSync(join(FOLDER, MANIFEST), "utf8"));
const scripts = filesOf(manifest, ENTRIES).filter((file) => file.endsWith(".js"));
const sizes = scripts.map((file) => gzipSync(readFileSync(join(FOLDER, file)), { level: 9 }).length);
const total = sizes.reduce((sum, size) => sum + size, 0);
// It names the sources, which nobody needs who visits the page.
rmSync(join(FOLDER, MANIFEST));
compress(FOLDER);
process.stdout.write(
  `The console's inbox loads ${total} of ${budget} bytes of script, gzipped, in ${scripts.length} files.\n`,
);
if (total > budget) {
  process.stderr.write(`That is ${total - budget} above its budget: leave something out, or load it later.\n`);
  process.exitCode = 1;
}
