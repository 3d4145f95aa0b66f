import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Project } from "@svc/store";
import { addProject } from "./support/add-project.ts";
import { callApi } from "./support/call-api.ts";
import type { ApiRequest } from "./support/call-api.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

let product: Product;
let shop: Project;

beforeAll(async () => {
  product = await startProduct();
  shop = await addProject(product.store, "shop", {});
});
afterAll(() => product?.stop());

const call = (path: string, { project = "shop", ...request }: ApiRequest = {}) =>
  callApi(`${product.composition.apiUrls[0] ?? ""}/api/v1${path}`, { key: product.adminKey, project, ...request });

const send = (key: string) =>
  call("/messages", { json: { text: "hello", mode: "async" }, headers: { "Idempotency-Key": key } });

const limit = (quotas: object) => call(`/projects/${shop.id}`, { method: "PATCH", json: { quotas } });

test("limits respond with 429 and 413, with the usage and the end of the period; usage is exact, as JSON and as CSV", async () => {
  expect((await limit({ messagesPerDay: 2, documents: 1, sockets: 5 })).body).toMatchObject({
    item: { quotas: { messagesPerDay: 2, documents: 1, storageMb: null, sockets: 5 } },
  });
  expect((await send("one")).status).toBe(202);
  expect((await send("one")).status).toBe(202);
  expect((await send("two")).status).toBe(202);
  const rejected = await send("three");
  const midnight = new Date(new Date().setUTCHours(24, 0, 0, 0)).toISOString();
  expect(rejected.status).toBe(429);
  expect(rejected.headers.get("content-type")).toContain("application/problem+json");
  expect(Number(rejected.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(rejected.body).toMatchObject({
    code: "quota_exceeded",
    detail: expect.stringContaining("2 of its 2 messages of the day"),
    quota: { name: "messagesPerDay", limit: 2, used: 2, resetsAt: midnight },
  });
  expect((await send("two")).status).toBe(202);
  // Another project without a limit.
  expect((await call("/messages", { json: { text: "hi", mode: "async" }, project: "default" })).status).toBe(202);

  const kb = (await call("/admin/kb", { json: { name: "parcels" } })).body as unknown as { item: { id: string } };
  const add = (key: string) =>
    call(`/admin/kb/${kb.item.id}/documents`, { json: { key, text: `# ${key}\n\nText.`, mime: "text/markdown" } });
  expect((await add("a.md")).status).toBe(201);
  const full = await add("b.md");
  expect(full.status).toBe(413);
  expect(full.body).toMatchObject({
    code: "storage_quota_exceeded",
    quota: { name: "documents", limit: 1, used: 1, resetsAt: null },
  });

  const usage = await call("/admin/usage?project=shop");
  const day = new Date().toISOString().slice(0, 10);
  const { items } = usage.body as unknown as { items: { storedBytes: number }[] };
  expect(items).toMatchObject([{ day, project: "shop", projectId: shop.id, messages: 2, documents: 1, sockets: 0 }]);
  const csv = await call("/admin/usage/csv?project=shop");
  expect(csv.headers.get("content-type")).toContain("text/csv");
  expect(csv.headers.get("content-disposition")).toMatch(/^attachment; filename=usage-[\d-]+\.csv$/);
  const [head, row, rest] = csv.text.split("\r\n");
  expect(head).toBe("day,project,projectId,messages,documents,storedBytes,sockets,modelTokens");
  expect(row).toMatch(new RegExp(`^${day},shop,${shop.id},2,1,\\d+,0,0$`));
  expect(rest).toBe("");
  const all = (await call("/admin/usage")).body as unknown as { items: { project: string }[] };
  expect(new Set(all.items.map(({ project }) => project))).toEqual(new Set(["default", "shop"]));
  expect((await call("/admin/usage?from=2026-02-30&to=x&project=nobody")).status).toBe(400);
});
