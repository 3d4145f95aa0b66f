import { createHash } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { newId } from "@svc/store";
import type { NewAuditEvent, Store } from "@svc/store";
import { Client } from "pg";
import { openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let opened: TestStore;
let store: Store;

beforeAll(async () => {
  opened = await openTestStore();
  ({ store } = opened);
});

afterAll(() => opened.close());

const eventOf = (more: Partial<NewAuditEvent> = {}): NewAuditEvent => ({
  actor: "key:1",
  action: "agents.create",
  object: null,
  project: null,
  result: "ok",
  requestId: null,
  ...more,
});

/** Runs SQL like a database owner who disables the triggers. */
async function tamper(...statements: string[]): Promise<void> {
  await opened.sql("ALTER TABLE audit_events DISABLE TRIGGER USER; ALTER TABLE audit_head DISABLE TRIGGER USER");
  try {
    for (const statement of statements) await opened.sql(statement);
  } finally {
    await opened.sql("ALTER TABLE audit_events ENABLE TRIGGER USER; ALTER TABLE audit_head ENABLE TRIGGER USER");
  }
}

interface Position {
  day: string;
  number: number;
}

const positions = () =>
  opened.sql<Position>("SELECT to_char(day, 'YYYY-MM-DD') AS day, number FROM audit_events e ORDER BY e.day, e.number");

/** Lets this many days pass by moving the whole chain into the past. */
async function passDays(days: number): Promise<void> {
  // The clock is the database's. Changing stored times would break the hashes, so the rows are rewritten with new ones.
  const rows = await opened.sql<{ day: string; number: number; values: unknown[] }>(
    `SELECT to_char(day - ${days}, 'YYYY-MM-DD') AS day, number, jsonb_build_array(id, to_char(day - ${days}, 'YYYY-MM-DD'),
       number, to_char((at - interval '${days} days') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), actor, action,
       object, project_id, project, result, request_id, count, network) AS values
     FROM audit_events e ORDER BY e.day, e.number`,
  );
  let hash = Buffer.alloc(0);
  const hashes = rows.map(({ values }) => {
    hash = createHash("sha256").update(hash).update(JSON.stringify(values)).digest();
    return hash.toString("hex");
  });
  await tamper(
    // First moves rows out of the way, because positions must be unique even temporarily.
    "UPDATE audit_events SET day = day - 10000",
    `UPDATE audit_events e SET day = day + 10000 - ${days}, at = at - interval '${days} days', hash = decode(made.hash, 'hex')
     FROM (SELECT id, hash FROM unnest(ARRAY[${rows.map(({ values }) => `'${String(values[0])}'`).join()}]::uuid[],
       ARRAY[${hashes.map((one) => `'${one}'`).join()}]::text[]) AS made (id, hash)) made WHERE e.id = made.id`,
    `UPDATE audit_head SET day = day - ${days}, at = at - interval '${days} days', hash = decode('${hashes.at(-1) ?? ""}', 'hex')`,
  );
}

/** Empties the log as if nothing had ever been written. */
const reset = () =>
  tamper(
    "DELETE FROM audit_events",
    "UPDATE audit_head SET day = '1970-01-01', number = 0, at = '1970-01-01T00:00:00Z', hash = ''",
  );

const whole = (rows: number, number = rows) => ({
  fault: null,
  rows,
  head: rows === 0 ? null : expect.objectContaining({ number }),
});

describe("the audit log", () => {
  afterEach(reset);

  test.each([
    ["UPDATE audit_events SET result = 'ok'"],
    ["UPDATE audit_events SET result = 'ok' WHERE false"],
    ["DELETE FROM audit_events"],
    ["TRUNCATE audit_events"],
    ["TRUNCATE audit_events, audit_head CASCADE"],
    ["INSERT INTO audit_events SELECT * FROM audit_events ON CONFLICT (id) DO UPDATE SET result = 'ok'"],
    ["DELETE FROM audit_head"],
    ["TRUNCATE audit_head"],
    ["UPDATE audit_head SET number = number - 1"],
    ["UPDATE audit_head SET hash = ''"],
    ["UPDATE audit_head SET day = day - 1, number = number + 1"],
  ])("is append-only for any SQL user: %s", async (statement) => {
    await store.audit.append(eventOf());
    await expect(opened.sql(statement)).rejects.toThrow(/the audit trail is append-only/);
    expect(await store.audit.check()).toMatchObject(whole(1));
  });

  test("stores and returns every field of an event", async () => {
    const project = { id: await opened.newProject(), name: "north" };
    const said = { object: newId(), project, requestId: newId(), count: 7, network: "203.0.113.0/24" };
    await store.audit.append(eventOf(said));
    await store.audit.append(eventOf());
    const [bare, full] = await store.audit.listPage({}, { limit: 9 });
    expect(full).toEqual({ ...eventOf(said), project: "north", id: expect.any(String), at: expect.any(Date) });
    expect(bare).toMatchObject({ object: null, project: null, requestId: null, count: 1, network: null });
  });

  test("stores only a hash of a request id that is not a UUID, because the caller has chosen it", async () => {
    const secret = `svc_planted${newId()}`;
    await store.audit.append(eventOf({ requestId: secret }));
    const [row] = await store.audit.listPage({}, { limit: 1 });
    expect(row?.requestId).toBe(createHash("sha256").update(secret).digest("hex").slice(0, 16));
    expect(await store.audit.check()).toMatchObject(whole(1));
  });

  test("of many concurrent writers is one chain without gaps, in the order of its ids", async () => {
    const stores = [store, opened.openAnother(), opened.openAnother()];
    await Promise.all(
      Array.from({ length: 300 }, (_, index) => stores[index % 3]?.audit.append(eventOf({ actor: `key:${index}` }))),
    );
    expect((await positions()).map(({ number }) => number)).toEqual(
      Array.from({ length: 300 }, (_, index) => index + 1),
    );
    expect(await store.audit.check()).toMatchObject(whole(300));
    const byId = await opened.sql<Position>("SELECT number FROM audit_events ORDER BY id");
    expect(byId.map(({ number }) => number)).toEqual(Array.from({ length: 300 }, (_, index) => index + 1));
  });

  test("writes concurrent events in few transactions", async () => {
    await Promise.all(Array.from({ length: 200 }, () => store.audit.append(eventOf())));
    const [row] = await opened.sql<{ count: number }>(
      "SELECT count(DISTINCT xmin::text)::int AS count FROM audit_events",
    );
    expect(row?.count).toBeLessThanOrEqual(3);
  });

  test("stores the other events of a batch if one of them cannot be stored", async () => {
    const outcomes = await Promise.allSettled([
      store.audit.append(eventOf()),
      store.audit.append(eventOf({ object: "a\u0000b" })),
      store.audit.append(eventOf()),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await store.audit.check()).toMatchObject(whole(2));
  });

  test("keeps its order if the clock is set back", async () => {
    await store.audit.append(eventOf());
    await tamper("UPDATE audit_head SET day = day + 2, at = at + interval '2 days', number = 0");
    // The previous row is two days ahead now.
    await store.audit.append(eventOf());
    const [earlier, later] = await positions();
    expect((later?.day ?? "") > (earlier?.day ?? "")).toBe(true);
    const times = (await store.audit.listPage({}, { limit: 2 })).map(({ at }) => at.getTime());
    expect((times[0] ?? 0) - (times[1] ?? 0)).toBeGreaterThan(86_400_000);
  });
});

describe("a list of the audit log", () => {
  let north: NonNullable<NewAuditEvent["project"]>;

  beforeAll(async () => {
    north = { id: await opened.newProject(), name: "north" };
    for (const [index, more] of [
      { actor: "key:1", project: north },
      { actor: "key:2", action: "keys.create", object: "o-1" },
      { actor: "key:1", action: "keys.create", result: "not_found", project: north },
      { actor: "anonymous", action: "http.denied", result: "missing_key" },
    ].entries()) {
      await store.audit.append(eventOf({ network: String(index), ...more }));
    }
  });
  afterAll(reset);

  /** Returns the plan of a statement for a table that is too large to be read or sorted as a whole. */
  async function explain(statement: string): Promise<string> {
    const client = new Client({ connectionString: opened.url });
    await client.connect();
    try {
      for (const way of ["seqscan", "sort", "bitmapscan"]) await client.query(`SET enable_${way} = off`);
      const { rows } = await client.query<{ "QUERY PLAN": string }>(`EXPLAIN ${statement}`);
      return rows.map((row) => row["QUERY PLAN"]).join("\n");
    } finally {
      await client.end();
    }
  }

  const list = async (filter: Parameters<Store["audit"]["listPage"]>[0], limit = 9, before?: string) =>
    (await store.audit.listPage(filter, { limit, before })).map(({ network }) => network);

  test("is paged, newest first", async () => {
    expect(await list({})).toEqual(["3", "2", "1", "0"]);
    const [, second] = await store.audit.listPage({}, { limit: 2 });
    expect(await list({}, 2, second?.id)).toEqual(["1", "0"]);
  });

  test("applies each filter, and all of them together", async () => {
    expect(await list({ actor: "key:1" })).toEqual(["2", "0"]);
    expect(await list({ action: "keys.create" })).toEqual(["2", "1"]);
    expect(await list({ object: "o-1" })).toEqual(["1"]);
    expect(await list({ result: "missing_key" })).toEqual(["3"]);
    expect(await list({ project: { id: north.id } })).toEqual(["2", "0"]);
    expect(await list({ project: { name: "north" } })).toEqual(["2", "0"]);
    expect(await list({ project: { name: "south" } })).toEqual([]);
    expect(await list({ actor: "key:1", action: "keys.create", project: { id: north.id }, result: "ok" })).toEqual([]);
    expect(await list({ actor: "' OR 1=1 --" })).toEqual([]);
  });

  test("is limited by a start and an end", async () => {
    const [, third] = await store.audit.listPage({}, { limit: 2 });
    const at = third?.at ?? new Date(0);
    const later = new Date(at.getTime() + 1);
    const all = await list({ from: at });
    expect(all).toContain("2");
    expect(await list({ from: later })).not.toContain("2");
    expect(await list({ to: later })).toContain("2");
    expect(await list({ to: at })).not.toContain("2");
    expect(await list({ from: new Date(0), to: new Date("9999-12-31") })).toHaveLength(4);
    expect(await list({ from: new Date(-1), to: new Date(0) })).toEqual([]);
  });

  test.each([
    [{ actor: "key:1" }, "audit_events_of_actor"],
    [{ action: "keys.create" }, "audit_events_of_action"],
    [{ object: "o-1" }, "audit_events_of_object"],
    [{ result: "missing_key" }, "audit_events_of_refusals"],
    [{ project: "north" }, "audit_events_of_project_name"],
    [{ project_id: newId() }, "audit_events_of_project"],
    [{}, "audit_events_pkey"],
  ])("reads an index in its order: %j", async (columns, index) => {
    const [column, value] = Object.entries(columns)[0] ?? ["'a'", "a"];
    const plan = await explain(
      `SELECT id FROM audit_events WHERE ${column} = '${value}' AND id < '${newId()}' ORDER BY id DESC LIMIT 50`,
    );
    expect(plan).toMatch(new RegExp(`Index.*Scan Backward using ${index} `));
  });
});

describe("a check of the chain", () => {
  /** Three days with three rows each; the last one is today. */
  beforeEach(async () => {
    for (let day = 0; day < 3; day++) {
      if (day > 0) await passDays(1);
      for (let number = 1; number <= 3; number++) await store.audit.append(eventOf({ object: `${day}.${number}` }));
    }
  });
  afterEach(reset);

  const days = async () => [...new Set((await positions()).map(({ day }) => day))];
  const rowAt = (day: string | undefined, number: number) => `day = '${day}' AND number = ${number}`;

  test("accepts a valid chain, also in parts, and returns its head", async () => {
    const [first, second, third] = await days();
    expect(await store.audit.check()).toMatchObject({ ...whole(9, 3), head: { day: third, number: 3 } });
    expect(await store.audit.check({ from: second })).toMatchObject(whole(6, 3));
    expect(await store.audit.check({ to: second })).toMatchObject({ ...whole(6, 3), head: { day: second } });
    expect(await store.audit.check({ from: second, to: second })).toMatchObject(whole(3));
    expect(await store.audit.check({ to: "2000-01-01" })).toMatchObject(whole(0));
    expect(await store.audit.check({ from: "2999-01-01" })).toMatchObject(whole(0));
    expect(await store.audit.check({ from: first, to: third })).toMatchObject(whole(9, 3));
  });

  test("stops after a number of rows, and continues after the last of them", async () => {
    const [first, second, third] = await days();
    const begun = await store.audit.check({ maxRows: 4 });
    expect(begun).toMatchObject({ fault: null, rows: 4, isPartial: true, head: { day: second, number: 1 } });
    const after = begun.head ?? undefined;
    const rest = await store.audit.check({ after, maxRows: 5 });
    expect(rest).toMatchObject({ fault: null, rows: 5, isPartial: false, head: { day: third, number: 3 } });
    expect(await store.audit.check({ to: first, maxRows: 3 })).toMatchObject({ rows: 3, isPartial: false });
    await tamper(`UPDATE audit_events SET actor = 'x' WHERE ${rowAt(second, 2)}`);
    expect((await store.audit.check({ after })).fault).toMatchObject({ kind: "changed", day: second, number: 2 });
    await tamper(`UPDATE audit_events SET hash = '\\x00' WHERE ${rowAt(second, 1)}`);
    expect((await store.audit.check({ after })).fault).toMatchObject({ kind: "unexpected", number: 1 });
  });

  test.each<[string, (day: string) => string[], { kind: string; number: number }]>([
    [
      "a changed value",
      (day) => [`UPDATE audit_events SET actor = 'key:2' WHERE ${rowAt(day, 2)}`],
      { kind: "changed", number: 2 },
    ],
    [
      "a changed time",
      (day) => [`UPDATE audit_events SET at = at + interval '1 ms' WHERE ${rowAt(day, 2)}`],
      { kind: "changed", number: 2 },
    ],
    [
      "a value that was taken out",
      (day) => [`UPDATE audit_events SET object = NULL WHERE ${rowAt(day, 2)}`],
      { kind: "changed", number: 2 },
    ],
    [
      "a changed hash",
      (day) => [`UPDATE audit_events SET hash = 'x' WHERE ${rowAt(day, 2)}`],
      { kind: "changed", number: 2 },
    ],
    [
      "a changed first row of a day",
      (day) => [`UPDATE audit_events SET actor = 'key:2' WHERE ${rowAt(day, 1)}`],
      { kind: "unlinked", number: 1 },
    ],
    [
      "a row that was taken out",
      (day) => [`DELETE FROM audit_events WHERE ${rowAt(day, 2)}`],
      { kind: "missing", number: 2 },
    ],
    [
      "the first row of a day",
      (day) => [`DELETE FROM audit_events WHERE ${rowAt(day, 1)}`],
      { kind: "missing", number: 1 },
    ],
    [
      "a row that was taken out, with later ones moved up",
      (day) => [
        `DELETE FROM audit_events WHERE ${rowAt(day, 2)}`,
        `UPDATE audit_events SET number = 2 WHERE ${rowAt(day, 3)}`,
      ],
      { kind: "changed", number: 2 },
    ],
    [
      "a row that was put in",
      (day) => [
        `UPDATE audit_events SET number = 4 WHERE ${rowAt(day, 3)}`,
        `INSERT INTO audit_events SELECT gen_random_uuid(), day, 3, at, actor, action, object, project_id, project, result, request_id, count, network, hash FROM audit_events WHERE ${rowAt(day, 2)}`,
      ],
      { kind: "changed", number: 3 },
    ],
    [
      "rows in another order",
      (day) => [
        `UPDATE audit_events SET number = 9 WHERE ${rowAt(day, 2)}`,
        `UPDATE audit_events SET number = 2 WHERE ${rowAt(day, 3)}`,
        `UPDATE audit_events SET number = 3 WHERE ${rowAt(day, 9)}`,
      ],
      { kind: "changed", number: 2 },
    ],
  ])("finds %s", async (_what, statements, error) => {
    const [first, second] = await days();
    await tamper(...statements(second ?? ""));
    expect((await store.audit.check()).fault).toMatchObject({ day: second, ...error });
    // Earlier rows are still valid, unless later ones determine them.
    const { fault: before, rows } = await store.audit.check({ to: first });
    expect([rows, before === null || before.number === 1]).toEqual([3, true]);
  });

  test("detects that the end of an earlier day was removed, by the day after it", async () => {
    const [, second, third] = await days();
    await tamper(`DELETE FROM audit_events WHERE ${rowAt(second, 3)}`);
    const error = { kind: "unlinked", day: third, number: 1 };
    expect((await store.audit.check()).fault).toMatchObject(error);
    expect((await store.audit.check({ to: second })).fault).toMatchObject(error);
    expect((await store.audit.check({ from: third })).fault).toMatchObject(error);
  });

  test("detects that a whole day was removed", async () => {
    const [, second, third] = await days();
    await tamper(`DELETE FROM audit_events WHERE day = '${second}'`);
    expect((await store.audit.check()).fault).toMatchObject({ kind: "unlinked", day: third, number: 1 });
  });

  test("detects that the end was removed, and that everything was", async () => {
    const [, , third] = await days();
    await tamper(`DELETE FROM audit_events WHERE ${rowAt(third, 3)}`);
    expect((await store.audit.check()).fault).toEqual({ kind: "truncated", day: third, number: 3, id: null });
    await tamper("DELETE FROM audit_events");
    expect((await store.audit.check()).fault).toMatchObject({ kind: "truncated", number: 1 });
  });

  test("detects rows after the end", async () => {
    const [, , third] = await days();
    const { head } = await store.audit.check({ to: third });
    await store.audit.append(eventOf());
    await tamper(`UPDATE audit_head SET number = 3, hash = decode('${head?.hash}', 'hex')`);
    expect((await store.audit.check()).fault).toMatchObject({ kind: "added", day: third, number: 4 });
  });

  test("detects by an earlier head that the chain was rewritten from there", async () => {
    const [, second, third] = await days();
    const { head: kept } = await store.audit.check();
    const { head: earlier } = await store.audit.check({ to: second });
    if (kept === null || earlier === null) throw new Error("there is no head");
    await store.audit.append(eventOf());
    expect(await store.audit.check({ expect: kept })).toMatchObject(whole(10, 4));
    // A database owner truncates the log and lets the product continue it.
    await tamper(
      `DELETE FROM audit_events WHERE day = '${third}'`,
      `UPDATE audit_head SET day = '${second}', number = 3, hash = decode('${earlier.hash}', 'hex')`,
    );
    for (let number = 1; number <= 3; number++) await store.audit.append(eventOf());
    expect((await store.audit.check()).fault).toBeNull();
    const error = { kind: "unexpected", day: third, number: 3, id: null };
    expect((await store.audit.check({ expect: kept })).fault).toEqual(error);
    expect((await store.audit.check({ expect: earlier })).fault).toBeNull();
    expect((await store.audit.check({ expect: { ...kept, number: 99 } })).fault).toMatchObject({ number: 99 });
  });

  test("is not affected by concurrent writes", async () => {
    const stop = new AbortController();
    const writing = (async () => {
      while (!stop.signal.aborted) await Promise.all(Array.from({ length: 20 }, () => store.audit.append(eventOf())));
    })();
    try {
      for (let round = 0; round < 10; round++) expect((await store.audit.check()).fault).toBeNull();
    } finally {
      stop.abort();
      await writing;
    }
  });
});
