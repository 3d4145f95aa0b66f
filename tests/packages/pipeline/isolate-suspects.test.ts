import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { LIMITS } from "@svc/contracts";
import type { ClaimedMessage, Store } from "@svc/store";
import { createIsolation } from "../../../apps/pipeline/src/isolation.ts";
import { explainExpiredLeases } from "../../../apps/pipeline/src/process-messages.ts";
import { answeredRun, newMessage, openAndFinish, openTestStore } from "../store/open-test-store.ts";
import type { TestStore } from "../store/open-test-store.ts";

const SUSPECTS = 64;

let db: TestStore;

beforeAll(async () => {
  db = await openTestStore();
});

afterAll(() => db.close());

test("one poison message among 64 is found by halving, and no other one becomes a dead letter", async () => {
  const project = await db.newProject();
  const texts = Array.from({ length: SUSPECTS }, (_, index) => (index === 41 ? "poison" : `message ${index}`));
  const waiting = new Set<string>();
  for (const text of texts) waiting.add((await db.store.messages.accept(project, newMessage({ text }))).ticketId);
  const crashes = new Map<string, number>();
  const givenUp: string[] = [];
  let groups = 0;

  /** Runs claimed messages together: returns true if one of them crashes the process, so that none is finished. */
  async function runTogether(store: Store, messages: ClaimedMessage[]): Promise<boolean> {
    for (const message of messages) crashes.set(message.text, message.crashes);
    const exhausted = messages.filter((message) => explainExpiredLeases(message) !== null);
    for (const { text, ticketId } of exhausted) {
      givenUp.push(text);
      waiting.delete(ticketId);
    }
    const others = messages.filter((message) => !exhausted.includes(message));
    if (others.some(({ text }) => text === "poison")) return true;
    for (const message of others) {
      await openAndFinish(store, answeredRun(message, []));
      waiting.delete(message.ticketId);
    }
    return false;
  }

  /** A process that works until nothing waits, or it crashes. */
  async function runProcess(): Promise<void> {
    const store = db.openAnother();
    await store.processes.beat({ app: "pipeline", host: "a", pid: 1, memoryBytes: 1, memoryLimitBytes: null });
    const isolation = createIsolation();
    const beside: ClaimedMessage[] = [];
    const group: ClaimedMessage[] = [];
    let hasCrashed = false;
    const all = [...waiting].map(async (ticketId) => {
      const found = await isolation.runShared(() => store.messages.claimConcurrently(project, ticketId));
      if (found === null) throw new Error("nothing could be claimed");
      if (!("groupLimit" in found)) return void beside.push(found);
      return isolation.runExclusive(found.groupLimit, async (size) => {
        if (hasCrashed) return;
        const claimed = await store.messages.claim(project, ticketId, size);
        if (claimed === null) throw new Error("a suspect could not be claimed");
        group.push(claimed);
        if (group.length < size) return;
        groups += 1;
        hasCrashed = await runTogether(store, group.splice(0));
      });
    });
    await Promise.all(all);
    await runTogether(store, beside);
    await db.sql("UPDATE processes SET told_at = now(), heard_at = now() - interval '1 minute'");
    await db.sql("UPDATE chats SET lease_until = now() - interval '1 ms' WHERE lease_id IS NOT NULL");
  }

  let processes = 0;
  for (; waiting.size > 0 && processes < 30; processes++) await runProcess();
  expect(givenUp).toEqual(["poison"]);
  expect(waiting.size).toBe(0);
  // Two crashes make suspects; then one for each halving, and one of the message alone.
  expect(processes).toBeLessThanOrEqual(2 + Math.log2(SUSPECTS) + 2);
  expect(groups).toBeLessThanOrEqual(4 * Math.log2(SUSPECTS));
  expect(crashes.get("poison")).toBeGreaterThanOrEqual(LIMITS.maxAttempts);
  const innocent = [...crashes].filter(([text]) => text !== "poison").map(([, count]) => count);
  expect(innocent.reduce((sum, count) => sum + count, 0) / innocent.length).toBeLessThanOrEqual(4);
});
