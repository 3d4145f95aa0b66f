import { TestEnvironment } from "jest-environment-node";
import { endHeldResources } from "./held-resources.ts";

/** The error classes of the language. Node makes errors of its own of these, in the realm outside of a test. */
const ERROR_CLASSES = [Error, AggregateError, RangeError, SyntaxError, TypeError, URIError];

/** The part of jest-circus's state that holds the hooks of a file. */
interface RunState {
  rootDescribeBlock: { hooks: object[] };
}

/** Ends what a test file has left. Throws if there was anything. */
async function endLeaks(realm: object): Promise<void> {
  const leaked = await endHeldResources(realm);
  if (leaked.length === 0) return;
  throw new Error(`This test file left something running; stop it in afterEach or afterAll: ${leaked.join(", ")}.`);
}

/**
 * The jest environment of this repository: Node's, which also fails a test file that leaves something running. It
 * checks after the last hook of the file. Jest requires a class here.
 */
export default class LeakCheckingEnvironment extends TestEnvironment {
  override async setup(): Promise<void> {
    await super.setup();
    recognizeOuterErrors(this.global);
  }

  /**
   * Adds a last hook to the file. Only in a hook may the modules of the file still load others, as `pg` does for each
   * connection, and an error of a hook stands beside the failures of the tests, which are often the cause of a leak: one
   * of `teardown` would replace them.
   */
  handleTestEvent(event: { name: string }, { rootDescribeBlock: parent }: RunState): void {
    if (event.name !== "run_start") return;
    const fn = () => endLeaks(this.global);
    parent.hooks.push({ type: "afterAll", fn, parent, seenDone: false, timeout: undefined, asyncError: new Error() });
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
