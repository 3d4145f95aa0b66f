// Writes `dist`, which Node.js runs, from the sources of workspaces: each file separately and without types, which `npm
// run typecheck` checks. Only changed files are written, which takes milliseconds.
import { copyFile, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";

const OPTIONS = {
  swcrc: false,
  configFile: false,
  sourceMaps: true,
  inlineSourcesContent: false,
  module: { type: "es6" },
  jsc: {
    target: "es2023",
    parser: { syntax: "typescript" },
    experimental: { keepImportAttributes: true },
  },
};
const SOURCE = /(?:(?<!\.test|\.d)\.ts|\.json)$/;
/** Files written here, and the declarations of earlier builds. */
const OUTPUT = /\.(?:js|js\.map|json|d\.ts)$/;
/** Files that browsers load (apps/widget/build-client.mjs). */
const CLIENT = /^client\b/;

const outputOf = (name) => name.replace(/\.ts$/, ".js");
export const modifiedAt = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

function listFiles(folder, pattern) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && pattern.test(entry.name))
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
}

/** Writes a file atomically, so that other processes never read a partial one. */
async function writeWhole(path, text) {
  const unfinished = `${path}.${process.pid}`;
  await writeFile(unfinished, text);
  await rename(unfinished, path);
}

/**
 * Writes the JavaScript of a file, and its source map with `.map` appended. `sourceFileName` is the name of the source in
 * the map; `hasJsImports` replaces `.ts` in imports of neighbors.
 */
export async function transpileFile(from, to, { sourceFileName, hasJsImports }) {
  // Loaded lazily: on a fresh machine it is installed by now.
  const { default: swc } = await import("@swc/core");
  await mkdir(dirname(to), { recursive: true });
  const jsc = { ...OPTIONS.jsc, rewriteRelativeImportExtensions: hasJsImports };
  const { code, map } = await swc.transformFile(from, { ...OPTIONS, jsc, sourceFileName });
  await writeWhole(`${to}.map`, map);
  await writeWhole(to, `${code}//# sourceMappingURL=${basename(to)}.map\n`);
}

async function updateFile(from, to) {
  if (!from.endsWith(".json"))
    return transpileFile(from, to, { sourceFileName: relative(dirname(to), from), hasJsImports: true });
  await mkdir(dirname(to), { recursive: true });
  await copyFile(from, to);
}

async function transpileWorkspace(folder) {
  const [source, output] = [join(folder, "src"), join(folder, "dist")];
  const names = listFiles(source, SOURCE);
  const known = new Set(names.map(outputOf));
  const stale = listFiles(output, OUTPUT).filter(
    (name) => !CLIENT.test(name) && !known.has(name.replace(/\.js\.map$|\.d\.ts$/, ".js")),
  );
  await Promise.all(stale.map((name) => rm(join(output, name), { force: true })));
  const changed = names.filter((name) => modifiedAt(join(source, name)) > modifiedAt(join(output, outputOf(name))));
  await Promise.all(changed.map((name) => updateFile(join(source, name), join(output, outputOf(name)))));
}

/** Updates the `dist` of each of these folders. Rejects with the position of a syntax error. */
export async function transpile(folders) {
  await Promise.all(folders.map(transpileWorkspace));
}
