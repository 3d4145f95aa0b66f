import { TestEnvironment } from "jest-environment-node";
import { endHeldResources } from "./held-resources.ts";

/** The error classes of the language. Node makes errors of its own of these, in the realm outside of a test. */
const ERROR_CLASSES = [Error, AggregateError, RangeError, SyntaxError, TypeError, URIError];

/**
 * The jest environment of this repository: Node's, which also fails a test file that leaves something running. It
 * looks after the last hook of the file, which no hook of a setup file could. Jest asks for a class here.
 */
export default class LeakCheckingEnvironment extends TestEnvironment {
  override async setup(): Promise<void> {
    await super.setup();
    recognizeOuterErrors(this.global);
  }

  override async teardown(): Promise<void> {
    const leaked = await endHeldResources(this.global);
    await super.teardown();
    if (leaked.length === 0) return;
    throw new Error(`This test file left something running; stop it in afterEach or afterAll: ${leaked.join(", ")}.`);
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
