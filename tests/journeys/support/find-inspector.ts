import { homedir } from "node:os";
import { delimiter, dirname } from "node:path";
import { PATH, run } from "./run-svc.ts";
import type { Ran } from "./run-svc.ts";

/** The tested version, and the Node.js that it needs, which is newer than the product's minimum. */
const PACKAGES = ["node@22.23.3", "@modelcontextprotocol/inspector@2.12.0"];
/** The packages are installed on first use. */
const TIMEOUT_MS = 110_000;

/** Runs the Inspector's command line with these arguments. */
export type Inspector = (...words: string[]) => Promise<Ran>;

/** Returns the npm configuration of this machine. */
function npmEnvironment(): Record<string, string> {
  const settings = Object.entries(process.env).filter(([name]) => /^npm_config_/i.test(name));
  return { HOME: homedir(), ...Object.fromEntries(settings.map(([name, value]) => [name, value ?? ""])) };
}

/** Finds the Inspector through npx; returns null if npx cannot install it, for example without a network. */
export async function findInspector(): Promise<Inspector | null> {
  const wanted = PACKAGES.flatMap((name) => ["--package", name]);
  const args = ["--yes", ...wanted, "--", "sh", "-c", "command -v node; command -v mcp-inspector"];
  const { stdout, code } = await run("npx", args, { env: npmEnvironment(), timeoutMs: TIMEOUT_MS });
  const [node, program] = stdout.trim().split("\n");
  if (code !== 0 || node === undefined || program === undefined) return null;
  const env = { HOME: homedir(), PATH: [dirname(node), PATH].join(delimiter) };
  return (...words) => run(node, [program, ...words], { env, timeoutMs: TIMEOUT_MS });
}
