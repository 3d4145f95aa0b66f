import { createHash, createHmac } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { setWebhookSecret } from "@svc/operations";
import { SETTINGS } from "@svc/runtime";
import { repositoryPath, startWebhookReceiver, queryDatabase } from "@svc/testing";
import type { ReceivedRequest, WebhookReceiver } from "@svc/testing";
import { DOC_PROXIES } from "./support/doc-proxies.ts";
import { findDocFile, readDocPage } from "./support/read-doc-page.ts";
import { run } from "./support/run-svc.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";
import { makeFolder, removeFolders } from "./support/svc-instance.ts";

const RECIPES = "docs/recipes";
const WHSEC = "whsec_c3ZjLXJlY2lwZXMtZXhhbXBsZS1rZXktMDEyMzQ1Ng==";
const QUESTION = 'Can a message get "lost"?';

/** Parameters of nodes that the tests check; which ones exist depends on the type. */
interface Parameters {
  url?: string;
  jsonBody?: string;
  headerParameters?: { parameters: { name: string; value: string }[] };
  type?: string;
  encoding?: "hex";
  dataPropertyName?: string;
  dedupeValue?: string;
  assignments?: { assignments: { name: string; value: string }[] };
  conditions?: { conditions: { leftValue: string; rightValue: string; operator: { operation: string } }[] };
}
interface N8nNode {
  name: string;
  type: string;
  parameters: Parameters;
}
interface N8nWorkflow {
  nodes: N8nNode[];
  connections: Record<string, { main: { node: string }[][] }>;
}

const readRecipe = (name: string) => readFileSync(repositoryPath(`${RECIPES}/${name}`), "utf8");
const readWorkflow = (name: string): N8nWorkflow => JSON.parse(readRecipe(name));

/** Evaluates a field like n8n: an expression in `{{ }}` if it begins with `=`, otherwise the text itself. */
function evaluate(field: unknown, names: Record<string, unknown>): unknown {
  if (typeof field !== "string" || !field.startsWith("=")) return field;
  const value = (code: string): unknown => runInNewContext(`(${code})`, names);
  const whole = /^\{\{((?:(?!\}\}).)*)\}\}$/s.exec(field.slice(1))?.[1];
  if (whole !== undefined) return value(whole);
  return field.slice(1).replaceAll(/\{\{(.*?)\}\}/gs, (_, code: string) => String(value(code)));
}

/** Returns the parameters of the node with this name. */
function parametersOf({ nodes }: N8nWorkflow, name: string): Parameters {
  const node = nodes.find((one) => one.name === name);
  if (node === undefined) throw new Error(`the workflow has no node ${name}`);
  return node.parameters;
}

/** Returns the result of a node "Edit Fields" for an item. */
const assigned = (workflow: N8nWorkflow, name: string, $json: unknown) =>
  Object.fromEntries(
    (parametersOf(workflow, name).assignments?.assignments ?? []).map((field) => [
      field.name,
      evaluate(field.value, { $json }),
    ]),
  );

/** Returns whether a node "If" with one equality comparison lets an item pass. */
function isEqualBy(workflow: N8nWorkflow, name: string, $json: unknown): boolean {
  const [condition] = parametersOf(workflow, name).conditions?.conditions ?? [];
  if (condition?.operator.operation !== "equals") throw new Error(`${name} does not compare`);
  return evaluate(condition.leftValue, { $json }) === evaluate(condition.rightValue, { $json });
}

/** Returns the same call with another body. */
const forged = (request: ReceivedRequest): ReceivedRequest => ({
  ...request,
  body: Buffer.from(request.body.toString().replace("message.completed", "message.rejected")),
});

let folder: string;

beforeAll(async () => {
  folder = await makeFolder();
});

afterAll(removeFolders);

