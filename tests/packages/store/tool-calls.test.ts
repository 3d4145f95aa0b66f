import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { newId } from "@svc/store";
import type { ProjectId, ToolCallRecord, ToolCaller, WantedCall } from "@svc/store";
import { claimNow, newMessage, openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;
let project: ProjectId;
beforeAll(async () => {
  db = await openTestStore();
  project = await db.newProject();
});
afterAll(() => db.close());

const WANTED: WantedCall = {
  tool: "cancel",
  mark: "mark",
  access: "write",
  key: "cancel 7",
  occurrence: 0,
  arguments: { orderId: "7" },
};
const READ: WantedCall = { ...WANTED, tool: "get", access: "read", key: "get 7" };

/** Claims the first message of a chat, and returns its worker as a caller of tools. */
async function newCaller(chatId: string = newId()): Promise<ToolCaller> {
  const { ticketId } = await db.store.messages.accept(project, newMessage({ chatId }));
  const { messageId, leaseId } = await claimNow(db.store, project, ticketId);
  return { home: project, ticketId, messageId, leaseId, agentId: newId() };
}

async function begin(caller: ToolCaller, wanted = WANTED, state: "running" | "waiting" = "running") {
  const begun = await db.store.toolCalls.begin(project, caller, { ...wanted, state });
  if (begun === null) throw new Error("the call was not written down");
  return begun;
}
const find = async (id: string): Promise<ToolCallRecord | null> => db.store.toolCalls.find(project, id);

describe("a call of a tool", () => {
  test("is recorded once, with its arguments", async () => {
    const caller = await newCaller();
    const { call, isNew } = await begin(caller);
    expect(isNew).toBe(true);
    expect(call).toMatchObject({ ticketId: caller.ticketId, arguments: { orderId: "7" }, state: "running" });
    expect(await begin(caller)).toEqual({ call, isNew: false });
    expect((await begin(caller, { ...WANTED, key: "cancel 8" })).isNew).toBe(true);
  });

  test("is not recorded without the lease, nor for an erased chat", async () => {
    const caller = await newCaller();
    expect(
      await db.store.toolCalls.begin(project, { ...caller, leaseId: newId() }, { ...WANTED, state: "running" }),
    ).toBeNull();
    const { call } = await begin(caller);
    await db.store.toolCalls.finish(project, call.id, { state: "done", result: "ok", durationMs: 3 });
    expect(await find(call.id)).toMatchObject({ state: "done", result: "ok", durationMs: 3 });
    await db.store.erasures.erase(project, caller.ticketId);
    expect(await find(call.id)).toBeNull();
    expect(await db.store.toolCalls.begin(project, caller, { ...WANTED, state: "running" })).toBeNull();
  });

  test("that was interrupted is never repeated unless it only reads, and its worker may still record the result", async () => {
    const { toolCalls } = db.store;
    const caller = await newCaller();
    const { call } = await begin(caller);
    await toolCalls.giveUp(project, call.id, "nobody knows");
    await toolCalls.beginAgain(project, call.id);
    expect(await find(call.id)).toMatchObject({ state: "unknown", result: "nobody knows" });
    await toolCalls.finish(project, call.id, { state: "done", result: "it was", durationMs: 1 });
    expect(await find(call.id)).toMatchObject({ state: "done", result: "it was" });
    await toolCalls.giveUp(project, call.id, "nobody knows");
    expect(await find(call.id)).toMatchObject({ state: "done" });

    const read = await begin(caller, READ);
    await toolCalls.finish(project, read.call.id, { state: "failed", result: "no", durationMs: 1 });
    await toolCalls.beginAgain(project, read.call.id);
    expect(await find(read.call.id)).toMatchObject({ state: "running", result: null });
  });

  test("that waits moves to the newest message that requests it, and ends when that is answered", async () => {
    const { toolCalls } = db.store;
    const chatId = newId();
    const first = await newCaller(chatId);
    const { call } = await begin(first, WANTED, "waiting");
    await begin(first, READ);
    const { messageId } = await db.store.messages.accept(project, newMessage({ chatId }));
    const second = { ...first, messageId };
    expect(await begin(second, WANTED, "waiting")).toEqual({ call: { ...call, messageId }, isNew: false });
    // The older message requests the call once more, in a draft for both.
    expect(await begin(first, WANTED, "waiting")).toEqual({ call: { ...call, messageId }, isNew: false });
    expect((await begin(second, READ)).isNew).toBe(true);

    expect(await toolCalls.listPage(project, { limit: 10, state: "waiting" })).toHaveLength(1);
    await db.sql("UPDATE messages SET state = 'answered' WHERE id = $1", [messageId]);
    expect(await toolCalls.listPage(project, { limit: 10, state: "waiting" })).toEqual([]);
    expect(await find(call.id)).toMatchObject({ state: "rejected", decidedBy: null });
    expect((await begin(first, WANTED, "waiting")).isNew).toBe(true);
  });

  test("that was approved is claimed by one worker, and is dropped or found again only while approved", async () => {
    const { toolCalls } = db.store;
    const caller = await newCaller();
    const { call } = await begin(caller, WANTED, "waiting");
    expect(await toolCalls.claimApproved(project, call.id)).toBe(false);
    await db.sql("UPDATE tool_calls SET state = 'approved', decided_at = now(), decided_by = 'x' WHERE id = $1", [
      call.id,
    ]);
    expect(await toolCalls.listApproved(project, caller.ticketId)).toHaveLength(1);
    const taken = await Promise.all([1, 2, 3].map(() => toolCalls.claimApproved(project, call.id)));
    expect(taken.filter(Boolean)).toHaveLength(1);
    await toolCalls.drop(project, call.id, "gone");
    expect(await find(call.id)).toMatchObject({ state: "running" });
    await toolCalls.finish(project, call.id, { state: "failed", result: "no", durationMs: 1 });
    expect(await toolCalls.listApproved(project, caller.ticketId)).toEqual([]);
    expect(await toolCalls.listKnown(project, caller.ticketId)).toMatchObject([{ id: call.id, state: "failed" }]);
  });

  test("is known to every run until its message is answered, if it writes and was started", async () => {
    const { toolCalls } = db.store;
    const caller = await newCaller();
    const { call } = await begin(caller);
    await begin(caller, READ);
    await begin(caller, { ...WANTED, key: "another" }, "waiting");
    expect(await toolCalls.listKnown(project, caller.ticketId)).toEqual([call]);
    await db.sql("UPDATE messages SET state = 'answered' WHERE id = $1", [caller.messageId]);
    expect(await toolCalls.listKnown(project, caller.ticketId)).toEqual([]);
  });

  test("cannot be found, claimed, started or finished by another project", async () => {
    const { toolCalls } = db.store;
    const stranger = await db.newProject();
    const caller = await newCaller();
    const { call } = await begin(caller);
    expect(await toolCalls.find(stranger, call.id)).toBeNull();
    expect(await toolCalls.listOfTicket(stranger, caller.ticketId)).toEqual([]);
    expect(await toolCalls.listPage(stranger, { limit: 10 })).toEqual([]);
    await toolCalls.finish(stranger, call.id, { state: "done", result: "forged", durationMs: 1 });
    await toolCalls.giveUp(stranger, call.id, "forged");
    expect(await find(call.id)).toMatchObject({ state: "running", result: null });
    expect(await toolCalls.begin(stranger, { ...caller, home: stranger }, { ...WANTED, state: "running" })).toBeNull();
  });
});
