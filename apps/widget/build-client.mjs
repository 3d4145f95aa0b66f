// Builds what browsers load into dist/client: widget.js (the launcher, a classic script), chunks/<name>-<hash>.js (the
// panel, and one file a language) and manifest.json (name → file). Fails when the files are above their budget.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build, transform } from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const CLIENT = join(HERE, "client");
const OUT = join(HERE, "dist", "client");
const TARGET = "es2022";

/** Bytes after `gzip -9`. */
const BUDGET = { launcher: 10_000, everything: 30_000 };

const fromClient = createRequire(import.meta.resolve("socket.io-client/package.json"));
const SOCKET_IO = join(dirname(fromClient.resolve("socket.io-client/package.json")), "build", "esm");
const ENGINE_IO = join(dirname(fromClient.resolve("engine.io-client/package.json")), "build", "esm");

/**
 * socket.io-client with the parts that the widget uses: its Manager, a WebSocket, and HTTP polling by `fetch` for where
 * WebSockets do not get through. Left out are WebTransport, polling by XMLHttpRequest, and attached binary data, which no
 * frame of the widget has. The files that remain are the library's own.
 */
const slimSocketIo = {
  name: "slim-socket-io",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^socket\.io-client$/ }, () => ({ path: join(SOCKET_IO, "manager.js") }));
    onResolve({ filter: /^engine\.io-client$/ }, () => ({ path: "engine.io-client", namespace: "slim" }));
    onLoad({ filter: /.*/, namespace: "slim" }, () => ({
      contents: `export { Socket } from "./socket.js";
        export { installTimerFunctions } from "./util.js";
        export { nextTick } from "./globals.node.js";`,
      resolveDir: ENGINE_IO,
    }));
    onLoad({ filter: /engine\.io-client.*[\\/]transports[\\/]index\.js$/ }, () => ({
      contents: `import { WS } from "./websocket.js";
        import { Fetch } from "./polling-fetch.js";
        export const transports = { websocket: WS, polling: Fetch };`,
      resolveDir: join(ENGINE_IO, "transports"),
    }));
    onLoad({ filter: /socket\.io-parser.*[\\/](is-)?binary\.js$/ }, () => ({
      contents: `const never = () => false;
        export { never as isBinary, never as hasBinary, never as deconstructPacket, never as reconstructPacket };`,
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
  minify: true,
  write: false,
  target: TARGET,
  platform: "browser",
  outdir: OUT,
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
export const languages = readdirSync(join(CLIENT, "locales"))
  .filter((name) => /^[a-z]{2}\.ts$/.test(name))
  .map((name) => name.slice(0, 2));

const zipped = (bytes) => gzipSync(bytes, { level: 9 }).length;

/**
 * Builds and answers what was made: the files, the manifest, and the sizes in bytes after `gzip -9`. Writes nothing.
 */
export async function buildClient() {
  const entryPoints = { panel: join(CLIENT, "chat.ts") };
  for (const language of languages) entryPoints[language] = join(CLIENT, "locales", `${language}.ts`);
  const chunks = await build({
    ...shared,
    entryPoints,
    format: "esm",
    charset: "utf8",
    entryNames: "chunks/[name]-[hash]",
  });
  const manifest = {};
  for (const { path } of chunks.outputFiles) {
    const [, file, name] = /(chunks[\\/](\w+)-\w+\.js)$/.exec(path);
    manifest[name] = file.replaceAll("\\", "/");
  }
  const launcher = await build({
    ...shared,
    entryPoints: { widget: join(CLIENT, "launcher.ts") },
    format: "iife",
    define: { ...shared.define, CHUNKS: JSON.stringify(manifest) },
  });
  const files = [...launcher.outputFiles, ...chunks.outputFiles].map(({ path, contents }) => ({ path, contents }));
  const sizeOf = (pattern) => zipped(files.find(({ path }) => pattern.test(path)).contents);
  const locales = Object.fromEntries(languages.map((name) => [name, sizeOf(new RegExp(`\\b${name}-\\w+\\.js$`))]));
  const sizes = { launcher: sizeOf(/widget\.js$/), panel: sizeOf(/\bpanel-\w+\.js$/), locales };
  return { files, manifest, sizes, inputs: [launcher.metafile, chunks.metafile] };
}

/** Bytes of a first visit's launcher with its language, and of all that a conversation loads; of the largest language. */
export function sumSizes({ launcher, panel, locales }) {
  const language = Math.max(...Object.values(locales));
  return { launcher: launcher + language, everything: launcher + language + panel };
}

/** What is above its budget, in words; empty where nothing is. */
export function checkBudget(sizes) {
  const sums = sumSizes(sizes);
  return Object.keys(BUDGET).flatMap((name) =>
    sums[name] <= BUDGET[name]
      ? []
      : `The ${name} of the widget is ${sums[name]} bytes gzipped, above its budget of ${BUDGET[name]}: leave something out, or load it later.`,
  );
}

async function main() {
  const { files, manifest, sizes } = await buildClient();
  mkdirSync(join(OUT, "chunks"), { recursive: true });
  for (const { path, contents } of files) writeFileSync(path, contents);
  writeFileSync(join(OUT, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  const current = new Set(Object.values(manifest));
  for (const name of readdirSync(join(OUT, "chunks")))
    if (!current.has(`chunks/${name}`)) rmSync(join(OUT, "chunks", name));
  const sums = sumSizes(sizes);
  process.stdout.write(
    `widget.js with its largest language: ${sums.launcher} of ${BUDGET.launcher} bytes gzipped; all together ${sums.everything} of ${BUDGET.everything}\n`,
  );
  for (const fault of checkBudget(sizes)) {
    process.stderr.write(`${fault}\n`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
