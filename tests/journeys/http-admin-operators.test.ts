import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey, verifyPassword } from "@svc/auth";
import { operatorSchema } from "@svc/contracts";
import type { Operator } from "@svc/contracts";
import { newId } from "@svc/store";
import { queryDatabase } from "@svc/testing";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callApi } from "./support/call-api.ts";
import type { ApiRequest } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

let product: Product;
let api: ApiClient;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  await product.store.projects.ensure("shop");
});

afterAll(() => product.stop());

let calls = 0;
const call = (path = "", request: ApiRequest = {}) =>
  callApi(`${api.baseUrl(calls++ % 2)}/api/v1/admin/operators${path}`, { key: product.adminKey, ...request });
const itemOf = ({ body }: ApiAnswer) => (body as unknown as { item: Operator }).item;
const itemsOf = ({ body }: ApiAnswer) => (body as unknown as { items: Operator[] }).items;
const patch = (id: string, json: unknown, headers: Record<string, string> = {}) =>
  call(`/${id}`, { method: "PATCH", json, headers });
const remove = (id: string) => call(`/${id}`, { method: "DELETE" });
const newEmail = () => `Ann.${newId()}@Example.com`;
const make = async (more: object = {}) => itemOf(await call("", { json: { email: newEmail(), name: "Ann", ...more } }));
const ADMINISTRATOR = [{ project: "*", role: "administrator" }];

describe("an operator", () => {
  test("201: is created, read, listed, updated by its version and deleted; a password is never returned", async () => {
    const email = newEmail();
    const roles = [
      { project: "default", role: "viewer" },
      { project: "shop", role: "operator" },
    ];
    const password = "correct horse battery";
    const made = await call("", { json: { email, name: "Ann", roles, password } });
    const item = itemOf(made);
    expect(operatorSchema.strict().parse(item)).toEqual(item);
    expect([made.status, made.headers.get("location")]).toEqual([201, `/api/v1/admin/operators/${item.id}`]);
    expect(item).toMatchObject({ email, roles, hasPassword: true, lastSeenAt: null, disabledAt: null, version: 1 });
    expect(itemOf(await call(`/${item.id}`))).toEqual(item);
    expect(itemsOf(await call(`?q=${email.toUpperCase()}`))).toEqual([item]);
    const known = await product.store.operators.findPassword(email.toLowerCase());
    expect(await verifyPassword(password, known?.passwordHash ?? null)).toBe(true);

    expect(itemOf(made).notifications).toMatchObject({ assigned: true, digest: false, timeZone: "UTC" });
    const changed = await patch(item.id, { disabled: true, roles: [], password: null }, { "If-Match": '"1"' });
    expect([changed.status, changed.headers.get("etag")]).toEqual([200, '"2"']);
    expect(itemOf(changed)).toMatchObject({ name: "Ann", roles: [], hasPassword: false });
    expect(itemOf(changed).disabledAt).not.toBeNull();
    expect(itemOf(await patch(item.id, { roles: [] }))).toMatchObject({ version: 2 });
    expectProblem(await patch(item.id, { name: "Eve" }, { "If-Match": '"1"' }), "version_conflict");
    for (const answer of [made, changed]) expect(answer.text).not.toMatch(/horse|scrypt/);
    expect((await remove(item.id)).status).toBe(200);
    expectProblem(await call(`/${item.id}`), "not_found");
  });

  test("400: email addresses are unique, in any case", async () => {
    const [first, second] = [await make(), await make()];
    const taken = first.email.toUpperCase();
    expectProblem(await call("", { json: { email: taken, name: "Eve" } }), "invalid_request", ["/email"]);
    expectProblem(await patch(second.id, { email: taken }), "invalid_request", ["/email"]);
    expect(itemOf(await patch(first.id, { email: taken })).email).toBe(taken);
  });

  test("400: all errors of a body are reported, without the given password", async () => {
    const role = { project: "shop", role: "operator" };
    const bad = { email: "ann", name: "\n", roles: [{ project: "A B", role: "boss" }], password: "secret", x: 1 };
    const answer = await call("", { json: bad });
    const errors = ["/email", "/name", "/roles/0/project", "/roles/0/role", "/password", "/x"];
    expectProblem(answer, "invalid_request", errors);
    expect(answer.text).not.toContain("secret");
    const { id } = await make();
    expectProblem(await patch(id, { roles: [role, role] }), "invalid_request", ["/roles/1/project"]);
    expectProblem(await patch(id, { roles: [role, { ...role, project: "none" }] }), "invalid_request", [
      "/roles/1/project",
    ]);
    expectProblem(await patch(id, { password: "p".repeat(201) }), "invalid_request", ["/password"]);
    expectProblem(await call("/x"), "not_found");
    expectProblem(await patch(newId(), { name: "a" }), "not_found");
    expectProblem(await remove(newId()), "not_found");
  });

  test("403: are visible to and changed by administrators only", async () => {
    const { project } = await product.store.projects.ensure("default");
    const scopes = ["tickets:*", "agents:*", "kb:*", "audit:read"] as const;
    const { key } = await issueKey(product.store, {
      name: "k",
      scopes: [...scopes],
      project: project.id,
      createdBy: "t",
    });
    expectProblem(await call("", { key }), "insufficient_scope");
    expectProblem(await call("", { key, json: {} }), "insufficient_scope");
  });
});

test("the last administrator of all projects cannot be deleted, disabled or given another role", async () => {
  const [one, other] = [await make({ roles: ADMINISTRATOR }), await make({ roles: ADMINISTRATOR })];
  // Concurrently: each of the two changes alone would leave the other administrator.
  const both = await Promise.all([remove(one.id), remove(other.id)]);
  expect(both.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 400]);
  const left = both[0]?.status === 200 ? other.id : one.id;
  expectProblem(await remove(left), "invalid_request", [""]);
  expectProblem(await patch(left, { disabled: true }), "invalid_request", ["/disabled"]);
  expectProblem(await patch(left, { roles: [{ project: "shop", role: "administrator" }] }), "invalid_request", [
    "/roles",
  ]);
  expect(itemOf(await call(`/${left}`))).toMatchObject({ roles: ADMINISTRATOR, disabledAt: null, version: 1 });
  await make({ roles: ADMINISTRATOR });
  expect((await remove(left)).status).toBe(200);
});

test("the audit log has the ids of operators, and no email address or password", async () => {
  const { id, email } = await make({ password: "an unusual passphrase" });
  await patch(id, { name: "Wolfgang" });
  await remove(id);
  const rows = await queryDatabase<{ action: string; row: string }>(
    product.databaseUrl,
    "SELECT action, audit_events::text AS row FROM audit_events WHERE object = $1 ORDER BY at",
    [id],
  );
  expect(rows.map(({ action }) => action)).toEqual(["operators.create", "operators.update", "operators.delete"]);
  for (const { row } of rows) expect(row).not.toMatch(new RegExp(`${email}|passphrase|Wolfgang`, "i"));
});
