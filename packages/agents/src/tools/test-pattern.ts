import { Script, createContext } from "node:vm";
import { errorCode } from "@svc/primitives";

const SCRIPT = new Script("run()");
const SCOPE: { run: () => void } = { run: () => undefined };
const CONTEXT = createContext(SCOPE);

const isTimeout = (error: unknown): boolean => errorCode(error) === "ERR_SCRIPT_EXECUTION_TIMEOUT";

/**
 * Whether a text matches a regular expression that somebody else has written; false, too, when that cannot be told
 * within `limitMs`: some expressions take for ever.
 */
export function testPattern(pattern: RegExp, text: string, limitMs: number): boolean {
  let matches = false;
  SCOPE.run = () => {
    matches = pattern.test(text);
  };
  try {
    // Node's watchdog of `timeout` also stops what runs outside of the script, regular expressions included.
    SCRIPT.runInContext(CONTEXT, { timeout: limitMs });
    return matches;
  } catch (error) {
    if (isTimeout(error)) return false;
    throw error;
  } finally {
    SCOPE.run = () => undefined;
  }
}
