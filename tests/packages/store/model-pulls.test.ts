import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import type { ClaimedModelPull, Store } from "@svc/store";
import { openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

const MODEL = "ollama:llama3.2:3b";
const HALF = { status: "pulling c6eb396dbd59", completedBytes: 500, totalBytes: 1_000 };

let db: TestStore;
let pulls: Store["modelPulls"];

beforeAll(async () => {
  db = await openTestStore();
  pulls = db.store.modelPulls;
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.sql("DELETE FROM model_pulls");
});

async function claimNow(): Promise<ClaimedModelPull> {
  const claim = await pulls.claim();
  if (claim === null) throw new Error("there is nothing to claim");
  return claim;
}

const expireLease = () => db.sql("UPDATE model_pulls SET lease_until = now() - interval '1 s'");

test("one of many concurrent requests for a model, in several processes, starts its pull", async () => {
  const others = [db.store, db.openAnother(), db.openAnother()];
  const asked = await Promise.all(
    Array.from({ length: 30 }, (_, index) => (others[index % 3] ?? db.store).modelPulls.begin(MODEL)),
  );
  expect(asked.filter(({ isNew }) => isNew)).toHaveLength(1);
  expect(new Set(asked.map(({ pull }) => pull.id)).size).toBe(1);
  expect(asked[0]?.pull).toMatchObject({ state: "running", status: "queued", completedBytes: 0, totalBytes: null });
  await claimNow();
  expect(await pulls.claim()).toBeNull();
});

test("a new pull can start after one has ended", async () => {
  const { pull } = await pulls.begin(MODEL);
  await pulls.finish(await claimNow(), { state: "failed", code: "disk_full", detail: "The disk is full." });
  expect(await pulls.find(MODEL)).toMatchObject({
    state: "failed",
    failure: { code: "disk_full", detail: "The disk is full." },
  });
  const again = await pulls.begin(MODEL);
  expect(again).toMatchObject({ isNew: true, pull: { state: "running", version: 1, failure: null } });
  expect(again.pull.id).not.toBe(pull.id);
  expect(await claimNow()).toMatchObject({ id: again.pull.id, attempts: 1 });
});

test("its version grows only with visible changes", async () => {
  await pulls.begin(MODEL);
  const claim = await claimNow();
  for (const progress of [HALF, HALF, { ...HALF, completedBytes: 600 }]) {
    expect(await pulls.saveProgress(claim, progress, { hasGrown: true })).toBe(true);
  }
  expect(await pulls.find(MODEL)).toMatchObject({ version: 3, completedBytes: 600, totalBytes: 1_000 });
  expect(await pulls.listRunning()).toMatchObject([{ catalogId: MODEL, completedBytes: 600 }]);
  expect(await pulls.finish(claim, { state: "done" })).toBe(true);
  expect(await pulls.find(MODEL)).toMatchObject({
    version: 4,
    state: "done",
    status: "success",
    completedBytes: 1_000,
  });
  expect(await pulls.listRunning()).toEqual([]);
});

test("a worker that has lost its lease, by expiry or cancellation, changes nothing", async () => {
  await pulls.begin(MODEL);
  const slow = await claimNow();
  await expireLease();
  const quick = await claimNow();
  expect(quick).toMatchObject({ id: slow.id, attempts: 1 });
  expect(await pulls.saveProgress(slow, HALF, { hasGrown: true })).toBe(false);
  expect(await pulls.finish(slow, { state: "done" })).toBe(false);
  await pulls.retryLater(slow, { delayMs: 60_000, failure: "slow", counts: true });
  expect(await pulls.saveProgress(quick, HALF, { hasGrown: true })).toBe(true);

  expect(await pulls.cancel(MODEL)).toMatchObject({ state: "cancelled", completedBytes: 500 });
  expect(await pulls.cancel(MODEL)).toBeNull();
  expect(await pulls.saveProgress(quick, HALF, { hasGrown: true })).toBe(false);
  expect(await pulls.finish(quick, { state: "done" })).toBe(false);
  expect(await pulls.find(MODEL)).toMatchObject({ state: "cancelled" });
  expect(await pulls.cancel("ollama:unknown:latest")).toBeNull();
});

test("an attempt is counted with its failure, not with its claim", async () => {
  const countFailed = async () => {
    const [row] = await db.sql<{ attempts: number }>("SELECT attempts FROM model_pulls WHERE catalog_id = $1", [MODEL]);
    return row?.attempts;
  };
  await pulls.begin(MODEL);
  const claim = await claimNow();
  expect(claim.attempts).toBe(1);
  expect(await countFailed()).toBe(0);
  await pulls.retryLater(claim, { delayMs: 0, failure: "cut", counts: true });
  expect(await countFailed()).toBe(1);
});

test("attempts are counted since the last progress, except those that failed for external reasons", async () => {
  await pulls.begin(MODEL);
  for (const attempts of [1, 2, 3]) {
    const claim = await claimNow();
    expect(claim.attempts).toBe(attempts);
    await pulls.retryLater(claim, { delayMs: 0, failure: "cut", counts: true });
  }
  const grown = await claimNow();
  await pulls.saveProgress(grown, HALF, { hasGrown: true });
  await pulls.retryLater(grown, { delayMs: 0, failure: "cut", counts: true });
  const next = await claimNow();
  expect(next).toMatchObject({ attempts: 2, completedBytes: 500 });
  await pulls.retryLater(next, { delayMs: 0, failure: null, counts: false });
  expect((await claimNow()).attempts).toBe(2);
});

test("an unclaimed pull is announced when it is due, and not again immediately", async () => {
  const { pull } = await pulls.begin(MODEL);
  expect(await pulls.claimDue(10)).toEqual([]);
  await db.sql("UPDATE model_pulls SET due_at = now()");
  expect(await pulls.claimDue(10)).toEqual([{ catalogId: MODEL, pullId: pull.id, attempts: 0 }]);
  expect(await pulls.claimDue(10)).toEqual([]);

  const claim = await claimNow();
  await db.sql("UPDATE model_pulls SET due_at = now()");
  expect(await pulls.claimDue(10)).toEqual([]);
  await expireLease();
  expect(await pulls.claimDue(10)).toMatchObject([{ attempts: 1 }]);

  await expireLease();
  const again = await claimNow();
  expect(again.leaseId).not.toBe(claim.leaseId);
  await pulls.retryLater(again, { delayMs: 60_000, failure: "away", counts: true });
  await db.sql("UPDATE model_pulls SET due_at = now()");
  expect(await pulls.claimDue(10)).toEqual([]);
  expect(await pulls.claim()).toBeNull();
});

test("old finished pulls are deleted, and running ones are not", async () => {
  for (const id of [MODEL, "ollama:old:1b", "ollama:slow:1b"]) await pulls.begin(id);
  for (const id of [MODEL, "ollama:old:1b"]) await pulls.cancel(id);
  await db.sql("UPDATE model_pulls SET updated_at = now() - interval '31 days' WHERE catalog_id <> $1", [MODEL]);
  await pulls.purge();
  expect(await pulls.find("ollama:old:1b")).toBeNull();
  expect([await pulls.find(MODEL), await pulls.find("ollama:slow:1b")]).toMatchObject([
    { state: "cancelled" },
    { state: "running" },
  ]);
});
