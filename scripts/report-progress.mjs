// A reporter of jest that says where the run is when nothing else has been said for half a minute.
import { relative } from "node:path";

const QUIET_MS = 30_000;

/** Made by jest, which calls it with `new`. */
export default function reportProgress() {
  const running = new Set();
  let done = 0;
  let total = 0;
  let saidAt = performance.now();
  let timer;
  const look = () => {
    if (performance.now() - saidAt < QUIET_MS) return;
    saidAt = performance.now();
    console.log(`… ${done} of ${total} files done. Running: ${[...running].join(", ") || "none"}`);
  };
  return {
    onRunStart({ numTotalTestSuites }) {
      total = numTotalTestSuites;
      timer = setInterval(look, 1_000);
    },
    onTestFileStart({ path }) {
      running.add(relative(process.cwd(), path));
    },
    onTestFileResult({ path }) {
      running.delete(relative(process.cwd(), path));
      done++;
      saidAt = performance.now();
    },
    onRunComplete() {
      clearInterval(timer);
    },
  };
}
