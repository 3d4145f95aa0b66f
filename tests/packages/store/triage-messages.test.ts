import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { newId } from "@svc/store";
import { exchange, newMessage, openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let world: TestStore;

beforeAll(async () => {
  world = await openTestStore();
});
afterAll(() => world.close());

const newProject = () => world.newProject();
const decided = (text: string, agentId: string | null = null, messageId = newId()) => ({
  messageId,
  ticketId: newId(),
  agentId,
  text,
});

describe("messages whose agent an operator has decided", () => {
  test("are listed with the newest first, in their project only", async () => {
    const { triageMessages } = world.store;
    const [project, other, agentId] = [await newProject(), await newProject(), newId()];
    await triageMessages.record(project, decided("one", agentId));
    await triageMessages.record(project, decided("two"));
    expect(await triageMessages.list(project)).toEqual([
      { agentId: null, text: "two" },
      { agentId, text: "one" },
    ]);
    expect(await triageMessages.list(other)).toEqual([]);
  });

  test("have one decision each, the last one, and every decision changes the version mark", async () => {
    const { triageMessages } = world.store;
    const [project, messageId, agentId] = [await newProject(), newId(), newId()];
    const marks = [await triageMessages.findMark(project)];
    await triageMessages.record(project, decided("text", null, messageId));
    marks.push(await triageMessages.findMark(project));
    await triageMessages.record(project, decided("text", agentId, messageId));
    marks.push(await triageMessages.findMark(project));
    expect(await triageMessages.list(project)).toEqual([{ agentId, text: "text" }]);
    expect(new Set(marks).size).toBe(3);
    expect(await triageMessages.findMark(project)).toBe(marks.at(-1));
  });

  test("include the first messages of resolved tickets, for their agent, unless a decision exists", async () => {
    const { store } = world;
    const project = await newProject();
    const [agentId, other] = [newId(), newId()];
    const resolve = async (text: string) => {
      const message = newMessage({ text });
      const { accepted } = await exchange(store, project, message, ["an answer"]);
      await exchange(store, project, { ...message, text: "and later" }, ["another answer"]);
      const mark = await store.triageMessages.findMark(project);
      await world.sql("UPDATE tickets SET status = 'resolved', resolved_at = now(), agent_id = $2 WHERE id = $1", [
        accepted.ticketId,
        agentId,
      ]);
      expect(await store.triageMessages.findMark(project)).not.toBe(mark);
      return accepted;
    };
    await exchange(store, project, newMessage({ text: "still open" }), ["an answer"]);
    await resolve("first");
    const { messageId } = await resolve("second");
    expect(await store.triageMessages.list(project)).toEqual([
      { agentId, text: "second" },
      { agentId, text: "first" },
    ]);
    await store.triageMessages.record(project, decided("second", other, messageId));
    expect(await store.triageMessages.list(project)).toEqual([
      { agentId: other, text: "second" },
      { agentId, text: "first" },
    ]);
  });

  test("are limited to the newest 10,000", async () => {
    const { triageMessages } = world.store;
    const project = await newProject();
    await world.sql(
      `INSERT INTO triage_messages (project_id, message_id, ticket_id, text)
       SELECT $1, gen_random_uuid(), gen_random_uuid(), n::text FROM generate_series(1, 10000) AS n`,
      [project],
    );
    await triageMessages.record(project, decided("the newest"));
    const texts = (await triageMessages.list(project)).map(({ text }) => text);
    expect([texts.length, texts[0], texts.at(-1)]).toEqual([10_000, "the newest", "2"]);
  });
});

describe("an agent", () => {
  test("that is changed has another version, another version mark, and otherwise the same fields", async () => {
    const { agents } = world.store;
    const project = await newProject();
    const agent = await agents.insert(project, { name: "one", examples: ["a"], description: "d" });
    const mark = await agents.findMark(project);
    const changed = await agents.update(project, { id: agent.id }, { examples: ["a", "b"] });
    const now = { ...agent, examples: ["a", "b"], version: agent.version + 1 };
    expect(changed).toEqual({ result: "changed", agent: now });
    expect(await agents.findMark(project)).not.toBe(mark);
    const elsewhere = await agents.update(await newProject(), { id: agent.id }, { name: "two" });
    expect(elsewhere).toEqual({ result: "stale", agent: null });
  });
});
