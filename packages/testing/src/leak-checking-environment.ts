import { TestEnvironment } from "jest-environment-node";
import { endHeldResources } from "./held-resources.ts";

/**
 * The jest environment of this repository: Node's, which also fails a test file that leaves something running. It
 * looks after the last hook of the file, which no hook of a setup file could. Jest asks for a class here.
 */
export default class LeakCheckingEnvironment extends TestEnvironment {
  override async teardown(): Promise<void> {
    const leaked = await endHeldResources(this.global);
    await super.teardown();
    if (leaked.length === 0) return;
    throw new Error(`This test file left something running; stop it in afterEach or afterAll: ${leaked.join(", ")}.`);
  }
}
