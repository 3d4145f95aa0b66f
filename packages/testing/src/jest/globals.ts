import type * as Globals from "@jest/globals";

/** The property of the global object with the functions of jest for the test file that is running. */
export const JEST_GLOBALS = Symbol.for("@svc/testing jest");

/**
 * Returns a function that always is the one of the running file: modules that test files share import these once for all
 * files.
 */
function current<Name extends keyof typeof Globals>(name: Name): (typeof Globals)[Name] {
  const find = () => (globalThis as unknown as Record<symbol, typeof Globals>)[JEST_GLOBALS]?.[name] as object;
  return new Proxy(function () {}, {
    get: (_, key) => Reflect.get(find(), key) as unknown,
    apply: (_, self, args) => Reflect.apply(find() as () => unknown, self, args),
  }) as unknown as (typeof Globals)[Name];
}

/** What tests import from `@jest/globals` (see load-hooks.ts). */
export const afterAll = current("afterAll");
export const afterEach = current("afterEach");
export const beforeAll = current("beforeAll");
export const beforeEach = current("beforeEach");
export const describe = current("describe");
export const expect = current("expect");
export const it = current("it");
export const jest = current("jest");
export const test = current("test");
