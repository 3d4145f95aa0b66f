import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { createAuthenticator, isAdministrator } from "@svc/auth";
import { openStore } from "@svc/store";
import type { Store } from "@svc/store";
import { createTestDatabase, testLog } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import pg from "pg";
import { initialize } from "./initialize.ts";
import type { InitializeResult } from "./initialize.ts";

const CONFIGURED = "the configured administrator's key";

let guideDir: string;
let database: TestDatabase;
/** The stores of two processes. */
let stores: Store[];
let store: Store;

beforeAll(async () => {
  guideDir = await mkdtemp(join(tmpdir(), "svc-guide-"));
  await writeFile(join(guideDir, "about.md"), "# About\n\nThe service answers messages.\n");
  await writeFile(join(guideDir, "limits.md"), "# Limits\n\nA text has at most 50,000 characters.\n");
  await writeFile(join(guideDir, "notes.txt"), "This is no page of the guide.\n");
});

afterAll(() => rm(guideDir, { recursive: true, force: true }));

beforeEach(async () => {
  database = await createTestDatabase();
  stores = [1, 2].map(() => openStore({ url: database.url, secretKey: "x".repeat(32), log: testLog() }));
  [store] = stores as [Store];
});

afterEach(async () => {
  await Promise.all(stores.map((open) => open.close()));
  await database.drop();
});

const run = (
  options: { configuredAdminKey?: string; guideDir?: string; demoDir?: string; on?: Store; showsKey?: boolean } = {},
) =>
  initialize(
    { store: options.on ?? store, log: testLog() },
    {
      configuredAdminKey: options.configuredAdminKey,
      guideDir: options.guideDir ?? guideDir,
      showsKey: options.showsKey ?? true,
      enablesWidget: options.demoDir !== undefined,
      demoDir: options.demoDir,
    },
  );

