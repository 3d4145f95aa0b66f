import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { INTEGRATION_IDS } from "@svc/contracts";
import { startWebhookReceiver, waitFor } from "@svc/testing";
import type { ChildProcess, ReceivedRequest, WebhookReceiver } from "@svc/testing";
import { callApi } from "./support/call-api.ts";
import { documentOf, svc, svcJson, svcWithInput } from "./support/run-svc.ts";
import type { Ran } from "./support/run-svc.ts";
import { makeFolder, newInstance, removeFolders, svcUp } from "./support/svc-instance.ts";
import type { SvcInstance } from "./support/svc-instance.ts";
import { svcWithin } from "./support/svc-within.ts";

const KEY = /^svc_[0-9A-Za-z]{38}$/;
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;
const BODY = '{"ok":true}';

let instance: SvcInstance;
let product: ChildProcess;
let receiver: WebhookReceiver;

beforeAll(async () => {
  instance = await newInstance();
  product = await svcUp(instance);
  receiver = await startWebhookReceiver();
});

afterAll(async () => {
  await receiver.close();
  expect((await product.kill("SIGINT")).code).toBe(0);
  await removeFolders();
});

const runWithInput = (input: string, ...args: string[]): Promise<Ran> => svcWithin(instance.env, input, ...args);
const run = (...args: string[]): Promise<Ran> => runWithInput("", ...args);
const runJson = async (...args: string[]) => documentOf(await run(...args, "--json"), args);

/** Runs a command with --json that succeeds, and returns its document. */
async function read<Document>(check: (document: unknown) => Document, ...args: string[]): Promise<Document> {
  const { document, code } = await runJson(...args);
  if (code !== 0) throw new Error(`svc ${args.join(" ")} ended with ${code}: ${JSON.stringify(document)}`);
  expect(document).toMatchObject({ ok: true });
  return check(document);
}

interface Channel {
  id: string;
  enabled: boolean;
  port: number | null;
  state: string;
  since: string | null;
  detail: string | null;
}
const readChannels = () => read((document) => (document as { items: Channel[] }).items, "channels", "list");

interface Key {
  id: string;
  name: string;
  prefix: string;
  scopes: string[];
  project: string | null;
  expiresAt: string | null;
  revokedAt: string | null;
  rateLimit?: number | null;
  key?: string;
}
const readKeys = (...args: string[]) =>
  read((document) => (document as { items: Key[] }).items, "keys", "list", ...args);
const makeKey = (...args: string[]) => read((document) => (document as { item: Key }).item, "keys", ...args);

interface Delivery {
  id: string;
  state: string;
  url: string;
  attempts: { status: number | null; error: string | null }[];
}
const readDeliveries = (...args: string[]) =>
  read((document) => (document as { items: Delivery[] }).items, "deliveries", "list", ...args);

/** Returns the status of a call with a key. */
const statusWith = async (key: string) => (await callApi(`${instance.url}/api/v1/messages/some-chat`, { key })).status;
const statusOf = (key: string, status: number) =>
  waitFor(async () => (await statusWith(key)) === status, { what: `status ${status}` });

const alone = (output: string) => output.replace(/\n$/, "");

