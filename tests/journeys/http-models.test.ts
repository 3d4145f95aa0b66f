import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import type { Model, ModelList, Scope } from "@svc/contracts";
import { DEFAULT_PROJECT } from "@svc/store";
import {
  DISK_FULL,
  UNKNOWN_MODEL,
  linesOfPull,
  startFakeOllama,
  startWebhookReceiver,
  waitFor,
  queryDatabase,
} from "@svc/testing";
import type { FakeOllama, WebhookReceiver } from "@svc/testing";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callApi } from "./support/call-api.ts";
import type { ApiRequest } from "./support/call-api.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { closeEvents, openEvents } from "./support/open-events.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const LLAMA = { name: "llama3.2:3b", sizeBytes: 2_019_393_189, contextWindow: 131_072 };
const KEY = "sk-a-secret-of-the-provider";

let ollama: FakeOllama;
let hosted: WebhookReceiver;
let product: Product;

beforeAll(async () => {
  ollama = await startFakeOllama([LLAMA]);
  hosted = await startWebhookReceiver();
  // Several processes of each kind, to show that a model is pulled only once.
  product = await startProduct({
    composition: "separate",
    env: { SVC_OLLAMA_BASE_URL: ollama.url, SVC_LLM_BASE_URL: hosted.url("/v1"), SVC_LLM_API_KEY: KEY },
  });
});

beforeEach(() => {
  const models = JSON.stringify({ data: [{ id: "gpt-4o-mini", object: "model" }] });
  hosted.answerWith(({ path }) => (path === "/v1/models" ? { status: 200, body: models } : { status: 404 }));
  ollama.pullWith(() => linesOfPull());
});

afterEach(closeEvents);

afterAll(async () => {
  await product?.stop();
  await hosted?.close();
  await ollama?.close();
});

const address = (path = "", replica = 0) => `${product.composition.apiUrls[replica] ?? ""}/api/v1/admin/models${path}`;
const pullPath = (id: string) => `/${encodeURIComponent(id)}/pull`;
const call = (path: string, request: ApiRequest = {}, replica = 0) =>
  callApi(address(path, replica), { key: product.adminKey, ...request });
const pull = (id: string, request: ApiRequest = {}) => call(pullPath(id), { method: "POST", ...request });

/** Follows a pull like a browser. */
const follow = (id: string, replica = 0) =>
  openEvents({ url: () => address(pullPath(id), replica), headers: { Authorization: `Bearer ${product.adminKey}` } });

const pullsOf = (name: string) => ollama.pulls.filter((asked) => asked.name === name);
const listOf = (answer: ApiAnswer) => answer.body as unknown as ModelList;

/** Makes downloads hang in the middle until the returned function is called. */
function holdPulls(): () => void {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  ollama.pullWith(() => [...linesOfPull().slice(0, 3), { wait: held }, ...linesOfPull().slice(3)]);
  return release;
}

async function newKey(scopes: Scope[]) {
  const { project } = await product.store.projects.ensure(DEFAULT_PROJECT);
  return issueKey(product.store, { name: "key", scopes, project: project.id, rateLimit: null, createdBy: "test" });
}

describe("the list of models", () => {
  test("has the models of every provider and those that can be installed, paged and searchable by id", async () => {
    const all = listOf(await call("?limit=200"));
    expect(all.unreachable).toEqual([]);
    expect(all.items.slice(0, 2)).toEqual([
      {
        catalogId: "ollama:llama3.2:3b",
        name: "llama3.2:3b",
        provider: "ollama",
        local: true,
        sizeBytes: LLAMA.sizeBytes,
        installed: true,
        contextWindow: 131_072,
        pull: null,
      },
      expect.objectContaining({ catalogId: "openai:gpt-4o-mini", installed: true, sizeBytes: null }),
    ]);
    expect(all.items.slice(2).every(({ installed, local }) => !installed && local)).toBe(true);

    const paged: Model[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const page = listOf(await call(`?limit=4&cursor=${cursor}`, {}, paged.length % 2));
      paged.push(...page.items);
      cursor = page.nextCursor;
    }
    expect(paged).toEqual(all.items);
    const found = listOf(await call("?q=LLAMA3.2"));
    expect(found.items.map(({ catalogId }) => catalogId)).toEqual(["ollama:llama3.2:3b", "ollama:llama3.2:1b"]);
    expectProblem(await call("?cursor=nonsense&limit=0"), "invalid_request", ["/cursor", "/limit"]);
  });

  test("omits providers that do not respond, and reports that without secrets", async () => {
    hosted.answerWith({ status: 401, body: `the key ${KEY} is wrong` });
    const answer = await call("?q=llama3.2:3b");
    expect(listOf(answer)).toMatchObject({
      items: [{ catalogId: "ollama:llama3.2:3b" }],
      unreachable: [{ provider: "openai", detail: expect.stringContaining("SVC_LLM_API_KEY") }],
    });
    expect(answer.text).not.toContain(KEY);
  });

  test("requires models:read, and pulling requires models:write", async () => {
    const [reader, writer] = await Promise.all([newKey(["models:read"]), newKey(["models:write"])]);
    expect((await call("", { key: reader.key })).status).toBe(200);
    expectProblem(await call("", { key: writer.key }), "insufficient_scope");
    for (const method of ["GET", "POST", "DELETE"]) {
      expectProblem(await call(pullPath("ollama:tiny:1b"), { method, key: reader.key }), "insufficient_scope");
    }
    expect((await pull("ollama:llama3.2:3b", { key: writer.key })).status).toBe(200);
    expect(pullsOf("llama3.2:3b")).toEqual([]);
  });
});

