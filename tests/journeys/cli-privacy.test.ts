import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { erasureReceiptSchema, privacyExportSchema, visitorChatId } from "@svc/contracts";
import { openStore } from "@svc/store";
import type { Project, Store } from "@svc/store";
import { createTestDatabase, testLog } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { findInDatabase } from "./support/find-in-database.ts";
import { SECRET_KEY } from "./support/start-product.ts";
import { makeFolder, removeFolders } from "./support/svc-instance.ts";
import { runWithin } from "./support/svc-within.ts";

const VISITOR = "6f1c3b1e-6a53-4c0e-9a55-0d8f5b8a7c11";
const TEXT = "qzprivatewords";

let database: TestDatabase;
let folder: string;
let env: Record<string, string>;
let store: Store;
let project: Project;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await makeFolder();
  env = { DATABASE_URL: database.url, SVC_SECRET_KEY: SECRET_KEY };
  store = openStore({ url: database.url, secretKey: env["SVC_SECRET_KEY"] ?? "", log: testLog(), app: "test" });
  await store.projects.ensure("default");
  ({ project } = await store.projects.ensure("shop"));
});

afterAll(async () => {
  await store.close();
  await database.drop();
  await removeFolders();
});

/** Sends messages of one person to the project `shop`, as a visitor and over the API. */
beforeEach(async () => {
  for (const [channelId, chatId] of [
    ["api", "4711"],
    ["widget", visitorChatId(VISITOR)],
  ] as const) {
    const message = { channelId, chatId, userId: "u-42", text: TEXT, timestampMs: Date.now(), attachments: null };
    await store.messages.accept(project.id, {
      ...message,
      channelMeta: {},
      mode: null,
      callInstance: null,
      callback: null,
    });
  }
});

/** Runs `svc privacy` with these arguments and typed input. */
const privacy = (words: string[], typed: string | null = null) =>
  runWithin({ env, folder, typed: typed ?? "", isTTY: typed !== null }, "privacy", ...words);

const itemOf = (stdout: string) => (JSON.parse(stdout) as { item: unknown }).item;

describe("svc privacy export", () => {
  test("shows all stored data as one document", async () => {
    const { stdout, code } = await privacy(["export", "--user", "u-42", "--project", "shop", "--json"]);
    expect(code).toBe(0);
    const item = privacyExportSchema.strict().parse(itemOf(stdout));
    expect([item.project, item.tickets.length]).toEqual(["shop", 2]);
    expect(stdout).toContain(TEXT);
  });

  test("writes it to a new file that only its owner can read", async () => {
    const words = ["export", "--chat", "4711", "--channel", "api", "--project", "shop", "--out", "held.json"];
    expect((await privacy(words)).code).toBe(0);
    const item = privacyExportSchema.strict().parse(JSON.parse(await readFile(join(folder, "held.json"), "utf8")));
    expect(item.tickets).toHaveLength(1);
    expect((await stat(join(folder, "held.json"))).mode & 0o777).toBe(0o600);
    const again = await privacy(words);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("already exists")]);
  });
});

describe("svc privacy erase", () => {
  test("asks for confirmation, and never shows a visitor's id", async () => {
    const words = ["erase", "--visitor", VISITOR, "--project", "shop"];
    const nobody = await privacy(words);
    expect([nobody.code, nobody.stderr]).toEqual([2, expect.stringContaining("--yes")]);
    const refused = await privacy(words, "no\n");
    expect([refused.code, refused.stdout]).toEqual([0, "Nothing was erased.\n"]);
    const agreed = await privacy(words, "yes\n");
    expect([agreed.code, agreed.stdout]).toEqual([
      0,
      expect.stringMatching(/^Erased: messages \d+\.\nReceipt .* visitor:/),
    ]);
    for (const { stdout, stderr } of [nobody, refused, agreed]) expect(stdout + stderr).not.toContain(VISITOR);
  });

  test("erases all stored data, returns a receipt, and finds nothing the second time", async () => {
    const words = ["erase", "--user", "u-42", "--project", "shop", "--yes"];
    const { stdout, code } = await privacy([...words, "--json"]);
    expect(code).toBe(0);
    const receipt = erasureReceiptSchema.strict().parse(itemOf(stdout));
    expect(receipt.counts["messages"]).toBeGreaterThan(1);
    expect(await findInDatabase(database.url, TEXT)).toEqual([]);
    expect((await privacy(words)).stdout).toBe("There was no data.\n");
  });
});

test.each([
  ["nobody", []],
  ["two", ["--user", "u", "--chat", "c"]],
  ["a channel alone", ["--channel", "api"]],
])("a command that names %s is a usage error, and does nothing", async (_, words) => {
  for (const action of ["export", "erase"]) {
    const { code, stdout } = await privacy([action, ...words, ...(action === "erase" ? ["--yes"] : [])]);
    expect([code, stdout]).toEqual([2, ""]);
  }
});

test("an invalid id or an unknown project is rejected", async () => {
  const bad = await privacy(["export", "--visitor", "5"]);
  expect([bad.code, bad.stderr]).toEqual([1, expect.stringContaining("UUID")]);
  const unknown = await privacy(["erase", "--user", "u", "--project", "nowhere", "--yes"]);
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("shop")]);
});
