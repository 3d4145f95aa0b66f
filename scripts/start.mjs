// `npm start` and `npm run svc -- …`: prepares the checkout if necessary, then runs the command line in this process.
import { findStartProblem } from "./check-start.mjs";
import { prepare } from "./prepare.mjs";

const isStart = process.argv[2] === "up" && !process.argv.includes("--help") && !process.argv.includes("-h");
const error = isStart ? await findStartProblem(process.env) : null;
if (error !== null) {
  console.error(error);
  if (process.argv.includes("--json"))
    console.log(JSON.stringify({ ok: false, error: { code: "not_started", message: error } }));
  process.exit(1);
}
try {
  await prepare((line) => console.error(line));
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
// npm does not forward every signal. When npm exits (ended by a supervisor or with its terminal), this process shuts
// down too.
if (process.env.npm_lifecycle_event !== undefined) {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, "SIGTERM");
  }, 250);
  watch.unref();
}
await import("../apps/cli/dist/main.js");
