/** One run for the whole repository: unit tests beside the code, whole-product tests under tests/. */
export default {
  roots: ["<rootDir>/packages", "<rootDir>/apps", "<rootDir>/tests"],
  testMatch: ["**/*.test.ts"],
  modulePathIgnorePatterns: ["<rootDir>/(packages|apps)/[^/]+/dist/"],
  extensionsToTreatAsEsm: [".ts"],
  transform: {
    "\\.ts$": ["@swc/jest", { jsc: { target: "es2022", parser: { syntax: "typescript" } }, module: { type: "es6" } }],
  },
  testTimeout: 60_000,
};