describe("docs/recipes work with a running product:", () => {
  let product: Product;
  let receiver: WebhookReceiver;
  let apiUrl: string;
  let key: string;
  let callback: ReceivedRequest;

  const send = async (body: object): Promise<Response> =>
    fetch(`${apiUrl}/api/v1/messages`, {
      method: "POST",
      headers: { "X-Api-Key": key, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });

  beforeAll(async () => {
    product = await startProduct();
    receiver = await startWebhookReceiver();
    [apiUrl = ""] = product.composition.apiUrls;
    key = product.adminKey;
    const { project } = await product.store.projects.ensure("default");
    const principal = {
      actor: "test",
      keyId: null,
      rateLimit: null,
      scopes: ["admin:*" as const],
      project: project.id,
      projectName: "default",
    };
    await setWebhookSecret({ store: product.store }, principal, { secret: WHSEC, overlapSeconds: 0 });
    await send({ text: QUESTION, chatId: "order-7", meta: { order: 7 }, webhookUrl: receiver.url("/hook") });
    callback = await receiver.next(({ json }) => JSON.stringify(json).includes("message.completed"));
  });

  afterAll(async () => {
    await receiver?.close();
    await product?.stop();
  });

  test("n8n-ask.json sends a message with any text once, and reads its answer", async () => {
    const workflow = readWorkflow("n8n-ask.json");
    const ask = parametersOf(workflow, "Ask");
    const item = { text: QUESTION, chatId: "n8n-1" };
    const names = {
      $json: item,
      $workflow: { id: "q0kPJ1xv2TnZ8fYs" },
      $execution: { id: "231" },
      $nodeId: "3a412026-8a7b-5af1-a3fe-b10410007ce5",
      $runIndex: 0,
      $itemIndex: 0,
    };
    const headers = (ask.headerParameters?.parameters ?? []).map(({ name, value }): [string, string] => [
      name,
      String(evaluate(value, names)),
    ]);
    const call = () =>
      fetch(String(ask.url).replace("http://127.0.0.1:31416", apiUrl), {
        method: "POST",
        headers: { ...Object.fromEntries(headers), "X-Api-Key": key, "Content-Type": "application/json" },
        body: String(evaluate(ask.jsonBody, names)),
      });
    const answer = await (await call()).json();
    expect(isEqualBy(workflow, "Answered?", answer)).toBe(true);
    expect(assigned(workflow, "Answer", answer)).toEqual({
      answer: expect.stringContaining("No message that was accepted is lost"),
      chatId: "n8n-1",
    });
    expect(await (await call()).json()).toEqual(answer);
    const held = await (await send({ text: "Why is the sky green on Tuesdays?", chatId: "n8n-2" })).json();
    expect(isEqualBy(workflow, "Answered?", held)).toBe(false);
  });

  test("n8n-ask.json has a separate Idempotency-Key for each workflow, execution, node, loop iteration and item", () => {
    const [header] = parametersOf(readWorkflow("n8n-ask.json"), "Ask").headerParameters?.parameters ?? [];
    const first = { $workflow: { id: "w1" }, $execution: { id: "1" }, $nodeId: "n1", $runIndex: 0, $itemIndex: 0 };
    const others = [
      { $workflow: { id: "w2" } },
      { $execution: { id: "2" } },
      { $nodeId: "n2" },
      { $runIndex: 1 },
      { $itemIndex: 1 },
    ];
    const keys = [{}, ...others].map((change) => evaluate(header?.value, { ...first, ...change }));
    expect(header?.name).toBe("Idempotency-Key");
    expect(new Set(keys).size).toBe(1 + others.length);
    expect(evaluate(header?.value, first)).toBe(keys[0]);
  });

  test("n8n-receive.json passes only genuine callbacks", () => {
    const workflow = readWorkflow("n8n-receive.json");
    const { type = "", dataPropertyName = "", encoding } = parametersOf(workflow, "Sign the raw body");
    const itemOf = ({ headers, body }: ReceivedRequest) => ({
      headers,
      body: JSON.parse(body.toString()),
      [dataPropertyName]: createHmac(type, WHSEC)
        .update(body)
        .digest(encoding ?? "base64"),
    });
    expect(isEqualBy(workflow, "Is it genuine?", itemOf(callback))).toBe(true);
    expect(isEqualBy(workflow, "Is it genuine?", itemOf(forged(callback)))).toBe(false);
    const { dedupeValue } = parametersOf(workflow, "Once each");
    expect(evaluate(dedupeValue, { $json: itemOf(callback) })).toBe(callback.headers["x-svc-delivery"]);
    expect(assigned(workflow, "Event", itemOf(callback))).toEqual({
      type: "message.completed",
      chatId: "order-7",
      meta: expect.objectContaining({ order: 7 }),
      answer: expect.stringContaining("No message that was accepted is lost"),
    });
  });

  test("the Zapier step reads a genuine callback and fails for others", () => {
    // The block is part of a list, and therefore indented.
    const code = /^ *```js\n(.*?)^ *```/ms.exec(readRecipe("zapier.md"))?.[1] ?? "";
    const runStep = ({ headers, body }: ReceivedRequest, secret = WHSEC): unknown =>
      runInNewContext(`(() => { let output;\n${code}\nreturn output; })()`, {
        inputData: { raw: body.toString(), signature: headers["x-svc-signature"], secret },
        require: process.getBuiltinModule,
        Buffer,
      });
    expect(runStep(callback)).toMatchObject({
      type: "message.completed",
      chatId: "order-7",
      deliveryId: callback.headers["x-svc-delivery"],
      answer: expect.stringContaining("No message that was accepted is lost"),
    });
    expect(() => runStep(forged(callback))).toThrow("not genuine");
    expect(() => runStep(callback, "another")).toThrow("not genuine");
  });

  test("the Next.js routes call the API and accept only genuine callbacks", async () => {
    const page = readDocPage(`${RECIPES}/nextjs.md`);
    const importRoute = async (path: string): Promise<{ POST: (request: Request) => Promise<Response> }> => {
      const block = page.blocks.find(({ text }) => text.startsWith(`// ${path}\n`));
      const file = join(folder, createHash("sha256").update(path).digest("hex"), "route.ts");
      await mkdir(join(file, ".."));
      await writeFile(file, block?.text ?? "");
      return import(file);
    };
    const [ask, take] = await Promise.all(["app/api/ask/route.ts", "app/api/callback/route.ts"].map(importRoute));
    Object.assign(process.env, { SVC_URL: apiUrl, SVC_KEY: key, SVC_WEBHOOK_SECRET: WHSEC });
    const question = { method: "POST", body: JSON.stringify({ text: QUESTION, chatId: "next-1" }) };
    const answer = await ask?.POST(new Request("http://site.example/api/ask", question));
    expect(await answer?.json()).toMatchObject({ ok: true, chatId: "next-1", replies: [expect.anything()] });
    const taken = async ({ headers, body }: ReceivedRequest) =>
      (await take?.POST(new Request("http://site.example/c", { method: "POST", headers, body: new Uint8Array(body) })))
        ?.status;
    expect([await taken(callback), await taken(forged(callback))]).toEqual([204, 401]);
    process.env["SVC_WEBHOOK_SECRET"] = "";
    expect(await taken(callback)).toBe(401);
  });

  test("ask.sh prints the answer, and sends one message no matter how often it runs on one day", async () => {
    const script = join(folder, "ask.sh");
    const keyFile = join(folder, "key");
    await writeFile(script, findDocFile(readDocPage(`${RECIPES}/cron.md`), "ask.sh"));
    await writeFile(keyFile, key);
    const ask = () => run("sh", [script, QUESTION], { env: { SVC_URL: apiUrl, SVC_KEY_FILE: keyFile } });
    const { stdout, stderr, code } = await ask();
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
    const { chatId, replies } = JSON.parse(stdout);
    expect(replies).toEqual([
      expect.objectContaining({ text: expect.stringContaining("No message that was accepted is lost") }),
    ]);
    expect(JSON.parse((await ask()).stdout).replies).toEqual(replies);
    const sent = await queryDatabase(
      product.databaseUrl,
      "SELECT m.text FROM messages m JOIN chats c USING (ticket_id) WHERE c.chat_id = $1",
      [chatId],
    );
    expect(sent).toEqual([{ text: QUESTION }]);
  });
});

describe("files of docs/recipes", () => {
  const pages = readdirSync(repositoryPath(RECIPES)).filter((name) => name.endsWith(".md"));

  test("are all in the index", () => {
    const index = readRecipe("README.md");
    const missing = pages.filter((name) => name !== "README.md" && !index.includes(`](${name})`));
    expect(missing).toEqual([]);
  });

  test("name only settings that exist", () => {
    const texts = pages.map(readRecipe);
    const own = ["SVC_URL", "SVC_KEY", "SVC_KEY_FILE", "SVC_WEBHOOK_SECRET", "SVC_IDENTITY_SECRET"];
    // Some are read only by the compose file.
    const compose = readFileSync(repositoryPath("docker-compose.yml"), "utf8");
    own.push(...Array.from(compose.matchAll(/\$\{(SVC_[A-Z_]+)/g), ([, name = ""]) => name));
    const named = texts.flatMap((text) => text.match(/\bSVC_[A-Z_]+\b/g) ?? []);
    const unknown = named.filter((name) => !own.includes(name) && !(name.replace(/_FILE$/, "") in SETTINGS));
    expect([...new Set(unknown)]).toEqual([]);
  });

  test.each(["n8n-ask.json", "n8n-receive.json"])("%s: every connection leads from one node to another", (name) => {
    const { nodes, connections } = readWorkflow(name);
    const known = nodes.map((node) => node.name);
    const targets = Object.values(connections).flatMap(({ main }) => main.flat().map(({ node }) => node));
    expect(known).toEqual(expect.arrayContaining([...Object.keys(connections), ...targets]));
    // All nodes except the trigger are reached.
    expect(new Set(targets).size).toBe(known.length - 1);
  });

  test.each(DOC_PROXIES.map((proxy) => [proxy.program, proxy] as const))(
    "the configuration of %s names each port once",
    (program, { language }) => {
      const [text = ""] = readDocPage(`${RECIPES}/${program}.md`).blocks.flatMap((block) =>
        block.language === language ? [block.text] : [],
      );
      const ports = [...text.matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) => Number(port));
      expect(new Set(ports)).toEqual(new Set([31415, 31416, 31417, 31418]));
    },
  );
});
