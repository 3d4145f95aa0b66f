// Makes one file of each app and all that it loads, for the processes that tests start by the hundred: half of their time
// would be spent on finding a thousand modules. `npm start` and containers run `dist`, as do the tests of the program
// `svc` itself (tests/journeys/cli.test.ts).
import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT, sourceMark, transpileSources } from "./prepare.mjs";

const BUNDLES = join(ROOT, "node_modules", ".cache", "svc-bundles");
/** Far longer than a run of tests, which may still use an older bundle. */
const MAX_AGE_MS = 12 * 3_600_000;

/** Modules read files next to themselves, so they keep their original paths in a bundle. */
const keepPaths = {
  name: "keep-paths",
  setup({ onLoad }) {
    onLoad({ filter: /\.[cm]?js$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const contents = source
        .replaceAll(/\bimport\.meta\.url\b/g, JSON.stringify(pathToFileURL(path).href))
        .replaceAll(/\bimport\.meta\.dirname\b/g, JSON.stringify(dirname(path)));
      const isCommonJs =
        /\b__(dirname|filename)\b/.test(contents) && !/\b(const|let|var) __(dirname|filename)\b/.test(contents);
      const paths = `const __dirname = ${JSON.stringify(dirname(path))}, __filename = ${JSON.stringify(path)};`;
      return { contents: isCommonJs ? paths + contents : contents, loader: "js" };
    });
  },
};

/** Loaded only if traces are sent, and not bundled: an `import()` of CommonJS has no named exports in a bundle. */
const tracing = {
  name: "tracing",
  setup({ onResolve }) {
    const { resolve } = createRequire(join(ROOT, "packages", "telemetry", "package.json"));
    onResolve({ filter: /^@opentelemetry\// }, ({ path, importer }) =>
      importer.includes("@opentelemetry") ? undefined : { path: resolve(path), external: true },
    );
  },
};

/** Returns the apps with a program of their own, by name. */
const listMains = () =>
  readdirSync(join(ROOT, "apps"))
    .map((name) => [name, join(ROOT, "apps", name, "dist", "main.js")])
    .filter(([, path]) => existsSync(path));

/** Returns the folder with one file per app: `api.mjs`. Bundles the current sources unless that was done before. */
export async function bundleApps() {
  await transpileSources();
  const folder = join(BUNDLES, sourceMark());
  if (existsSync(folder)) return folder;
  // A dependency of the widget's build.
  const { build } = createRequire(join(ROOT, "apps", "widget", "package.json"))("esbuild");
  const requireUrl = JSON.stringify(pathToFileURL(join(ROOT, "package.json")).href);
  const unfinished = `${folder}.${process.pid}`;
  await build({
    entryPoints: Object.fromEntries(listMains()),
    outdir: unfinished,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    keepNames: true,
    // Optional dependencies that are not installed.
    external: ["@aws-sdk/client-s3", "bufferutil", "utf-8-validate", "pg-native"],
    banner: {
      js: `import { createRequire as toRequire } from "node:module"; const require = toRequire(${requireUrl});`,
    },
    plugins: [tracing, keepPaths],
    logLevel: "error",
  });
  removeOldBundles();
  if (!existsSync(folder)) renameSync(unfinished, folder);
  return folder;
}

/** Removes bundles that no run uses any more. */
function removeOldBundles() {
  for (const name of readdirSync(BUNDLES)) {
    const path = join(BUNDLES, name);
    if (Date.now() - statSync(path).mtimeMs > MAX_AGE_MS) rmSync(path, { recursive: true, force: true });
  }
}
