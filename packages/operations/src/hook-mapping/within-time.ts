import { Script, createContext } from "node:vm";
import { errorCode } from "@svc/primitives";

/** Thrown in place of a result that took too long. */
export class TookTooLongError extends Error {
  constructor(limitMs: number) {
    super(`time limit of ${limitMs} ms exceeded`);
    this.name = "TookTooLongError";
  }
}

const SCRIPT = new Script("run()");
const SCOPE: { run: () => void } = { run: () => undefined };
const CONTEXT = createContext(SCOPE);

const isTimeout = (error: unknown): boolean => errorCode(error) === "ERR_SCRIPT_EXECUTION_TIMEOUT";

/** A process that gets no turn while the time passes has not been slow: it is given twice the time, so often. */
const MAX_ATTEMPTS = 3;

/** Runs once; true when that was broken off. */
function isBrokenOff(run: () => void, limitMs: number): boolean {
  SCOPE.run = run;
  try {
    // Node's watchdog of `timeout` also stops what runs outside of the script, regular expressions included.
    SCRIPT.runInContext(CONTEXT, { timeout: limitMs });
    return false;
  } catch (error) {
    if (isTimeout(error)) return true;
    throw error;
  } finally {
    SCOPE.run = () => undefined;
  }
}

/**
 * Does synchronous work that may take for ever, such as evaluating an expression that somebody else has written, and
 * breaks it off after `limitMs`: it must hold nothing that a break could leave half done, and may be begun anew. Throws
 * TookTooLongError, and what the work throws. The work is a function of ours; no text becomes code.
 */
export function withinTime<Result>(limitMs: number, work: () => Result): Result {
  const done: ({ result: Result } | { error: unknown })[] = [];
  const run = () => {
    try {
      done.push({ result: work() });
    } catch (error) {
      done.push({ error });
    }
  };
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const before = process.cpuUsage();
    if (!isBrokenOff(run, limitMs * 2 ** attempt)) break;
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1_000 >= limitMs / 2) break;
  }
  const [outcome] = done;
  if (outcome === undefined) throw new TookTooLongError(limitMs);
  if ("error" in outcome) throw outcome.error;
  return outcome.result;
}
