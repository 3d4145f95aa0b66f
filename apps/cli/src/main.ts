#!/usr/bin/env node
import { EXIT } from "./exit-codes.ts";
import { runCli } from "./run-cli.ts";

// A reader that has gone (`svc … | head`, a closed terminal) is no fault of the command.
process.stdout.on("error", () => undefined);
process.stderr.on("error", () => undefined);

const exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  workingFolder: process.cwd(),
  program: process.argv[1],
  stdout: process.stdout,
  stderr: process.stderr,
});
// What was interrupted is not waited for.
if (exitCode === EXIT.interrupted) process.exit(exitCode);
// An unexpected fault while services ran has set the code already.
process.exitCode ??= exitCode;
