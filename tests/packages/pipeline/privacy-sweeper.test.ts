import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { announceRemoval } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { testLog, waitFor } from "@svc/testing";
import { startPrivacySweeper } from "../../../apps/pipeline/src/privacy-sweeper.ts";
import { openTestStore } from "../store/open-test-store.ts";
import type { TestStore } from "../store/open-test-store.ts";

let db: TestStore;

beforeAll(async () => {
  db = await openTestStore();
});

afterAll(() => db.close());

/** Wake-ups within this process. */
function createWakeUps(): Queues["wakeUps"] {
  const checks = new Set<(ids: string[]) => void>();
  return {
    maxIdChars: 100,
    send(_topic, ids) {
      for (const check of checks) check(ids);
    },
    listen(_topic, check) {
      checks.add(check);
      return () => checks.delete(check);
    },
  };
}

test("the first sweep checks all projects whose retention check is due, and one after a changed period those that are due then", async () => {
  const projects = [await db.newProject(), await db.newProject(), await db.newProject()];
  const makeDue = () =>
    db.sql("UPDATE projects SET retention_days = 7, purge_at = now() WHERE id = ANY ($1::uuid[])", [projects]);
  const isChecked = async () =>
    (await db.sql("SELECT FROM projects WHERE id = ANY ($1::uuid[]) AND purge_at > now()", [projects])).length === 3;
  await makeDue();
  const queues = { wakeUps: createWakeUps() };
  const sweeper = startPrivacySweeper({ store: db.store, queues, log: testLog() });
  try {
    // The next sweep that is not woken up is half a minute later.
    await waitFor(isChecked, { what: "the checks", timeoutMs: 10_000 });
    await makeDue();
    announceRemoval(queues, projects[0] ?? "");
    await waitFor(isChecked, { what: "the checks after the change", timeoutMs: 10_000 });
  } finally {
    await sweeper.stop();
  }
  expect(await isChecked()).toBe(true);
});
