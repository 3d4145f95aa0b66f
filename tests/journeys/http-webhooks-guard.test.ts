import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Project } from "@svc/store";
import { startWebhookReceiver, queryDatabase } from "@svc/testing";
import type { WebhookReceiver } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callbackView } from "./support/callback-view.ts";
import type { CallbackView } from "./support/callback-view.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const FIXED = "This is always the answer.";
/** Matches an IPv4 address, or part of one in an IPv6 address. */
const ANY_ADDRESS = /\d{1,3}(?:\.\d{1,3}){3}|::/;

let product: Product;
let api: ApiClient;
let receiver: WebhookReceiver;
let project: Project;
let callbacks: CallbackView;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  project = await addProject(product.store, "guard", { fixedReply: FIXED });
  callbacks = callbackView(product, project.id);
});

afterAll(() => product?.stop());

beforeEach(async () => {
  receiver = await startWebhookReceiver();
});

afterEach(() => receiver.close());

const send = (webhookUrl: unknown, chatId: string = randomUUID()) =>
  api.send("guard", { text: "hello", chatId, webhookUrl });
const deliveryIdOf = ({ body }: ApiAnswer) => (body as { deliveryId: string }).deliveryId;

/** Checks that a URL is rejected with the message: with a reason, without addresses, and nothing is stored. */
async function expectForbidden(webhookUrl: string): Promise<void> {
  const answer = await send(webhookUrl);
  expectProblem(answer, "invalid_request", ["/webhookUrl"]);
  expect(answer.body.errors).toEqual([
    {
      pointer: "/webhookUrl",
      code: "forbidden_address",
      detail: expect.stringMatching(/^is not allowed\. [A-Z].*[^.]$/),
    },
  ]);
  for (const text of [answer.body.detail, answer.body.errors?.[0]?.detail]) expect(text).not.toMatch(ANY_ADDRESS);
}

describe("a forbidden webhookUrl is rejected with the message", () => {
  test.each([
    ["no URL", ["", "hook", "/hook", "//example.com/hook", "example.com", "http://", "http:///x"]],
    [
      "another scheme",
      ["ftp://example.com/", "file:///etc/passwd", "gopher://example.com/", "data:,x", "ws://example.com/"],
    ],
    [
      "user info",
      [
        "http://user@example.com/",
        "http://a:b@example.com/",
        "http://example.com@127.0.0.1/",
        "https://:p@example.com",
      ],
    ],
    ["decimal", ["http://2852039166/", "http://167772161/"]],
    ["hex", ["http://0xa9fea9fe/", "http://0xa.0.0.1/", "http://0x0A000001/"]],
    ["octal", ["http://025177524776/", "http://012.0.0.1/"]],
    ["short forms", ["http://10.1/", "http://192.168.257/", "http://0/"]],
    ["other digits", ["http://１０.０.０.１/", "http://10。0。0。1/", "http://%31%30.0.0.1/", "http://①⓪.0.0.1/"]],
    ["private addresses", ["http://10.0.0.1/", "http://172.16.5.4/", "http://192.168.1.1/", "http://100.64.0.1/"]],
    [
      "unspecified and broadcast",
      ["http://0.0.0.0:9/", "http://[::]:9/", "http://255.255.255.255/", "http://224.0.0.1/"],
    ],
    [
      "mapped IPv6",
      ["http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[::ffff:10.0.0.1]/", "http://[::10.0.0.1]/"],
    ],
    ["other IPv6", ["http://[fd00::1]/", "http://[fe80::1]/", "http://[64:ff9b::a00:1]/", "http://[2002:a00:1::]/"]],
    [
      "trailing dots",
      ["http://10.0.0.1./", "http://169.254.169.254./", "http://redis./", "http://metadata.google.internal./"],
    ],
    [
      "local names",
      [
        "http://redis/",
        "http://postgres:5432/",
        "http://printer.local/",
        "http://db.internal/",
        "http://router.home.arpa/",
      ],
    ],
    [
      "metadata services",
      [
        "http://169.254.169.254/latest/meta-data/",
        "http://[fd00:ec2::254]/",
        "http://metadata.google.internal/",
        "http://100.100.100.200/",
      ],
    ],
    [
      "whitespace and backslashes",
      [" http://10.0.0.1/", "http:\\\\10.0.0.1\\x", "http://10.0.0.1\t/", "http://10.0.\n0.1/"],
    ],
  ])("%s", async (_, urls) => {
    for (const url of urls) await expectForbidden(url);
  });

  test("the product's own ports and servers, under every name of this machine", async () => {
    const { port: apiPort } = new URL(api.baseUrl());
    const { port: databasePort } = new URL(product.databaseUrl);
    for (const port of [apiPort, databasePort || "5432"]) {
      for (const host of [
        "127.0.0.1",
        "localhost",
        "LOCALHOST.",
        "[::1]",
        "127.9.9.9",
        "2130706433",
        "0x7f.1",
        "a.localhost",
      ]) {
        await expectForbidden(`http://${host}:${port}/api/v1/messages`);
      }
    }
  });

  test.each([
    ["a number", 7],
    ["null", null],
    ["a list", ["http://example.com/"]],
    ["an object", {}],
    ["NUL", "http://example.com/\0"],
  ])("and one that is %s is not a valid message either", async (_, webhookUrl) => {
    expectProblem(await send(webhookUrl), "invalid_request", ["/webhookUrl"]);
  });

  test("and nothing of such a message is stored", async () => {
    const chatId = randomUUID();
    expect((await send("http://10.0.0.1/", chatId)).status).toBe(400);
    expect(await queryDatabase(product.databaseUrl, "SELECT 1 FROM chats WHERE chat_id = $1", [chatId])).toEqual([]);
    const rows = await queryDatabase(product.databaseUrl, "SELECT 1 FROM callbacks WHERE url LIKE 'http://10.%'");
    expect(rows).toEqual([]);
  });
});

