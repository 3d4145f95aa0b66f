import { homedir } from "node:os";
import { delimiter, dirname } from "node:path";
import { PATH, run } from "./run-svc.ts";
import type { Ran } from "./run-svc.ts";

/** The version that is tried, and the Node.js that it needs, which is newer than the one that the product needs. */
const PACKAGES = ["node@22.23.3", "@modelcontextprotocol/inspector@2.12.0"];
/** The packages are loaded the first time. */
const TIMEOUT_MS = 110_000;

/** Runs the Inspector's command line with these words. */
export type Inspector = (...words: string[]) => Promise<Ran>;

/** What npm needs to know of this machine. */
function npmEnvironment(): Record<string, string> {
  const settings = Object.entries(process.env).filter(([name]) => /^npm_config_/i.test(name));
  return { HOME: homedir(), ...Object.fromEntries(settings.map(([name, value]) => [name, value ?? ""])) };
}

/** Finds the Inspector, through npx; null where npx cannot get it, as without a network. */
export async function findInspector(): Promise<Inspector | null> {
  const wanted = PACKAGES.flatMap((name) => ["--package", name]);
  const args = ["--yes", ...wanted, "--", "sh", "-c", "command -v node; command -v mcp-inspector"];
  const { stdout, code } = await run("npx", args, { env: npmEnvironment(), timeoutMs: TIMEOUT_MS });
  const [node, program] = stdout.trim().split("\n");
  if (code !== 0 || node === undefined || program === undefined) return null;
  const env = { HOME: homedir(), PATH: [dirname(node), PATH].join(delimiter) };
  return (...words) => run(node, [program, ...words], { env, timeoutMs: TIMEOUT_MS });
}
