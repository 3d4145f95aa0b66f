import { ModernFakeTimers } from "@jest/fake-timers";
import type { EnvironmentContext, JestEnvironmentConfig } from "@jest/environment";
import { ModuleMocker } from "jest-mock";
import { endHeldResources } from "../held-resources.ts";
import { stretchOfLimits } from "../wait-for.ts";

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
async function endLeaks(): Promise<void> {
  const leaked = await endHeldResources();
  if (leaked.length === 0) return;
  throw new Error(`This test file left something running; stop it in afterEach or afterAll: ${leaked.join(", ")}.`);
}

/**
 * The jest environment of this repository: the process itself, without a realm for each file (see {@link
 * NativeRuntime}). It restores what a file may change in the process, fails a file that leaves something running after
 * its last hook, and extends timeouts on a busy machine. Jest requires a class here.
 */
export default class ProcessEnvironment {
  readonly global = globalThis;
  readonly moduleMocker = new ModuleMocker(globalThis);
  readonly fakeTimers = null;
  readonly fakeTimersModern: ModernFakeTimers;
  /** Timeout of tests and hooks without one of their own. */
  #usualTimeoutMs = 0;
  /** Original timeouts of hooks that have one. */
  readonly #hookTimeouts = new WeakMap<object, number>();
  readonly #before = { env: { ...process.env }, cwd: process.cwd(), console: globalThis.console };
  /** Jest replaces it for each file by one that calls the one before. */
  readonly #exit = Object.getOwnPropertyDescriptor(process, "exit");

  constructor({ projectConfig }: JestEnvironmentConfig, _context: EnvironmentContext) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  exportConditions(): string[] {
    return ["node", "node-addons"];
  }

  /** Jest requires this function. Nothing runs in a realm of its own. */
  getVmContext(): null {
    return null;
  }

  async setup(): Promise<void> {}

  /**
   * Adds a last hook to the file. An error of a hook is reported in addition to failed tests, which often cause the
   * leak, while one of `teardown` would replace them.
   */
  handleTestEvent(event: RunEvent, state: RunState): void {
    if (event.name === "test_start" || event.name === "hook_start") this.#stretchLimit(event, state);
    if (event.name !== "run_start") return;
    this.#usualTimeoutMs = state.testTimeout;
    const parent = state.rootDescribeBlock;
    const hook = { type: "afterAll", fn: endLeaks, parent, seenDone: false, timeout: undefined };
    parent.hooks.push({ ...hook, asyncError: new Error() });
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
  async teardown(): Promise<void> {
    try {
      await endLeaks();
    } finally {
      this.fakeTimersModern.dispose();
      const { env, cwd, console } = this.#before;
      for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
      Object.assign(process.env, env);
      process.chdir(cwd);
      if (this.#exit !== undefined) Object.defineProperty(process, "exit", this.#exit);
      Object.assign(globalThis, { console });
    }
  }
}
