// `npm run --silent sbom >svc.cdx.json`: a bill of materials in CycloneDX 1.6 (https://cyclonedx.org) of every package
// that the lockfile pins, with its hash. Needs neither an install nor the network.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./prepare.mjs";

/** Matches `  '@scope/name@1.2.3':` and the line with its hash, in the section `packages` of pnpm's lockfile. */
const PACKAGE = /^ {2}'?((?:@[^/\s']+\/)?[^@\s']+)@([^:\s'(]+)'?:\n {4}resolution: \{integrity: (sha\d+)-([^,}\s]+)/gm;

/** Returns the components of a lockfile. */
export function listComponents(lockfile) {
  const section = lockfile.slice(lockfile.indexOf("\npackages:\n"), lockfile.indexOf("\nsnapshots:\n"));
  return Array.from(section.matchAll(PACKAGE), ([, name, version, algorithm, hash]) => {
    const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
    return {
      type: "library",
      "bom-ref": purl,
      name,
      version,
      purl,
      hashes: [{ alg: algorithm.replace("sha", "SHA-"), content: Buffer.from(hash, "base64").toString("hex") }],
    };
  });
}

/** Returns the whole document. */
export function makeSbom() {
  const { name, version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const lockfile = readFileSync(join(ROOT, "pnpm-lock.yaml"), "utf8");
  const component = { type: "application", "bom-ref": name, name, version };
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component },
    components: listComponents(lockfile),
  };
}

if (process.argv[1] === join(ROOT, "scripts", "sbom.mjs")) console.log(JSON.stringify(makeSbom(), null, 2));
