import { spawnChild } from "./child-process.ts";
import type { ChildProcess } from "./child-process.ts";
import { childEnvironment } from "./test-settings.ts";

/** Options of a Node.js program. */
export interface ProcessOptions {
  /** Absolute path of the program. */
  file: string;
  /** Its environment; of the test's own it gets only PATH, HOME and the like. */
  env: Record<string, string>;
  /** Its name in failures. */
  name: string;
  args?: string[];
}

/** Starts a Node.js program, for example the `main.js` of an app. */
export function startProcess({ file, env, name, args = [] }: ProcessOptions): Promise<ChildProcess> {
  return spawnChild({
    name,
    command: process.execPath,
    args: ["--enable-source-maps", file, ...args],
    env: { ...childEnvironment(), ...env },
  });
}
