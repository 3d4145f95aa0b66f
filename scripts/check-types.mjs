// `npm run typecheck`: checks all code and tests for Node.js, from their sources; and the code for browsers, which sees
// only the declarations of the workspaces and nothing of Node.js. Lists all errors. Results are cached next to the
// dependencies, so that another check takes a sixth of the time.
import { spawnSync } from "node:child_process";
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

await prepare((line) => console.error(line));
for (const project of PROJECTS) {
  const tsc = join(ROOT, "node_modules", ".bin", "tsc");
  const options = { cwd: ROOT, stdio: "inherit", shell: process.platform === "win32" };
  const known = join(ROOT, "node_modules", ".cache", "types", `${project.replaceAll("/", "_")}.tsbuildinfo`);
  const { status } = spawnSync(tsc, ["-p", project, "--incremental", "--tsBuildInfoFile", known], options);
  if (status !== 0) process.exitCode = 1;
}