describe("channels", () => {
  const post = async () => {
    const key = alone(await readFile(join(instance.env.SVC_DATA_DIR, "cli-key"), "utf8"));
    return callApi(`${instance.url}/api/v1/messages`, { key, json: { text: "hello", mode: "async", chatId: "probe" } });
  };

  test("list shows for each whether it is enabled, its port and its state", async () => {
    const running = { enabled: true, state: "running", since: expect.any(String), detail: null };
    // The widget's channel starts concurrently with the other services, and may be ready slightly later.
    await waitFor(async () => (await readChannels()).filter(({ state }) => state === "running").length === 3, {
      what: "both channels and the tool server to run",
    });
    const channels = await readChannels();
    expect(channels.map(({ id }) => id).toSorted()).toEqual(INTEGRATION_IDS.toSorted());
    expect(channels).toEqual(
      expect.arrayContaining([
        { id: "api", port: Number(instance.env.SVC_API_PORT), ...running },
        { id: "messenger", enabled: false, port: null, state: "stopped", since: expect.any(String), detail: null },
        { id: "tool-server", port: Number(instance.env.SVC_TOOLS_PORT), ...running },
        { id: "widget", port: Number(instance.env.SVC_WIDGET_PORT), ...running },
      ]),
    );
    const { stdout } = await run("channels", "list");
    expect(stdout).toMatch(/^CHANNEL +ENABLED +PORT +STATE\n/);
    expect(stdout).toMatch(/\napi +yes +\d+ +running since /);
    expect(stdout).toMatch(/\nmessenger +no +- +stopped\n/);
  });

  describe("disable and enable take effect without a restart, and are idempotent", () => {
    // A replica reports its state after the change has taken effect.
    const untilState = (state: string) =>
      waitFor(async () => (await readChannels()).find(({ id }) => id === "api")?.state === state, {
        what: `the channel to be shown as ${state}`,
      });

    test("disable", async () => {
      expect((await run("channels", "disable", "api")).stdout).toContain("Channel api disabled.");
      await waitFor(async () => (await post()).body.code === "channel_disabled", { what: "messages to be refused" });
      await untilState("stopped");
      expect((await run("doctor")).stdout).toMatch(/warn +Channels .*\n +Enable it: svc channels enable api/);
      expect(await runJson("channels", "disable", "api")).toMatchObject({
        code: 0,
        document: { id: "api", enabled: false, isChanged: false },
      });
    });

    // On its own: if the test above fails, the tests below still find an enabled channel.
    test("enable", async () => {
      expect((await run("channels", "enable", "api")).code).toBe(0);
      await waitFor(async () => (await post()).status === 202, { what: "messages to be taken" });
      await untilState("running");
    });
  });

  test("disable rejects a channel that does not exist", async () => {
    expect((await run("channels", "disable", "fax")).code).toBe(2);
  });

  test("the messenger reports its missing token, accepts it as name=text, and never shows it", async () => {
    const messenger = async () => (await readChannels()).find(({ id }) => id === "messenger");
    expect((await run("channels", "enable", "messenger")).code).toBe(0);
    const lacking = await waitFor(
      async () => {
        const found = await messenger();
        return found?.state === "failing" ? found : null;
      },
      { what: "the messenger to say that it has no token" },
    );
    expect(lacking.detail).toContain("No bot token is set");
    expect((await run("channels", "set", "messenger", "botToken=no-token")).code).toBe(0);
    await waitFor(async () => /is not valid/.test((await messenger())?.detail ?? ""), {
      what: "the token to be refused",
    });
    expect((await run("channels", "show", "messenger")).stdout).not.toContain("no-token");
    expect((await run("channels", "disable", "messenger")).code).toBe(0);
  });

  describe("the widget", () => {
    const widgetUrl = () => `http://127.0.0.1:${instance.env.SVC_WIDGET_PORT}`;
    const readConfig = async () =>
      (await runJson("channels", "show", "widget")).document as { item: { config: { apiKey: string } }; tag: string };

    test("show has its settings and its script tag", async () => {
      const { item, tag } = await readConfig();
      expect(tag).toBe(
        `<script async src="${widgetUrl()}/widget.js" data-svc-widget data-api-key="${item.config.apiKey}"></script>`,
      );
      expect((await fetch(`${widgetUrl()}/api/widget/config/${item.config.apiKey}`)).status).toBe(200);
      const { stdout } = await run("channels", "show", "widget");
      expect(stdout).toContain(tag);
      expect(stdout).toMatch(/^allowedOrigins +\[\]$/m);
    });

    test("its demo page is served on this machine, with that tag", async () => {
      const answer = await fetch(widgetUrl());
      expect(answer.status).toBe(200);
      expect(await answer.text()).toContain((await readConfig()).tag);
    });

    test("doctor reports that it responds, and warns while any site may load it", async () => {
      const { stdout } = await run("doctor");
      expect(stdout).toMatch(/ok +Widget +http:\/\/127\.0\.0\.1:\d+ responds; /);
      expect(stdout).toMatch(
        /warn +Widget sites +any site can load the widget\n +Restrict it: svc channels set widget /,
      );
    });

    test("set changes settings, from the command line or from a file, which take effect in the running service", async () => {
      const origin = "https://www.shop.example";
      const { code } = await run("channels", "set", "widget", JSON.stringify({ allowedOrigins: [origin] }));
      expect(code).toBe(0);
      expect((await run("doctor")).stdout).toMatch(/ok +Widget sites +https:\/\/www\.shop\.example\n/);
      const { apiKey } = (await readConfig()).item.config;
      const statusFrom = async (site: string) =>
        (await fetch(`${widgetUrl()}/api/widget/config/${apiKey}`, { headers: { Origin: site } })).status;
      await waitFor(async () => (await statusFrom("https://elsewhere.example")) === 403, { what: "the list of sites" });
      expect(await statusFrom(origin)).toBe(200);
      // The demo page is not in the list, and still works on this machine.
      expect(await statusFrom(widgetUrl())).toBe(200);

      const secret = "an-identity-secret-of-32-characters";
      const done = await runWithInput(
        JSON.stringify({ identitySecret: secret }),
        "channels",
        "set",
        "widget",
        "--file",
        "-",
      );
      expect(done.code).toBe(0);
      const { stdout } = await run("channels", "show", "widget");
      expect(stdout).toMatch(/^identitySecret +"\*{8}"$/m);
      expect(stdout).not.toContain(secret);
    });

    test.each([
      ["no settings", [], "Pass the settings either as JSON"],
      ["both ways at once", ["{}", "--file", "-"], "not both"],
      ["no JSON", ["color: #fff"], "are not valid JSON"],
      ["no object", ["[1]"], "must be a JSON object"],
      ["a setting that is not one", ['{"colour":"#2f6f4f"}'], "colour"],
      ["a value that is none", ['{"color":"red"}'], "/config/color"],
    ])("set with %s explains what to do and changes nothing", async (_what, args, advice) => {
      const before = (await readConfig()).item.config;
      expect(await run("channels", "set", "widget", ...args)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(advice),
      });
      expect((await readConfig()).item.config).toEqual(before);
    });
  });
});

