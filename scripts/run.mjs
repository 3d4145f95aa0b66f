// `node scripts/run.mjs WORKSPACE/src/PROGRAM.ts ARGUMENTS…`: prepares the checkout, transpiles a workspace outside the
// product (bench, chaos, eval) and runs the program in this process.
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT, prepare } from "./prepare.mjs";
import { transpile } from "./transpile.mjs";

const [source = ""] = process.argv.splice(2, 1);
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
