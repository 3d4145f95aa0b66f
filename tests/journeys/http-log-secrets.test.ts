import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import { startWebhookReceiver, waitFor, queryDatabase } from "@svc/testing";
import type { WebhookReceiver } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { keyOf } from "./support/admin-body.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callApi } from "./support/call-api.ts";
import type { ApiRequest } from "./support/call-api.ts";
import { exchangeRaw } from "./support/open-raw-connection.ts";
import { plantPoison } from "./support/plant-poison.ts";
import { startPrivateGround } from "./support/start-private-ground.ts";
import type { PrivateGround } from "./support/start-private-ground.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const FIXED = "This is always the answer.";

/** Every value that must not appear in the log, with its position in the requests. */
const planted = new Map<string, string>();

/** Creates a secret without a recognizable pattern. */
function plant(where: string): string {
  const value = `planted${randomBytes(12).toString("hex")}`;
  planted.set(value, where);
  return value;
}

const ADMIN_KEY = plant("the administrator's key");
const WEBHOOK_SECRET = plant("the webhook secret");

let ground: PrivateGround;
let product: Product;
let receiver: WebhookReceiver;
let key: string;

beforeAll(async () => {
  ground = await startPrivateGround();
  product = await startProduct({ ground, env: { SVC_LOG_LEVEL: "debug", SVC_ADMIN_KEY: ADMIN_KEY } });
  receiver = await startWebhookReceiver();
  const project = await addProject(product.store, "fixed", { fixedReply: `${FIXED} ${plant("a reply")}` });
  const issued = await issueKey(product.store, {
    name: "journey",
    scopes: ["messages:*"],
    project: project.id,
    createdBy: "test",
    rateLimit: null,
  });
  key = issued.key;
  planted.set(key, "a scoped key");
  planted.set(new URL(product.databaseUrl).password, "the password of the database");
});

afterAll(async () => {
  await receiver.close();
  await product.stop();
});

const eachReplica = (ask: (baseUrl: string) => Promise<unknown>) => Promise.all(product.composition.apiUrls.map(ask));
const post = (json: unknown, request: ApiRequest = {}): Promise<ApiAnswer> =>
  callApi(`${product.composition.apiUrls.at(-1) ?? ""}/api/v1/messages`, { key, json, ...request });

/** Sends invalid credentials in every position that could contain a key, in the forms that callers get wrong. */
async function failToAuthenticate(baseUrl: string): Promise<void> {
  const url = `${baseUrl}/api/v1/messages/${plant("a path without a key")}`;
  const wrong = (where: string) => plant(`a wrong key in ${where}`);
  const generated = `svc_${randomBytes(19).toString("hex")}`;
  planted.set(generated, "a key of the right form that nobody has");
  const legacy = wrong("both headers");
  const attempts: Record<string, string>[] = [
    { Authorization: `Bearer ${generated}` },
    { Authorization: `Bearer ${wrong("Authorization")}` },
    { Authorization: wrong("Authorization without a scheme") },
    { Authorization: `Basic ${Buffer.from(`user:${wrong("Basic")}`).toString("base64")}` },
    { Authorization: `Bearer ${wrong("Authorization, twice")} ${wrong("Authorization, twice")}` },
    { "X-Api-Key": wrong("X-Api-Key") },
    { "X-Api-Key": `${wrong("X-Api-Key, long")}${"x".repeat(8_000)}` },
    { Authorization: `Bearer ${key}`, "X-Api-Key": wrong("X-Api-Key beside a right one") },
    { Authorization: `Bearer ${wrong("Authorization beside a right one")}`, "X-Api-Key": key },
    { Authorization: `Bearer ${legacy}`, "X-Api-Key": legacy, Cookie: `session=${plant("a cookie")}` },
    { "X-Api-Key": key, "x-svc-project": plant("the name of a project") },
  ];
  for (const headers of attempts) {
    const answer = await callApi(url, { headers });
    expect([400, 401, 403, 404, 429]).toContain(answer.status);
  }
  for (const name of ["apiKey", "api_key", "key", "access_token", "token", "k", "authorization", "sig"]) {
    const query = `?wait=0&${name}=${plant(`the parameter ${name}`)}&${name}=${key}`;
    const answer = await callApi(`${url}${query}`);
    expect([401, 429]).toContain(answer.status);
    await callApi(`${url}${query}`, { key });
  }
}

