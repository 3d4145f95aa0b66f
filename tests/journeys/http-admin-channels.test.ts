import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import { INTEGRATION_IDS, MASKED_SECRET, channelItemSchema, widgetSettingsSchema } from "@svc/contracts";
import type { ChannelItem, Scope } from "@svc/contracts";
import { waitFor, queryDatabase } from "@svc/testing";
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
});

afterAll(() => product.stop());

const call = (path: string, request: ApiRequest = {}, replica = 0) =>
  callApi(`${api.baseUrl(replica)}/api/v1/admin/channels${path}`, { key: product.adminKey, ...request });
const put = (id: string, json: unknown, request: ApiRequest = {}) =>
  call(`/${id}`, { method: "PUT", json, ...request });
const itemOf = ({ body }: ApiAnswer) => channelItemSchema.strict().parse((body as unknown as { item: unknown }).item);
const read = async (id: string) => itemOf(await call(`/${id}`));

describe("channels", () => {
  test("200: are all listed with settings, version and the state of each process", async () => {
    const answer = await call("");
    expect(answer.status).toBe(200);
    const { items } = answer.body as unknown as { items: ChannelItem[] };
    expect(items.map(({ id }) => id).toSorted()).toEqual(INTEGRATION_IDS.toSorted());
    const one = await waitFor(
      async () => {
        const item = await read("api");
        return item.replicas.length === product.composition.apiUrls.length ? item : null;
      },
      { what: "every process to say how it is doing" },
    );
    expect(one).toMatchObject({ enabled: true, state: "running", error: null });
    expect(await read("messenger")).toMatchObject({ enabled: false, state: "stopped" });
  });

  test("include the tool server, which is not a channel", async () => {
    const item = await read("tool-server");
    expect(item).toMatchObject({ kind: "integration", enabled: true, config: {} });
    expect((await read("api")).kind).toBe("channel");
    expectProblem(await put("tool-server", { config: { bindHost: "0.0.0.0" } }), "invalid_request");
  });

  test("bindHost applies while the HTTP API runs, drops no calls, and leaves administration reachable", async () => {
    const { port } = new URL(api.baseUrl(0));
    // Only a listener on all addresses accepts connections to another loopback address.
    const askElsewhere = async () =>
      fetch(`http://127.0.0.2:${port}/api/v1/health`).then(
        (response) => response.status,
        () => null,
      );
    expect(await askElsewhere()).toBeNull();
    const waiting = call(`/../../messages/nobody?wait=3000`);
    expect(itemOf(await put("api", { config: { bindHost: "0.0.0.0" } })).config).toMatchObject({ bindHost: "0.0.0.0" });
    await waitFor(async () => (await askElsewhere()) === 200, { what: "the HTTP API to listen at every address" });
    expect((await waiting).status).toBe(200);
    expect(itemOf(await put("api", { config: { bindHost: "127.0.0.1" } }))).toMatchObject({ error: null });
    await waitFor(async () => (await askElsewhere()) === null, { what: "the HTTP API to listen locally only" });
    expect((await read("api")).state).toBe("running");
  });

  test("are disabled and enabled while they run, on every replica", async () => {
    const replicas = product.composition.apiUrls.map((_url, index) => index);
    const send = (replica: number) => api.send("default", { text: "hi", mode: "async" }, { replica });
    expect(itemOf(await put("api", { enabled: false }))).toMatchObject({ enabled: false });
    for (const replica of replicas) {
      const refused = await waitFor(
        async () => {
          const answer = await send(replica);
          return answer.status === 503 ? answer : null;
        },
        { what: `replica ${replica} to stop the channel` },
      );
      expectProblem(refused, "channel_disabled");
    }
    await waitFor(async () => (await read("api")).state === "stopped", { what: "the channel to be stopped" });
    // Administration stays available, otherwise the channel could not be enabled again.
    expect(itemOf(await put("api", { enabled: true }))).toMatchObject({ enabled: true });
    for (const replica of replicas) {
      await waitFor(async () => (await send(replica)).status === 202, { what: `replica ${replica} to start it` });
    }
  });

  test("have settings that take effect while they run; omitted fields are unchanged", async () => {
    const before = await read("api");
    const changed = itemOf(await put("api", { config: { timeoutMs: 1, bufferDays: 3 } }));
    expect(changed.config).toEqual({ ...before.config, timeoutMs: 1, bufferDays: 3 });
    expect(changed.version).toBeGreaterThan(before.version);
    const timedOut = await waitFor(
      async () => {
        const answer = await api.send("default", { text: "who are you" });
        return answer.body.timedOut === true ? answer : null;
      },
      { what: "the new timeout to be used" },
    );
    expect(timedOut.status).toBe(202);
    await put("api", { config: { timeoutMs: 30_000, bufferDays: 7 } });
  });

  test("never show a secret, store it encrypted, and keep the previous one during the overlap", async () => {
    const first = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
    const second = `whsec_${Buffer.alloc(32, 2).toString("base64")}`;
    for (const [secret, previous] of [
      [first, false],
      [second, true],
    ] as const) {
      const answer = await put("api", { config: { webhookSecret: secret, overlapSeconds: 60 } });
      expect(answer.status).toBe(200);
      expect(answer.text).not.toContain(secret.slice(6));
      const { config } = itemOf(answer);
      expect(config).toMatchObject({ webhookSecret: MASKED_SECRET });
      expect("previousWebhookSecretUntil" in config && config.previousWebhookSecretUntil !== null).toBe(previous);
    }
    const same = itemOf(await put("api", { config: { webhookSecret: MASKED_SECRET, bufferDays: 8 } }));
    expect(same.config).toMatchObject({ webhookSecret: MASKED_SECRET, bufferDays: 8 });
    await put("messenger", { config: { botToken: "123:planted-token" } });
    expect((await read("messenger")).config).toEqual({ botToken: MASKED_SECRET });
    const [row] = await queryDatabase<{ all: string }>(
      product.databaseUrl,
      "SELECT row_to_json(c)::text AS all FROM channels_config c",
    );
    expect(row?.all).not.toMatch(/planted-token|AQEBAQ|AgICAg/);
    const none = itemOf(await put("api", { config: { webhookSecret: null } }));
    expect(none.config).toMatchObject({ webhookSecret: null, previousWebhookSecretUntil: null });
    expect(itemOf(await put("messenger", { config: { botToken: null } })).config).toEqual({ botToken: null });
  });

  test("412: are not changed if another administrator has changed them", async () => {
    const { version } = await read("api");
    const changes = ["one", "two"].map((_name, index) =>
      call(
        `/api`,
        { method: "PUT", json: { config: { bufferDays: 10 + index } }, headers: { "If-Match": `"${version}"` } },
        index,
      ),
    );
    const answers = await Promise.all(changes);
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 412]);
    const refused = answers.find(({ status }) => status === 412);
    if (refused === undefined) throw new Error("none was refused");
    expectProblem(refused, "version_conflict");
    expect(refused.headers.get("etag")).toBe(`"${version + 1}"`);
  });

  test.each<[string, string, unknown, string[]]>([
    ["api", "an unknown field", { colour: "red" }, ["/colour"]],
    ["api", "unknown settings", { config: { botToken: "1:x" } }, ["/config/botToken"]],
    [
      "api",
      "wrong types, all of them",
      { enabled: "yes", config: { timeoutMs: 0, bindHost: "::" } },
      ["/enabled", "/config/bindHost", "/config/timeoutMs"],
    ],
    ["api", "an overlap without a new secret", { config: { overlapSeconds: 60 } }, ["/config/overlapSeconds"]],
    ["api", "a secret that is too short", { config: { webhookSecret: "short" } }, ["/config/webhookSecret"]],
    [
      "widget",
      "what is no origin",
      { config: { allowedOrigins: ["https://example.com/path", "javascript:alert(1)", "*"] } },
      ["/config/allowedOrigins/0", "/config/allowedOrigins/1", "/config/allowedOrigins/2"],
    ],
    ["widget", "a project that is not there", { config: { project: "nowhere" } }, ["/config/project"]],
    [
      "widget",
      "what is no color, language or theme",
      { config: { color: "red", locale: "en_US", theme: "pink", position: "left" } },
      ["/config/theme", "/config/color", "/config/position", "/config/locale"],
    ],
    ["widget", "signed ids without a secret", { config: { requireIdentity: true } }, ["/config/requireIdentity"]],
    ["widget", "a secret that is too short", { config: { identitySecret: "short" } }, ["/config/identitySecret"]],
    ["messenger", "a token that is no text", { enabled: true, config: { botToken: 5 } }, ["/config/botToken"]],
    ["api", "no object", [], [""]],
  ])("400: %s rejects %s, and changes nothing", async (id, _what, json, pointers) => {
    const before = await read(id);
    const answer = await put(id, json);
    expectProblem(answer, "invalid_request");
    const { errors = [] } = answer.body as unknown as { errors?: { pointer: string }[] };
    expect(errors.map(({ pointer }) => pointer)).toEqual(pointers);
    expect(await read(id)).toEqual({ ...before, replicas: expect.any(Array) });
  });

  test("normalize the origins of a widget", async () => {
    const allowedOrigins = ["https://example.com", "https://*.example.com", "http://127.0.0.1:8080"];
    const { config } = itemOf(
      await put("widget", { config: { allowedOrigins: [...allowedOrigins, "https://example.com"] } }),
    );
    expect(config).toMatchObject({ allowedOrigins });
  });

  test("store the identity secret of a widget encrypted and masked, and keep it if a change omits it", async () => {
    const identitySecret = "an identity secret of a site";
    const first = await put("widget", { config: { identitySecret, features: { upload: false } } });
    expect(itemOf(first).config).toMatchObject({
      identitySecret: "********",
      features: { upload: false, rating: true },
    });
    const second = await put("widget", { config: { identitySecret: "********", features: { rating: false } } });
    expect(itemOf(second).config).toMatchObject({
      identitySecret: "********",
      features: { upload: false, rating: false },
    });
    const { widget } = await product.store.channelsConfig.read();
    expect(JSON.stringify(widget)).not.toContain(identitySecret);
    expect(product.store.sealer.open(widget.config.identitySecret ?? { sealed: "" })).toBe(identitySecret);
    await put("widget", { config: { identitySecret: null, features: { upload: true, rating: true } } });
  });

  test("create a key for a widget that is enabled without one", async () => {
    const { config } = itemOf(await put("widget", { enabled: true }));
    expect(config).toMatchObject({ apiKey: expect.stringMatching(/^wk_[\w-]{32}$/) });
    expect(itemOf(await put("widget", { enabled: true })).config).toEqual(config);
    await put("widget", { enabled: false, config: { apiKey: null } });
  });

  test("404: are only the three of the service", async () => {
    for (const id of ["fax", "__proto__", "API"]) {
      expectProblem(await call(`/${id}`), "not_found");
      expectProblem(await put(id, {}), "not_found");
    }
  });

  test("403: are changed only by administrators, and visible to keys with channels:read", async () => {
    const project = await product.store.projects.findByName("default");
    const { key } = await issueKey(product.store, {
      name: "channels",
      scopes: ["channels:*"],
      project: project?.id ?? null,
      createdBy: "test",
    });
    expect((await call("", { key })).status).toBe(200);
    expectProblem(await put("api", { enabled: false }, { key }), "insufficient_scope");
  });

  test("show the settings of the widget to administrators, and to keys of its project", async () => {
    await product.store.projects.ensure("secret-client");
    const scopes: Scope[] = ["channels:read"];
    const keyOf = async (name: string) => {
      const { project } = await product.store.projects.ensure(name);
      return (await issueKey(product.store, { name, scopes, project: project.id, createdBy: "test" })).key;
    };
    const config = {
      apiKey: "widget-0123456789",
      allowedOrigins: ["https://client.example.com"],
      project: "secret-client",
    };
    await put("widget", { config });
    expect((await read("widget")).config).toMatchObject(config);
    expect(itemOf(await call("/widget", { key: await keyOf("secret-client") })).config).toMatchObject(config);
    const key = await keyOf("default");
    expect(itemOf(await call("/widget", { key })).config).toEqual({
      ...widgetSettingsSchema.parse({}),
      project: null,
    });
    expect((await call("", { key })).text).not.toMatch(/secret-client|client\.example|widget-0123/);
    await put("widget", { config: { apiKey: null, allowedOrigins: [], project: "default" } });
  });

  test("of an enabled channel are stopped if any process has stopped it, of a disabled one if all have", async () => {
    const say = (state: "running" | "stopped" | "failing", error: string | null = null) =>
      product.store.channelStates.report([{ id: "api", state, since: new Date(), error }]);
    const stateIs = (state: string) =>
      waitFor(async () => (await read("api")).state === state, { what: `the channel to be ${state}` });
    await stateIs("running");
    await say("stopped");
    expect((await read("api")).state).toBe("stopped");
    await say("failing", "words");
    expect(await read("api")).toMatchObject({ state: "failing", error: "words" });
    await say("running");
    await put("api", { enabled: false });
    await waitFor(
      async () => {
        await say("running");
        const { state, replicas } = await read("api");
        return state === "running" && replicas.filter((one) => one.state === "running").length === 1;
      },
      { what: "all but one process to have stopped" },
    );
    await product.store.channelStates.remove(["api"]);
    await stateIs("stopped");
    await put("api", { enabled: true });
    await stateIs("running");
  });
});
