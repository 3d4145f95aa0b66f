import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import { documentItemSchema, kbHitSchema, kbItemSchema } from "@svc/contracts";
import type { Scope } from "@svc/contracts";
import { newId } from "@svc/store";
import { waitFor, queryDatabase } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { createKbClient, cursorOf, documentOf, kbOf, kbsOf } from "./support/create-kb-client.ts";
import type { KbClient } from "./support/create-kb-client.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

let product: Product;
let kbs: KbClient;
let strangers: KbClient;

beforeAll(async () => {
  product = await startProduct();
  await addProject(product.store, "north", {});
  await addProject(product.store, "south", {});
  kbs = createKbClient(product, "north");
  strangers = createKbClient(product, "south");
});

afterAll(() => product.stop());

async function keyWith(scopes: Scope[]): Promise<string> {
  const { project } = await product.store.projects.ensure("north");
  const { key } = await issueKey(product.store, { name: "kb", scopes, project: project.id, createdBy: "test" });
  return key;
}

describe("a knowledge base", () => {
  test("201: is created, read, listed and renamed by its version", async () => {
    const name = `products ${newId()}`;
    const made = await kbs.call("", { json: { name } });
    expect(made.status).toBe(201);
    const item = kbOf(made);
    expect(kbItemSchema.parse(item)).toEqual(item);
    expect(item).toMatchObject({ name, project: "north", documents: 0, chunks: 0, status: "ready", version: 1 });
    expect(made.headers.get("location")).toBe(`/api/v1/admin/kb/${item.id}`);
    expect(made.headers.get("etag")).toBe('"1"');

    const read = await kbs.call(`/${item.id}`);
    expect([read.status, read.headers.get("etag"), kbOf(read)]).toEqual([200, '"1"', item]);
    const renamed = await kbs.call(`/${item.id}`, {
      method: "PATCH",
      json: { name: `${name}!` },
      headers: { "If-Match": '"1"' },
    });
    expect([renamed.status, renamed.headers.get("etag")]).toEqual([200, '"2"']);
    expect(kbOf(renamed)).toMatchObject({ name: `${name}!`, version: 2 });
    expect(kbsOf(await kbs.call(`?q=${encodeURIComponent(name.toUpperCase())}`))).toHaveLength(1);
  });

  test("200: lists are paged, newest first", async () => {
    for (const index of [1, 2, 3]) await kbs.call("", { json: { name: `paged ${index}` } });
    const names: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page = await kbs.call(`?q=paged&limit=2&cursor=${cursor}`);
      names.push(...kbsOf(page).map(({ name }) => name));
      cursor = cursorOf(page);
    }
    expect(names).toEqual(["paged 3", "paged 2", "paged 1"]);
  });

  test("400: all errors of a body or query are reported, including unknown fields", async () => {
    expectProblem(await kbs.call("", { json: { name: " ", nmae: "x" } }), "invalid_request", ["/name", "/nmae"]);
    expectProblem(await kbs.call("", { json: {} }), "invalid_request", ["/name"]);
    expectProblem(await kbs.call("", { json: { name: "a\u0000" } }), "invalid_request", ["/name"]);
    expectProblem(await kbs.call("", { json: { name: "x".repeat(201) } }), "invalid_request", ["/name"]);
    expectProblem(await kbs.call("", { body: "{" }), "invalid_json");
    expectProblem(await kbs.call("?limit=0&cursor=x"), "invalid_request", ["/limit", "/cursor"]);
    const { name, id } = await kbs.makeKb();
    expectProblem(await kbs.call("", { json: { name } }), "invalid_request", ["/name"]);
    const other = await kbs.makeKb();
    expectProblem(await kbs.call(`/${other.id}`, { method: "PATCH", json: { name } }), "invalid_request", ["/name"]);
    const bad = await kbs.call(`/${id}`, { method: "PATCH", json: { version: 3 }, headers: { "If-Match": "1" } });
    expectProblem(bad, "invalid_request");
    // Another project may use the same name.
    expect((await strangers.call("", { json: { name } })).status).toBe(201);
  });

  test("412: a change of another version is rejected with the current one, without changes", async () => {
    const { id, name } = await kbs.makeKb();
    for (const tag of ['"7"', 'W/"1"', '"x"']) {
      const headers = { "If-Match": tag };
      const renamed = await kbs.call(`/${id}`, { method: "PATCH", json: { name: "stolen" }, headers });
      expectProblem(renamed, "version_conflict");
      expect(renamed.headers.get("etag")).toBe('"1"');
      expectProblem(await kbs.call(`/${id}`, { method: "DELETE", headers }), "version_conflict");
    }
    expect(kbOf(await kbs.call(`/${id}`))).toMatchObject({ name, version: 1 });
    const headers = { "If-Match": '"3", "1"' };
    expect((await kbs.call(`/${id}`, { method: "DELETE", headers })).status).toBe(200);
  });

  test("405: other methods are rejected with the allowed ones", async () => {
    const { id } = await kbs.makeKb();
    const paths = {
      "": "GET, HEAD, POST",
      [`/${id}`]: "GET, HEAD, PATCH, DELETE",
      [`/${id}/search`]: "GET, HEAD",
      [`/${id}/documents`]: "GET, HEAD, POST",
      [`/${id}/documents/${id}`]: "GET, HEAD, DELETE",
      [`/${id}/imports`]: "GET, HEAD",
      [`/${id}/imports/${id}`]: "GET, HEAD, DELETE",
    };
    for (const [path, allow] of Object.entries(paths)) {
      const answer = await kbs.call(path, { method: "PUT", json: {} });
      expectProblem(answer, "method_not_allowed");
      expect(answer.headers.get("allow")).toBe(allow);
    }
  });

  test("that is deleted is not found, is removed from agents, and its name is free", async () => {
    const { id, name } = await kbs.makeKb();
    const { project } = await product.store.projects.ensure("north");
    const agent = await product.store.agents.insert(project.id, { name: newId(), kbIds: [id] });
    const added = documentOf(await kbs.add(id, { text: "# Zebra\n\nA zebra has stripes." }));
    await kbs.settled(id, added.id);

    const searches = { done: false };
    const searching = (async () => {
      while (!searches.done) {
        const { status } = await kbs.call(`/${id}/search?q=zebra`);
        expect([200, 404]).toContain(status);
      }
    })();
    const deleted = await kbs.call(`/${id}`, { method: "DELETE" });
    searches.done = true;
    await searching;
    expect([deleted.status, kbOf(deleted).documents]).toEqual([200, 1]);
    for (const path of [`/${id}`, `/${id}/search?q=zebra`, `/${id}/documents`, `/${id}/documents/${added.id}`]) {
      expectProblem(await kbs.call(path), "not_found");
    }
    expectProblem(await kbs.call(`/${id}`, { method: "DELETE" }), "not_found");
    expectProblem(await kbs.add(id, { text: "late" }), "not_found");
    expect(kbsOf(await kbs.call(`?q=${encodeURIComponent(name)}`))).toEqual([]);
    expect(await product.store.agents.find(project.id, agent.id)).toMatchObject({
      kbIds: [],
      version: agent.version + 1,
    });
    expect((await kbs.call("", { json: { name } })).status).toBe(201);
    const isEmptied = async () =>
      (await queryDatabase(product.databaseUrl, "SELECT 1 FROM kbs WHERE id = $1", [id])).length === 0;
    await waitFor(isEmptied, { what: "the deleted knowledge base to be removed" });
  });
});

