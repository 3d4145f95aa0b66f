import { TestEnvironment } from "jest-environment-node";
import { endHeldResources } from "./held-resources.ts";
import { stretchOfLimits } from "./wait-for.ts";

/** The built-in error classes. Node creates its own errors with these, in the realm outside a test. */
const ERROR_CLASSES = [Error, AggregateError, RangeError, SyntaxError, TypeError, URIError];

/** The part of jest-circus's state with the hooks of a file. */
interface RunState {
  rootDescribeBlock: { hooks: object[] };
  /** Timeout of tests and hooks without one of their own. */
  testTimeout: number;
}

interface RunEvent {
  name: string;
  /** Of `test_start`: with its own timeout if it has one. */
  test?: { timeout?: number };
  /** Of `hook_start`. */
  hook?: { timeout?: number };
}

/** Releases what a test file has leaked. Throws if there was anything. */
async function endLeaks(realm: object): Promise<void> {
  const leaked = await endHeldResources(realm);
  if (leaked.length === 0) return;
  throw new Error(`This test file left something running; stop it in afterEach or afterAll: ${leaked.join(", ")}.`);
}

/**
 * The jest environment of this repository: Node's, which also fails a test file that leaves something running after its
 * last hook, and extends timeouts on a busy machine. Jest requires a class here.
 */
export default class LeakCheckingEnvironment extends TestEnvironment {
  /** Timeout of tests and hooks without one of their own. */
  #usualTimeoutMs = 0;
  /** Original timeouts of hooks that have one. */
  readonly #hookTimeouts = new WeakMap<object, number>();

  override async setup(): Promise<void> {
    await super.setup();
    recognizeOuterErrors(this.global);
  }

  /**
   * Adds a last hook to the file. Only hooks can still import modules, as `pg` does for each connection. An error of a
   * hook is reported in addition to failed tests, which often cause the leak, while one of `teardown` would replace
   * them.
   */
  handleTestEvent(event: RunEvent, state: RunState): void {
    if (event.name === "test_start" || event.name === "hook_start") this.#stretchLimit(event, state);
    if (event.name !== "run_start") return;
    this.#usualTimeoutMs = state.testTimeout;
    const parent = state.rootDescribeBlock;
    const fn = () => endLeaks(this.global);
    parent.hooks.push({ type: "afterAll", fn, parent, seenDone: false, timeout: undefined, asyncError: new Error() });
  }

  /** Extends the timeout of a starting test or hook on a busy machine. */
  #stretchLimit({ test, hook }: RunEvent, state: RunState): void {
    const stretch = stretchOfLimits();
    state.testTimeout = this.#usualTimeoutMs * stretch;
    // A hook runs once per test, and its timeout must not grow each time; tests run once.
    if (test?.timeout !== undefined) test.timeout *= stretch;
    else if (hook?.timeout !== undefined) {
      const usual = this.#hookTimeouts.get(hook) ?? hook.timeout;
      this.#hookTimeouts.set(hook, usual);
      hook.timeout = usual * stretch;
    }
  }

  /** Releases what leaked from a file that could not be loaded, or that started something after its last hook. */
  override async teardown(): Promise<void> {
    try {
      await endLeaks(this.global);
    } finally {
      await super.teardown();
    }
  }
}

/**
 * Makes `instanceof Error` work in jest. A test's realm has its own Error, so errors of sockets and files would not be
 * instances, and code that checks would be tested wrongly.
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
