import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { newId } from "@svc/store";
import type { ModelCall, ProjectId } from "@svc/store";
import { exchange, newMessage, openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;
let project: ProjectId;
let stranger: ProjectId;

beforeAll(async () => {
  db = await openTestStore();
  [project, stranger] = [await db.newProject(), await db.newProject()];
});
afterAll(() => db.close());

const newCall = (change: Partial<ModelCall> = {}): ModelCall => ({
  ticketId: null,
  purpose: "answer",
  model: "openai:gpt-test",
  inputTokens: 100,
  outputTokens: 20,
  costUsd: 0.5,
  ms: 812.4,
  fault: null,
  ...change,
});

async function newTicket(): Promise<string> {
  return (await exchange(db.store, project, newMessage(), ["answer"])).accepted.ticketId;
}

const usageOf = (ticketId: string, who: ProjectId | null = null) => db.store.modelCalls.readTicket(who, ticketId);
const countRows = async (where: string, values: unknown[]) => {
  const [row] = await db.sql<{ count: number }>(
    `SELECT count(*)::integer AS count FROM model_calls WHERE ${where}`,
    values,
  );
  return row?.count;
};

describe("the calls of a ticket", () => {
  test("are listed with their totals, oldest first, and only to their project", async () => {
    const ticketId = await newTicket();
    await db.store.modelCalls.insert(
      project,
      newCall({ ticketId, purpose: "triage", costUsd: null, fault: "timeout" }),
    );
    await db.store.modelCalls.insert(project, newCall({ ticketId }));
    await db.store.modelCalls.insert(stranger, newCall({ ticketId, inputTokens: 1, outputTokens: 2, costUsd: null }));
    const { calls, sums } = await usageOf(ticketId, project);
    expect(calls).toEqual([
      expect.objectContaining({ purpose: "triage", fault: "timeout", costUsd: null, at: expect.any(Date) }),
      expect.objectContaining({ purpose: "answer", fault: null, costUsd: 0.5, ms: 812, model: "openai:gpt-test" }),
    ]);
    expect(sums).toEqual({ calls: 2, inputTokens: 200, outputTokens: 40, costUsd: 0.5 });
    expect((await usageOf(ticketId, stranger)).sums).toEqual({
      calls: 1,
      inputTokens: 1,
      outputTokens: 2,
      costUsd: null,
    });
    expect((await usageOf(ticketId)).sums.calls).toBe(3);
    expect((await usageOf(newId())).sums).toEqual({ calls: 0, inputTokens: 0, outputTokens: 0, costUsd: null });
  });

  test("are exported and erased with it, including one that ends later", async () => {
    const ticketId = await newTicket();
    await db.store.modelCalls.insert(project, newCall({ ticketId }));
    const kinds: Record<string, unknown[]> = {};
    for await (const { kind, records } of db.store.erasures.read(project, ticketId)) kinds[kind] = records;
    expect(kinds["modelCalls"]).toEqual([expect.objectContaining({ inputTokens: 100, model: "openai:gpt-test" })]);
    expect(await db.store.erasures.erase(project, ticketId)).toMatchObject({ modelCalls: 1 });
    await db.store.modelCalls.insert(project, newCall({ ticketId }));
    expect(await countRows("ticket_id = $1", [ticketId])).toBe(0);
  });
});

describe("calls without a ticket", () => {
  test("are deleted after the project's retention period, and others are not", async () => {
    const owner = await db.newProject();
    await db.store.modelCalls.insert(owner, newCall());
    await db.sql("UPDATE model_calls SET at = now() - interval '8 days' WHERE project_id = $1", [owner]);
    await db.store.modelCalls.insert(owner, newCall());
    await db.store.erasures.purgeIdle({ project: owner, retentionDays: 7 }, null);
    expect(await countRows("project_id = $1", [owner])).toBe(1);
  });

  test("are deleted with their project, including late ones", async () => {
    const owner = await db.newProject();
    await db.store.modelCalls.insert(owner, newCall());
    expect(await db.store.projects.remove(owner, null)).toBe("removed");
    await db.sql("UPDATE projects SET deleted_at = deleted_at - interval '1 hour' WHERE id = $1", [owner]);
    while (await db.store.erasures.purgeDeleted());
    await db.store.modelCalls.insert(owner, newCall());
    expect(await countRows("project_id = $1", [owner])).toBe(0);
    expect(await db.sql("SELECT 1 FROM model_days WHERE project_id = $1", [owner])).toEqual([]);
  });
});

describe("the model limits of a project", () => {
  test("default to eight concurrent calls, and are changed one by one", async () => {
    const owner = await db.newProject();
    const allowance = { concurrency: 8, tokensPerDay: null, tokensToday: 0 };
    expect(await db.store.modelCalls.findAllowance(owner)).toEqual(allowance);
    await db.store.projects.update(owner, { modelLimits: { tokensPerDay: 5_000_000_000 } });
    await db.store.projects.update(owner, { modelLimits: { concurrency: null } });
    const { project: changed } = await db.store.projects.update(owner, {});
    expect(changed?.modelLimits).toEqual({ concurrency: null, tokensPerDay: 5_000_000_000 });
    expect(await db.store.modelCalls.findAllowance(newId() as ProjectId)).toBeNull();
  });

  test("count only the tokens of today, with concurrent calls and those of erased tickets", async () => {
    const owner = await db.newProject();
    await Promise.all(
      Array.from({ length: 20 }, () => db.store.modelCalls.insert(owner, newCall({ ticketId: newId() }))),
    );
    await db.store.modelCalls.insert(owner, newCall({ inputTokens: 0, outputTokens: 0, fault: "resting" }));
    expect(await db.store.modelCalls.findAllowance(owner)).toMatchObject({ tokensToday: 20 * 120 });
    await db.sql("UPDATE model_days SET day = day - 1 WHERE project_id = $1", [owner]);
    expect(await db.store.modelCalls.findAllowance(owner)).toMatchObject({ tokensToday: 0 });
  });
});

test("statistics have the usage of a project by model, and that of an agent's tickets", async () => {
  const owner = await db.newProject();
  await db.store.modelCalls.insert(owner, newCall());
  await db.store.modelCalls.insert(owner, newCall({ fault: "timeout", outputTokens: 0, costUsd: null }));
  await db.store.modelCalls.insert(owner, newCall({ model: "ollama:small", costUsd: null }));
  const span = { from: new Date(Date.now() - 60_000), to: new Date(Date.now() + 60_000), timeZone: "UTC" };
  expect((await db.store.stats.read(owner, span)).models).toEqual([
    { model: "openai:gpt-test", calls: 2, faults: 1, inputTokens: 200, outputTokens: 20, costUsd: 0.5 },
    { model: "ollama:small", calls: 1, faults: 0, inputTokens: 100, outputTokens: 20, costUsd: null },
  ]);
  expect((await db.store.stats.read(owner, { ...span, agentId: newId() })).models).toEqual([]);
  expect((await db.store.stats.read(stranger, { ...span, to: span.from, from: new Date(0) })).models).toEqual([]);
});
