import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import {
  ENDPOINTS,
  KEY_LIMITS,
  LIMITS,
  PROJECT_LIMITS,
  SCOPE_ACTIONS,
  SCOPE_RESOURCES,
  agentInputSchema,
  drainQuerySchema,
  keyInputSchema,
  messageRequestSchema,
  projectInputSchema,
} from "@svc/contracts";
import { spawnChild, startWebhookReceiver, waitFor } from "@svc/testing";
import type { WebhookReceiver } from "@svc/testing";
import { callApi } from "./support/call-api.ts";
import { readDocExamples } from "./support/read-doc-examples.ts";
import { findDocFile, readDocPage, readDocTable } from "./support/read-doc-page.ts";
import type { DocPage } from "./support/read-doc-page.ts";
import { createDocRunner } from "./support/run-doc-example.ts";
import type { DocRunner } from "./support/run-doc-example.ts";
import { run } from "./support/run-svc.ts";
import { startDocSite } from "./support/start-doc-site.ts";
import type { DocSite } from "./support/start-doc-site.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";
import { makeFolder, removeFolders } from "./support/svc-instance.ts";

/**
 * The pages whose examples run one after the other on one product; the first ones send messages that later ones list.
 */
const [page, ...further] = ["api", "recipes/clients", "deliveries", "keys-and-projects", "agents-and-knowledge"].map(
  (name) => readDocPage(`docs/${name}.md`),
) as [DocPage, DocPage, DocPage, DocPage, DocPage];
const [clients, , keys, agents] = further;

let product: Product;
let receiver: WebhookReceiver;
let folder: string;
let runner: DocRunner;
let site: DocSite;
let apiUrl: string;

beforeAll(async () => {
  site = await startDocSite();
  product = await startProduct({ env: { SVC_FETCH_ALLOW: "127.0.0.1" } });
  [apiUrl = ""] = product.composition.apiUrls;
  receiver = await startWebhookReceiver({ answer: ({ path }) => ({ status: path === "/gone" ? 410 : 204 }) });
  folder = await makeFolder();
  // A key with the default rate limit, which the page shows.
  const { key } = await issueKey(product.store, {
    name: "docs",
    scopes: ["admin:*"],
    project: null,
    createdBy: "test",
  });
  runner = await createDocRunner({ apiUrl, key, receiver, folder, siteUrl: site.url });
});

afterAll(async () => {
  await receiver?.close();
  await product?.stop();
  await site?.close();
  await removeFolders();
});

describe("the examples of the API pages return what the pages show:", () => {
  const examples = [page, ...further].flatMap(readDocExamples);

  test.each(examples.map((example) => [example.title, example] as const))("%s", async (_title, example) => {
    expect(await runner.check(example)).toEqual([]);
  });

  test("there is an example of every endpoint of messages, deliveries, keys, projects, agents and knowledge bases", () => {
    /** Endpoints that are shown elsewhere, or are similar to one that is shown. */
    const elsewhere = [
      "POST /api/v1/admin/agents/{id}/replay",
      "PATCH /api/v1/projects/{id}",
      "DELETE /api/v1/projects/{id}",
      "GET /api/v1/admin/kb/{id}/documents/{docId}/text",
    ];
    const paths = /^\/api\/v1\/(?:messages|health|projects|admin\/(?:deliveries|keys|agents|kb))\b/;
    const shown = examples.map(({ title }) => title);
    const missing = Object.values(ENDPOINTS).flatMap(({ method, path }) => {
      const pattern = new RegExp(` ${method} ${path.replaceAll(/\{\w+\}/g, "[^/?]+")}(\\?|$)`);
      return !paths.test(path) || elsewhere.includes(`${method} ${path}`) || shown.some((title) => pattern.test(title))
        ? []
        : [`${method} ${path}`];
    });
    expect(missing).toEqual([]);
  });
});

