import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { PARTITIONED_TABLES, migrateStore, newId, openStore, putStoreCopy, takeStoreCopy } from "@svc/store";
import type { CopiedTable, Store, StoreCopyHead } from "@svc/store";
import {
  createTestDatabase,
  findInstalledPostgres,
  repositoryPath,
  startInstalledPostgres,
  testLog,
} from "@svc/testing";
import { Client } from "pg";
import { migrateFromNothing } from "../../journeys/support/plant-first-schema.ts";
import { SECRET_KEY } from "./open-test-store.ts";

interface Server {
  url: string;
  stop(): Promise<void>;
}

const installed = await findInstalledPostgres();
const SERVERS: [string, () => Promise<Server>][] = [
  [
    "the bundled PostgreSQL",
    async () => {
      const database = await createTestDatabase();
      return { url: database.url, stop: () => database.drop() };
    },
  ],
];
if (installed !== null) SERVERS.push(["the oldest installed PostgreSQL", () => startInstalledPostgres(installed)]);

const NEVER = new AbortController().signal;
const MIGRATIONS_BEFORE = readdirSync(repositoryPath("packages/store/migrations")).filter(
  (file) => file.endsWith(".sql") && file < "0060",
).length;

/** Returns an id with this time (RFC 9562), as every process creates them. */
const idAt = (time: string) => {
  const hex = new Date(time).getTime().toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}${newId().slice(13)}`;
};
/** Returns the start of the month that is this many months away. */
const monthAway = (count: number) => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + count, 1, 12)).toISOString();
};

/** Each writes one row like the previous version; `n` makes the row unique. */
const WRITES: Record<string, [text: string, values: (n: number) => unknown[]]> = {
  ticket_events: [
    "INSERT INTO ticket_events (ticket_id, project_id, message_id, actor, moves, data) VALUES ($1, $2, $3, 'pipeline', '[]', '{}')",
    () => [newId(), newId(), newId()],
  ],
  delivery_attempts: [
    "INSERT INTO delivery_attempts (delivery_id, number, duration_ms) VALUES ($1, $2, 1) ON CONFLICT (delivery_id, number) DO UPDATE SET duration_ms = excluded.duration_ms",
    (n) => [newId(), n],
  ],
  audit_events: [
    "INSERT INTO audit_events (id, day, number, at, actor, action, result, count, hash) VALUES ($1, now()::date, $2, now(), 'a', 'b.c', 'ok', 1, '')",
    (n) => [newId(), n],
  ],
};

describe.each(SERVERS)("on %s", (_name, startServer) => {
  let server: Server;
  let client: Client;
  let store: Store;

  beforeAll(async () => {
    server = await startServer();
    client = new Client({ connectionString: server.url });
    await client.connect();
  });

  afterAll(async () => {
    await store.close();
    await client.end();
    await server.stop();
  });

  const query = async <Row extends object>(text: string, values: unknown[] = []) =>
    (await client.query<Row>(text, values)).rows;
  const count = async (table: string, where = "true") =>
    (await query<{ count: number }>(`SELECT count(*)::int AS count FROM ${table} WHERE ${where}`))[0]?.count ?? 0;
  const partitionsOf = async (table: string) =>
    (
      await query<{ name: string }>(
        "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = $1::regclass ORDER BY 1",
        [table],
      )
    ).map(({ name }) => name);
  const attemptAt = (time: string, number = 1) =>
    query<{ partition: string }>(
      "INSERT INTO delivery_attempts (delivery_id, number) VALUES ($1, $2) RETURNING tableoid::regclass::text AS partition",
      [idAt(time), number],
    );
  const nextEvent = async (ticketId = newId(), projectId: string = newId()) =>
    (
      await query<{ id: string; partition: string }>(
        "INSERT INTO ticket_events (ticket_id, project_id, actor) VALUES ($1, $2, 'pipeline') RETURNING id, tableoid::regclass::text AS partition",
        [ticketId, projectId],
      )
    )[0] ?? { id: "", partition: "" };

  test("an upgrade keeps every row, including those that the previous version writes while its tables are moved", async () => {
    await migrateFromNothing(server.url, MIGRATIONS_BEFORE);
    const written: Record<string, number> = {};
    const writing = { isOver: false };
    /** Writes with one named statement, which is planned before the table is moved and used afterwards. */
    async function write(table: string, writer: number): Promise<void> {
      const connection = new Client({ connectionString: server.url });
      await connection.connect();
      const [text, values] = WRITES[table] ?? ["", () => []];
      try {
        for (let n = 0; !writing.isOver || n < 50; n++) {
          await connection.query({ name: `write-${table}`, text, values: values(writer * 1_000_000 + n) });
          written[table] = (written[table] ?? 0) + 1;
        }
      } finally {
        await connection.end();
      }
    }
    const writers = PARTITIONED_TABLES.flatMap((table) => [1, 2].map((writer) => write(table, writer)));
    store = openStore({ url: server.url, secretKey: SECRET_KEY, log: testLog() });
    try {
      await migrateStore(server.url, testLog());
      const made = new Set<string>();
      while (made.size < PARTITIONED_TABLES.length)
        for (const name of (await store.partitions.maintain()).made) made.add(name);
    } finally {
      writing.isOver = true;
    }
    await Promise.all(writers);
    for (const table of PARTITIONED_TABLES) {
      expect([table, await count(table)]).toEqual([table, written[table]]);
      expect([table, await partitionsOf(table)]).toEqual([
        table,
        [
          expect.stringMatching(/_\d{4}_\d\d$/),
          ...(table === "delivery_attempts" ? [`${table}_default`] : []),
          `${table}_first`,
        ],
      ]);
    }
    const [ids] = await query<{ isUnique: boolean }>(
      `SELECT count(*) = count(DISTINCT id) AS "isUnique" FROM ticket_events`,
    );
    expect(ids).toEqual({ isUnique: true });
  });

  test("partitions are created before their month begins, once, by the first replica", async () => {
    const at = new Date(monthAway(1));
    const changes = await Promise.all([1, 2, 3].map(() => store.partitions.maintain(at)));
    const [again] = [await store.partitions.maintain(at)];
    expect([...changes, again].flatMap(({ made }) => made).length).toBe(PARTITIONED_TABLES.length);
    const [row] = await attemptAt(monthAway(2));
    expect(row?.partition).toBe(`delivery_attempts_${monthAway(2).slice(0, 7).replace("-", "_")}`);
  });

  test("a row of a month without a partition is stored, and stays where its key finds it", async () => {
    const [row] = await attemptAt(monthAway(40), 7);
    expect(row?.partition).toMatch(/_\d{4}_\d\d$/);
    // With an end before that row, the partition would reject it.
    const { made } = await store.partitions.maintain(new Date(monthAway(2)));
    expect(made.toSorted()).toEqual(["audit_events", "ticket_events"].map((table) => expect.stringContaining(table)));
    expect(await count("delivery_attempts", "number = 7")).toBe(1);
    await query("DELETE FROM delivery_attempts WHERE number = 7");
    expect((await store.partitions.maintain(new Date(monthAway(2)))).made).toHaveLength(1);
  });

  test("a past month is dropped when all of its rows are erased, and a late row of it is still stored", async () => {
    const past = monthAway(2);
    const name = `delivery_attempts_${past.slice(0, 7).replace("-", "_")}`;
    const later = new Date(monthAway(4));
    await store.partitions.maintain(later);
    expect(await partitionsOf("delivery_attempts")).toContain(name);
    await query(`DELETE FROM ${name}`);
    expect((await store.partitions.maintain(later)).dropped).toContain(name);
    const late = idAt(past);
    const insert =
      "INSERT INTO delivery_attempts (delivery_id, number) VALUES ($1, 1) RETURNING tableoid::regclass::text AS partition";
    expect(await query(insert, [late])).toEqual([{ partition: "delivery_attempts_default" }]);
    await expect(query(insert, [late])).rejects.toThrow("duplicate key");
    expect((await store.partitions.maintain(later)).dropped).toEqual([]);
    expect(await count("delivery_attempts", `delivery_id = '${late}'`)).toBe(1);
  });

  test("an event of a ticket gets an id of the current month, greater than all previous ones, and a partition that stays", async () => {
    const at = new Date(monthAway(4));
    const before = await nextEvent();
    await Promise.all([1, 2, 3].map(() => store.partitions.maintain(at)));
    const [first, second] = [await nextEvent(), await nextEvent()];
    expect(Number(first.id)).toBeGreaterThanOrEqual(Number(before.id));
    expect(Number(second.id)).toBe(Number(first.id) + 1);
    const months = (at.getUTCFullYear() - 1970) * 12 + at.getUTCMonth();
    expect(Math.floor(Number(first.id) / 2 ** 40)).toBe(months);
    expect(Number.isSafeInteger(Number(first.id))).toBe(true);
    await query("DELETE FROM ticket_events");
    expect((await store.partitions.maintain(new Date(monthAway(5)))).dropped).not.toContain(second.partition);
    const third = await nextEvent();
    expect(Number(third.id)).toBeGreaterThan(Number(second.id));
  });

  test("an end constraint left by an interrupted run is removed before it could reject a row", async () => {
    const at = new Date(monthAway(6));
    const open = (await partitionsOf("ticket_events")).findLast((name) => /_\d\d$/.test(name));
    await query(`ALTER TABLE ${open} ADD CONSTRAINT closing_2001_01 CHECK (id < 1) NOT VALID`);
    await store.partitions.maintain(at);
    expect(await query("SELECT conname FROM pg_constraint WHERE conname LIKE 'closing%'")).toEqual([]);
  });

  test("partitioning blocks nothing: a table in use is left to the next run, and all tables during a backup", async () => {
    const at = new Date(monthAway(7));
    await query("BEGIN");
    await nextEvent();
    const { made } = await store.partitions.maintain(at);
    expect(made.some((name) => name.startsWith("ticket_events"))).toBe(false);
    await query("COMMIT");
    expect((await store.partitions.maintain(at)).made).toEqual([expect.stringMatching(/^ticket_events_/)]);
    await query("SELECT pg_advisory_lock_shared(7241865325823964)");
    expect(await store.partitions.maintain(new Date(monthAway(8)))).toEqual({ made: [], dropped: [] });
    await query("SELECT pg_advisory_unlock_shared(7241865325823964)");
  });

  test("a position in the audit chain is unique, and rows cannot be changed in any partition", async () => {
    const open = (await partitionsOf("audit_events")).findLast((name) => /_\d\d$/.test(name)) ?? "";
    const insert = `INSERT INTO audit_events (id, day, number, at, actor, action, result, count, hash)
      VALUES ($1, $2::timestamptz::date, 1, $2::timestamptz, 'a', 'b.c', 'ok', 1, '') RETURNING tableoid::regclass::text AS partition`;
    const time = monthAway(20);
    expect(await query(insert, [idAt(time), time])).toEqual([{ partition: open }]);
    await expect(query(insert, [idAt(time), time])).rejects.toThrow("duplicate key");
    for (const table of ["audit_events", ...(await partitionsOf("audit_events"))]) {
      await expect(query(`DELETE FROM ${table}`)).rejects.toThrow("append-only");
    }
  });

  test("erasure and export find the rows of all partitions", async () => {
    const { project } = await store.projects.ensure("default");
    const accepted = await store.messages.accept(project.id, {
      channelId: "api",
      chatId: "over months",
      userId: null,
      text: "hello",
      timestampMs: Date.now(),
      attachments: null,
      channelMeta: {},
      mode: "async",
      callInstance: null,
      callback: null,
    });
    await nextEvent(accepted.ticketId, project.id);
    await store.partitions.maintain(new Date(monthAway(9)));
    const { partition } = await nextEvent(accepted.ticketId, project.id);
    expect(
      await count("ticket_events", `ticket_id = '${accepted.ticketId}' AND tableoid <> '${partition}'::regclass`),
    ).toBe(1);
    let events = 0;
    for await (const { kind, records } of store.erasures.read(project.id, accepted.ticketId)) {
      if (kind === "events") events += records.length;
    }
    expect(events).toBe(2);
    expect(await store.erasures.erase(project.id, accepted.ticketId)).toMatchObject({ events: 2, messages: 1 });
    expect(await count("ticket_events", `ticket_id = '${accepted.ticketId}'`)).toBe(0);
  });

  test("a backup contains the rows of all partitions, and a restored database creates its own partitions", async () => {
    const target = await createTestDatabase();
    const all: { table: CopiedTable; rows: Buffer }[] = [];
    const head: StoreCopyHead = await takeStoreCopy(
      { url: server.url, secretKey: SECRET_KEY, log: testLog(), signal: NEVER },
      async ({ head: taken, tables }) => {
        for await (const { table, rows } of tables()) {
          const pieces: Buffer[] = [];
          for await (const piece of rows) pieces.push(Buffer.from(piece));
          all.push({ table, rows: Buffer.concat(pieces) });
        }
        return taken;
      },
    );
    async function* replay() {
      for (const { table, rows } of all) {
        yield { table, rows: inOnePiece(rows) };
        await Promise.resolve();
      }
    }
    const options = { secretKey: SECRET_KEY, log: testLog(), signal: NEVER, head, onTable: () => undefined };
    await putStoreCopy({ ...options, url: target.url, mayReplace: true, mayInterrupt: true }, replay());
    const restored = openStore({ url: target.url, secretKey: SECRET_KEY, log: testLog() });
    const look = new Client({ connectionString: target.url });
    await look.connect();
    try {
      await restored.partitions.maintain();
      for (const table of PARTITIONED_TABLES) {
        const { rows } = await look.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`);
        expect([table, rows[0]?.count]).toEqual([table, await count(table)]);
      }
      await expect(look.query("DELETE FROM audit_events_first")).rejects.toThrow("append-only");
    } finally {
      await look.end();
      await restored.close();
      await target.drop();
    }
  });
});

async function* inOnePiece(rows: Buffer): AsyncGenerator<Buffer> {
  yield rows;
  await Promise.resolve();
}