describe("with secrets in every place of every kind of request", () => {
  test("invalid keys, and keys in unexpected places", async () => {
    await eachReplica(failToAuthenticate);
    await eachReplica((url) => callApi(`${url}/api/v1/messages/${key}`, { key }));
    await eachReplica((url) => callApi(`${url}/api/v1/${plant("a path of nothing")}/${ADMIN_KEY}`, { key }));
    await eachReplica((url) => callApi(`${url}/${key}?${plant("a query of nothing")}`));
  });

  test("messages in every mode, with all customer data", async () => {
    const message = () => ({
      text: `${plant("a text")} ${key}`,
      chatId: plant("a chatId"),
      userId: plant("a userId"),
      meta: { [plant("a key of meta")]: { password: plant("a value of meta"), list: [plant("a list of meta")] } },
    });
    const headers = () => ({
      "Idempotency-Key": plant("an Idempotency-Key"),
      "User-Agent": plant("a User-Agent"),
      Cookie: `session=${plant("a cookie")}`,
    });
    for (const mode of ["sync", "async"] as const) {
      for (let call = 0; call < 3; call++) {
        const request = { ...message(), mode };
        const sent = headers();
        expect([200, 202]).toContain((await post(request, { headers: sent })).status);
        // Retried, and then reused for another body.
        await post(request, { headers: sent });
        expect((await post({ ...request, text: "another" }, { headers: sent })).status).toBe(422);
      }
    }
  });

  test("messages that are rejected for their content", async () => {
    const secret = () => plant("a body that is refused");
    const bodies = [
      `{"text":"${secret()}"`,
      `{"${secret()}":`,
      secret(),
      `"${secret()}"`,
      `{"text":["${secret()}"]}`,
      `{"text":"${secret()}\\u0000"}`,
      `{"text":"a","mode":"${secret()}"}`,
      `{"text":"a","chatId":"issue:${secret()}"}`,
      `{"text":"a","timeoutMs":"${secret()}"}`,
      `{"text":"a","meta":"${secret()}"}`,
      `{"text":"a","meta":{"${secret()}\\ud800":1}}`,
    ];
    for (const body of bodies) expect((await post(undefined, { body })).status).toBe(400);
    const type = `text/${plant("a media type")}`;
    expect((await post(undefined, { body: secret(), headers: { "Content-Type": type } })).status).toBe(415);
    expect((await post(undefined, { body: `"${secret().repeat(100_000)}"` })).status).toBe(413);
  });

  test("requests with invalid HTTP", async () => {
    const secret = () => plant("a request that is no HTTP");
    await eachReplica(async (url) => {
      for (const text of [
        `${secret()}\r\n\r\n`,
        `GET /${secret()} HTTP/9.9\r\n\r\n`,
        `GET / HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${secret()}\r\n folded\r\n\r\n`,
        `GET / HTTP/1.1\r\nHost: x\r\nX-Api-Key : ${secret()}\r\n\r\n`,
        `GET / HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${secret()}${"x".repeat(100_000)}\r\n\r\n`,
        `POST /api/v1/messages HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${key}\r\nContent-Length: -1\r\n\r\n${secret()}`,
      ]) {
        await exchangeRaw(url, text);
      }
    });
  });

  test("keys that are created, imported, rotated and revoked", async () => {
    const admin = { key: ADMIN_KEY };
    const url = `${product.composition.apiUrls[0] ?? ""}/api/v1/admin/keys`;
    const brought = plant("a key that is brought along");
    for (const json of [
      { name: plant("the name of a key"), scopes: ["messages:*"], project: "fixed" },
      { name: "brought", scopes: ["messages:*"], project: "fixed", key: brought },
    ]) {
      const made = await callApi(url, { ...admin, json });
      expect(made.status).toBe(201);
      const { id, key: value = brought } = keyOf(made);
      planted.set(value, "a key that was made by the API");
      await callApi(`${url}/${id}`, { key: value });
      const rotated = await callApi(`${url}/${id}/rotate`, { ...admin, method: "POST" });
      const { key: next } = keyOf(rotated);
      if (next === undefined) throw new Error(`the key was not rotated: ${rotated.text}`);
      planted.set(next, "a key that was rotated");
      await callApi(`${url}/${id}`, { ...admin, method: "DELETE" });
    }
    // Imported a second time, and too weak.
    await callApi(url, { ...admin, json: { name: "again", scopes: ["messages:*"], project: "fixed", key: brought } });
    await callApi(url, { ...admin, json: { name: "weak", scopes: [plant("a scope")], key: plant("a weak key") } });
  });

  test("callbacks with secrets in their URLs, whatever the receivers respond", async () => {
    const where = "a webhookUrl";
    const path = () =>
      `/hooks/${plant(`the path of ${where}`)}?sig=${plant(`the query of ${where}`)}&token=${plant(where)}`;
    const send = (webhookUrl: string) =>
      post({ text: plant("a text that is called back"), webhookUrl, meta: { a: plant("meta that is called back") } });

    receiver.answerWith(({ path: asked }) => {
      const status = Number(/status=(\d+)/.exec(asked)?.[1] ?? 200);
      const message = plant("what a receiver answers");
      return { status, headers: { Location: `http://127.0.0.1:1/${message}`, "X-Told": message }, body: message };
    });
    for (const status of [200, 302, 400, 410, 500]) {
      expect((await send(receiver.url(`${path()}&status=${status}`))).status).toBe(202);
    }
    for (const url of [
      // Rejected immediately: a user, a private address, another scheme, an invalid URL.
      `http://${plant("the user of a URL")}:${plant("the password of a URL")}@127.0.0.1:${receiver.port}${path()}`,
      `http://10.0.0.1${path()}`,
      `file://${path()}`,
      path(),
    ]) {
      expect((await send(url)).status).toBe(400);
    }
    // Rejected when it is called: an unreachable address, and a name that does not exist.
    for (const host of ["127.0.0.1:1", `${plant("the host of a URL")}.invalid`]) {
      expect((await send(`http://${host}${path()}`)).status).toBe(202);
    }
    const { store } = product;
    const { project } = await store.projects.ensure("fixed");
    await store.projects.update(project.id, { webhookSecret: store.sealer.seal(WEBHOOK_SECRET) });
    expect((await send(receiver.url(`${path()}&status=410`))).status).toBe(202);

    const count = async () => {
      const [row] = await queryDatabase<{ open: string }>(
        product.databaseUrl,
        `SELECT count(*) AS open FROM deliveries d
         WHERE NOT EXISTS (SELECT 1 FROM delivery_attempts a WHERE a.delivery_id = d.id)`,
      );
      return Number(row?.open);
    };
    await waitFor(async () => (await count()) === 0, { what: "every callback to be tried", timeoutMs: 40_000 });
  });

  test("internal errors, with secrets in the requests", async () => {
    const rename = (from: string, to: string) =>
      queryDatabase(product.databaseUrl, `ALTER TABLE ${from} RENAME TO ${to}`);
    const poison = await plantPoison(product.databaseUrl, plant("a text that no run survives"));
    const [text = ""] = [...planted].find(([, where]) => where === "a text that no run survives") ?? [];
    await post({ text, mode: "async", meta: { a: plant("meta that no run survives") } });
    const putOff = "SELECT FROM messages WHERE text = $1 AND not_before IS NOT NULL";
    const isPutOff = async () => (await queryDatabase(product.databaseUrl, putOff, [text])).length > 0;
    await waitFor(isPutOff, { what: "a run to fail" });
    await poison.cure();

    // Keys pasted into the wrong field are the likeliest secrets there.
    await rename("idempotency_keys", "idempotency_keys_away");
    await rename("replies", "replies_away");
    try {
      await eachReplica(async (url) => {
        const headers = () => ({ "Idempotency-Key": plant("the Idempotency-Key of a fault"), "X-Request-Id": key });
        const json = { text: plant("the text of a fault"), meta: { a: plant("the meta of a fault") }, mode: "async" };
        expect((await callApi(`${url}/api/v1/messages`, { key, json, headers: headers() })).status).toBe(500);
        const chat = plant("the chatId of a fault");
        const query = `?wait=0&key=${ADMIN_KEY}&colour=${plant("the query of a fault")}`;
        for (const path of [`${chat}${query}`, ADMIN_KEY, key]) {
          expect((await callApi(`${url}/api/v1/messages/${path}`, { key })).status).toBe(500);
        }
      });
    } finally {
      await rename("idempotency_keys_away", "idempotency_keys");
      await rename("replies_away", "replies");
    }
  });

  test("an outage and recovery of the store", async () => {
    await ground.postgres.kill();
    await eachReplica(async (url) => {
      const json = { text: plant("a text while the store is away"), chatId: plant("a chatId while it is away") };
      const headers = { "Idempotency-Key": plant("an Idempotency-Key while it is away") };
      expect((await callApi(`${url}/api/v1/messages`, { key, json, headers })).status).toBe(503);
      expect((await callApi(`${url}/api/v1/messages/${plant("a path while it is away")}`, { key })).status).toBe(503);
    });
    await ground.postgres.start();
    await waitFor(async () => (await post({ text: "hello" })).status === 200, {
      what: "the store to be there again",
      timeoutMs: 30_000,
    });
  });
});

