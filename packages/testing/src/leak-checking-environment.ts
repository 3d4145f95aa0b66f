import { TestEnvironment } from "jest-environment-node";
import { endHeldResources } from "./held-resources.ts";
import { stretchOfLimits } from "./time-limits.ts";

/** The error classes of the language. Node makes errors of its own of these, in the realm outside of a test. */
const ERROR_CLASSES = [Error, AggregateError, RangeError, SyntaxError, TypeError, URIError];

/** The part of jest-circus's state that holds the hooks of a file. */
interface RunState {
  rootDescribeBlock: { hooks: object[] };
  /** After which a test or hook without a limit of its own has failed. */
  testTimeout: number;
}

interface RunEvent {
  name: string;
  /** Of `test_start`: with a limit of its own if it has one. */
  test?: { timeout?: number };
  /** Of `hook_start`. */
  hook?: { timeout?: number };
}

/** Ends what a test file has left. Throws if there was anything. */
async function endLeaks(realm: object): Promise<void> {
  const leaked = await endHeldResources(realm);
  if (leaked.length === 0) return;
  throw new Error(`This test file left something running; stop it in afterEach or afterAll: ${leaked.join(", ")}.`);
}

/**
 * The jest environment of this repository: Node's, which also fails a test file that leaves something running, after the
 * last hook of the file, and gives tests more time on a busy machine. Jest requires a class here.
 */
export default class LeakCheckingEnvironment extends TestEnvironment {
  /** The limit of tests and hooks without one of their own. */
  #usualTimeoutMs = 0;
  /** The limits of hooks that have one. */
  readonly #hookTimeouts = new WeakMap<object, number>();

  override async setup(): Promise<void> {
    await super.setup();
    recognizeOuterErrors(this.global);
  }

  /**
   * Adds a last hook to the file. Only in a hook may the modules of the file still load others, as `pg` does for each
   * connection, and an error of a hook stands beside the failures of the tests, which are often the cause of a leak: one
   * of `teardown` would replace them.
   */
  handleTestEvent(event: RunEvent, state: RunState): void {
    if (event.name === "test_start" || event.name === "hook_start") this.#stretchLimit(event, state);
    if (event.name !== "run_start") return;
    this.#usualTimeoutMs = state.testTimeout;
    const parent = state.rootDescribeBlock;
    const fn = () => endLeaks(this.global);
    parent.hooks.push({ type: "afterAll", fn, parent, seenDone: false, timeout: undefined, asyncError: new Error() });
  }

  /** Gives the test or hook that starts more time on a machine that is busy with something else. */
  #stretchLimit({ test, hook }: RunEvent, state: RunState): void {
    const stretch = stretchOfLimits();
    state.testTimeout = this.#usualTimeoutMs * stretch;
    // A hook runs once for each test, and its limit must not grow each time; tests run once.
    if (test?.timeout !== undefined) test.timeout *= stretch;
    else if (hook?.timeout !== undefined) {
      const usual = this.#hookTimeouts.get(hook) ?? hook.timeout;
      this.#hookTimeouts.set(hook, usual);
      hook.timeout = usual * stretch;
    }
  }

  /** Ends what a file left that could not be loaded, or that started something after its last hook. */
  override async teardown(): Promise<void> {
    try {
      await endLeaks(this.global);
    } finally {
      await super.teardown();
    }
  }
}

/**
 * Lets `instanceof Error` mean under jest what it means elsewhere. A test runs in a realm with an Error of its own, so
 * that without this no error of a socket or a file would be one, and code that asks would be tested wrongly.
 */
function recognizeOuterErrors(realm: Record<string, unknown> | typeof globalThis): void {
  const classes = realm as Record<string, unknown>;
  for (const outer of ERROR_CLASSES) {
    const inner = classes[outer.name];
    if (typeof inner !== "function") continue;
    Object.defineProperty(inner, Symbol.hasInstance, {
      configurable: true,
      value(this: unknown, value: unknown): boolean {
        // Subclasses inherit this function, and have no counterpart outside.
        const isOuter = this === inner && value instanceof outer;
        return isOuter || Function.prototype[Symbol.hasInstance].call(this, value);
      },
    });
  }
}