describe("a webhookUrl of this machine", () => {
  test.each(["127.0.0.1", "localhost", "2130706433", "0x7f000001", "0177.0.0.1", "127.1"])(
    "may be called under each of its names while every port is bound to loopback: %s",
    async (host) => {
      const answer = await send(receiver.url("/hook").replace("127.0.0.1", host));
      expect(answer.status).toBe(202);
      await receiver.next();
    },
  );
});

describe("a redirect", () => {
  test("to a forbidden address is not followed", async () => {
    const other = await startWebhookReceiver();
    for (const location of [other.url(), "http://169.254.169.254/", `${api.baseUrl()}/api/v1/messages`]) {
      receiver.answerWith({ status: 307, headers: { Location: location } });
      const answer = await send(receiver.url());
      const failed = await callbacks.untilTried(deliveryIdOf(answer), 1);
      expect(failed.attempts).toMatchObject([{ status: 307, error: "redirects are not followed" }]);
    }
    expect(other.requests).toEqual([]);
    await other.close();
  });
});

describe("if other machines can reach the service", () => {
  test.each([
    ["by a proxy", { SVC_TRUST_PROXY: "127.0.0.1" }],
    ["on every interface", { SVC_BIND_HOST: "0.0.0.0" }],
  ])("%s, this machine is no longer called: neither for new messages nor for earlier ones", async (_, env) => {
    receiver.answerWith({ status: 500 });
    const before = await send(receiver.url());
    await callbacks.untilTried(deliveryIdOf(before), 1);
    await product.restart(env);
    const count = receiver.requests.length;

    for (const host of ["127.0.0.1", "localhost", "[::1]", "2130706433"]) {
      await expectForbidden(receiver.url().replace("127.0.0.1", host));
    }
    await callbacks.hurry(deliveryIdOf(before));
    const { attempts, state } = await callbacks.untilTried(deliveryIdOf(before), 2);
    expect(state).toBe("pending");
    expect(attempts[1]).toMatchObject({
      status: null,
      error: expect.stringMatching(/^the host name does not resolve to a public address/),
    });
    expect(attempts[1]?.error).not.toMatch(ANY_ADDRESS);
    expect(receiver.requests).toHaveLength(count);

    // Unless the administrator has allowed it; the product's own ports stay forbidden.
    await product.restart({ ...env, SVC_WEBHOOK_ALLOW: "127.0.0.1" });
    receiver.answerWith({ status: 204 });
    const allowed = await send(receiver.url());
    expect(allowed.status).toBe(202);
    await callbacks.untilIn(deliveryIdOf(allowed), "delivered");
    await expectForbidden(`${api.baseUrl()}/api/v1/health`);
    await expectForbidden(receiver.url().replace("127.0.0.1", "127.0.0.2"));
    await product.restart({});
  });
});