describe("keys", () => {
  test("create prints only the key, once, and it works immediately", async () => {
    const { stdout, stderr, code } = await run("keys", "create", "mobile app", "--scope", "messages:read");
    expect(code).toBe(0);
    expect(alone(stdout)).toMatch(KEY);
    expect(stderr).toMatch(/Name +mobile app\n[^]*Project +default\nExpires +never\n/);
    expect(stderr).not.toContain(alone(stdout));
    expect(await statusWith(alone(stdout))).toBe(200);
    expect(await readKeys()).toContainEqual(
      expect.objectContaining({ name: "mobile app", scopes: ["messages:read"], project: "default", revokedAt: null }),
    );
    expect((await run("keys", "list")).stdout).not.toContain(alone(stdout));
  });

  test("create accepts scopes, expiry and rate limit", async () => {
    const options = ["--scope", "kb:write", "--scope", "messages:*", "--rate-limit", "none"];
    const item = await makeKey("create", "importer", ...options, "--expires", "2999-01-31");
    expect(item).toMatchObject({
      scopes: ["kb:write", "messages:*"],
      expiresAt: "2999-01-31T00:00:00.000Z",
      rateLimit: null,
      key: expect.stringMatching(KEY),
    });
    const soon = await makeKey("create", "soon", "--scope", "kb:read", "--expires", "90d", "--rate-limit", "5");
    expect(soon.rateLimit).toBe(5);
    expect(Date.parse(soon.expiresAt ?? "")).toBeGreaterThan(Date.now() + 89 * 86_400_000);
  });

  test.each([
    ["a day that no calendar has", ["--expires", "2999-02-30"], "expiresAt"],
    ["an expiry that is over", ["--expires", "2020-01-31"], "future"],
    ["a project that does not exist", ["--project", "nowhere"], "nowhere"],
  ])("create rejects %s", async (_, options, reason) => {
    expect(await run("keys", "create", "refused", "--scope", "kb:read", ...options)).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining(reason),
    });
  });

  test("import reads a key from standard input or a file, and never shows it", async () => {
    const legacy = "legacy key, of any form: ключ";
    const piped = await runWithInput(`${legacy}\n`, "keys", "import", "legacy app", "--scope", "messages:read");
    expect(piped).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Imported\.\nName +legacy app\n/) });
    expect(piped.stdout + piped.stderr).not.toContain(legacy);
    expect(await statusWith(Buffer.from(legacy).toString("latin1"))).toBe(200);

    const again = await runWithInput(legacy, "keys", "import", "again", "--scope", "messages:read");
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("already exists") });
    const file = join(await makeFolder(), "key.txt");
    await writeFile(file, "another-legacy-key-0123456789\n");
    const fromFile = await run("keys", "import", "from a file", "--scope", "messages:read", "--key-file", file);
    expect(fromFile.code).toBe(0);
    expect(await statusWith("another-legacy-key-0123456789")).toBe(200);

    const short = await runWithInput("too-short", "keys", "import", "short", "--scope", "messages:read");
    expect(short).toMatchObject({ code: 1, stderr: expect.stringContaining("16 characters") });
  });

  test("revoke revokes a key by its prefix or its id; list hides it unless --all", async () => {
    const [one, other] = [
      await makeKey("create", "by its prefix", "--scope", "messages:read"),
      await makeKey("create", "by its ID", "--scope", "messages:read"),
    ];
    expect((await run("keys", "revoke", `${one.prefix}…`)).stdout).toContain("Revoked: by its prefix");
    expect((await run("keys", "revoke", other.id)).stdout).toContain("Revoked: by its ID");
    for (const { key = "" } of [one, other]) await statusOf(key, 401);

    const shown = (await readKeys()).map(({ id }) => id);
    const all = await readKeys("--all");
    for (const { id } of [one, other]) {
      expect(shown).not.toContain(id);
      expect(all).toContainEqual(expect.objectContaining({ id, revokedAt: expect.any(String) }));
    }
  });

  test("rotate creates a key with the same scopes; the old one works during the overlap", async () => {
    const old = await makeKey("create", "rotated", "--scope", "messages:read", "--rate-limit", "77");
    const overlapping = await run("keys", "rotate", old.prefix);
    expect(overlapping.stderr).toContain("The old key is valid until ");
    const newKey = alone(overlapping.stdout);
    expect(newKey).toMatch(KEY);
    expect(newKey).not.toBe(old.key);
    expect([await statusWith(newKey), await statusWith(old.key ?? "")]).toEqual([200, 200]);

    const [current] = (await readKeys()).filter(({ name }) => name === "rotated");
    expect(current).toMatchObject({ scopes: ["messages:read"], project: "default", rateLimit: 77 });
    const atOnce = await makeKey("rotate", current?.id ?? "", "--overlap", "0");
    expect(await statusWith(atOnce.key ?? "")).toBe(200);
    await statusOf(newKey, 401);
  });

  test("an ambiguous prefix is rejected, and a whole key is not repeated", async () => {
    expect(await run("keys", "revoke", "svc_")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Several keys have this prefix; specify the ID:[^]*first administrator/),
    });
    const whole = `svc_${"0123456789".repeat(4)}`;
    const { code, stderr } = await run("keys", "revoke", whole);
    expect(code).toBe(2);
    expect(stderr).toContain("never by the key itself");
    expect(stderr).not.toContain("0123");
  });

  test("a hostile name is escaped for the terminal", async () => {
    const { code } = await run("keys", "create", "evil \u202egnp", "--scope", "messages:read");
    expect(code).toBe(0);
    const { stdout } = await run("keys", "list");
    expect(stdout).toContain("evil <U+202E>gnp");
    expect(stdout).not.toContain("\u202e");
  });
});