async function sql<Row extends object>(text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Everything that an initialisation could have made, but for the times of its use. */
async function everything() {
  const tables = ["projects", "agents", "kbs", "documents", "chunks", "api_keys", "channels_config"];
  const rows = await Promise.all(tables.map((table) => sql<{ row: string }>(`SELECT t::text AS row FROM ${table} t`)));
  return Object.fromEntries(tables.map((table, index) => [table, rows[index]?.map(({ row }) => row).toSorted()]));
}

/** True when the key opens the door to everything. */
async function isAdminKey(key: string | null): Promise<boolean> {
  const authenticate = createAuthenticator({ store, log: testLog() });
  const credentials = { authorization: undefined, apiKey: key ?? undefined, project: undefined };
  const principal = await authenticate(credentials).catch(() => null);
  return principal !== null && isAdministrator(principal);
}

const liveKeys = () => sql<{ name: string }>("SELECT name FROM api_keys WHERE revoked_at IS NULL ORDER BY created_at");

describe("the first run", () => {
  test("makes the project, an agent with the guide, and a key, and enables the HTTP API", async () => {
    const { project, adminKey, isFirst } = await run();
    expect(isFirst).toBe(true);
    expect(project).toMatchObject({ name: "default" });
    expect(await store.projects.list()).toEqual([project]);

    const kbs = await sql<{ id: string; name: string }>("SELECT id, name FROM kbs");
    expect(kbs.map(({ name }) => name)).toEqual(["guide"]);
    const documents = await sql<{ key: string; status: string }>("SELECT key, status FROM documents ORDER BY key");
    expect(documents).toEqual([
      { key: "about.md", status: "ready" },
      { key: "limits.md", status: "ready" },
    ]);
    expect(await store.agents.list(project.id)).toEqual([
      expect.objectContaining({
        name: "assistant",
        kbIds: kbs.map(({ id }) => id),
        enabled: true,
        reviewPolicy: "auto_if",
      }),
    ]);

    expect((await store.channelsConfig.read()).enabled).toEqual(["api", "tool-server"]);
    expect(await isAdminKey(adminKey)).toBe(true);
    expect(await liveKeys()).toEqual([{ name: "first administrator" }]);
  });

  test("for the demo page also gives the agent the documents of its shop, and enables the widget with a key", async () => {
    const { project } = await run({
      demoDir: fileURLToPath(new URL("../../../apps/widget/demo/shop", import.meta.url)),
    });
    const agents = await store.agents.list(project.id);
    expect(agents.map(({ name, kbIds }) => [name, kbIds.length])).toEqual([["assistant", 2]]);
    const documents = await sql<{ name: string; count: string }>(
      "SELECT k.name, count(*) FROM documents d JOIN kbs k ON k.id = d.kb_id GROUP BY k.name ORDER BY k.name",
    );
    expect(documents).toEqual([
      { name: "demo shop", count: "8" },
      { name: "guide", count: "2" },
    ]);
    const { enabled, widget } = await store.channelsConfig.read();
    expect(enabled).toContain("widget");
    expect(widget.config.apiKey).toMatch(/^wk_/);
  });

  test("that was broken off is finished by the next one, with everything once", async () => {
    await expect(run({ guideDir: join(guideDir, "nowhere") })).rejects.toMatchObject({ code: "ENOENT" });
    expect(await liveKeys()).toEqual([]);
    const { isFirst, adminKey, project } = await run();
    expect(isFirst).toBe(true);
    expect(await isAdminKey(adminKey)).toBe(true);
    expect((await store.agents.list(project.id)).map(({ name }) => name)).toEqual(["assistant"]);
    expect((await everything())["documents"]).toHaveLength(2);
  });
});

describe("a second run", () => {
  test("makes another key in the place of one that nobody was shown, and no more once one was", async () => {
    const unseen = await run({ showsKey: false });
    const seen = await run({ showsKey: false });
    expect(seen.adminKey).not.toBeNull();
    expect([await isAdminKey(unseen.adminKey), await isAdminKey(seen.adminKey)]).toEqual([false, true]);
    await store.installation.markAdminKeyShown();
    expect((await run({ showsKey: false })).adminKey).toBeNull();
    expect(await isAdminKey(seen.adminKey)).toBe(true);
  });

  test("makes nothing and shows no key", async () => {
    const first = await run();
    const before = await everything();
    expect(await run()).toEqual({ project: first.project, adminKey: null, isFirst: false });
    expect(await everything()).toEqual(before);
    expect(await isAdminKey(first.adminKey)).toBe(true);
  });

  test("makes nothing again that somebody has deleted or switched off", async () => {
    const { project } = await run();
    await sql("DELETE FROM agents");
    await sql("DELETE FROM documents");
    await store.channelsConfig.setEnabled("api", false);
    await run();
    expect(await store.agents.list(project.id)).toEqual([]);
    expect(await sql("SELECT FROM documents")).toEqual([]);
    expect((await store.channelsConfig.read()).enabled).toEqual(["tool-server"]);
  });

  test("does not undo what somebody has changed", async () => {
    const { project } = await run();
    await store.projects.update(project.id, { handoffText: "Ours." });
    await sql("UPDATE agents SET name = 'renamed', version = version + 1");
    const before = await everything();
    await run();
    expect(await everything()).toEqual(before);
  });

  test("makes a key when no administrator's lives any more, so that nobody is locked out", async () => {
    const { adminKey } = await run();
    await sql("UPDATE api_keys SET revoked_at = now()");
    const again = await run();
    expect(again.adminKey).not.toBe(adminKey);
    expect([await isAdminKey(adminKey), await isAdminKey(again.adminKey)]).toEqual([false, true]);
  });
});

describe("with the administrator's key in the configuration", () => {
  test("that one is made and no other, and it is not shown", async () => {
    expect((await run({ configuredAdminKey: CONFIGURED })).adminKey).toBeNull();
    await run({ configuredAdminKey: CONFIGURED });
    expect(await liveKeys()).toEqual([{ name: "SVC_ADMIN_KEY" }]);
    expect(await isAdminKey(CONFIGURED)).toBe(true);
  });

  test("a changed one replaces the one before", async () => {
    await run({ configuredAdminKey: CONFIGURED });
    await run({ configuredAdminKey: `${CONFIGURED}, changed` });
    expect([await isAdminKey(CONFIGURED), await isAdminKey(`${CONFIGURED}, changed`)]).toEqual([false, true]);
  });

  test("the key that was shown before still works", async () => {
    const { adminKey } = await run();
    await run({ configuredAdminKey: CONFIGURED });
    expect([await isAdminKey(adminKey), await isAdminKey(CONFIGURED)]).toEqual([true, true]);
  });
});

test("processes that initialise at once all succeed: one makes everything, and shows the key", async () => {
  const results = await Promise.all([...stores, ...stores].map((on) => run({ on })));
  const [{ project }] = results as [InitializeResult];
  expect(results.map((result) => result.project)).toEqual(results.map(() => project));
  expect(results.filter(({ isFirst }) => isFirst)).toHaveLength(1);
  expect(results.filter(({ adminKey }) => adminKey !== null)).toHaveLength(1);
  expect((await store.agents.list(project.id)).map(({ name }) => name)).toEqual(["assistant"]);
  expect(await liveKeys()).toEqual([{ name: "first administrator" }]);
});
