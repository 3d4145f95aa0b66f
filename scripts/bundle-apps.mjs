// Makes one file of each app and all that it loads, for the processes that tests start by the hundred: half of their time
// is spent on finding a thousand modules. The code is that of the builds; only what tests say of the program `svc`
// itself (tests/journeys/cli.test.ts), and `npm run soak`, run the builds as they are.
import { existsSync, readdirSync, rmSync } from "node:fs";
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

/** Bundles every app that has a `main.js`, and answers the folder in which each lies under its name: `api.mjs`. */
export async function bundleApps() {
  const mains = readdirSync(join(ROOT, "apps"))
    .map((name) => [name, join(ROOT, "apps", name, "dist", "main.js")])
    .filter(([, main]) => existsSync(main));
  rmSync(OUTPUT, { recursive: true, force: true });
  const requireUrl = JSON.stringify(pathToFileURL(join(ROOT, "package.json")).href);
  await widgetRequire("esbuild").build({
    entryPoints: Object.fromEntries(mains),
    outdir: OUTPUT,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    keepNames: true,
    // Packages that others load only where they are installed, and that nobody has installed.
    external: ["@aws-sdk/client-s3", "bufferutil", "utf-8-validate", "pg-native"],
    banner: {
      js: `import { createRequire as toRequire } from "node:module"; const require = toRequire(${requireUrl});`,
    },
    plugins: [keepPlaces],
    logLevel: "error",
  });
  return OUTPUT;
}
