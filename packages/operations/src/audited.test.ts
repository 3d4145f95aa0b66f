import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { localAdministrator } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { ServiceError } from "@svc/contracts";
import { newId, openStore } from "@svc/store";
import type { Store } from "@svc/store";
import { collectLog, createTestDatabase, freePort, testLog } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { audited, isAudited } from "./audited.ts";

const REQUEST = newId();

let database: TestDatabase;
let store: Store;
let principal: Principal;

beforeAll(async () => {
  database = await createTestDatabase();
  store = openStore({ url: database.url, secretKey: "0123456789abcdef0123456789abcdef", log: testLog() });
  principal = { ...localAdministrator((await store.projects.ensure("north")).project), requestId: REQUEST };
});

afterAll(async () => {
  await store.close();
  await database.drop();
});

const MADE = newId();

let action: string;
beforeEach(() => {
  action = `test.${newId()}`;
});

const rows = () => store.audit.listPage({ action }, { limit: 9 });
const answer =
  <Result>(result: Result) =>
  (_deps: { store: Store }, _principal: Principal, ..._args: unknown[]) =>
    Promise.resolve(result);

describe("an audited operation", () => {
  test("does what it does, and leaves a row that says who, what, where and by which request", async () => {
    const id = newId();
    expect(await audited(action, answer("done"))({ store }, principal, id.toUpperCase())).toBe("done");
    expect(await rows()).toEqual([
      expect.objectContaining({
        actor: "command-line",
        action,
        object: id,
        project: "north",
        result: "ok",
        requestId: REQUEST,
        count: 1,
        network: null,
      }),
    ]);
  });

  test.each([["no reason"], [new Error("the line is closed")]])(
    "that its caller has ended leaves a row that says so, whatever it throws then",
    async (reason) => {
      const ended = new AbortController();
      const work = audited(
        action,
        (_deps: { store: Store }, _principal: Principal, _options: { signal: AbortSignal }) => {
          ended.abort(reason);
          return Promise.reject(reason);
        },
      );
      await expect(work({ store }, principal, { signal: ended.signal })).rejects.toBe(reason);
      expect(await rows()).toEqual([expect.objectContaining({ result: "cancelled" })]);
    },
  );

  test("that belongs to the whole installation leaves a row of no project, also when it fails", async () => {
    const options = { isGlobal: true };
    await audited(action, answer("done"), options)({ store }, principal);
    const fail = () => Promise.reject(new ServiceError("not_found", ""));
    await expect(audited(action, fail, options)({ store }, principal)).rejects.toThrow();
    expect((await rows()).map(({ project, result }) => [project, result])).toEqual([
      [null, "not_found"],
      [null, "ok"],
    ]);
    expect(await store.audit.listPage({ action, project: { id: principal.project } }, { limit: 9 })).toEqual([]);
  });

  test("that fails throws what it has thrown, and leaves a row with the code", async () => {
    const refused = new ServiceError("not_found", "secret text");
    const broken = new Error("secret text");
    for (const error of [refused, broken]) {
      const operation = audited(action, (_deps: { store: Store }) => Promise.reject(error));
      await expect(operation({ store }, principal)).rejects.toBe(error);
    }
    expect((await rows()).map(({ result }) => result)).toEqual(["internal", "not_found"]);
    expect(JSON.stringify(await rows())).not.toContain("secret");
    expect([refused, broken, new ServiceError("not_found", "")].map(isAudited)).toEqual([true, false, false]);
  });

  test.each<[string, unknown[], unknown, string | null]>([
    ["the id of what it has made", [{ name: "a" }], { id: MADE }, MADE],
    ["a channel", ["api"], null, "api"],
    ["nothing where a key stands in the place of an id", [`svc_${"s".repeat(38)}`], { id: MADE }, null],
    ["nothing where a name stands in the place of an id", ["alice"], null, null],
    ["nothing where there is none", [], undefined, null],
  ])("names as its object %s", async (_what, args, result, object) => {
    await audited(action, answer(result))({ store }, principal, ...args);
    expect((await rows())[0]?.object).toBe(object);
  });

  test.each([
    "alice",
    "alice@example.com",
    `svc_${"s".repeat(38)}`,
    "user:alice",
    "model:alice",
    "model:ollama:a model",
    `model:ollama:${"x".repeat(999)}`,
    "a\u0000b",
    "\ud800",
    "",
    "x".repeat(999),
  ])("names no object that is no id and no name of ours, whatever it is told: %j", async (object) => {
    await audited(action, answer(null), { objectOf: () => object })({ store }, principal);
    expect((await rows()).map((row) => row.object)).toEqual([null]);
  });

  test.each([
    ["a person by a keyed hash", `user:${"0f".repeat(8)}`],
    ["a model by its id", "model:ollama:hf.co/bartowski/Llama-3.2-1B-Instruct-GGUF:Q4_K_M"],
  ])("may name %s", async (_what, object) => {
    await audited(action, answer(null), { objectOf: () => object })({ store }, principal);
    expect((await rows()).map((row) => row.object)).toEqual([object]);
  });

  test("says how many things it was done to, and leaves no row where that is none", async () => {
    const operation = audited(action, answer(7), { objectOf: () => MADE, countOf: (_args, count) => count });
    await operation({ store }, principal);
    await audited(action, answer(0), { objectOf: () => MADE, countOf: (_args, count) => count })({ store }, principal);
    expect((await rows()).map(({ object, count }) => [object, count])).toEqual([[MADE, 7]]);
  });

  test("that is a check before another one leaves a row only when it fails", async () => {
    const options = { notesOnlyFailures: true };
    await audited(action, answer(1), options)({ store }, principal);
    expect(await rows()).toEqual([]);
    const fail = () => Promise.reject(new ServiceError("not_found", ""));
    await expect(audited(action, fail, options)({ store }, principal)).rejects.toThrow();
    expect((await rows()).map(({ result }) => result)).toEqual(["not_found"]);
  });

  test("is done all the same when its row cannot be written, which is logged", async () => {
    const url = `postgres://nobody@127.0.0.1:${await freePort()}/none`;
    const away = openStore({ url, secretKey: "0123456789abcdef0123456789abcdef", log: testLog() });
    const { log, lines } = collectLog();
    expect(await audited(action, answer("done"))({ store: away, log } as { store: Store }, principal)).toBe("done");
    expect(lines()).toEqual([expect.objectContaining({ level: "error", event: expect.objectContaining({ action }) })]);
    await away.close();
  });
});