describe("an object of another project", () => {
  test("404: is not found, listed, changed or deleted", async () => {
    const { id } = await kbs.makeKb();
    const added = documentOf(await kbs.add(id, { text: "a secret of the north" }));
    await kbs.settled(id, added.id);
    const own = await strangers.makeKb();
    const calls: [string, string, object?][] = [
      ["GET", `/${id}`],
      ["PATCH", `/${id}`, { name: "stolen" }],
      ["DELETE", `/${id}`],
      ["GET", `/${id}/search?q=secret`],
      ["GET", `/${id}/documents`],
      ["POST", `/${id}/documents`, { text: "planted" }],
      ["POST", `/${id}/documents`, { sitemap: "https://example.com/" }],
      ["GET", `/${id}/documents/${added.id}`],
      ["DELETE", `/${id}/documents/${added.id}`],
      ["GET", `/${own.id}/documents/${added.id}`],
      ["DELETE", `/${own.id}/documents/${added.id}`],
      ["GET", `/${id}/imports`],
      ["GET", `/${id}/imports/${newId()}`],
      ["GET", "/no-uuid"],
      ["GET", `/${own.id}/documents/no-uuid`],
      ["GET", `/${own.id}/imports/no-uuid`],
    ];
    for (const [method, path, json] of calls) {
      expectProblem(await strangers.call(path, { method, ...(json === undefined ? {} : { json }) }), "not_found");
    }
    expect(kbsOf(await strangers.call("?limit=200")).map((kb) => kb.id)).not.toContain(id);
    expect(await kbs.readDocument(id, added.id)).toMatchObject({ status: "ready" });
  });
});

