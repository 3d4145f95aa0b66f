// `npm run conformance`: the official conformance suite of the Model Context Protocol against the tool server, with the
// requirements of the revisions 2025-11-25 and 2026-07-28, and with those of its last release.
//   npm run conformance -- [--only 2025-11-25,2026-07-28,release] [--verbose]
// The server is the product's own with some tools more, which the suite calls by name; the suite comes through npx in
// fixed versions, with the Node.js that it needs. What the server does not offer stands in eval/src/conformance/*.yml, each
// with its reason: everything else has to pass, and what stands there has to fail.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { repositoryPath } from "@svc/testing";
import { startKeyProxy, startToolServer } from "./conformance/start-tool-server.ts";

const KEY = "conformance-key-0123456789abcdef";
/** A version of the suite, its arguments, and the file with the expected failures. */
interface Suite {
  version: string;
  args: string[];
  baseline: string;
}

const NODE = "node@22.23.3";
const requirementsOf = (revision: string): Suite => ({
  version: "0.2.0-alpha.12",
  args: ["--requirements", revision],
  baseline: `baseline-${revision}.yml`,
});
const SUITES: Record<string, Suite> = {
  "2025-11-25": requirementsOf("2025-11-25"),
  "2026-07-28": requirementsOf("2026-07-28"),
  release: { version: "0.1.16", args: [], baseline: "baseline-2025-11-25.yml" },
};
const PARTS = Object.keys(SUITES);

const { values } = parseArgs({
  options: { only: { type: "string", default: PARTS.join(",") }, verbose: { type: "boolean", default: false } },
});
const wanted = values.only.split(",");
const unknown = wanted.filter((part) => !PARTS.includes(part));
if (unknown.length > 0) throw new Error(`--only takes ${PARTS.join(", ")}; not ${unknown.join(", ")}`);

/** Runs a version of the suite with the Node.js version it requires; its output is shown only if requested. */
function runConformance(version: string, args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const named = [NODE, `@modelcontextprotocol/conformance@${version}`].flatMap((name) => ["--package", name]);
  return new Promise((resolve, reject) => {
    const child = spawn("npx", ["--yes", ...named, "--", "conformance", "server", ...args], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (part: string) => {
      output += part;
      if (values.verbose) process.stdout.write(part);
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output }));
  });
}

/** Runs one suite; returns true if all results are as expected. */
async function runSuite({ version, args, baseline }: Suite, url: string) {
  const expected = join(repositoryPath("eval/src/conformance"), baseline);
  const { code, output } = await runConformance(version, ["--url", url, "--expected-failures", expected, ...args]);
  if (!values.verbose) console.log(output.slice(Math.max(output.indexOf("=== SUMMARY ==="), 0)));
  return code === 0;
}

const server = await startToolServer(KEY);
const proxy = await startKeyProxy(server.url, KEY);
try {
  const failures: string[] = [];
  for (const [name, suite] of Object.entries(SUITES).filter(([part]) => wanted.includes(part))) {
    console.log(`Conformance suite ${suite.version}, ${name}`);
    if (!(await runSuite(suite, `${proxy.url}/mcp`))) failures.push(`the suite, ${name}`);
  }
  console.log(failures.length === 0 ? "All as expected." : `Not as expected: ${failures.join(", ")}.`);
  process.exitCode = failures.length === 0 ? 0 : 1;
} finally {
  await proxy.stop();
  await server.stop();
}
