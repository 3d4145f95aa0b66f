import type { Check } from "./check.ts";

/** The oldest Node.js that the product runs on, as in package.json. */
const OLDEST = { major: 20, minor: 19 };
/** The oldest major version that still gets security fixes. */
const OLDEST_MAINTAINED = 22;

/** Checks the version of Node.js, as in `20.19.4`. */
export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const found = { name: "Node.js", detail: `version ${version}` };
  if (major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor)) {
    return {
      ...found,
      status: "fail",
      advice: `Install version ${OLDEST.major}.${OLDEST.minor} or newer; 24 is recommended.`,
    };
  }
  if (major >= OLDEST_MAINTAINED) return { ...found, status: "ok" };
  return { ...found, status: "warn", advice: "This version no longer receives security fixes. Install version 24." };
}
