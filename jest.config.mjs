import { transpileSources } from "./scripts/prepare.mjs";

// What jest itself loads of packages/testing, and what tests start, is the present state of the sources too.
await transpileSources();

/** One run for the whole repository: unit tests beside the code, whole-product tests under tests/. */
export default {
  roots: ["<rootDir>/packages", "<rootDir>/apps", "<rootDir>/tests"],
  testMatch: ["**/*.test.ts"],
  modulePathIgnorePatterns: ["<rootDir>/(packages|apps)/[^/]+/dist/"],
  // Node.js itself loads the tests, and workspaces from their sources (packages/testing/src/jest/runtime.ts).
  runtime: "<rootDir>/packages/testing/dist/jest/runtime.js",
  transform: {},
  // The Postgres and Redis of the run start when the first test asks for them, and end with the run.
  globalSetup: "<rootDir>/packages/testing/dist/global-setup.js",
  globalTeardown: "<rootDir>/packages/testing/dist/global-teardown.js",
  // A file that leaves processes, databases or queues behind fails.
  testEnvironment: "<rootDir>/packages/testing/dist/jest/environment.js",
  // Beside what it is made from, and not in a folder for temporary files that nobody empties.
  cacheDirectory: "<rootDir>/node_modules/.cache/jest",
  // Far more than any test takes: what goes well does not wait for it, and a busy machine may be slow.
  testTimeout: 120_000,
  // Many tests wait for processes that start, stop and die: one worker more than cores keeps two cores busy, beside the
  // static checks. scripts/test.mjs gives a part of the tests another one.
  maxWorkers: 3,
  // Files share the modules of their worker; what else they leave behind is limited.
  workerIdleMemoryLimit: "600MB",
  // A worker that has run a hundred files takes longer to end on a busy machine than jest's half second: it would be
  // killed, and said to have leaked. One that is kept alive by something is still named, after this time.
  workerGracefulExitTimeout: 20_000,
};
