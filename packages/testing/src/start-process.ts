import { spawnChild } from "./child-process.ts";
import type { ChildProcess } from "./child-process.ts";
import { childEnvironment } from "./test-settings.ts";

/** Options of a Node.js program. */
export interface ProcessOptions {
  /** Absolute path of the program. */
  file: string;
  /** Its environment; nothing of the test's own reaches it but PATH, HOME and the like. */
  env: Record<string, string>;
  /** What it is called in failures. */
  name: string;
  args?: string[];
}

/** Starts a Node program, for example the `main.js` of an app. */
export function startProcess({ file, env, name, args = [] }: ProcessOptions): Promise<ChildProcess> {
  return spawnChild({
    name,
    command: process.execPath,
    args: ["--enable-source-maps", file, ...args],
    env: { ...childEnvironment(), ...env },
  });
}