describe("a key", () => {
  test("403: needs kb:read to read and kb:write to change, checked before its body is read", async () => {
    const { id } = await kbs.makeKb();
    const reader = await keyWith(["kb:read", "messages:*"]);
    const writer = await keyWith(["kb:write"]);
    const paths = ["", `/${id}`, `/${id}/documents`, `/${id}/documents/${id}`, `/${id}/search?q=a`, `/${id}/imports`];
    for (const path of paths) {
      const refused = await kbs.call(path, { key: writer });
      expectProblem(refused, "insufficient_scope");
      expect(refused.headers.get("www-authenticate")).toContain('scope="kb:read"');
      expect([200, 404]).toContain((await kbs.call(path, { key: reader })).status);
    }
    const changes: [string, string][] = [
      ["POST", ""],
      ["PATCH", `/${id}`],
      ["DELETE", `/${id}`],
      ["POST", `/${id}/documents`],
      ["DELETE", `/${id}/documents/${id}`],
    ];
    for (const [method, path] of changes) {
      const refused = await kbs.call(path, { method, key: reader, body: "no JSON" });
      expectProblem(refused, "insufficient_scope");
      expect(refused.headers.get("www-authenticate")).toContain('scope="kb:write"');
    }
    expect((await kbs.call("", { key: writer, json: { name: newId() } })).status).toBe(201);
    expectProblem(await kbs.call("", { key: reader, project: "south" }), "project_mismatch");
    expectProblem(await kbs.call("", { key: "svc_wrong" }), "invalid_key");
  });
});

describe("a search", () => {
  test("200: returns passages with citation data, best first, up to the limit", async () => {
    const { id } = await kbs.makeKb();
    const text = "# Returns\n\nShoes may be sent back.\n\n## How long?\n\nShoes may be sent back within 30 days.";
    const added = documentOf(await kbs.add(id, { text, url: "https://example.com/returns" }));
    const document = await kbs.settled(id, added.id);
    expect(documentItemSchema.parse(document)).toEqual(document);
    const hits = await kbs.search(id, "How long may shoes be sent back?");
    expect(hits[0]).toEqual({
      documentId: added.id,
      chunkId: expect.any(String),
      title: "Returns",
      url: "https://example.com/returns",
      headingPath: ["Returns", "How long?"],
      text: "Shoes may be sent back within 30 days.",
      score: expect.any(Number),
    });
    for (const hit of hits) expect(kbHitSchema.parse(hit)).toEqual(hit);
    expect(await kbs.search(id, "shoes", "&limit=1")).toHaveLength(1);
  });

  test("200: accepts any query, with or without results", async () => {
    const { id } = await kbs.makeKb();
    const added = documentOf(await kbs.add(id, { text: "Shoes may be sent back." }));
    await kbs.settled(id, added.id);
    const queries = [
      "the of and",
      "?!…",
      "a & b | !c <-> ':*",
      "\"quoted' (NOT OR",
      "日本語",
      "shoes ".repeat(1_000),
      "\u0000",
    ];
    for (const q of queries) {
      const answer = await kbs.call(`/${id}/search?q=${encodeURIComponent(q)}`);
      expect([q.slice(0, 20), answer.status]).toEqual([q.slice(0, 20), 200]);
    }
    expect((await kbs.search(id, "shoes ".repeat(1_000)))[0]?.documentId).toBe(added.id);
  });

  test("400: requires exactly one query, and a limit from 1 to 50", async () => {
    const { id } = await kbs.makeKb();
    for (const query of ["", "?q=", "?q=%20%20", "?q=a&q=b"]) {
      expectProblem(await kbs.call(`/${id}/search${query}`), "invalid_request", ["/q"]);
    }
    expectProblem(await kbs.call(`/${id}/search?q=a&limit=51`), "invalid_request", ["/limit"]);
  });
});
