import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import { HOOK_LIMITS, HOOK_PRESETS, hookItemSchema, hookPresetSchema, hookTestResultSchema } from "@svc/contracts";
import type { HookItem, HookTestResult, Scope } from "@svc/contracts";
import { newId } from "@svc/store";
import { queryDatabase } from "@svc/testing";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callApi } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { createHookClient, hookSample } from "./support/create-hook-client.ts";
import type { HookClient } from "./support/create-hook-client.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const SECRET = "a-secret-that-the-platform-has-made";

let product: Product;
let api: ApiClient;
let hooks: HookClient;
let other: HookClient;

beforeAll(async () => {
  product = await startProduct({ env: { SVC_TRUST_PROXY: "127.0.0.1,::1" } });
  for (const name of ["north", "south"]) await product.store.projects.ensure(name);
  api = createApiClient(product);
  hooks = createHookClient(product, "north");
  other = createHookClient(product, "south");
});

afterAll(() => product?.stop());

const itemOf = ({ body }: ApiAnswer) => (body as unknown as { item: HookItem }).item;
const resultOf = ({ body }: ApiAnswer): HookTestResult =>
  hookTestResultSchema.strict().parse((body as unknown as { item: unknown }).item);

describe("a hook", () => {
  test("201: is created, read, listed, updated by its version and deleted with its bodies", async () => {
    const name = `contact ${newId()}`;
    const made = await hooks.admin("", { json: { name, preset: "form" } });
    const { secret, ...item } = itemOf(made) as HookItem & { secret: string };
    expect([made.status, made.headers.get("etag")]).toEqual([201, '"1"']);
    expect(made.headers.get("cache-control")).toBe("no-store");
    expect(made.headers.get("location")).toBe(`/api/v1/admin/hooks/${item.id}`);
    expect(secret).toMatch(/^[\w-]{43}$/);
    const shown = { ...item, url: `/api/v1/hooks/${item.id}` };
    expect(hookItemSchema.strict().parse(shown)).toMatchObject({
      name,
      project: "north",
      preset: "form",
      auth: { type: "path" },
      mapping: HOOK_PRESETS.form.mapping,
      filter: [],
      version: 1,
      previousSecretUntil: null,
    });
    const read = await hooks.admin(`/${item.id}`);
    expect([read.headers.get("etag"), itemOf(read)]).toEqual(['"1"', shown]);
    const listed = await hooks.admin(`?q=${encodeURIComponent(name.toUpperCase())}`);
    expect((listed.body as unknown as { items: HookItem[] }).items).toEqual([shown]);

    const filter = [{ path: "$.email" }];
    const change = { mapping: { chatId: "form:{{$.email}}", meta: null }, filter };
    const changed = await hooks.admin(`/${item.id}`, { method: "PATCH", json: change, headers: { "If-Match": '"1"' } });
    expect([changed.status, changed.headers.get("etag")]).toEqual([200, '"2"']);
    const { meta: _meta, ...mapping } = { ...HOOK_PRESETS.form.mapping, chatId: "form:{{$.email}}" };
    expect(itemOf(changed)).toEqual({ ...shown, mapping, filter, version: 2, updatedAt: itemOf(changed).updatedAt });

    const url = `${shown.url}/${secret}`;
    expect((await hooks.post(url, { json: { message: "hi", email: "a@b.example" } })).status).toBe(202);
    const deleted = await hooks.admin(`/${item.id}`, { method: "DELETE", headers: { "If-Match": '"2"' } });
    expect([deleted.status, itemOf(deleted)]).toEqual([200, itemOf(changed)]);
    expectProblem(await hooks.admin(`/${item.id}`), "not_found");
    expectProblem(await hooks.post(url, { json: { message: "hi" } }), "invalid_signature");
    const left = await queryDatabase(
      product.databaseUrl,
      "SELECT 1 FROM hook_bodies WHERE hook_id = $1 UNION ALL SELECT 1 FROM hook_events WHERE hook_id = $1",
      [item.id],
    );
    expect(left).toEqual([]);
  });

  test("201: every preset is a valid hook, and each part of it can be overridden", async () => {
    for (const preset of hookPresetSchema.options) {
      expect(await hooks.make({ preset })).toMatchObject({ preset, ...HOOK_PRESETS[preset] });
    }
    const auth = { type: "hmac", header: "X-Sig" } as const;
    const made = await hooks.make({
      preset: "github",
      auth,
      mapping: { text: "{{$.action}}", meta: null },
      filter: [],
    });
    const { meta: _meta, ...mapping } = { ...HOOK_PRESETS.github.mapping, text: "{{$.action}}" };
    expect(made).toMatchObject({
      auth: { type: "hmac", header: "x-sig", algorithm: "sha256", encoding: "hex", prefix: "" },
      mapping,
      filter: [],
    });
    expect(made.mapping.meta).toBeUndefined();
  });

  test("400: all errors of a body are reported, including unknown fields and invalid JSONPaths", async () => {
    const bad = {
      name: "",
      nmae: "x",
      preset: "gitlab",
      secret: "short",
      auth: { type: "hmac", header: "a b", algorithm: "md5" },
      mapping: { text: "", chatid: "x", meta: { origin: "x", hookId: "y" } },
      filter: [{ path: "$", equals: {} }, { equals: "a" }],
    };
    expectProblem(await hooks.admin("", { json: bad }), "invalid_request", [
      "/name",
      "/nmae",
      "/preset",
      "/secret",
      "/auth/header",
      "/auth/algorithm",
      "/mapping/text",
      "/mapping/chatid",
      "/mapping/meta/origin",
      "/mapping/meta/hookId",
      "/filter/0/equals",
      "/filter/1/path",
    ]);
    const paths = { text: "{{$.a[}}", chatId: ["ok", "{{a}}"], meta: { "a/b": "{{$..*..*}}" } };
    const invalid = { name: "paths", mapping: paths, filter: [{ path: "nothing" }] };
    const pointers = ["/mapping/text", "/mapping/chatId/1", "/mapping/meta/a~1b", "/filter/0/path"];
    expectProblem(await hooks.admin("", { json: invalid }), "invalid_request", pointers);
    expectProblem(await hooks.admin("", { json: { name: "no text" } }), "invalid_request", ["/mapping/text"]);
    expectProblem(await hooks.admin("", { body: "[" }), "invalid_json");

    const { id, name } = await hooks.make({ preset: "github" });
    expectProblem(await hooks.admin("", { json: { name, preset: "form" } }), "invalid_request", ["/name"]);
    const patch = (json: object) => hooks.admin(`/${id}`, { method: "PATCH", json });
    expectProblem(await patch({ mapping: paths }), "invalid_request", pointers.slice(0, 3));
    expectProblem(await patch({ mapping: { text: null } }), "invalid_request", ["/mapping/text"]);
    expectProblem(await patch({ auth: { type: "stripe" } }), "invalid_request", ["/auth/type"]);
    expectProblem(await patch({ secret: SECRET }), "invalid_request", ["/secret"]);
    expect(itemOf(await hooks.admin(`/${id}`))).toMatchObject({ name, version: 1 });

    const inPath = { name: "p", preset: "form", secret: SECRET };
    expectProblem(await hooks.admin("", { json: inPath }), "invalid_request", ["/secret"]);
    const standard = { name: "s", auth: { type: "standard-webhooks" }, secret: SECRET, mapping: { text: "a" } };
    expectProblem(await hooks.admin("", { json: standard }), "invalid_request", ["/secret"]);
    const rotation = { secret: "short", overlapSeconds: -1, overlap: 1 };
    const allowed = ["/secret", "/overlapSeconds", "/overlap"];
    expectProblem(await hooks.admin(`/${id}/rotate`, { json: rotation }), "invalid_request", allowed);
  });

  test("412: a change of another version is rejected with the current one", async () => {
    const { id } = await hooks.make({ preset: "form" });
    const headers = { "If-Match": '"7"' };
    for (const request of [{ method: "PATCH", json: { name: "stolen" } }, { method: "DELETE" }]) {
      const answer = await hooks.admin(`/${id}`, { ...request, headers });
      expectProblem(answer, "version_conflict");
      expect(answer.headers.get("etag")).toBe('"1"');
    }
    const both = await Promise.all(
      ["userId", "chatId"].map((field) =>
        hooks.admin(`/${id}`, { method: "PATCH", json: { mapping: { [field]: "fixed" } } }),
      ),
    );
    const { mapping, version } = itemOf(await hooks.admin(`/${id}`));
    // Either both changes are stored, or one was rejected; neither silently overwrites the other.
    const done = both.filter(({ status }) => status === 200);
    expect(version).toBe(1 + done.length);
    expect([mapping.userId, mapping.chatId].filter((value) => value === "fixed")).toHaveLength(done.length);
    for (const answer of both) if (answer.status !== 200) expectProblem(answer, "version_conflict");
  });

  test("404 and 403: belongs to its project, and needs messages:write", async () => {
    const { id, url } = await hooks.make({ preset: "form" });
    await hooks.post(url, { json: { message: "hi" } });
    const [body] = await hooks.bodies(id);
    const paths: [string, object][] = [
      ["", {}],
      ["", { method: "PATCH", json: { name: "x" } }],
      ["", { method: "DELETE" }],
      ["/rotate", { json: {} }],
      ["/bodies", {}],
      [`/bodies/${body?.id}/retry`, { method: "POST" }],
      ["/test", { json: { body: {} } }],
    ];
    const keyWith = async (scopes: Scope[]) =>
      (await issueKey(product.store, { name: "k", scopes, project: await projectId(), createdBy: "test" })).key;
    const [reader, writer] = [await keyWith(["messages:read"]), await keyWith(["messages:write"])];
    for (const [path, request] of paths) {
      expectProblem(await other.admin(`/${id}${path}`, request), "not_found");
      expectProblem(await hooks.admin(`/not-an-id${path}`, request), "not_found");
      const asKey = (key: string) =>
        callApi(`${api.baseUrl()}/api/v1/admin/hooks/${newId()}${path}`, { key, ...request });
      expectProblem(await asKey(reader), "insufficient_scope");
      expectProblem(await asKey(writer), "not_found");
    }
    expect((await other.admin("")).text).not.toContain(id);
    expect((await hooks.admin(`/${id}`)).status).toBe(200);
  });

  test("records its changes in the audit log, without secrets", async () => {
    const { id, secret = "" } = await hooks.make({ preset: "form" });
    await hooks.admin(`/${id}`, { method: "PATCH", json: { name: `renamed ${id}` } });
    await hooks.admin(`/${id}/rotate`, { method: "POST" });
    await hooks.admin(`/${id}`, { method: "DELETE" });
    const rows = await queryDatabase<{ action: string; row: string }>(
      product.databaseUrl,
      "SELECT action, e::text AS row FROM audit_events e WHERE object = $1 ORDER BY id",
      [id],
    );
    expect(rows.map(({ action }) => action)).toEqual(["hooks.create", "hooks.update", "hooks.rotate", "hooks.delete"]);
    for (const { row } of rows) expect(row).not.toContain(secret);
  });
});

