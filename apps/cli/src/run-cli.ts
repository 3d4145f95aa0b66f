import { CommanderError } from "commander";
import { EXIT } from "./cli-error.ts";
import type { ExitCode } from "./cli-error.ts";
import { describeCall } from "./cli.ts";
import type { Surroundings } from "./cli.ts";
import { createProgram } from "./create-program.ts";
import { createTerminal } from "./terminal.ts";
import type { OutputStream } from "./terminal.ts";

/** Returns true if the command line asks for JSON; read before it is parsed, because errors in it are JSON, too. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return args.slice(0, end === -1 ? undefined : end).includes("--json");
}

/**
 * Runs one command line and returns its exit code. Never rejects: every error is explained in a line or two on
 * standard error. `args` are the words after the program's name.
 */
export async function runCli(
  args: readonly string[],
  surroundings: Surroundings & { stdout: OutputStream; stderr: OutputStream },
): Promise<ExitCode> {
  const { stdout, stderr, env, openInput } = surroundings;
  const terminal = createTerminal({ stdout, stderr, env, isJson: wantsJson(args) });
  let exitCode: ExitCode = EXIT.ok;
  const setExitCode = (code: ExitCode) => {
    exitCode = code;
  };
  const cli = { ...describeCall(surroundings), terminal, openInput, setExitCode };
  try {
    const program = await createProgram(cli, args, { stdout, stderr });
    await program.parseAsync([...args], { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      const { reportError } = await import("./explain-error.ts");
      return reportError(error, terminal, env["SVC_LOG_LEVEL"]);
    }
    if (error.exitCode === 0) return EXIT.ok;
    // Commander has already said on standard error what is wrong.
    if (terminal.isJson) terminal.show({ ok: false, error: { code: "usage", message: error.message } }, () => "");
    return EXIT.usage;
  }
}
