import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { LEFT_OUT, putStoreCopy, takeStoreCopy } from "@svc/store";
import type { CopiedTable, PutOptions, StoreCopyHead } from "@svc/store";
import { createTestDatabase, testLog } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { Client } from "pg";
import {
  SECRET_KEY,
  answeredRun,
  claimNow,
  exchange,
  newMessage,
  openAndFinish,
  openTestStore,
} from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

interface Copied {
  head: StoreCopyHead;
  tables: { table: CopiedTable; rows: Buffer }[];
}

let source: TestStore;
let target: TestDatabase;
let copied: Copied;

const NEVER = new AbortController().signal;

const copyOf = (url: string, secretKey = SECRET_KEY): Promise<Copied> =>
  takeStoreCopy({ url, secretKey, log: testLog(), signal: NEVER }, async ({ head, tables }) => {
    const all: Copied["tables"] = [];
    for await (const { table, rows } of tables()) {
      const pieces: Buffer[] = [];
      for await (const piece of rows) pieces.push(Buffer.from(piece));
      all.push({ table, rows: Buffer.concat(pieces) });
    }
    return { head, tables: all };
  });

async function* replay(tables: Copied["tables"], cut = 1_000) {
  for (const { table, rows } of tables) {
    yield { table, rows: inPieces(rows, cut) };
    await Promise.resolve();
  }
}

async function* inPieces(rows: Buffer, sizeBytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < rows.length; at += sizeBytes) yield rows.subarray(at, at + sizeBytes);
  await Promise.resolve();
}

function put(url: string, change: Partial<PutOptions> = {}, tables = replay(copied.tables)) {
  const { head } = copied;
  const options = { url, secretKey: SECRET_KEY, log: testLog(), signal: NEVER, head, onTable: () => undefined };
  return putStoreCopy({ ...options, mayReplace: false, mayInterrupt: false, ...change }, tables);
}

/** Uses a new connection for each query, because a restore requires that there are no others. */
async function query<Row extends object>(text: string, url = target.url): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Returns every row of every copied table, as text. */
async function contents(url: string): Promise<Record<string, string[]>> {
  const { tables } = await copyOf(url);
  return Object.fromEntries(tables.map(({ table, rows }) => [table.name, rows.toString("utf8").split("\n").sort()]));
}

const HOSTILE = [
  "\\.",
  "a\\.\nb",
  "tab\there",
  "\u0001\u007f",
  "quote's \"",
  "\\N",
  "line\r\nend",
  "𝔘nicode \u2028",
  "'; DROP TABLE",
];

beforeAll(async () => {
  source = await openTestStore();
  target = await createTestDatabase();
  const { store } = source;
  await store.installation.checkSecretKey(store.sealer);
  const { project } = await store.projects.ensure("default");
  for (const text of HOSTILE) await exchange(store, project.id, newMessage({ text }), [text, `${text}${text}`]);
  await store.messages.accept(project.id, newMessage({ text: "still waits" }));
  const { ticketId } = await store.messages.accept(project.id, newMessage({ chatId: "leased", text: "is worked on" }));
  await claimNow(store, project.id, ticketId);
  await store.instances.beat("0191f0f0-0000-7000-8000-000000000001", "api");
  await store.audit.append({
    actor: "test",
    action: "agents.create",
    object: null,
    project: null,
    result: "ok",
    requestId: null,
  });
  copied = await copyOf(source.url);
});

afterAll(async () => {
  await source.close();
  await target.drop();
});

describe("a copy", () => {
  test("contains every table of the schema except those excluded for a reason", async () => {
    const rows = await source.sql<{ name: string }>(
      "SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition AND relpersistence = 'p'",
    );
    const names = rows.map(({ name }) => name).filter((name) => name !== "schema_migrations");
    expect([...copied.tables.map(({ table }) => table.name), ...Object.keys(LEFT_OUT)].sort()).toEqual(names.sort());
  });

  test("is a consistent snapshot despite concurrent writes", async () => {
    const { store } = source;
    const project = await source.newProject();
    await takeStoreCopy(
      { url: source.url, secretKey: SECRET_KEY, log: testLog(), signal: NEVER },
      async ({ tables }) => {
        let isFirst = true;
        const texts: string[] = [];
        for await (const { table, rows } of tables()) {
          if (isFirst) await exchange(store, project, newMessage({ text: "too late" }), ["too late as well"]);
          isFirst = false;
          for await (const piece of rows) if (["messages", "replies"].includes(table.name)) texts.push(String(piece));
        }
        expect(texts.join("")).toContain("still waits");
        expect(texts.join("")).not.toContain("too late");
      },
    );
    copied = await copyOf(source.url);
  });

  test("is rejected with another secret key, and during a migration", async () => {
    await expect(copyOf(source.url, `${SECRET_KEY}x`)).rejects.toMatchObject({ fault: "wrong_key" });
    const client = new Client({ connectionString: source.url });
    await client.connect();
    await client.query("SELECT pg_advisory_lock(7241865325823964)");
    await expect(copyOf(source.url)).rejects.toMatchObject({ fault: "busy" });
    await client.end();
  });

  test("stops immediately when it is aborted, and leaves no connection", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const taking = takeStoreCopy(
      { url: source.url, secretKey: SECRET_KEY, log: testLog(), signal: controller.signal },
      async ({ tables }) => {
        for await (const { rows } of tables()) {
          controller.abort(reason);
          for await (const _ of rows) void _;
        }
      },
    );
    await expect(taking).rejects.toBe(reason);
  });
});

