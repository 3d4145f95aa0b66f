// `npm run conformance`: the official conformance suite of the Model Context Protocol against the tool server, for the
// revisions of 2025 and for 2026-07-28, and the command line of its Inspector as one more client.
//   npm run conformance -- [--only 2025,2026,inspector] [--verbose]
// The server is the product's own with some tools more, which the suite calls by name; the suite comes through npx in a
// fixed version, with the Node.js that it needs. What the server does not offer stands in scripts/conformance/*.yml, each
// with its reason: everything else has to pass, and what stands there has to fail.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { callWithInspector } from "./conformance/call-with-inspector.mjs";
import { startKeyProxy } from "./conformance/start-key-proxy.mjs";
import { startToolServer } from "./conformance/start-tool-server.mjs";
import { ROOT, prepare } from "./prepare.mjs";

const KEY = "conformance-key-0123456789abcdef";
const NODE = "node@22.23.3";
const SUITES = {
  2025: { version: "0.1.16", args: [] },
  2026: { version: "0.2.0-alpha.12", args: ["--requirements", "2026-07-28"] },
};

const { values } = parseArgs({
  options: { only: { type: "string", default: "2025,2026,inspector" }, verbose: { type: "boolean", default: false } },
});
const wanted = values.only.split(",");

/** Runs a program of npm packages with the Node.js that they need; its output in full only where it is asked for. */
function runPackages(packages, args, { env = {} } = {}) {
  const named = [NODE, ...packages].flatMap((name) => ["--package", name]);
  return new Promise((resolve, reject) => {
    const child = spawn("npx", ["--yes", ...named, "--", ...args], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (part) => {
      output += part;
      if (values.verbose) process.stdout.write(part);
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output }));
  });
}

/** Runs one suite; true when all is as it is expected. */
async function runSuite(year, url) {
  const { version, args } = SUITES[year];
  const baseline = join(ROOT, "scripts", "conformance", `baseline-${year}.yml`);
  const { code, output } = await runPackages(
    [`@modelcontextprotocol/conformance@${version}`],
    ["conformance", "server", "--url", url, "--expected-failures", baseline, ...args],
  );
  if (!values.verbose) console.log(output.slice(Math.max(output.indexOf("=== SUMMARY ==="), 0)));
  return code === 0;
}

await prepare((line) => console.error(line));
const server = await startToolServer(KEY);
const proxy = await startKeyProxy(server.url, KEY);
try {
  const faults = [];
  for (const year of Object.keys(SUITES).filter((name) => wanted.includes(name))) {
    console.log(`Conformance suite ${SUITES[year].version}, ${year}`);
    if (!(await runSuite(year, `${proxy.url}/mcp`))) faults.push(`the suite of ${year}`);
  }
  if (wanted.includes("inspector") && !(await callWithInspector(runPackages, server.url, KEY))) {
    faults.push("the Inspector");
  }
  console.log(faults.length === 0 ? "All as expected." : `Not as expected: ${faults.join(", ")}.`);
  process.exitCode = faults.length === 0 ? 0 : 1;
} finally {
  await proxy.stop();
  await server.stop();
}
