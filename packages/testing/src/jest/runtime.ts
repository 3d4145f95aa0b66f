import { createRequire, register } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import type * as JestRuntime from "jest-runtime";
import { JEST_GLOBALS } from "./globals.ts";
import { transpiledPath } from "./load-hooks.ts";

const require = createRequire(import.meta.url);
const { default: Runtime } = require("jest-runtime") as (typeof JestRuntime)["default"];
/** Under this symbol jest-circus keeps the event handlers of a file. */
const EVENT_HANDLERS = Symbol.for("EVENT_HANDLERS");
/** Number of files that this process has run. */
let fileCount = 0;

register(new URL("load-hooks.js", import.meta.url));

/** Source maps of what the hooks have transpiled, by the path or URL in a stack trace. */
class SourceMaps extends Map<string, string> {
  override get(generated: string): string | undefined {
    const path = generated.startsWith("file:") ? fileURLToPath(generated) : generated;
    return path.endsWith(".ts") ? `${transpiledPath(path)}.map` : undefined;
  }
}

/**
 * The jest runtime of this repository: test files are modules of Node.js itself, in the realm of the process, as the
 * product is. Jest's own runtime loads every module again for each file, into a realm with classes of its own, which
 * costs more CPU than most files. Modules other than the test file are therefore shared by the files that a process
 * runs: what a module keeps must not depend on the file. There are no mocks of modules. Jest requires a class here.
 */
export default class NativeRuntime extends Runtime {
  readonly #testPath: string;

  constructor(...args: ConstructorParameters<typeof Runtime>) {
    super(...args);
    this.#testPath = args[6];
  }

  /** Loads a part of jest. The test framework's is evaluated again for each file, because it has the file's state. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- The signature is jest's.
  override requireInternalModule<Exports = unknown>(from: string): Exports {
    delete require.cache[from];
    Reflect.deleteProperty(globalThis, EVENT_HANDLERS);
    return require(from) as Exports;
  }

  override unstable_shouldLoadAsEsm(): boolean {
    return true;
  }

  /** Imports a test file. Its address is new each time: jest may run a file again in the same process. */
  override async unstable_importModule(path: string): Promise<never> {
    Object.assign(globalThis, { [JEST_GLOBALS]: this.requireModuleOrMock(this.#testPath, "@jest/globals") });
    return (await import(`${pathToFileURL(path).href}?run=${++fileCount}`)) as never;
  }

  override getSourceMaps(): Map<string, string> {
    return new SourceMaps();
  }
}
