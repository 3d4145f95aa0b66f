#!/usr/bin/env node
import { EXIT } from "./cli.ts";
import { runCli } from "./run-cli.ts";

const READER_CLOSED = ["EPIPE", "EIO"];
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    // A reader that has closed the pipe (`svc … | head`, a closed terminal) is not an error of the command.
    if (!READER_CLOSED.includes(error.code ?? "")) process.exitCode = EXIT.failed;
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
// Interrupted work is not waited for.
if (exitCode === EXIT.interrupted) process.exit(exitCode);
// The reader of the output may take time.
await new Promise<void>((resolve) => process.stdout.write("", () => resolve()));
await new Promise<void>((resolve) => process.stderr.write("", () => resolve()));
// Everything is closed. A queue worker that was closed while starting leaves a timer of half a minute, which is not
// waited for. An unexpected error during the run has already set the code.
process.exit(process.exitCode ?? exitCode);
