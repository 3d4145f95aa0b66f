// `node scripts/run.mjs WORKSPACE/src/PROGRAM.ts ARGUMENTS…`: prepares the checkout, transpiles a workspace outside the
// product (bench, chaos, eval) and runs the program in this process. With --help, it prints the comment at the start of
// the program instead, which documents its usage.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT, prepare } from "./prepare.mjs";
import { transpile } from "./transpile.mjs";

const [source = ""] = process.argv.splice(2, 1);
if (process.argv.includes("--help") || process.argv.includes("-h")) {
  const lines = readFileSync(join(ROOT, source), "utf8").split("\n");
  const usage = lines.slice(
    0,
    lines.findIndex((line) => !line.startsWith("//")),
  );
  console.log(usage.map((line) => line.replace(/^\/\/ ?/, "")).join("\n"));
  process.exit(0);
}
const workspace = dirname(dirname(join(ROOT, source)));
try {
  await prepare((line) => console.error(line));
  await transpile([workspace]);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
const program = source.replace(/\/src\/(.*)\.ts$/, "/dist/$1.js");
process.argv[1] = join(ROOT, program);
await import(pathToFileURL(process.argv[1]).href);
