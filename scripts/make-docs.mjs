// Writes the pages that are made from the code: `npm run docs`. Tests compare them with the code.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, prepare } from "./prepare.mjs";

await prepare((line) => console.error(line));
const { describeErrors, describeSettings } = await import("../packages/runtime/dist/index.js");
writeFileSync(join(ROOT, "docs", "configuration.md"), describeSettings());
writeFileSync(join(ROOT, "docs", "errors.md"), describeErrors());
