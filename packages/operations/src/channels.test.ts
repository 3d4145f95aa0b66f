import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { localAdministrator } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { INTEGRATION_IDS } from "@svc/contracts";
import type { Scope } from "@svc/contracts";
import { openStore } from "@svc/store";
import type { Store } from "@svc/store";
import { createTestDatabase, testLog } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { listChannels, setChannelEnabled } from "./channels.ts";

let database: TestDatabase;
let store: Store;
let administrator: Principal;

beforeAll(async () => {
  database = await createTestDatabase();
  store = openStore({ url: database.url, secretKey: "x".repeat(32), log: testLog() });
  administrator = localAdministrator((await store.projects.ensure("default")).project);
});

beforeEach(async () => {
  for (const id of INTEGRATION_IDS) await store.channelsConfig.setEnabled(id, false);
});

afterAll(async () => {
  await store.close();
  await database.drop();
});

const holderOf = (scopes: Scope[]): Principal => ({ ...administrator, scopes });

describe("the channels", () => {
  test("are all listed, switched on or not", async () => {
    const nobody = { enabled: false, state: "stopped", since: null, error: null, replicas: [] };
    expect(await listChannels({ store }, administrator)).toMatchObject({
      items: INTEGRATION_IDS.map((id) => ({ id, ...nobody })),
      nextCursor: null,
    });
  });

  test.each<[Scope[], boolean]>([
    [["channels:read"], true],
    [["channels:*"], true],
    [["admin:*"], true],
    [["channels:write"], false],
    [["messages:*"], false],
  ])("are listed for %j: %j", async (scopes, isAllowed) => {
    const listing = listChannels({ store }, holderOf(scopes));
    if (isAllowed) expect((await listing).items).toHaveLength(INTEGRATION_IDS.length);
    else await expect(listing).rejects.toMatchObject({ code: "insufficient_scope" });
  });
});

describe("a channel", () => {
  test("is switched on and off, and says whether that changed anything", async () => {
    const set = (enabled: boolean) => setChannelEnabled({ store }, administrator, "api", enabled);
    expect([await set(true), await set(true)]).toEqual([true, false]);
    const { items } = await listChannels({ store }, administrator);
    expect(items.filter((item) => item.enabled)).toMatchObject([{ id: "api" }]);
    expect([await set(false), await set(false)]).toEqual([true, false]);
    expect((await store.channelsConfig.read()).enabled).toEqual([]);
  });

  test.each<Scope[]>([["channels:*"], ["channels:write", "messages:*"]])(
    "is switched by administrators only, not with %j",
    async (...scopes) => {
      await expect(setChannelEnabled({ store }, holderOf(scopes), "api", true)).rejects.toMatchObject({
        code: "insufficient_scope",
      });
      expect((await store.channelsConfig.read()).enabled).toEqual([]);
    },
  );
});
