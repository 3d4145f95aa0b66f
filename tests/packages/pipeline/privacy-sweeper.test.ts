import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { announceRemoval } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { asProjectId, newId } from "@svc/store";
import type { Store } from "@svc/store";
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

test("long retention checks leave the other steps their turn, and the next sweep continues with the next project", async () => {
  const monotonic = performance.now.bind(performance);
  let passedMs = 0;
  const clock = jest.spyOn(performance, "now").mockImplementation(() => monotonic() + passedMs);
  const steps: string[] = [];
  const projects = [newId(), newId(), newId()].map(asProjectId);
  const due = projects.map((project) => ({ project, name: "due", retentionDays: 7 }));
  const store: Store = {
    ...db.store,
    erasures: {
      ...db.store.erasures,
      claimDuePurge: () => Promise.resolve(due.shift() ?? null),
      purgeIdle({ project }) {
        steps.push(`project ${projects.indexOf(project)}`);
        passedMs += 6_000;
        return Promise.resolve({ erased: 0, next: null });
      },
    },
    operatorFiles: {
      ...db.store.operatorFiles,
      removeUnused() {
        steps.push("files");
        // The time until the next sweep.
        passedMs += 30_000;
        return Promise.resolve(false);
      },
    },
  };
  const sweeper = startPrivacySweeper({ store, queues: { wakeUps: createWakeUps() }, log: testLog() });
  try {
    // The clock of the test runs ahead of this limit too.
    await waitFor(() => steps.length >= 4, { what: "the checks", timeoutMs: 120_000 });
  } finally {
    await sweeper.stop();
    clock.mockRestore();
  }
  expect(steps.slice(0, 4)).toEqual(["project 0", "project 1", "files", "project 2"]);
});
