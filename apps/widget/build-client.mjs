// Builds what browsers load into dist/client: widget.js (the launcher, a classic script), chunks/<name>-<hash>.js (the
// conversation with its panel, parts that few need, the same over HTTP, and one file a language) and manifest.json (name → file). Fails where
// the files are above their budget.
//   node build-client.mjs [--folder dist/client] [--budget 30000]
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { minify } from "@swc/core";
import { build, transform } from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const CLIENT = join(HERE, "client");
const TARGET = "es2022";

/** Bytes after `gzip -9`: of the launcher with English, and of all that a conversation loads. */
export const BUDGET = { launcher: 10_000, everything: 30_000 };

const fromClient = createRequire(import.meta.resolve("socket.io-client/package.json"));
const SOCKET = join(dirname(fromClient.resolve("socket.io-client/package.json")), "build", "esm", "socket.js");
/** The file that visitors load whose network refuses WebSockets. */
const OVER_HTTP = join(CLIENT, "connection", "open-http-socket.ts");

/** What few visitors or sites need, loaded when it is: files of the build by name. */
const PARTS = {
  forms: "panel/forms.tsx",
  files: "panel/files.tsx",
  chats: "panel/chats.tsx",
  custom: "launch/custom-launcher.ts",
};

/** The conversation needs the library's `Socket` alone; what goes over HTTP has the whole of the library. */
const slimSocketIo = {
  name: "slim-socket-io",
  setup({ onResolve }) {
    onResolve({ filter: /^socket\.io-client$/ }, ({ importer }) => (importer === OVER_HTTP ? null : { path: SOCKET }));
    // Its constants are worked out when it is loaded, which esbuild takes for a reason to keep them.
    onResolve({ filter: /^\.\/is-binary\.js$/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path),
      sideEffects: false,
    }));
  },
};

/** A style sheet is imported as its text. */
const styleText = {
  name: "style-text",
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const source = readFileSync(path, "utf8");
      const { code } = await transform(source, { loader: "css", minify: true, target: ["chrome111", "safari16.4"] });
      return { contents: code.trim(), loader: "text" };
    });
  },
};

const shared = {
  bundle: true,
  write: false,
  target: TARGET,
  platform: "browser",
  charset: "utf8",
  outdir: CLIENT,
  absWorkingDir: HERE,
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
  plugins: [slimSocketIo, styleText],
  // A library that tells development from production is built for production.
  define: { "process.env.NODE_ENV": '"production"' },
  logLevel: "warning",
  metafile: true,
};

/** Names of the languages: each file of client/locales with a two-letter name. */
const languages = readdirSync(join(CLIENT, "locales"))
  .filter((name) => /^[a-z]{2}\.json$/.test(name))
  .map((name) => name.slice(0, 2));

const zipped = (bytes) => gzipSync(bytes, { level: 9 }).length;

/** The scripts of `options`, bundled by esbuild and minified by SWC, which leaves a twentieth less than esbuild. */
async function buildScripts(options) {
  const { outputFiles, metafile } = await build({ ...shared, ...options });
  const scripts = await Promise.all(
    outputFiles.map(async ({ path, text }) => {
      const { code } = await minify(text, {
        module: options.format === "esm",
        compress: { passes: 3, ecma: 2022 },
        mangle: true,
      });
      return { name: basename(path, ".js"), contents: Buffer.from(code) };
    }),
  );
  return { scripts, metafile };
}

/**
 * Builds, and answers what was made without writing it: the files by path, the manifest, the sizes in bytes after
 * `gzip -9`, and what esbuild says about what is in them.
 */
export async function buildClient() {
  const entryPoints = { panel: join(CLIENT, "chat.ts"), polling: OVER_HTTP };
  for (const [name, path] of Object.entries(PARTS)) entryPoints[name] = join(CLIENT, path);
  for (const language of languages) entryPoints[language] = join(CLIENT, "locales", `${language}.json`);
  const chunks = await buildScripts({ entryPoints, format: "esm" });
  // One hash for all of them: the launcher need not know each.
  const hash = createHash("sha256");
  for (const { contents } of chunks.scripts) hash.update(contents);
  const mark = hash.digest("hex").slice(0, 8);
  const launcher = await buildScripts({
    entryPoints: { widget: join(CLIENT, "launcher.ts") },
    format: "iife",
    define: { ...shared.define, BUILD: JSON.stringify(mark) },
  });

  const files = new Map(launcher.scripts.map(({ name, contents }) => [`${name}.js`, contents]));
  const manifest = {};
  const sizes = { launcher: zipped(files.get("widget.js")) };
  for (const { name, contents } of chunks.scripts) {
    manifest[name] = `chunks/${name}-${mark}.js`;
    files.set(manifest[name], contents);
    sizes[name] = zipped(contents);
  }
  return { files, manifest, sizes, inputs: [launcher.metafile, chunks.metafile] };
}

/** Bytes of a first visit's launcher with English, and of all that a conversation loads; the same with each language. */
export function sumSizes({ launcher, panel, polling, ...others }) {
  const isPart = ([name]) => Object.hasOwn(PARTS, name);
  const parts = Object.fromEntries(Object.entries(others).filter(isPart));
  const locales = Object.fromEntries(Object.entries(others).filter((entry) => !isPart(entry)));
  const largest = Object.keys(locales).reduce((name, other) => (locales[other] > locales[name] ? other : name));
  return {
    launcher: launcher + locales.en,
    everything: launcher + locales.en + panel,
    withLargest: {
      language: largest,
      launcher: launcher + locales[largest],
      everything: launcher + locales[largest] + panel,
    },
    overHttp: polling,
    parts,
    locales,
  };
}

/** What is above its budget, in words; empty where nothing is. */
export function checkBudget(sizes, budget = BUDGET) {
  const sums = sumSizes(sizes);
  return Object.keys(budget).flatMap((name) =>
    sums[name] <= budget[name]
      ? []
      : `The widget's ${name} has ${sums[name]} bytes gzipped, ${sums[name] - budget[name]} above its budget of ${budget[name]}: leave something out, or load it later.`,
  );
}

function write(folder, { files, manifest }) {
  mkdirSync(join(folder, "chunks"), { recursive: true });
  for (const [name, contents] of files) writeFileSync(join(folder, name), contents);
  writeFileSync(join(folder, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  for (const name of readdirSync(join(folder, "chunks")))
    if (!files.has(`chunks/${name}`)) rmSync(join(folder, "chunks", name));
}

async function main() {
  const { values } = parseArgs({ options: { folder: { type: "string" }, budget: { type: "string" } } });
  const budget = { ...BUDGET, ...(values.budget !== undefined && { everything: Number(values.budget) }) };
  const made = await buildClient();
  write(values.folder === undefined ? join(HERE, "dist", "client") : resolve(values.folder), made);
  const { launcher, everything, withLargest } = sumSizes(made.sizes);
  process.stdout.write(
    `The widget gzipped, with English: launcher ${launcher} of ${budget.launcher} bytes, all together ${everything} of ${budget.everything} (with ${withLargest.language}, the largest language, ${withLargest.everything}).\n`,
  );
  for (const error of checkBudget(made.sizes, budget)) {
    process.stderr.write(`${error}\n`);
    process.exitCode = 1;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
