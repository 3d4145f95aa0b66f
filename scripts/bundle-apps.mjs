// Makes one file of each app and all that it loads, for the processes that tests start by the hundred: half of their time
// is spent on finding a thousand modules; and of each workspace, for the four hundred test files that load them. The code
// is that of the builds; only the first tests of the program `svc` itself (tests/journeys/cli.test.ts), and `npm run soak`,
// run the builds as they are.
import { existsSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "./prepare.mjs";

const OUTPUT = join(ROOT, "node_modules", ".svc-bundles");
/** Where esbuild is a dependency. It is looked for when it is needed: on a fresh machine it is installed by then. */
const widgetRequire = createRequire(join(ROOT, "apps", "widget", "package.json"));

/** Modules look for files beside themselves: they are told where they were before they became part of a bundle. */
const keepPlaces = {
  name: "keep-places",
  setup({ onLoad }) {
    onLoad({ filter: /\.[cm]?js$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const contents = source
        .replaceAll(/\bimport\.meta\.url\b/g, JSON.stringify(pathToFileURL(path).href))
        .replaceAll(/\bimport\.meta\.dirname\b/g, JSON.stringify(dirname(path)));
      const isCommonJs =
        /\b__(dirname|filename)\b/.test(contents) && !/\b(const|let|var) __(dirname|filename)\b/.test(contents);
      const places = `const __dirname = ${JSON.stringify(dirname(path))}, __filename = ${JSON.stringify(path)};`;
      return { contents: isCommonJs ? places + contents : contents, loader: "js" };
    });
  },
};

/** What packages export that test files import beside the workspaces: one copy for both, made from where it is. */
const SHARED_PACKAGES = { express: "packages/http", pg: "packages/store", zod: "packages/contracts" };
const SHARED = /^shared-package:/;

/** Gives a shared package an entry of its own. */
const exportShared = {
  name: "export-shared",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: SHARED }, ({ path }) => ({ path: path.replace(SHARED, ""), namespace: "shared" }));
    onLoad({ filter: /.*/, namespace: "shared" }, ({ path: name }) => ({
      contents: `export * from "${name}"; export { default } from "${name}";`,
      resolveDir: join(ROOT, SHARED_PACKAGES[name]),
    }));
  },
};

/** Loaded only where traces are sent, and left where they are: an `import()` of CommonJS has no names in a bundle. */
const tracing = {
  name: "tracing",
  setup({ onResolve }) {
    const { resolve } = createRequire(join(ROOT, "packages", "telemetry", "package.json"));
    onResolve({ filter: /^@opentelemetry\// }, ({ path, importer }) =>
      importer.includes("@opentelemetry") ? undefined : { path: resolve(path), external: true },
    );
  },
};

/** Workspaces that have a file in their builds, by their names: `@svc/store`. */
const listWorkspaces = (groups, file) =>
  groups.flatMap((group) =>
    readdirSync(join(ROOT, group))
      .map((folder) => ({ folder: join(ROOT, group, folder), path: join(ROOT, group, folder, "dist", file) }))
      .filter(({ path }) => existsSync(path))
      .map(({ folder, path }) => [JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).name, path]),
  );

async function bundle(options) {
  const requireUrl = JSON.stringify(pathToFileURL(join(ROOT, "package.json")).href);
  await widgetRequire("esbuild").build({
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    keepNames: true,
    // What others load only where it is installed, which it is not; and what jest makes for each test file.
    external: ["@aws-sdk/client-s3", "bufferutil", "utf-8-validate", "pg-native", "@jest/globals"],
    banner: {
      js: `import { createRequire as toRequire } from "node:module"; const require = toRequire(${requireUrl});`,
    },
    plugins: [tracing, exportShared, keepPlaces],
    logLevel: "error",
    ...options,
  });
}

/**
 * Bundles every app that has a `main.js`, and answers the folder in which each lies under its name: `api.mjs`. What
 * test files import of workspaces lies in `modules` there: `@svc/store.mjs`.
 */
export async function bundleApps() {
  rmSync(OUTPUT, { recursive: true, force: true });
  const mains = listWorkspaces(["apps"], "main.js").map(([name, path]) => [name.replace("@svc/", ""), path]);
  await bundle({ entryPoints: Object.fromEntries(mains), outdir: OUTPUT });
  const modules = [
    ...listWorkspaces(["packages", "apps"], "index.js"),
    ...Object.keys(SHARED_PACKAGES).map((name) => [name, `shared-package:${name}`]),
  ];
  await bundle({ entryPoints: Object.fromEntries(modules), outdir: join(OUTPUT, "modules") });
  return OUTPUT;
}