describe("the tables are complete:", () => {
  /** Returns the names in the first column; a cell may contain several. */
  const namesOf = ({ path, text, blocks }: DocPage, firstTitle: string, nth = 0) => {
    const tables = text.split(new RegExp(`^(?=\\| ${firstTitle} +\\|)`, "m")).slice(1);
    return readDocTable({ path, blocks, text: tables[nth] ?? "" }, firstTitle).flatMap(([cell = ""]) =>
      cell.split(", "),
    );
  };

  test("the fields of a message", () => {
    expect(namesOf(page, "Field").sort()).toEqual(Object.keys(messageRequestSchema.shape).sort());
  });

  test("the parameters of a drain", () => {
    expect(namesOf(page, "Parameter").sort()).toEqual(Object.keys(drainQuerySchema.shape).sort());
  });

  test("the fields of a new key, of a new project and of a new agent", () => {
    expect(namesOf(keys, "Field of the body").sort()).toEqual(Object.keys(keyInputSchema.shape).sort());
    expect(namesOf(keys, "Field of the body", 1).sort()).toEqual(Object.keys(projectInputSchema.shape).sort());
    expect(namesOf(agents, "Field of the body").sort()).toEqual(Object.keys(agentInputSchema.shape).sort());
  });

  test("the parts of scopes", () => {
    const sentence = /^Scopes are [^]*?\.$/m.exec(keys.text)?.[0] ?? "";
    const named = [...sentence.matchAll(/`([a-z]+)`/g)].map(([, name]) => name);
    expect(named).toEqual([...SCOPE_RESOURCES, ...SCOPE_ACTIONS]);
  });

  test("the numbers of the limits", () => {
    const number = (value: number) => value.toLocaleString("en");
    const limits = new Map(readDocTable(page, "Limit").map(([name = "", value = ""]) => [name, value]));
    const row = (name: string) => limits.get(name) ?? "no such row";
    expect(row("text")).toContain(`1 to ${number(LIMITS.textMaxChars)} characters`);
    expect(row("chatId, userId")).toContain(`1 to ${number(LIMITS.chatIdMaxChars)} characters`);
    expect(row("meta")).toBe(`${LIMITS.metaMaxBytes / 1024} KB as JSON, ${LIMITS.metaMaxDepth} levels`);
    expect(row("request body")).toContain(`(${number(LIMITS.bodyMaxBytes)} bytes)`);
    expect(row("Idempotency-Key")).toContain(`1 to ${LIMITS.idempotencyKeyMaxChars} characters`);
    expect(row("timeoutMs")).toContain(`1 to ${number(LIMITS.timeoutMaxMs)}`);
    expect(row("wait")).toBe(`0 to ${number(LIMITS.waitMaxMs)}`);
    const drain = `${LIMITS.drainMaxReplies} replies or ${LIMITS.drainMaxBytes / 1024 / 1024} MB`;
    expect(row("one response of the drain")).toBe(drain);
    expect(row("requests of a key from one address")).toContain(`${LIMITS.rateLimitPerMinute} per minute`);
    expect(row("failed authentications of one address")).toBe(`${LIMITS.failedAuthsPerMinute} per minute`);
    expect(row("attempts to process a message")).toBe(String(LIMITS.maxAttempts));
    for (const limit of [KEY_LIMITS.rateLimitMax, KEY_LIMITS.overlapMaxSeconds, PROJECT_LIMITS.retentionMaxDays]) {
      expect(keys.text).toContain(number(limit));
    }
  });
});