describe("restored data", () => {
  test("is the same, row by row, except for leases and heartbeats", async () => {
    expect(await put(target.url)).toMatchObject({ tables: copied.tables.length, migrated: [] });
    const [now, then] = [await contents(target.url), await contents(source.url)];
    const moved = ["chats", "ticket_index"];
    for (const name of moved) expect(now[name]).toHaveLength(then[name]?.length ?? -1);
    for (const name of moved) for (const side of [now, then]) side[name] = [];
    expect(now).toEqual(then);
    expect(await query("SELECT 1 FROM chats WHERE lease_until > now()")).toEqual([]);
    expect(await query("SELECT 1 FROM instances")).toEqual([]);
    const texts = await query<{ text: string }>("SELECT text FROM messages");
    for (const text of HOSTILE) expect(texts).toContainEqual({ text });
  });

  test("continues its sequences", async () => {
    const [next] = await query<{ id: string; top: string }>(
      `SELECT nextval(pg_get_serial_sequence('ticket_events', 'id')) AS id, (SELECT max(id) FROM ticket_events) AS top`,
    );
    expect(Number(next?.id)).toBe(Number(next?.top) + 1);
  });

  test("keeps the audit log append-only", async () => {
    await expect(query("DELETE FROM audit_events")).rejects.toThrow("append-only");
    await expect(query("UPDATE audit_head SET number = 0")).rejects.toThrow("append-only");
  });

  test("is rejected if there is data, unless it may be replaced; other tables are kept", async () => {
    await expect(put(target.url)).rejects.toMatchObject({ fault: "not_empty" });
    await query("CREATE TABLE somebody_elses (id integer)");
    await query("INSERT INTO projects (id, name, handoff_text) VALUES (gen_random_uuid(), 'to be removed', '')");
    await put(target.url, { mayReplace: true });
    expect(await query("SELECT 1 FROM projects WHERE name = 'to be removed'")).toEqual([]);
    expect(await query("SELECT 1 FROM somebody_elses")).toEqual([]);
    await query("DROP TABLE somebody_elses");
  });

  test("is rejected while processes are running, unless they may be interrupted", async () => {
    const client = new Client({ connectionString: target.url, application_name: "svc-api" });
    await client.connect();
    await expect(put(target.url, { mayReplace: true })).rejects.toMatchObject({ fault: "in_use" });
    await put(target.url, { mayReplace: true, mayInterrupt: true });
    await client.end();
    await query("INSERT INTO instances VALUES (gen_random_uuid(), 'pipeline', now() + interval '1 minute')");
    await expect(put(target.url, { mayReplace: true })).rejects.toThrow("svc-pipeline");
    await query("DELETE FROM instances");
  });
});

