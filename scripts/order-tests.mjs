// The order in which jest runs test files: the longest first, so that no worker is still at a long one when the others
// have nothing left to do. Jest itself knows only how long files took the last time, and nothing on a fresh machine.
import { statSync } from "node:fs";
import { relative } from "node:path";
import { ROOT } from "./prepare.mjs";

/** Files that take over half a minute of a busy machine, whatever their size: what starts and kills most processes. */
const LONGEST = [
  "tests/journeys/cli.test.ts",
  "tests/journeys/console-browser.test.ts",
  "packages/embedded/src/start-embedded-postgres.test.ts",
  "tests/journeys/http-replicas.test.ts",
  "tests/packages/knowledge/read-hostile-files.test.ts",
  "tests/journeys/messenger.test.ts",
  "tests/journeys/console-events.test.ts",
  "tests/journeys/cli-kb.test.ts",
  "tests/journeys/cli-backup.test.ts",
  "tests/journeys/http-scopes.test.ts",
  "tests/journeys/console-browser-access.test.ts",
  "tests/journeys/widget-browser-access.test.ts",
  "tests/journeys/console-browser-tasks.test.ts",
  "tests/journeys/console-browser-trust.test.ts",
  "tests/journeys/console-http.test.ts",
  "tests/journeys/durability-crash.test.ts",
  "tests/journeys/durability-pipeline.test.ts",
  "tests/journeys/http-hostile-slow.test.ts",
  "tests/journeys/widget-browser.test.ts",
  "tests/journeys/http-idempotency.test.ts",
  "tests/journeys/http-webhooks-durability.test.ts",
  "tests/journeys/http-hostile-strings.test.ts",
  "tests/journeys/http-drain.test.ts",
  "tests/journeys/openapi.test.ts",
  "tests/journeys/widget-socket-hostile.test.ts",
  "tests/journeys/durability-outages.test.ts",
  "tests/journeys/messenger-kills.test.ts",
  "tests/journeys/cli-administration.test.ts",
  "tests/journeys/widget-browser-replicas.test.ts",
  "tests/journeys/http-webhooks-tries.test.ts",
  "tests/journeys/http-webhooks-secrets.test.ts",
  "tests/journeys/http-webhooks-order.test.ts",
  "tests/journeys/http-streaming.test.ts",
  "tests/journeys/widget-browser-outbox.test.ts",
  "tests/journeys/http-reviews-durability.test.ts",
  "tests/journeys/mcp-clients.test.ts",
];
/** Then whole products, what needs databases, and in the end what takes a second. */
const FOLDERS = ["tests/journeys/", "tests/packages/", ""];

/** Places come first where they are lower; among files of one place the largest, which has the most tests. */
function placeOf(path) {
  const file = relative(ROOT, path).replaceAll("\\", "/");
  const place = LONGEST.indexOf(file);
  return place === -1 ? LONGEST.length + FOLDERS.findIndex((folder) => file.startsWith(folder)) : place;
}

/** Made and called by jest, which asks for a class here. */
export default class OrderTests {
  sort(tests) {
    return tests
      .map((test) => ({ test, place: placeOf(test.path), sizeBytes: statSync(test.path).size }))
      .sort((one, other) => one.place - other.place || other.sizeBytes - one.sizeBytes)
      .map(({ test }) => test);
  }

  /** For `--onlyFailures`: nothing is remembered, so that all are run. */
  allFailedTests(tests) {
    return tests;
  }

  cacheResults() {}
}
