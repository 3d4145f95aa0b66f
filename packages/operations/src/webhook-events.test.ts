import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import { localAdministrator } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { isWebhookSecret } from "@svc/outbound";
import { openStore } from "@svc/store";
import type { Store } from "@svc/store";
import { createTestDatabase, testLog } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { generateWebhookSecret, setWebhookSecret } from "./webhook-events.ts";

const DAY_SECONDS = 86_400;

let database: TestDatabase;
let client: Client;
let store: Store;
let administrator: Principal;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client({ connectionString: database.url });
  await client.connect();
  store = openStore({ url: database.url, secretKey: "x".repeat(32), log: testLog() });
  administrator = localAdministrator((await store.projects.ensure("default")).project);
});

beforeEach(() => store.channelsConfig.update("api", { webhookSecret: null, previousWebhookSecret: null }));

afterAll(async () => {
  await client.end();
  await store.close();
  await database.drop();
});

const set = (secret: string | null, overlapSeconds = DAY_SECONDS, principal = administrator) =>
  setWebhookSecret({ store }, principal, { secret, overlapSeconds });

/** The secrets as the sender of callbacks finds them. */
async function live(): Promise<{ current: string | null; previous: string | null }> {
  const { api } = await store.channelsConfig.read();
  const { webhookSecret, previousWebhookSecret } = api.config;
  return {
    current: webhookSecret === null ? null : store.sealer.open(webhookSecret),
    previous: previousWebhookSecret === null ? null : store.sealer.open(previousWebhookSecret),
  };
}

test("a generated secret is usable, of 32 bytes, and never the same", () => {
  const [one, other] = [generateWebhookSecret(), generateWebhookSecret()];
  expect(isWebhookSecret(one)).toBe(true);
  expect(Buffer.from(one.slice("whsec_".length), "base64")).toHaveLength(32);
  expect(one).not.toBe(other);
});

describe("the webhook secret", () => {
  test("lies in the store only sealed", async () => {
    expect(await set("a secret of ours")).toEqual({ isSet: true, previousUntil: null });
    expect(await live()).toEqual({ current: "a secret of ours", previous: null });
    const { rows } = await client.query<{ text: string }>("SELECT api::text AS text FROM channels_config");
    expect(rows[0]?.text).not.toContain("a secret of ours");
  });

  test("goes on signing beside its successor until the end of the overlap", async () => {
    await set("old secret of 16 bytes");
    const before = Date.now();
    const { previousUntil } = await set("new secret of 16 bytes", DAY_SECONDS);
    expect(await live()).toEqual({ current: "new secret of 16 bytes", previous: "old secret of 16 bytes" });
    const untilMs = Date.parse(previousUntil ?? "");
    expect(untilMs).toBeGreaterThanOrEqual(before + DAY_SECONDS * 1_000);
    expect(untilMs).toBeLessThanOrEqual(Date.now() + DAY_SECONDS * 1_000);
    expect((await store.channelsConfig.read()).api.config.previousWebhookSecret?.until).toBe(previousUntil);
  });

  test("ends at once without an overlap", async () => {
    await set("old secret of 16 bytes");
    expect(await set("new secret of 16 bytes", 0)).toEqual({ isSet: true, previousUntil: null });
    expect(await live()).toEqual({ current: "new secret of 16 bytes", previous: null });
  });

  test("set again leaves a running overlap as it is, and an overlap of 0 ends it", async () => {
    await set("old secret of 16 bytes");
    const { previousUntil } = await set("new secret of 16 bytes");
    expect(await set("new secret of 16 bytes", 60)).toEqual({ isSet: true, previousUntil });
    expect(await live()).toEqual({ current: "new secret of 16 bytes", previous: "old secret of 16 bytes" });
    await set("new secret of 16 bytes", 0);
    expect(await live()).toEqual({ current: "new secret of 16 bytes", previous: null });
  });

  test("of three, the two newest sign", async () => {
    for (const secret of ["one secret of 16 bytes", "two secret of 16 bytes", "three secret of 16 bytes"])
      await set(secret);
    expect(await live()).toEqual({ current: "three secret of 16 bytes", previous: "two secret of 16 bytes" });
  });

  test("can be taken away, and the one before with it: the key of each message signs then, and nothing beside it", async () => {
    await set("old secret of 16 bytes");
    await set("new secret of 16 bytes");
    expect(await set(null)).toEqual({ isSet: false, previousUntil: null });
    expect(await live()).toEqual({ current: null, previous: null });
    expect(await set("newer secret of 16 bytes")).toEqual({ isSet: true, previousUntil: null });
  });

  test("whose overlap is over is dropped with the next change", async () => {
    await store.channelsConfig.update("api", {
      webhookSecret: store.sealer.seal("current secret of 16 bytes"),
      previousWebhookSecret: { ...store.sealer.seal("old secret of 16 bytes"), until: "2020-01-01T00:00:00Z" },
    });
    expect(await set("current secret of 16 bytes")).toEqual({ isSet: true, previousUntil: null });
    expect(await live()).toEqual({ current: "current secret of 16 bytes", previous: null });
  });

  test("changed by several at once: each change has that of another as the one before", async () => {
    const names = ["a", "b", "c", "d", "e"].map((name) => `${name} secret of 16 bytes`);
    await Promise.all(names.map((secret) => set(secret)));
    const { current, previous } = await live();
    expect(names).toContain(current);
    expect(names).toContain(previous);
    expect(previous).not.toBe(current);
  });

  test.each([[""], ["whsec_"], ["whsec_no.base64"]])("is not %j, and the error does not tell it", async (secret) => {
    await expect(set(secret)).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.not.stringContaining("no.base64"),
    });
    expect(await live()).toEqual({ current: null, previous: null });
  });

  test.each([-1, 0.5, Number.NaN, 31 * DAY_SECONDS])("has no overlap of %s seconds", async (overlapSeconds) => {
    await expect(set("secret secret of 16 bytes", overlapSeconds)).rejects.toMatchObject({ code: "invalid_request" });
  });

  test("is set by administrators only", async () => {
    const principal: Principal = { ...administrator, scopes: ["webhooks:*", "channels:*"] };
    await expect(set("secret secret of 16 bytes", 0, principal)).rejects.toMatchObject({ code: "insufficient_scope" });
  });
});
