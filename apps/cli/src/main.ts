#!/usr/bin/env node
import { EXIT } from "./cli-error.ts";
import { runCli } from "./run-cli.ts";

const READER_IS_GONE = ["EPIPE", "EIO"];
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    // A reader that has gone (`svc … | head`, a closed terminal) is no fault of the command.
    if (!READER_IS_GONE.includes(error.code ?? "")) process.exitCode = EXIT.failed;
  });
}

const exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  workingFolder: process.cwd(),
  program: process.argv[1],
  openInput: () => process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
});
// What was interrupted is not waited for.
if (exitCode === EXIT.interrupted) process.exit(exitCode);
// What was said is read by somebody else, who may take time.
await new Promise<void>((resolve) => process.stdout.write("", () => resolve()));
await new Promise<void>((resolve) => process.stderr.write("", () => resolve()));
// Everything has been closed. A worker of a queue that was closed in its beginning leaves a timer of half a minute behind,
// which is not waited for. An unexpected fault while services ran has set the code already.
process.exit(process.exitCode ?? exitCode);
