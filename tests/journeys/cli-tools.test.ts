import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import type { Scope } from "@svc/contracts";
import { freePort } from "@svc/testing";
import { documentOf } from "./support/run-svc.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";
import { makeFolder, removeFolders } from "./support/svc-instance.ts";
import { svcWithin } from "./support/svc-within.ts";

let product: Product;
let env: Record<string, string>;

beforeAll(async () => {
  product = await startProduct({ apps: ["tool-server"] });
  const { port } = new URL(product.composition.toolsUrls[0] ?? "");
  env = { SVC_ADMIN_KEY: product.adminKey, SVC_TOOLS_PORT: port };
  await product.store.projects.ensure("shop");
});

afterAll(async () => {
  await product?.stop();
  await removeFolders();
});

const svc = (...words: string[]) => svcWithin(env, "", "tools", ...words);

interface Document {
  ok: boolean;
  items: { name: string; inputSchema: object }[];
  tool: string;
  result: { hits: { text: string }[]; items: { name: string }[]; cleanedText: string };
  error: { code: string; message: string };
}

async function svcJson(more: Record<string, string>, input: string, ...words: string[]) {
  const args = ["tools", ...words, "--json"];
  const { document, code } = documentOf(await svcWithin({ ...env, ...more }, input, ...args), args);
  return { ...(document as Document), code };
}

/** Creates a key of the default project. */
async function keyWith(scopes: Scope[]): Promise<string> {
  const { project } = await product.store.projects.ensure("default");
  const { key } = await issueKey(product.store, { name: "cli", scopes, project: project.id, createdBy: "test" });
  return key;
}

describe("svc tools list", () => {
  test("shows every tool of the key with its arguments, optional ones in brackets", async () => {
    const { stdout, stderr, code } = await svc("list");
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
    expect(stdout).toMatch(/^NAME +ARGUMENTS +DESCRIPTION\n/);
    expect(stdout).toMatch(/^svc_search_kb +query +Searches the project's knowledge bases/m);
    expect(stdout).toMatch(/^ +\[kbIds\]/m);
    expect(stdout.match(/^svc_\w+/gm)).toHaveLength(8);
  });

  test("shows a key with scopes its own tools, in full with --json", async () => {
    const { items, code } = await svcJson({ SVC_ADMIN_KEY: await keyWith(["agents:read"]) }, "", "list");
    expect([code, items.map(({ name }) => name)]).toEqual([0, ["svc_list_agents"]]);
    expect(items[0]).toMatchObject({ inputSchema: { type: "object" } });
  });

  test("explains which scopes a key without tools needs", async () => {
    const { stdout, code } = await svcWithin(
      { ...env, SVC_ADMIN_KEY: await keyWith(["webhooks:read"]) },
      "",
      "tools",
      "list",
    );
    expect([stdout, code]).toEqual([expect.stringContaining("cannot call any tool"), 0]);
  });
});

describe("svc tools call", () => {
  test("shows the tool's result", async () => {
    const { stdout, stderr, code } = await svc("call", "svc_search_kb", '{"query":"What is a dead letter?","limit":2}');
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
    expect((JSON.parse(stdout) as Document["result"]).hits[0]?.text).toMatch(/dead letter/i);
  });

  test("calls without arguments, on the given project", async () => {
    const mine = await svcJson({}, "", "call", "svc_list_agents");
    expect(mine).toMatchObject({
      code: 0,
      ok: true,
      tool: "svc_list_agents",
      result: { items: [{ name: "assistant" }] },
    });
    expect(await svcJson({}, "", "call", "svc_list_agents", "--project", "shop")).toMatchObject({
      result: { items: [] },
    });
  });

  test("reads arguments from a file and from standard input", async () => {
    const args = JSON.stringify({ notes: "Um, the the printer is broken." });
    const file = join(await makeFolder(), "notes.json");
    await writeFile(file, args);
    for (const [input, path] of [
      ["", file],
      [args, "-"],
    ] as const) {
      const { code, result } = await svcJson({}, input, "call", "svc_summarize_notes", "--file", path);
      expect([code, result.cleanedText]).toEqual([0, "The printer is broken."]);
    }
  });

  test.each([
    ["no JSON", ["svc_list_kbs", "{"], 2, "usage", "must be a JSON object"],
    ["no object", ["svc_list_kbs", "[1]"], 2, "usage", "must be a JSON object"],
    ["two sources", ["svc_list_kbs", "{}", "--file", "a"], 2, "usage", "not both"],
    ["no such file", ["svc_list_kbs", "--file", "/nowhere"], 1, "bad_input", "no such file"],
    ["no such tool", ["svc_nothing"], 1, "refused", "No tool has this name"],
    ["bad arguments", ["svc_search_kb", '{"query":5}'], 1, "invalid_request", "- /query: must be a string"],
    ["what is nowhere", ["svc_get_ticket", '{"ticketId":"x"}'], 1, "not_found", "ticket"],
    ["a project that is not there", ["svc_list_kbs", "--project", "nowhere"], 1, "not_found", "project"],
  ] as const)("explains what to do: %s", async (_, words, code, name, text) => {
    const failed = await svcJson({}, "", "call", ...words);
    expect(failed).toMatchObject({ ok: false, code, error: { code: name, message: expect.stringContaining(text) } });
  });

  test("reports a missing scope, and an unknown key", async () => {
    const scoped = await keyWith(["kb:read"]);
    expect(await svcJson({ SVC_ADMIN_KEY: scoped }, "", "call", "svc_list_agents")).toMatchObject({
      code: 4,
      error: { code: "insufficient_scope", message: expect.stringContaining("agents:read") },
    });
    expect(await svcJson({ SVC_ADMIN_KEY: "nobody-0123456789" }, "", "list")).toMatchObject({
      code: 4,
      error: { code: "invalid_key" },
    });
  });

  test("reports that nothing listens, or that another program does", async () => {
    const away = await svcJson({ SVC_TOOLS_PORT: String(await freePort()) }, "", "list");
    expect(away).toMatchObject({ code: 3, error: { code: "not_running", message: expect.stringContaining("--url") } });
    const [api = ""] = product.composition.apiUrls;
    const other = await svcJson({}, "", "list", "--url", api);
    expect(other).toMatchObject({
      code: 3,
      error: { code: "not_this_product", message: expect.stringContaining("SVC_TOOLS_PORT") },
    });
  });
});