test("shows a server of the environment with its key masked, which cannot be changed", async () => {
  const settings = (request: ApiRequest = {}) =>
    callApi(`${product.composition.apiUrls[0] ?? ""}/api/v1/admin/model-settings`, {
      key: product.adminKey,
      ...request,
    });
  const shown = await settings();
  expect(shown.body).toMatchObject({ source: "environment", baseUrl: hosted.url("/v1"), apiKey: "********" });
  expect(shown.text).not.toContain(KEY);
  for (const request of [{ method: "PUT", json: { baseUrl: "http://localhost:8080/v1" } }, { method: "DELETE" }]) {
    const refused = await settings(request as ApiRequest);
    expect([refused.status, refused.body.errors]).toMatchObject([400, [{ code: "set_by_environment" }]]);
  }
});

describe("a pull", () => {
  test("runs once at Ollama for any number of callers and replicas; each gets its progress and end", async () => {
    const release = holdPulls();
    const id = "ollama:hf.co/somebody/model:Q4_K_M";
    const followers = [follow(id, 0), follow(id, 1)];
    const asked = await Promise.all([pull(id), call(pullPath(id), {}, 1)]);
    expect(asked.map(({ status }) => status)).toEqual([202, 202]);
    for (const follower of followers) {
      const { data } = await follower.until("progress");
      expect(Object.keys(data)).toEqual(["status", "completedBytes", "totalBytes"]);
    }
    await waitFor(() => followers.every(({ events }) => events.at(-1)?.data["totalBytes"] === 1_000_000), {
      what: "both to be told how much it is",
    });
    expect(listOf(await call("?q=somebody")).items).toMatchObject([
      { catalogId: id, installed: false, pull: { totalBytes: 1_000_000 } },
    ]);
    release();
    for (const follower of followers) {
      expect((await follower.until("done")).data).toEqual({
        ok: true,
        catalogId: id,
        status: "success",
        completedBytes: 1_000_000,
        totalBytes: 1_000_000,
      });
      expect(new Set(follower.events.map((event) => event.id)).size).toBe(follower.events.length);
      // A connection after the end gets 204, which means not to reconnect.
      await waitFor(() => follower.answers.at(-1)?.status === 204, { what: "the follower to be sent away" });
    }
    expect(pullsOf("hf.co/somebody/model:Q4_K_M")).toHaveLength(1);
    expect((await call(pullPath(id))).body).toMatchObject({ ok: true, status: "success" });

    const trail = await queryDatabase<{ object: string }>(
      product.databaseUrl,
      "SELECT object FROM audit_events WHERE action = 'models.pull' AND result = 'ok'",
    );
    expect(trail).toEqual([{ object: `model:${id}` }]);
  });

  test("continues after its clients disconnect", async () => {
    const release = holdPulls();
    const follower = follow("ollama:dropped");
    await follower.until("progress");
    follower.close();
    release();
    await waitFor(() => ollama.installed().some(({ name }) => name === "dropped:latest"), { what: "the model" });
    expect((await pull("ollama:dropped:latest")).status).toBe(200);
    expect(pullsOf("dropped:latest")).toHaveLength(1);
  });

  test("continues without reporting to a follower whose key was revoked", async () => {
    const release = holdPulls();
    const { key, record } = await newKey(["models:write"]);
    const follower = openEvents({
      url: () => address(pullPath("ollama:guarded:1b"), 1),
      headers: { Authorization: `Bearer ${key}` },
    });
    await follower.until("progress");
    await waitFor(() => pullsOf("guarded:1b").length === 1, { what: "Ollama to be asked" });
    await product.store.apiKeys.revoke(record.id);
    expect((await follower.until("error")).data).toMatchObject({ status: 401 });
    await waitFor(() => follower.answers.at(-1)?.status === 401, { what: "the follower to be refused" });
    release();
    await waitFor(() => ollama.installed().some(({ name }) => name === "guarded:1b"), { what: "the model" });
  });

  test("is cancelled for all followers, and continues when requested again", async () => {
    const release = holdPulls();
    const follower = follow("ollama:unwanted:1b", 1);
    await follower.until("progress");
    await waitFor(() => pullsOf("unwanted:1b").length === 1, { what: "Ollama to be asked" });
    const cancelled = await call(pullPath("ollama:unwanted:1b"), { method: "DELETE" });
    expect(cancelled.body).toMatchObject({ ok: true, catalogId: "ollama:unwanted:1b", status: "cancelled" });
    expect((await follower.until("error")).data).toMatchObject({ code: "pull_cancelled", status: 409 });
    await waitFor(() => pullsOf("unwanted:1b").every(({ isOpen }) => !isOpen), { what: "Ollama to be hung up on" });
    expectProblem(await call(pullPath("ollama:unwanted:1b"), { method: "DELETE" }), "not_found");
    await waitFor(() => follower.answers.at(-1)?.status === 204, { what: "the follower to be sent away" });
    release();
    const again = follow("ollama:unwanted:1b");
    await again.until("done");
    expect(pullsOf("unwanted:1b")).toHaveLength(2);
  });

  test("survives a crash of its process", async () => {
    const release = holdPulls();
    const follower = follow("ollama:orphan:1b", 1);
    await follower.until("progress");
    await waitFor(() => pullsOf("orphan:1b").length === 1, { what: "Ollama to be asked" });
    const pipelines = product.composition.processes.filter(({ name }) => name.startsWith("pipeline"));
    await Promise.all(pipelines.map((pipeline) => pipeline.kill("SIGKILL")));
    release();
    // Otherwise the test would have to wait for its lease to expire.
    await queryDatabase(product.databaseUrl, "UPDATE model_pulls SET lease_until = now(), due_at = now()");
    await Promise.all(pipelines.map((pipeline) => pipeline.start()));
    await follower.until("done");
    expect(pullsOf("orphan:1b")).toHaveLength(2);
    expect(follower.of("error")).toEqual([]);
  });

  test("that fails immediately is an error response, and one that fails later an event", async () => {
    // On a busy machine the pull may fail only after the response has started: then it is repeated.
    const refusal = (id: string, request?: ApiRequest) =>
      waitFor(
        async () => {
          const answer = await pull(id, request);
          return answer.status >= 400 && answer;
        },
        { what: `the pull of ${id} to go wrong at once` },
      );
    ollama.pullWith(() => UNKNOWN_MODEL);
    const unknown = await refusal("ollama:nonesuch:1b");
    expectProblem(unknown, "not_found");
    expect(unknown.body.detail).toContain("https://ollama.com/library");
    const streamed = await refusal("ollama:nonesuch:1b", { headers: { Accept: "text/event-stream" } });
    expectProblem(streamed, "not_found");

    ollama.pullWith(() => DISK_FULL);
    expectProblem(await refusal("ollama:large:70b"), "disk_full");
    const release = holdLate();
    const follower = follow("ollama:large:70b");
    await follower.until("progress");
    release();
    const { data } = await follower.until("error");
    expect(data).toMatchObject({
      ok: false,
      code: "disk_full",
      status: 507,
      detail: expect.stringMatching(/Free disk space/),
    });
    expect(JSON.stringify(data)).not.toContain("/root/");
  });
});

