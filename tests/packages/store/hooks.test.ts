import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { HOOK_LIMITS } from "@svc/contracts";
import { newId } from "@svc/store";
import type { Hook, HookBodyResult, ProjectId } from "@svc/store";
import { openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;
let project: ProjectId;
let other: ProjectId;

beforeAll(async () => {
  db = await openTestStore();
  [project, other] = [await db.newProject(), await db.newProject()];
});

afterAll(() => db.close());

const IGNORED: HookBodyResult = {
  outcome: "ignored",
  faults: [],
  eventId: null,
  messageId: null,
  ticketId: null,
  chatId: "c",
  userId: "u",
};

async function newHook(): Promise<Hook> {
  const hook = await db.store.hooks.insert(project, {
    name: `hook ${newId()}`,
    preset: null,
    auth: { type: "path" },
    secret: db.store.sealer.seal("secret"),
    mapping: { text: "{{$.text}}" },
    filter: [],
    createdBy: "test",
  });
  if (hook === null) throw new Error("the hook was not made");
  return hook;
}

const addBody = (hook: Hook, result = IGNORED, of = project) =>
  db.store.hooks.addBody(of, hook.id, {
    id: newId(),
    contentType: "text/x",
    headers: { "x-event": "Grüße" },
    content: Buffer.from("a\u0000\u{1f600}"),
    result,
  });

test("the newest twenty bodies of each hook are stored unchanged, even if many arrive at once", async () => {
  const [busy, quiet] = [await newHook(), await newHook()];
  await addBody(quiet);
  await Promise.all(Array.from({ length: 60 }, () => addBody(busy)));
  // A body that another call deleted concurrently is left to the next call.
  await addBody(busy);
  const kept = await db.store.hooks.listBodies(project, busy.id);
  expect(kept).toHaveLength(HOOK_LIMITS.keptBodies);
  expect(kept.map(({ id }) => id)).toEqual(
    kept
      .map(({ id }) => id)
      .toSorted()
      .toReversed(),
  );
  const [{ count } = { count: 0 }] = await db.sql<{ count: number }>(
    "SELECT count(*)::int AS count FROM hook_bodies WHERE hook_id = $1",
    [busy.id],
  );
  expect(count).toBe(HOOK_LIMITS.keptBodies);
  expect(await db.store.hooks.listBodies(project, quiet.id)).toMatchObject([
    { ...IGNORED, content: Buffer.from("a\u0000\u{1f600}"), headers: { "x-event": "Grüße" }, tries: 1 },
  ]);
});

test("a body whose chat is erased meanwhile is not stored", async () => {
  const hook = await newHook();
  await addBody(hook, { ...IGNORED, outcome: "queued", messageId: newId(), ticketId: newId() });
  expect(await db.store.hooks.listBodies(project, hook.id)).toEqual([]);
});

test("an event becomes one message with concurrent calls, and event ids are separate per hook", async () => {
  const [hook, another] = [await newHook(), await newHook()];
  const claim = (of: Hook, eventId = "e-1") => {
    const messageId = newId();
    return db.store.hooks.claimEvent(project, { hookId: of.id, eventId, messageId, chatId: messageId });
  };
  const claims = await Promise.all(Array.from({ length: 20 }, () => claim(hook)));
  expect(new Set(claims.map((event) => event?.messageId)).size).toBe(1);
  expect(claims.filter((event) => event?.isRepeat === false)).toHaveLength(1);
  expect((await claim(another))?.isRepeat).toBe(false);
  expect((await claim(hook, "e-2"))?.isRepeat).toBe(false);
  await db.store.hooks.remove(project, { id: hook.id });
  expect(await claim(hook, "e-3")).toBeNull();
});

test("bodies are deleted after 30 days, events after 7", async () => {
  const hook = await newHook();
  await addBody(hook);
  await addBody(hook);
  const [, old] = await db.store.hooks.listBodies(project, hook.id);
  await db.sql("UPDATE hook_bodies SET received_at = now() - interval '30 days 1 minute' WHERE id = $1", [old?.id]);
  const ids = () => ({ messageId: newId(), chatId: "c" });
  for (const eventId of ["old", "new"])
    await db.store.hooks.claimEvent(project, { hookId: hook.id, eventId, ...ids() });
  const age = "UPDATE hook_events SET created_at = now() - $2::interval WHERE hook_id = $1 AND event_id = $3";
  await db.sql(age, [hook.id, "7 days 1 minute", "old"]);
  await db.sql(age, [hook.id, "6 days 23 hours", "new"]);
  expect(await db.store.hooks.deleteOld(100)).toBe(2);
  expect(await db.store.hooks.listBodies(project, hook.id)).toHaveLength(1);
  expect((await db.store.hooks.claimEvent(project, { hookId: hook.id, eventId: "old", ...ids() }))?.isRepeat).toBe(
    false,
  );
  expect((await db.store.hooks.claimEvent(project, { hookId: hook.id, eventId: "new", ...ids() }))?.isRepeat).toBe(
    true,
  );
});

test("another project finds and changes nothing of a hook", async () => {
  const hook = await newHook();
  await addBody(hook);
  const [body] = await db.store.hooks.listBodies(project, hook.id);
  await addBody(hook, IGNORED, other);
  await db.store.hooks.recordBodyResult(other, body?.id ?? "", { ...IGNORED, outcome: "failed" });
  const ids = { messageId: newId(), chatId: "c" };
  expect({
    found: await db.store.hooks.find(other, hook.id),
    listed: await db.store.hooks.listPage(other, { limit: 10 }),
    bodies: await db.store.hooks.listBodies(other, hook.id),
    body: await db.store.hooks.findBody(other, hook.id, body?.id ?? ""),
    event: await db.store.hooks.claimEvent(other, { hookId: hook.id, eventId: "e", ...ids }),
    rotated: await db.store.hooks.rotate(other, hook.id, { secret: db.store.sealer.seal("x"), overlapSeconds: 0 }),
    updated: await db.store.hooks.update(other, { id: hook.id }, { name: "stolen" }),
    removed: await db.store.hooks.remove(other, { id: hook.id }),
  }).toEqual({
    found: null,
    listed: [],
    bodies: [],
    body: null,
    event: null,
    rotated: null,
    updated: { result: "stale", hook: null },
    removed: false,
  });
  expect(await db.store.hooks.find(project, hook.id)).toEqual(hook);
  expect(await db.store.hooks.listBodies(project, hook.id)).toEqual([body]);
});
