import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { newId } from "@svc/store";
import type { ProjectId, TagRecord } from "@svc/store";
import { waitFor } from "@svc/testing";
import { exchange, newMessage, openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;
let project: ProjectId;

beforeAll(async () => {
  db = await openTestStore();
});
afterAll(() => db.close());
beforeEach(async () => {
  project = await db.newProject();
});

async function follow(): Promise<void> {
  while (await db.store.ticketIndex.follow(() => []));
}

/** Creates a ticket with these tags, which is in lists. */
async function ticketWith(...tags: string[]): Promise<string> {
  const { accepted } = await exchange(db.store, project, newMessage({ chatId: newId() }), ["Hi."]);
  const change = { change: { tags }, versions: null, actor: "key:1" };
  await db.store.ticketDetails.update(project, accepted.ticketId, change);
  return accepted.ticketId;
}

async function make(name: string): Promise<TagRecord> {
  const tag = await db.store.tags.insert(project, { name, color: "red" });
  if (tag === null) throw new Error(`the project has a tag ${name}`);
  return tag;
}

const rename = (id: string, name: string) =>
  db.store.tags.update(project, { id }, { fields: { name }, actor: "operator:1" });

async function tagsOf(id: string): Promise<string[] | undefined> {
  return (await db.store.ticketDetails.find(project, id))?.tags;
}

const listed = async (tag: string) => {
  const query = { sort: "-updatedAt", limit: 50, words: null, tag, after: undefined } as const;
  return (await db.store.ticketList.listPage(project, query)).tickets.map(({ id }) => id);
};

const pending = async () =>
  (await db.sql<{ fromName: string }>("SELECT from_name FROM tag_changes WHERE project_id = $1", [project])).length;

/** Carries out all changes, like the pipeline, until they have ended. */
const finishChanges = () =>
  waitFor(
    async () => {
      await follow();
      while ((await db.store.tags.carryOutChanges()) > 0);
      return (await pending()) === 0;
    },
    { what: "names of tags to be replaced", timeoutMs: 30_000 },
  );

/** Carries out all changes as if their time had passed. */
async function settle() {
  await db.sql("UPDATE tag_changes SET created_at = created_at - interval '2 minutes' WHERE project_id = $1", [
    project,
  ]);
  await finishChanges();
}

describe("renaming a tag", () => {
  test("replaces it on tickets, which keep their position in lists, and other tags stay", async () => {
    const { id } = await make("refund");
    const [first, second] = [await ticketWith("refund", "vip"), await ticketWith("refund", "Refunds")];
    const last = await ticketWith("refunded");
    await follow();
    const before = await db.store.ticketDetails.find(project, first);
    expect(await rename(id, "Refunds")).toMatchObject({ result: "changed", record: { name: "Refunds", version: 2 } });
    await settle();

    expect([await tagsOf(first), await tagsOf(second), await tagsOf(last)]).toEqual([
      ["Refunds", "vip"],
      ["Refunds"],
      ["refunded"],
    ]);
    expect(await listed("Refunds")).toEqual([second, first]);
    expect(await listed("refund")).toEqual([]);
    const after = await db.store.ticketDetails.find(project, first);
    expect([after?.updatedAt, after?.version]).toEqual([before?.updatedAt, (before?.version ?? 0) + 1]);
  });

  test("is done once by several replicas, with one event for each ticket", async () => {
    const { id } = await make("bug");
    const tickets = await Promise.all(Array.from({ length: 5 }, () => ticketWith("bug")));
    await follow();
    await rename(id, "defect");
    const done = await Promise.all(Array.from({ length: 4 }, () => db.store.tags.carryOutChanges()));
    expect(done.reduce((sum, count) => sum + count)).toBe(5);
    const events = await db.sql<{ data: unknown }>(
      "SELECT data FROM ticket_events WHERE ticket_id = ANY ($1) AND actor = 'operator:1'",
      [tickets],
    );
    const data = { decision: "change", change: { tags: ["defect"] }, tag: { from: "bug", to: "defect" } };
    expect(events).toEqual(tickets.map(() => ({ data })));
  });

  test("also reaches tickets that were not in lists yet", async () => {
    const { id } = await make("late");
    await follow();
    const ticket = await ticketWith("late");
    await rename(id, "later");
    await db.store.tags.carryOutChanges();
    expect(await pending()).toBe(1);
    await settle();
    expect(await tagsOf(ticket)).toEqual(["later"]);
  });

  test("also reaches tickets that get the former name within 90 seconds, from pages that still show it", async () => {
    const tags = [await make("wrong"), await make("other")];
    const older = await ticketWith("other");
    await follow();
    for (const { id, name } of tags) await rename(id, `new ${name}`);
    // The first change has no tickets yet, and does not delay the second one.
    expect(await db.store.tags.carryOutChanges()).toBe(1);
    expect(await tagsOf(older)).toEqual(["new other"]);
    await follow();
    expect(await db.store.tags.carryOutChanges()).toBe(0);
    expect(await pending()).toBe(2);

    const later = [await ticketWith("wrong"), await ticketWith("other")];
    await follow();
    expect(await db.store.tags.carryOutChanges()).toBe(1);
    expect(await db.store.tags.carryOutChanges()).toBe(1);
    expect(await Promise.all(later.map(tagsOf))).toEqual([["new wrong"], ["new other"]]);
    await settle();
  });

  test("again, before the first change is carried out, ends with the last name; so does renaming it back", async () => {
    const { id } = await make("a");
    const ticket = await ticketWith("a");
    await follow();
    await rename(id, "b");
    await rename(id, "c");
    expect(await pending()).toBe(2);
    await settle();
    expect(await tagsOf(ticket)).toEqual(["c"]);
    await rename(id, "d");
    await rename(id, "c");
    await settle();
    expect(await tagsOf(ticket)).toEqual(["c"]);
  });

  test("to the name of another tag is rejected regardless of case, and nothing changes", async () => {
    const { id } = await make("one");
    await make("Two");
    expect(await rename(id, "two")).toMatchObject({ result: "taken", record: { name: "one", version: 1 } });
    expect(await db.store.tags.insert(project, { name: "TWO" })).toBeNull();
    expect(await pending()).toBe(0);
  });

  test("is rejected for another version", async () => {
    const { id } = await make("versioned");
    const fields = { name: "other" };
    const outcome = await db.store.tags.update(project, { id, versions: [7] }, { fields, actor: "operator:1" });
    expect(outcome).toMatchObject({ result: "stale", record: { name: "versioned" } });
  });

  test("reaches saved views of the project, and the actions of canned replies", async () => {
    const { id } = await make("old");
    const operator = await db.store.operators.insert({ email: `${newId()}@example.com`, name: "Ann" });
    const view = { name: "Mine", view: "all", filters: { tag: "old" } };
    await db.store.operatorViews.put(operator?.id ?? "", view, { project, maxCount: 5 });
    const actions = { addTags: ["x", "old"], resolves: true };
    const reply = await db.store.cannedReplies.insert(project, { name: "Macro", text: "Hello.", actions });
    await rename(id, "new");
    expect(await db.store.operatorViews.list(operator?.id ?? "")).toMatchObject([{ filters: { tag: "new" } }]);
    expect(await db.store.cannedReplies.find(project, reply?.id ?? "")).toMatchObject({
      actions: { addTags: ["x", "new"], resolves: true },
    });
  });
});

describe("merging and deleting", () => {
  test("replaces the merged tag on tickets, and removes the deleted one", async () => {
    const [into, from] = [await make("into"), await make("from")];
    const [both, one] = [await ticketWith("from", "into"), await ticketWith("from")];
    await follow();
    const ids = { intoId: into.id, fromId: from.id };
    expect(await db.store.tags.merge(project, ids, "operator:1")).toMatchObject({ id: into.id });
    await settle();
    expect([await tagsOf(both), await tagsOf(one)]).toEqual([["into"], ["into"]]);
    expect(await db.store.tags.find(project, from.id)).toBeNull();
    expect(await db.store.tags.merge(project, ids, "operator:1")).toBeNull();

    expect(await db.store.tags.remove(project, { id: into.id }, "operator:1")).toMatchObject({ result: "changed" });
    await settle();
    expect([await tagsOf(both), await tagsOf(one)]).toEqual([[], []]);
    const events = await db.sql<{ tag: unknown }>(
      "SELECT data -> 'tag' AS tag FROM ticket_events WHERE ticket_id = $1 AND data ? 'tag' ORDER BY id",
      [one],
    );
    expect(events).toEqual([{ tag: { from: "from", to: "into" } }, { tag: { from: "into", to: null } }]);
    expect(await db.store.tags.listPage(project, { limit: 10 })).toEqual([]);
  });

  test("keeps a deleted tag that somebody adds to a ticket afterwards", async () => {
    const { id } = await make("gone");
    const before = await ticketWith("gone");
    await follow();
    await db.store.tags.remove(project, { id }, "operator:1");
    await finishChanges();
    const after = await ticketWith("gone");
    await follow();
    expect(await db.store.tags.carryOutChanges()).toBe(0);
    expect([await tagsOf(before), await tagsOf(after)]).toEqual([[], ["gone"]]);
  });

  test("does not change the tags of other projects", async () => {
    const stranger = await db.newProject();
    const { id } = await make("mine");
    const ticket = await ticketWith("mine");
    await follow();
    expect(await db.store.tags.find(stranger, id)).toBeNull();
    expect(await db.store.tags.remove(stranger, { id }, "operator:1")).toMatchObject({ record: null });
    const theirs = await db.store.tags.insert(stranger, { name: "mine" });
    await db.store.tags.remove(stranger, { id: theirs?.id ?? "" }, "operator:1");
    while ((await db.store.tags.carryOutChanges()) > 0);
    expect(await tagsOf(ticket)).toEqual(["mine"]);
  });
});
