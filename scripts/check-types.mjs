// `npm run typecheck`: all code and tests that Node.js runs, from their sources; and what browsers run, which sees of the
// workspaces only their declarations and nothing of Node.js. Names all that fails. What is known of the last check is kept
// beside the dependencies, so that a further check costs a sixth.
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