/** Sends a message whose reply arrives as a callback, and waits for it. */
async function receiveCallback(path: string, timeoutMs = 30_000): Promise<ReceivedRequest> {
  const key = alone(await readFile(join(instance.env.SVC_DATA_DIR, "cli-key"), "utf8"));
  const json = { text: "How do I send a message over the HTTP API?", mode: "webhook", webhookUrl: receiver.url(path) };
  const { status, body } = await callApi(`${instance.url}/api/v1/messages`, { key, json });
  expect({ status, body }).toMatchObject({ status: 202 });
  return receiver.next((request) => request.path === path, { what: "the callback", timeoutMs });
}

/** Writes a callback into files, like a request log. */
async function keep({ headers, body }: ReceivedRequest): Promise<{ bodyFile: string; headersFile: string }> {
  const folder = await makeFolder();
  const [bodyFile, headersFile] = [join(folder, "body.json"), join(folder, "headers.txt")];
  await writeFile(bodyFile, body);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  await writeFile(headersFile, `POST /hook HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
  return { bodyFile, headersFile };
}

describe("deliveries", () => {
  test("list is empty in a project without any", async () => {
    expect((await run("deliveries", "list", "--state", "dead")).stdout).toBe("There are no dead deliveries.\n");
    expect((await run("deliveries", "replay", "--all-dead")).stdout).toBe("There are no dead deliveries.\n");
  });

  test("dead ones are listed with their attempts, reported by the doctor, and replayed one by one or all at once", async () => {
    // Delivery to a receiver that no longer exists (410) is abandoned immediately.
    receiver.answerWith({ status: 410 });
    for (const path of ["/gone/1", "/gone/2", "/gone/3?evil=%1b"]) await receiveCallback(path);
    const dead = await waitFor(
      async () => {
        const items = await readDeliveries("--state", "dead");
        return items.length === 3 && items;
      },
      { what: "three dead deliveries" },
    );
    expect(dead[0]).toMatchObject({ url: receiver.url("/gone/3?evil=%1b"), attempts: [{ status: 410 }] });
    const { stdout } = await run("deliveries", "list");
    expect(stdout).toMatch(/^DELIVERY +STATE +CALLBACK OR EVENT, AND ATTEMPTS\n/);
    expect(stdout).toMatch(/ dead +message\.completed of [^]*\n +http:\/\/127\.0\.0\.1:\d+\/gone\/1\n +1 attempt at /);
    const doctor = await run("doctor");
    expect(doctor.stdout).toMatch(
      /warn +Dead deliveries +3 callbacks could not be delivered\n.*deliveries list --state dead/,
    );
    expect(doctor.code).toBe(0);

    const page = await runJson("deliveries", "list", "--state", "dead", "--limit", "2");
    const { nextCursor } = page.document as { nextCursor: string };
    expect((await readDeliveries("--state", "dead", "--cursor", nextCursor)).map(({ id }) => id)).toEqual([
      dead[2]?.id,
    ]);

    receiver.answerWith({ status: 204 });
    const [newest] = dead;
    const one = await runJson("deliveries", "replay", newest?.id ?? "");
    expect(one).toMatchObject({ code: 0, document: { replayed: [newest?.id] } });
    await receiver.next(({ headers }) => headers["x-svc-delivery"] === newest?.id && headers["x-svc-attempt"] === "2");
    const all = await runJson("deliveries", "replay", "--all-dead");
    expect(all).toMatchObject({ code: 0, document: { replayed: [dead[2]?.id, dead[1]?.id] } });
    await waitFor(async () => (await readDeliveries()).every(({ state }) => state === "delivered"), {
      what: "all to be delivered",
    });
  });

  test("replay of one that does not exist ends with exit code 1", async () => {
    const unknown = "01890a5d-ac96-774b-bcce-b302099a8057";
    expect(await runJson("deliveries", "replay", unknown)).toMatchObject({
      code: 1,
      document: { error: { code: "not_found" } },
    });
  });
});

describe("webhook", () => {
  const verify = (secret: string, ...args: string[]) =>
    svcWithin({ SVC_WEBHOOK_SECRET: secret }, "", "webhook", "verify", ...args);

  test("doctor hints at a missing secret without an error", async () => {
    const { stdout, code } = await run("doctor");
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /ok +Webhook secret +not set: callbacks are signed with the API key .*\n +Hint: .*--generate/,
    );
  });

  test("secret --generate prints only the secret, once; the running service signs with it, and verify accepts that", async () => {
    const { stdout, stderr, code } = await run("webhook", "secret", "--generate");
    const secret = alone(stdout);
    expect(code).toBe(0);
    expect(secret).toMatch(SECRET);
    expect(stderr).not.toContain(secret);
    expect((await run("doctor")).stdout).toMatch(/ok +Webhook secret +set\n/);

    await waitFor(
      async () => {
        const { bodyFile, headersFile } = await keep(await receiveCallback("/generated"));
        return (await verify(secret, bodyFile, "--headers-file", headersFile)).code === 0;
      },
      { what: "the new secret to sign" },
    );
  });

  test("after secret --from-stdin both secrets verify during the overlap, and a wrong one does not", async () => {
    const old = alone((await run("webhook", "secret", "--generate")).stdout);
    const set = await runWithInput("the new secret of ours\n", "webhook", "secret", "--from-stdin", "--overlap", "1h");
    expect(set).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("also signs until ") });

    const callback = await waitFor(
      async () => {
        const received = await receiveCallback("/rotated");
        const { bodyFile, headersFile } = await keep(received);
        const { code } = await verify("the new secret of ours", bodyFile, "--headers-file", headersFile);
        return code === 0 && { received, bodyFile, headersFile };
      },
      { what: "the new secret to sign" },
    );
    const { received, bodyFile, headersFile } = callback;
    expect(await verify(old, bodyFile, "--headers-file", headersFile)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^valid: .*\n.*rotation/),
    });
    expect(await verify("a wrong secret", bodyFile, "--headers-file", headersFile)).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^not valid: The signature does not match/),
    });
    const signature = received.headers["x-svc-signature"] ?? "";
    const secretFile = join(await makeFolder(), "secret.txt");
    await writeFile(secretFile, "the new secret of ours\n");
    const bySignature = ["--signature", signature, "--secret-file", secretFile];
    expect((await svcWithin({}, "", "webhook", "verify", bodyFile, ...bySignature)).code).toBe(0);
    await writeFile(bodyFile, JSON.stringify(JSON.parse(received.body.toString("utf8")), null, 2));
    expect(await svcWithin({}, "", "webhook", "verify", bodyFile, ...bySignature)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("before it was parsed and serialized again"),
    });
  });

  test("verify reads the body from standard input, and rejects a callback that is too old", async () => {
    const standard = ["--id", "0193", "--timestamp", "1", "--standard-signature", `v1,${"A".repeat(43)}=`];
    const args = ["webhook", "verify", ...standard];
    const { code, stdout } = await svcWithInput({ SVC_WEBHOOK_SECRET: "secret" }, BODY, ...args);
    expect({ code, stdout }).toMatchObject({ code: 1, stdout: expect.stringContaining("The callback is too old") });
  });

  test("doctor warns about projects with the same secret, whose receivers could sign for each other", async () => {
    await run("projects", "create", "same-secret");
    await runWithInput("a secret that two projects share\n", "webhook", "secret", "--from-stdin");
    const project = ["--project", "same-secret"];
    await runWithInput("a secret that two projects share\n", "webhook", "secret", "--from-stdin", ...project);
    const { stdout, code } = await run("doctor");
    expect(code).toBe(0);
    expect(stdout).toMatch(/warn +Webhook secret +.*default, same-secret.* have the same secret: /);
    expect(stdout).not.toContain("a secret that two");
    await run("webhook", "secret", "--generate", ...project);
    expect((await run("doctor")).stdout).not.toContain("have the same secret");
  });

  test("secret --clear and an invalid secret", async () => {
    expect(await runJson("webhook", "secret", "--clear")).toEqual({
      code: 0,
      document: { ok: true, isSet: false, previousUntil: null },
    });
    // Replicas reload the settings within a second; messages accepted earlier would have no secret to sign with.
    const key = alone(await readFile(join(instance.env.SVC_DATA_DIR, "cli-key"), "utf8"));
    await waitFor(
      async () => {
        const { bodyFile, headersFile } = await keep(await receiveCallback("/cleared", 2_000));
        return (await verify(key, bodyFile, "--headers-file", headersFile)).code === 0;
      },
      { what: "the key to sign again" },
    );
    const bad = await runWithInput("whsec_planted.no.base64", "webhook", "secret", "--from-stdin");
    expect(bad).toMatchObject({ code: 1, stdout: "" });
    expect(bad.stderr).not.toContain("planted");
    expect((await run("doctor")).stdout).toContain("not set");
  });
});

test("the model server is tested, set, shown and removed; its key is read from standard input and never shown", async () => {
  const url = "http://127.0.0.1:9/v1";
  const tested = await run("models", "set-server", url, "--model", "qwen3:8b", "--test");
  expect([tested.code, tested.stdout]).toEqual([1, expect.stringContaining("unreachable")]);
  expect((await run("models", "server")).stdout).toContain("No model server is set here.");
  const set = await runWithInput("sk-planted\n", "models", "set-server", url, "--model", "qwen3:8b", "--key-file", "-");
  expect([set.code, set.stdout]).toEqual([0, expect.stringContaining(`${url} (openai, with an API key)`)]);
  expect(set.stdout + set.stderr).not.toContain("sk-planted");
  expect((await run("models", "server")).stdout).toMatch(/^Model +qwen3:8b$/m);
  expect((await run("models", "remove-server")).stdout).toContain("No model server is set here.");
});

describe("operators", () => {
  interface Operator {
    id: string;
    email: string;
    roles: { project: string; role: string }[];
    hasPassword: boolean;
  }
  const readOperators = () => read((document) => (document as { items: Operator[] }).items, "operators", "list");

  test("are created with roles and a password from standard input, and listed", async () => {
    const roles = ["--role", "*:administrator", "--role", "default:viewer"];
    const make = ["operators", "create", "Ann@example.com", "--name", "Ann", ...roles, "--password"];
    const made = await runWithInput("correct horse battery\n", ...make);
    expect({ code: made.code, shown: /correct horse|scrypt/.test(made.stdout + made.stderr) }).toEqual({
      code: 0,
      shown: false,
    });
    expect(await readOperators()).toMatchObject([
      {
        email: "Ann@example.com",
        roles: [
          { project: "*", role: "administrator" },
          { project: "default", role: "viewer" },
        ],
        hasPassword: true,
      },
    ]);
    const { stdout } = await run("operators", "list");
    for (const part of ["Ann@example.com", "*:administrator", "active"]) expect(stdout).toContain(part);
  });

  test("get a new password from standard input, found by their email address in any case", async () => {
    const short = await runWithInput("short\n", "operators", "password", "ann@EXAMPLE.com");
    expect([short.code, short.stderr]).toEqual([1, expect.stringContaining("must have 12 to 200 characters")]);
    expect((await runWithInput("another long password\n", "operators", "password", "ann@EXAMPLE.com")).code).toBe(0);
  });

  test("choose their emails, and a test email needs a mail server", async () => {
    const named = ["operators", "notifications", "ann@example.com"];
    const { stdout } = await run(...named, "--on", "digest", "--off", "mentioned", "--quiet", "20:00-07:00");
    expect(stdout).toMatch(/assigned, slaBreached, digest\n/);
    expect(stdout).toContain("20:00-07:00");
    expect((await run(...named, "--no-quiet")).stdout).toMatch(/Quiet hours\s+none/);
    expect((await run(...named)).stdout).toMatch(/assigned, slaBreached, digest\n/);
    expect((await run("email", "test", "ann@example.com")).stderr).toContain("SVC_SMTP_URL");
  });

  test("are removed, except the last administrator of all projects", async () => {
    const last = await run("operators", "remove", "ann@example.com", "--yes");
    expect([last.code, last.stderr]).toEqual([1, expect.stringContaining("at least one other administrator")]);
    await run("operators", "create", "ben@example.com", "--name", "Ben", "--role", "*:administrator");
    expect((await run("operators", "remove", "ann@example.com", "--yes")).stdout).toBe("Removed: Ann.\n");
    expect((await readOperators()).map(({ email }) => email)).toEqual(["ben@example.com"]);
  });

  test("are renamed, get other roles, are disabled and enabled", async () => {
    await run("operators", "create", "eve@example.com", "--name", "Eve", "--role", "default:viewer");
    const roles = ["--role", "default:operator", "--role", "*:viewer"];
    const changed = await run("operators", "change", "eve@example.com", "--name", "Eva", ...roles, "--disable");
    expect([changed.code, changed.stdout]).toEqual([0, expect.stringMatching(/Eva[^]*disabled/)]);
    const [eve] = await readOperators();
    expect(eve?.roles).toEqual([
      { project: "*", role: "viewer" },
      { project: "default", role: "operator" },
    ]);
    const again = await run("operators", "change", "eve@example.com", "--enable", "--no-role");
    expect(again.stdout).toMatch(/Eva[^]*none[^]*no password/);
    expect((await run("operators", "change", "eve@example.com")).code).toBe(2);
  });

  test("an unknown role is a usage error, and an unknown operator is not", async () => {
    const wrong = await run("operators", "create", "a@example.com", "--name", "A", "--role", "shop:boss");
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("administrator, operator, viewer")]);
    expect((await run("operators", "remove", "nobody@example.com", "--yes")).code).toBe(1);
  });
});

test("commands work on the data of a stopped service, and channels list shows that nothing runs", async () => {
  expect((await product.kill("SIGINT")).code).toBe(0);
  const { document } = await svcJson(instance.env, "channels", "list");
  const { items } = document as { items: Channel[] };
  for (const id of ["api", "widget"]) {
    expect(items).toContainEqual(expect.objectContaining({ id, enabled: true, state: "not_running", detail: null }));
  }
  const { stdout } = await svc(instance.env, "channels", "list");
  expect(stdout).toMatch(/\napi +yes +\d+ +not running\n/);
});