describe("the log of all processes, from the first line to the last,", () => {
  let lines: string[];

  test("is complete: it contains the caused errors", async () => {
    const { processes } = product.composition;
    await Promise.all(processes.map((process) => process.kill("SIGTERM")));
    lines = processes.flatMap((process) => process.output().split("\n"));
    for (const message of [
      "request failed",
      "callback attempted",
      "callback permanently failed",
      "message will be retried",
      "service unavailable",
      "stopping",
    ]) {
      expect({ message, isThere: lines.some((line) => line.includes(message)) }).toEqual({ message, isThere: true });
    }
  });

  test("has no secret in any form", () => {
    expect(planted.size).toBeGreaterThan(100);
    const found = [...planted].flatMap(([value, where]) => {
      const forms = [value, encodeURIComponent(value), Buffer.from(value).toString("base64").replace(/=+$/, "")];
      const line = lines.find((text) => forms.some((form) => text.includes(form)));
      return line === undefined ? [] : [{ where, line }];
    });
    expect(found).toEqual([]);
  });

  test("has no reply text, and nothing in the form of a key", () => {
    expect(lines.filter((line) => line.includes(FIXED))).toEqual([]);
    expect(lines.filter((line) => /svc_[0-9A-Za-z]{8}/.test(line))).toEqual([]);
  });
});
