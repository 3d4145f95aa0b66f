// `npm run docs`: writes the pages that are generated from the code. Tests compare them with the code.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, prepare } from "./prepare.mjs";

await prepare((line) => console.error(line));
const { ENDPOINTS } = await import("../packages/contracts/dist/index.js");
const { describeEndpoints, describeErrors, describeSettings } = await import("../packages/runtime/dist/index.js");
writeFileSync(join(ROOT, "docs", "configuration.md"), describeSettings());
writeFileSync(join(ROOT, "docs", "endpoints.md"), describeEndpoints());
writeFileSync(join(ROOT, "docs", "errors.md"), describeErrors());

const operations = Object.entries(ENDPOINTS).map(([name, { method, path }]) => `  ${name}: "${method} ${path}",\n`);
writeFileSync(
  join(ROOT, "packages", "client", "src", "operations.ts"),
  `/** Method and path of every operation. Generated from the endpoints of contracts by \`npm run docs\`; a test compares. */
export const OPERATIONS = {
${operations.toSorted().join("")}} as const;
`,
);