test("every guarantee names the tests that verify it", () => {
  const guarantees = readDocPage("docs/guarantees.md")
    .text.split(/^(?:- |#)/m)
    .filter((part) => part.startsWith("**"));
  expect(guarantees.length).toBeGreaterThan(10);
  const named = /Tests:\s+(?:\[`[\w-]+`\]\(\.\.\/tests\/[\w/-]+\.test\.ts\)(?:,\s+)?)+\.\s*$/;
  expect(guarantees.filter((guarantee) => !named.test(guarantee))).toEqual([]);
});

describe("the recipes work as described:", () => {
  const hasJq = ["/usr/local/bin/jq", "/usr/bin/jq", "/bin/jq"].some((path) => existsSync(path));

  async function writeRecipe(fileName: string): Promise<string> {
    const file = join(folder, fileName);
    await writeFile(file, findDocFile(clients, fileName));
    return file;
  }

  test("send-message.mjs repeats a call with one Idempotency-Key until it gets a final response", async () => {
    const busy = { status: 503, headers: { "Retry-After": "0" }, body: '{"ok":false}' };
    const done = { status: 202, body: '{"ok":true,"status":"queued"}' };
    const api = await startWebhookReceiver({
      answer: (_request, index) =>
        (["cut", busy, "cut-midway", { ...busy, status: 429 }, done] as const)[index] ?? busy,
    });
    try {
      await writeRecipe("send-message.mjs");
      const url = api.url("");
      const code = `import { sendMessage } from "./send-message.mjs";
        console.log(JSON.stringify(await sendMessage({ text: "hello" }, { url: "${url}", apiKey: "k" })));`;
      const { stdout, stderr } = await run(process.execPath, ["--input-type=module", "-e", code], { cwd: folder });
      expect({ stdout: stdout.trim(), stderr }).toEqual({ stdout: done.body, stderr: "" });
      expect(api.requests).toHaveLength(5);
      expect(new Set(api.requests.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
    } finally {
      await api.close();
    }
  });

  test("send-message.mjs sends a message to the product, and reports the errors of an invalid one", async () => {
    await writeRecipe("send-message.mjs");
    const options = JSON.stringify({ url: apiUrl, apiKey: product.adminKey });
    const code = `import { sendMessage } from "./send-message.mjs";
      for (const text of ["Can a message get lost?", ""]) {
        const { ok, mode, code } = await sendMessage({ text }, ${options});
        console.log(JSON.stringify({ ok, mode, code }));
      }`;
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", code], { cwd: folder });
    expect(stdout.trim().split("\n")).toEqual(['{"ok":true,"mode":"sync"}', '{"ok":false,"code":"invalid_request"}']);
  });

  test("collect.mjs misses and repeats nothing, even if it is killed and restarted", async () => {
    const file = await writeRecipe("collect.mjs");
    const send = async () => {
      const json = { text: "What is a dead letter?", chatId: "collected/1", mode: "async" };
      expect((await callApi(`${apiUrl}/api/v1/messages`, { key: product.adminKey, json })).status).toBe(202);
    };
    const ids: string[] = [];
    for (let round = 0; round < 3; round++) {
      await send();
      const child = await spawnChild({
        name: "collect.mjs",
        command: process.execPath,
        args: [file, "collected/1"],
        env: { SVC_URL: apiUrl, SVC_KEY: product.adminKey },
        cwd: folder,
      });
      const lines = () => child.output().match(/^[0-9a-f-]{36} /gm) ?? [];
      try {
        await child.ready(/^[0-9a-f-]{36} /m);
        await send();
        await waitFor(() => lines().length === 2, { what: () => `two replies; there is ${child.output()}` });
        // Two messages and two replies per round. If it were killed before it stores its cursor, it would repeat its
        // work.
        const cursor = String(4 * (round + 1));
        const kept = () => readFileSync(join(folder, "cursor-collected%2F1.txt"), "utf8") === cursor;
        await waitFor(kept, { what: `the cursor ${cursor} to be kept` });
      } finally {
        await child.kill("SIGKILL");
      }
      ids.push(...lines());
    }
    expect(ids).toHaveLength(6);
    expect(new Set(ids).size).toBe(6);
  });

  (hasJq ? test : test.skip)("chat.sh answers line by line (needs jq)", async () => {
    const file = await writeRecipe("chat.sh");
    const { stdout, stderr, code } = await run("sh", [file], {
      env: { SVC_URL: apiUrl, SVC_KEY: product.adminKey },
      cwd: folder,
      input: "What is a dead letter?\n\nWhy is the sky green on Tuesdays?\n",
    });
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
    expect(stdout).toMatch(/^> A dead letter is[^>]*> > Thank you[^>]*> $/);
  });
});