describe("a failed restore changes nothing", () => {
  const brokenHeads: [string, string, (head: StoreCopyHead) => Partial<StoreCopyHead>][] = [
    ["of a newer version", "newer_copy", ({ migrations }) => ({ migrations: [...migrations, "9999_future"] })],
    ["without a schema", "bad_copy", () => ({ migrations: [] })],
    ["whose migrations lack one", "bad_copy", ({ migrations }) => ({ migrations: migrations.slice(1) })],
    ["of another key", "wrong_key", () => ({ secretKeyCheck: "v1.AAAA" })],
    ["of an older schema than its tables", "bad_copy", ({ migrations }) => ({ migrations: migrations.slice(0, 3) })],
  ];

  test.each(brokenHeads)("%s", async (_, error, change) => {
    const before = await contents(target.url);
    const head = { ...copied.head, ...change(copied.head) };
    await expect(put(target.url, { head, mayReplace: true })).rejects.toMatchObject({ fault: error });
    expect(await contents(target.url)).toEqual(before);
  });

  const brokenTables: [string, (tables: Copied["tables"]) => Copied["tables"]][] = [
    ["that lacks a table", (tables) => tables.slice(0, -1)],
    ["that has a table twice", (tables) => [...tables, ...tables.slice(-1)]],
    [
      "with a table of somebody else",
      (tables) => [
        { table: { name: "pg_authid", columns: ["rolname"], sequences: {} }, rows: Buffer.from("x\n") },
        ...tables,
      ],
    ],
    [
      "with a column that is not one",
      ([first, ...tables]) =>
        first === undefined ? [] : [{ ...first, table: { ...first.table, columns: ['id") FROM PROGRAM'] } }, ...tables],
    ],
    [
      "with rows that PostgreSQL does not read",
      (tables) =>
        tables.map((copy) => (copy.table.name === "messages" ? { ...copy, rows: Buffer.from("hello\n") } : copy)),
    ],
    [
      "with rows that point to none",
      (tables) => tables.map((copy) => (copy.table.name === "projects" ? { ...copy, rows: Buffer.alloc(0) } : copy)),
    ],
  ];

  test.each(brokenTables)("%s", async (name, change) => {
    const { store } = source;
    if (name === "with rows that point to none") {
      // Some row must refer to a project.
      const project = await source.newProject();
      await store.agents.insert(project, {
        name: "a",
        description: "",
        kbIds: [],
        reviewPolicy: "auto_if",
        autoThreshold: 0.5,
      });
      copied = await copyOf(source.url);
    }
    const before = await contents(target.url);
    const putting = put(target.url, { mayReplace: true }, replay(change(copied.tables)));
    await expect(putting).rejects.toMatchObject({ fault: "bad_copy" });
    expect(await contents(target.url)).toEqual(before);
  });

  test("if it is truncated", async () => {
    const before = await contents(target.url);
    async function* breakOff() {
      yield* replay(copied.tables.slice(0, 10));
      throw new Error("the disk is gone");
    }
    await expect(put(target.url, { mayReplace: true }, breakOff())).rejects.toThrow("the disk is gone");
    async function* breakWithin() {
      for (const copy of copied.tables) {
        yield { table: copy.table, rows: copy.rows.length > 100 ? gone(copy.rows) : inPieces(copy.rows, 100) };
        await Promise.resolve();
      }
    }
    async function* gone(rows: Buffer) {
      yield rows.subarray(0, 50);
      await Promise.resolve();
      throw new Error("the line is gone");
    }
    await expect(put(target.url, { mayReplace: true }, breakWithin())).rejects.toThrow("the line is gone");
    expect(await contents(target.url)).toEqual(before);
  });

  test("while another one is running", async () => {
    const client = new Client({ connectionString: target.url });
    await client.connect();
    await client.query("SELECT pg_advisory_lock(7241865325823964)");
    await expect(put(target.url, { mayReplace: true })).rejects.toMatchObject({ fault: "busy" });
    await client.end();
  });
});

test("messages in progress at the time of the copy are processed again, and answered ones are not", async () => {
  await put(target.url, { mayReplace: true });
  const { openStore } = await import("@svc/store");
  const store = openStore({ url: target.url, secretKey: SECRET_KEY, log: testLog() });
  try {
    expect(await store.installation.checkSecretKey(store.sealer)).toBe(true);
    const due = await query<{ id: string; text: string; ticket_id: string; project_id: string }>(
      "SELECT id, text, ticket_id, project_id FROM messages WHERE state = 'received' ORDER BY text",
    );
    expect(due.map(({ text }) => text)).toEqual(["is worked on", "still waits"]);
    const projects = await store.projects.list();
    const project = projects.find(({ name }) => name === "default");
    if (project === undefined) throw new Error("the project is gone");
    for (const { ticket_id: ticketId } of due) {
      const claimed = await claimNow(store, project.id, ticketId);
      expect(await openAndFinish(store, answeredRun(claimed, ["answered here"]))).not.toBeNull();
    }
    while (await store.ticketIndex.follow(() => []));
    expect(
      await query("SELECT 1 FROM tickets t LEFT JOIN ticket_list l ON l.ticket_id = t.id WHERE l.ticket_id IS NULL"),
    ).toEqual([]);
  } finally {
    await store.close();
  }
});
