import { readFileSync } from "node:fs";
import type { ExitCode } from "./cli-error.ts";
import type { Terminal } from "./terminal.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Standard input of a command. */
export interface InputStream extends AsyncIterable<string | Uint8Array> {
  readonly isTTY?: boolean;
}

/** Context of a command. */
export interface Cli {
  env: Environment;
  /** Folder that relative paths on the command line refer to. */
  folder: string;
  terminal: Terminal;
  /** Standard input, opened when a command reads it. */
  openInput: () => InputStream;
  /** How to call this command, for advice: `svc`, or through npm in the repository. */
  self: string;
  /** Like `self`, for a pipe: without `--silent` npm writes a heading to standard output. */
  silentSelf: string;
  /** How to start the product, for advice. */
  startWith: string;
  /** Sets the exit code of a command that completes. */
  setExitCode(code: ExitCode): void;
}

/** Surroundings of the process. */
export interface Surroundings {
  env: Environment;
  workingFolder: string;
  /** Path of the program that was started. */
  program: string | undefined;
  openInput: () => InputStream;
}

/** Returns how the command was called: directly, or through npm in the repository, which changes the folder. */
export function describeCall({
  env,
  workingFolder,
  program,
}: Omit<Surroundings, "openInput">): Pick<Cli, "env" | "folder" | "self" | "silentSelf" | "startWith"> {
  const isRepository = program !== undefined && /(?:^|[\\/])start\.mjs$/.test(program);
  const isThroughNpm = isRepository && env["npm_lifecycle_event"] !== undefined;
  return {
    env,
    // npm runs scripts in the folder of the package and sets INIT_CWD to the user's folder.
    folder: (isThroughNpm ? env["INIT_CWD"] : undefined) ?? workingFolder,
    self: isRepository ? "npm run svc --" : "svc",
    silentSelf: isRepository ? "npm run --silent svc --" : "svc",
    startWith: isRepository ? "npm start" : "svc up",
  };
}

/** The version of this program. */
export function readVersion(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