/** Makes a download fail with a full disk when the returned function is called. */
function holdLate(): () => void {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  ollama.pullWith(() => [...linesOfPull().slice(0, 3), { wait: held }, ...DISK_FULL.slice(-1)]);
  return release;
}

describe("a name that cannot be pulled", () => {
  test.each([
    ["of a hosted provider", "openai:gpt-4o-mini", "invalid_request"],
    ["of nobody", "nobody:model", "not_found"],
    ["without a provider", "model", "invalid_request"],
    ["that climbs", "ollama:../../../etc/passwd", "invalid_request"],
    ["of a stranger's host", "ollama:169.254.169.254/latest/meta-data", "invalid_request"],
    ["with an address", "ollama:http://evil.example/a", "invalid_request"],
    ["with a line break", "ollama:a\nb", "invalid_request"],
    ["that is too long", `ollama:${"a".repeat(400)}`, "invalid_request"],
  ] as const)("%s is rejected with advice, and is not sent to Ollama", async (_what, id, code) => {
    const before = ollama.pulls.length;
    expectProblem(await pull(id), code);
    expect(ollama.pulls).toHaveLength(before);
  });

  test("while Ollama is unavailable or does not respond is an error", async () => {
    ollama.setSilent(true);
    const answer = await pull("ollama:tiny:1b");
    ollama.setSilent(false);
    expectProblem(answer, "unavailable");
    expect(answer.body.detail).toMatch(/did not respond in time\. Start it with: ollama serve/);
  });
});
