// A resolver of jest that gives test files the workspaces, and the packages that they share with them, from the bundles
// that `npm test` makes (scripts/bundle-apps.mjs): to find and link the thousand modules behind a workspace takes a
// second, for each of four hundred test files anew. Without TEST_BUNDLE_DIR, everything is where Node finds it.
import { existsSync, readdirSync } from "node:fs";
import { join, sep } from "node:path";

const folder = process.env.TEST_BUNDLE_DIR ? join(process.env.TEST_BUNDLE_DIR, "modules") : "";
const IS_ENTRY = /^(@svc\/[^/]+|[a-z]+)\.mjs$/;

const listEntries = () =>
  [...readdirSync(folder), ...readdirSync(join(folder, "@svc")).map((name) => `@svc/${name}`)]
    .filter((name) => IS_ENTRY.test(name))
    .map((name) => [name.replace(/\.mjs$/, ""), join(folder, name)]);

const bundled = new Map(folder !== "" && existsSync(folder) ? listEntries() : []);
/** Packages keep what they found: they may want another version, and cannot `require` what is a module here. */
const isOwn = (basedir) => !basedir.includes(`${sep}node_modules${sep}`);

/** Called by jest for each import. */
export default function resolveBundled(name, options) {
  const path = bundled.get(name);
  if (path !== undefined && options.conditions?.includes("import") && isOwn(options.basedir)) return path;
  return options.defaultResolver(name, options);
}
