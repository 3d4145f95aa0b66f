// `npm run typecheck`: checks all code and tests for Node.js, from their sources; and the code for browsers, which sees
// only the declarations of the workspaces and nothing of Node.js. Lists all errors. Results are cached next to the
// dependencies, so that another check takes a sixth of the time.
import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { ROOT, prepare } from "./prepare.mjs";

const PROJECTS = [
  "packages/contracts",
  "packages/client",
  ".",
  "apps/widget/client",
  "apps/widget/client/tsconfig.test.json",
  "apps/console/web",
  "apps/console/web/tsconfig.test.json",
];

/**
 * Each checker of a project infers the types that its files share again: with the default of 4, two cores spend twice the
 * CPU time and are no faster.
 */
const CHECKERS = Math.min(4, Math.max(1, Math.floor(availableParallelism() / 2)));

await prepare((line) => console.error(line));
for (const project of PROJECTS) {
  const tsc = join(ROOT, "node_modules", ".bin", "tsc");
  const options = { cwd: ROOT, stdio: "inherit", shell: process.platform === "win32" };
  const known = join(ROOT, "node_modules", ".cache", "types", `${project.replaceAll("/", "_")}.tsbuildinfo`);
  const args = ["-p", project, "--incremental", "--tsBuildInfoFile", known, "--checkers", String(CHECKERS)];
  const { status } = spawnSync(tsc, args, options);
  if (status !== 0) process.exitCode = 1;
}