async function projectId() {
  const project = await product.store.projects.findByName("north");
  if (project === null) throw new Error("the project was not made");
  return project.id;
}

describe("a test of a hook", () => {
  test("200: shows the message for a body, and sends nothing", async () => {
    const { id } = await hooks.make({ preset: "github" });
    const headers = { "X-GitHub-Event": "issues", "x-github-delivery": "d-1", "X-Secret": "not for mappings" };
    const body: unknown = JSON.parse(hookSample("github-issues-opened"));
    const result = resultOf(await hooks.admin(`/${id}/test`, { json: { body, headers } }));
    expect(result).toMatchObject({
      outcome: "mapped",
      chatId: "github:octo-org/octo-repo#1347",
      userId: "monalisa",
      meta: { event: "issues", labels: ["bug", "documentation"] },
      webhookUrl: null,
      eventId: "d-1",
      errors: [],
    });
    expect(result.text).toMatch(/^Spelling error/);
    expect(resultOf(await hooks.admin(`/${id}/test`, { json: { body } }))).toMatchObject({ outcome: "ignored" });
    const [count] = await queryDatabase<{ count: number }>(
      product.databaseUrl,
      `SELECT (SELECT count(*) FROM hook_bodies WHERE hook_id = $1)::int
         + (SELECT count(*) FROM messages WHERE channel_meta ->> 'hookId' = $1::text)::int AS count`,
      [id],
    );
    expect(count?.count).toBe(0);
  });

  test("200: reports what cannot be mapped, and shows the rest", async () => {
    const { id } = await hooks.make({ mapping: { text: "{{$.a}}", userId: "{{$.b}}", webhookUrl: null } });
    const answer = await hooks.admin(`/${id}/test`, { json: { body: { b: "me" } } });
    expect(resultOf(answer)).toMatchObject({
      outcome: "failed",
      text: null,
      userId: "me",
      errors: [{ pointer: "/mapping/text", code: "nothing_found" }],
    });
    expect(resultOf(await hooks.admin(`/${id}/test`, { json: { body: null } })).outcome).toBe("failed");
  });

  test("400: accepts only a body and headers", async () => {
    const { id } = await hooks.make({ preset: "form" });
    const call = (json: object) => hooks.admin(`/${id}/test`, { json });
    expectProblem(await call({}), "invalid_request", ["/body"]);
    expectProblem(await call({ body: 1, headers: { a: 1 }, x: 1 }), "invalid_request", ["/headers/a", "/x"]);
    const deep = Array.from({ length: HOOK_LIMITS.bodyMaxDepth + 1 }).reduce<unknown>((inner) => [inner], 1);
    expectProblem(await call({ body: deep }), "invalid_request", ["/body"]);
  });
});
