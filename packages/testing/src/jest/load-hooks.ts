import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { LoadHook, ResolveHook } from "node:module";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { repositoryPath } from "../test-settings.ts";

interface Transpiler {
  modifiedAt: (path: string) => number;
  transpileFile: (
    from: string,
    to: string,
    options: { sourceFileName: string; hasJsImports: boolean },
  ) => Promise<void>;
}

const CACHE = repositoryPath("node_modules/.cache/tests");

/** Returns the file with the JavaScript of a TypeScript file; its source map has `.map` appended. */
export function transpiledPath(path: string): string {
  return join(CACHE, `${basename(path, ".ts")}-${createHash("sha1").update(path).digest("hex")}.js`);
}

/** Returns the JavaScript of a TypeScript file, which is made once after each change. */
async function transpile(path: string): Promise<string> {
  const { modifiedAt, transpileFile } = (await import(repositoryPath("scripts/transpile.mjs"))) as Transpiler;
  const output = transpiledPath(path);
  if (modifiedAt(output) <= modifiedAt(path))
    await transpileFile(path, output, { sourceFileName: basename(path), hasJsImports: false });
  return readFile(output, "utf8");
}

/** Resolves workspaces to their sources, and `@jest/globals` to those of the running file. */
export const resolve: ResolveHook = async (specifier, context, next) => {
  if (specifier === "@jest/globals") return { url: new URL("globals.js", import.meta.url).href, shortCircuit: true };
  return next(specifier, { ...context, conditions: ["@svc/source", ...context.conditions] });
};

/** Loads TypeScript. */
export const load: LoadHook = async (url, context, next) => {
  const address = new URL(url);
  if (address.protocol !== "file:" || !address.pathname.endsWith(".ts")) return next(url, context);
  return { format: "module", source: await transpile(fileURLToPath(address)), shortCircuit: true };
};
