import { CommanderError } from "commander";
import { describeCall } from "./cli.ts";
import type { Surroundings } from "./cli.ts";
import { createProgram } from "./create-program.ts";
import { EXIT } from "./exit-codes.ts";
import type { ExitCode } from "./exit-codes.ts";
import { explainError } from "./explain-error.ts";
import { safeText } from "./safe-text.ts";
import { createTerminal } from "./terminal.ts";
import type { OutputStream, Terminal } from "./terminal.ts";

/** True when the command line asks for JSON; asked before it is parsed, because it also concerns faults in it. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return args.slice(0, end === -1 ? undefined : end).includes("--json");
}

/** Says what went wrong: a line for a person and, with `--json`, the one document of this run. */
async function reportError(error: unknown, terminal: Terminal, logLevel: string | undefined): Promise<ExitCode> {
  const { code, exitCode, message } = explainError(error);
  const { redactText } = await import("@svc/log");
  const text = safeText(redactText(message));
  terminal.note(text);
  if (logLevel === "debug" && error instanceof Error) terminal.note(safeText(redactText(error.stack ?? error.message)));
  if (terminal.isJson) terminal.show({ ok: false, error: { code, message: text } }, () => "");
  return exitCode;
}

/**
 * Runs one command line and answers its exit code. Never rejects: every fault is explained in a line or two on
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
  const program = createProgram(
    { ...describeCall(surroundings), terminal, openInput, setExitCode },
    { stdout, stderr },
  );
  try {
    await program.parseAsync([...args], { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) return reportError(error, terminal, env["SVC_LOG_LEVEL"]);
    if (error.exitCode === 0) return EXIT.ok;
    // Commander has already said on standard error what is wrong.
    if (terminal.isJson) terminal.show({ ok: false, error: { code: "usage", message: error.message } }, () => "");
    return EXIT.usage;
  }
}
