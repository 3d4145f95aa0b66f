import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { newId } from "@svc/store";
import type { GapRecord, ProjectId, UnansweredMessage } from "@svc/store";
import { exchange, newMessage, openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;
let project: ProjectId;

beforeAll(async () => {
  db = await openTestStore();
});

beforeEach(async () => {
  project = await db.newProject();
});

afterAll(() => db.close());

function asked(text: string, change: Partial<UnansweredMessage> = {}): UnansweredMessage {
  const terms = text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return {
    messageId: newId(),
    ticketId: newId(),
    text,
    question: text,
    terms,
    language: "en",
    agentId: null,
    ...change,
  };
}

const note = (message: UnansweredMessage) => db.store.gaps.record(project, message);
const ALL = { limit: 50, sort: "count", after: undefined } as const;
const page = (change: object = {}) => db.store.gaps.listPage(project, { ...ALL, ...change });
const listAll = async (change: object = {}) => (await page(change)).gaps;
const one = async (): Promise<GapRecord> => {
  const [gap, ...more] = await listAll();
  if (gap === undefined || more.length > 0) throw new Error(`there are ${more.length + 1} gaps`);
  return gap;
};

test("a message that is processed again counts once, also with two concurrent workers", async () => {
  const message = asked("ship iceland");
  const ids = await Promise.all([note(message), note(message), note(asked("iceland ship"))]);
  expect(ids.filter((id) => id !== null)).toHaveLength(2);
  expect(await note(message)).toBeNull();
  expect(await one()).toMatchObject({ count: 2, status: "open", version: 1 });
});

test("concurrent equal questions are one gap", async () => {
  await Promise.all(Array.from({ length: 20 }, () => note(asked("ship iceland"))));
  expect((await one()).count).toBe(20);
});

test("the ten newest messages are stored as examples, each truncated to 500 characters", async () => {
  const hostile = `'; DROP TABLE gaps; -- <script>alert(1)</script> ${"🐎".repeat(400)}`;
  for (let index = 0; index < 12; index += 1) await note(asked(`${index} ${hostile}`, { terms: ["drop", "tabl"] }));
  const { count, examples } = await one();
  expect([count, examples.length]).toEqual([12, 10]);
  expect(examples.map(({ text }) => text.split(" ")[0])).toEqual(
    Array.from({ length: 10 }, (_, index) => String(11 - index)),
  );
  for (const { text } of examples) {
    expect(text.length).toBeLessThanOrEqual(500);
    expect([text.isWellFormed(), text.includes("DROP TABLE gaps; -- <script>")]).toEqual([true, true]);
  }
});

test("an answered gap reopens when its question is asked again, and an ignored one stays ignored", async () => {
  await note(asked("ship iceland"));
  const { id } = await one();
  const article = { kbId: newId(), documentId: newId() };
  expect(await db.store.gaps.update(project, { id, versions: [1] }, { status: "answered", article })).toMatchObject({
    changed: true,
  });
  expect(await db.store.gaps.update(project, { id, versions: [1] }, { status: "ignored" })).toMatchObject({
    changed: false,
  });
  await note(asked("ship iceland"));
  expect(await one()).toMatchObject({ status: "open", article, count: 2, version: 3 });
  await db.store.gaps.update(project, { id }, { status: "ignored" });
  await note(asked("ship iceland"));
  expect(await one()).toMatchObject({ status: "ignored", count: 3 });
});

test("questions with different codes and numbers are separate gaps", async () => {
  for (const text of ["error e07 display shows", "error e12 display shows", "error display shows"])
    await note(asked(text));
  expect((await listAll()).map(({ count }) => count)).toEqual([2, 1]);
});

test("the erasure of a ticket removes its words from a gap, and a gap without other questions", async () => {
  const { ticketId } = (await exchange(db.store, project, newMessage(), ["answer"])).accepted;
  await note(asked("ship secretname iceland soon", { ticketId }));
  await note(asked("ship iceland soon"));
  await note(asked("other words", { ticketId }));
  expect(await db.store.erasures.erase(project, ticketId)).not.toBeNull();
  expect(await one()).toMatchObject({ question: "ship iceland soon", count: 1 });
  const left = await db.sql<{ text: string }>(
    "SELECT coalesce(g.question, '') || array_to_string(g.terms, ' ') || coalesce(string_agg(t.term, ' '), '') AS text FROM gaps g LEFT JOIN gap_terms t ON t.gap_id = g.id WHERE g.project_id = $1 GROUP BY g.id",
    [project],
  );
  expect(left.map(({ text }) => text.includes("secretname"))).toEqual([false]);
  await note(asked("ship iceland soon"));
  expect((await one()).count).toBe(2);
});

test("a list is sorted by count or time, paged, and filtered by status and words", async () => {
  for (const [text, times] of [
    ["alpha one", 3],
    ["beta two", 1],
    ["gamma three", 2],
  ] as const) {
    for (let time = 0; time < times; time += 1) await note(asked(text));
  }
  const textsOf = (gaps: GapRecord[]) => gaps.map(({ question }) => question);
  expect(textsOf(await listAll())).toEqual(["alpha one", "gamma three", "beta two"]);
  expect(textsOf(await listAll({ sort: "lastAt" }))).toEqual(["gamma three", "beta two", "alpha one"]);
  const [first] = await listAll({ limit: 1 });
  expect(textsOf(await listAll({ q: "BETA" }))).toEqual(["beta two"]);
  await db.store.gaps.update(project, { id: first?.id ?? "" }, { status: "ignored" });
  expect(textsOf(await listAll({ status: "ignored" }))).toEqual(["alpha one"]);
});

test.each(["count", "lastAt"] as const)(
  "a list by %s continues after a page, also if the last gap of the page was erased meanwhile",
  async (sort) => {
    const tickets = new Map<string, string>();
    for (const text of ["alpha one", "beta two", "gamma three", "delta four"]) {
      const message = asked(text);
      tickets.set(text, message.ticketId);
      await note(message);
    }
    const first = await page({ sort, limit: 2 });
    const second = await page({ sort, limit: 2, after: first.next });
    expect([...first.gaps, ...second.gaps].map(({ question }) => question)).toEqual([
      "delta four",
      "gamma three",
      "beta two",
      "alpha one",
    ]);
    expect(second.next).toBeNull();
    const erased = tickets.get(first.gaps.at(-1)?.question ?? "") ?? "";
    await db.sql("DELETE FROM gaps WHERE id IN (SELECT gap_id FROM gap_examples WHERE ticket_id = $1)", [erased]);
    expect(await page({ sort, limit: 2, after: first.next })).toEqual(second);
  },
);

test("another project finds, changes and lists nothing", async () => {
  await note(asked("ship iceland"));
  const { id } = await one();
  const stranger = await db.newProject();
  expect(await db.store.gaps.find(stranger, id)).toBeNull();
  expect(await db.store.gaps.update(stranger, { id }, { status: "ignored" })).toBeNull();
  expect(await db.store.gaps.listPage(stranger, ALL)).toEqual({ gaps: [], next: null });
  expect(await one()).toMatchObject({ status: "open" });
});

test("among 10,000 gaps a question is compared with the word index", async () => {
  await db.sql(
    `WITH made AS (
       INSERT INTO gaps (id, project_id, question, question_message_id, terms)
       SELECT gen_random_uuid(), $1, 'q' || n, gen_random_uuid(), ARRAY['word' || n % 500, 'other' || n, 'third' || n % 70]
       FROM generate_series(1, 10000) AS s (n) RETURNING id, terms
     ) INSERT INTO gap_terms (project_id, term, gap_id) SELECT $1, t.term, m.id FROM made m, unnest(m.terms) AS t (term)`,
    [project],
  );
  await db.sql("ANALYZE gaps, gap_terms");
  const plan = await db.sql<{ "QUERY PLAN": string }>(
    `EXPLAIN SELECT gap_id, count(*) FROM gap_terms WHERE project_id = $1 AND term = ANY ($2::text[]) GROUP BY gap_id`,
    [project, ["word7", "other7", "third7"]],
  );
  expect(plan.map((row) => row["QUERY PLAN"]).join("\n")).toMatch(/Index|Bitmap/);
  const id = await note(asked("q", { terms: ["word7", "other7", "third7"] }));
  expect(await db.store.gaps.find(project, id ?? "")).toMatchObject({ question: "q7", count: 2 });
});
