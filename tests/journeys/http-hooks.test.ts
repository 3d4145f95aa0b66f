import { createHmac } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { HOOK_LIMITS, hookBodySchema } from "@svc/contracts";
import type { HookSecretItem } from "@svc/contracts";
import { newId } from "@svc/store";
import type { Project } from "@svc/store";
import { startWebhookReceiver, waitFor, queryDatabase } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { createHookClient, hookSample } from "./support/create-hook-client.ts";
import type { HookClient } from "./support/create-hook-client.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { callbackOf, expectSigned } from "./support/expect-signed.ts";
import { HOOK_SIGNERS } from "./support/sign-hook-call.ts";
import type { SignHookCall } from "./support/sign-hook-call.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const REPLY = "Thank you, this was noted.";
const SECRET = "a-secret-that-the-platform-has-made";
const CALLBACK_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

let product: Product;
let api: ApiClient;
let hooks: HookClient;
let project: Project;

beforeAll(async () => {
  product = await startProduct({ env: { SVC_TRUST_PROXY: "127.0.0.1,::1", SVC_WEBHOOK_ALLOW: "127.0.0.1" } });
  api = createApiClient(product);
  hooks = createHookClient(product, "hooks");
  project = await addProject(product.store, "hooks", { fixedReply: REPLY });
});

afterAll(() => product?.stop());

interface StoredMessage {
  id: string;
  text: string;
  user_id: string | null;
  mode: string;
  channel_meta: Record<string, unknown>;
}

/** Returns the messages of a hook, oldest first. */
const messagesOf = (hookId: string) =>
  queryDatabase<StoredMessage>(
    product.databaseUrl,
    `SELECT id, text, user_id, mode, channel_meta FROM messages
     WHERE project_id = $1 AND channel_meta ->> 'hookId' = $2 ORDER BY id`,
    [project.id, hookId],
  );
const namesOf = ({ body }: ApiAnswer) => body as { chatId: string; ticketId: string; messageId: string };
const itemOf = ({ body }: ApiAnswer) => (body as unknown as { item: HookSecretItem }).item;

/** Checks the response to an accepted event; returns its ids. */
function expectQueued(answer: ApiAnswer): { chatId: string; ticketId: string; messageId: string } {
  expect({ status: answer.status, body: answer.body }).toEqual({
    status: 202,
    body: {
      ok: true,
      mode: "async",
      status: "queued",
      chatId: expect.any(String),
      ticketId: expect.any(String),
      messageId: expect.any(String),
      drainUrl: expect.stringMatching(/^\/api\/v1\/messages\//),
    },
  });
  expect(answer.headers.get("location")).toBe(answer.body.drainUrl);
  expect(answer.headers.get("ratelimit-policy")).toBe('"default";q=120;w=60');
  expect(answer.headers.get("x-svc-project")).toBe("hooks");
  return namesOf(answer);
}

interface Platform {
  preset: "github" | "stripe" | "typeform" | "shopify";
  sample: string;
  sign: SignHookCall;
  headers: Record<string, string>;
  /** Header or field that must differ for another event. */
  chatId: string;
  userId: string;
  text: string;
  meta: Record<string, unknown>;
}

const GITHUB_URL = "https://github.com/octo-org/octo-repo/issues/1347";
const PLATFORMS: Record<string, Platform> = {
  "GitHub issues": {
    preset: "github",
    sample: "github-issues-opened",
    sign: HOOK_SIGNERS.github,
    headers: { "X-GitHub-Event": "issues", "X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958" },
    chatId: "github:octo-org/octo-repo#1347",
    userId: "monalisa",
    text: "Spelling error in the README file\n\nIt looks like you accidentally spelled “commit” with two ‘t’s.\r\n\r\nSteps: open the README, line 12. 😀",
    meta: {
      event: "issues",
      action: "opened",
      repository: "octo-org/octo-repo",
      issue: 1347,
      url: GITHUB_URL,
      labels: ["bug", "documentation"],
    },
  },
  "GitHub issue_comment": {
    preset: "github",
    sample: "github-issue-comment-created",
    sign: HOOK_SIGNERS.github,
    headers: { "X-GitHub-Event": "issue_comment", "X-GitHub-Delivery": "8ab0c3f0-cc78-11e3-9d2c-4c9367dc0958" },
    chatId: "github:octo-org/octo-repo#1347",
    userId: "hubot-fan",
    text: "Same here. When will `v2.1` be out?",
    meta: {
      event: "issue_comment",
      action: "created",
      repository: "octo-org/octo-repo",
      issue: 1347,
      url: `${GITHUB_URL}#issuecomment-2497412087`,
    },
  },
  "Stripe checkout.session.completed": {
    preset: "stripe",
    sample: "stripe-checkout-session-completed",
    sign: HOOK_SIGNERS.stripe,
    headers: { "User-Agent": "Stripe/1.0 (+https://stripe.com/docs/webhooks)" },
    chatId: "stripe:cus_RGc2sPH8lMkBnQ",
    userId: "cus_RGc2sPH8lMkBnQ",
    text: "checkout.session.completed: 4998 eur, paid (cs_test_a1YS1URlnyQCN5fUUduORoQ7Pw41PJqDWkIVQCpJPqkfIhd6tVY8XB1OLY)",
    meta: {
      event: "checkout.session.completed",
      object: "cs_test_a1YS1URlnyQCN5fUUduORoQ7Pw41PJqDWkIVQCpJPqkfIhd6tVY8XB1OLY",
      livemode: false,
      amount: 4998,
      currency: "eur",
      email: "jenny.rosen@example.com",
    },
  },
  "Stripe charge.dispute.created": {
    preset: "stripe",
    sample: "stripe-charge-dispute-created",
    sign: HOOK_SIGNERS.stripe,
    headers: {},
    chatId: "stripe:ch_3QNx2i2eZvKYlo2C1K3mNwqJ",
    userId: "",
    text: "charge.dispute.created: 4998 eur, reason product_not_received (du_1QNyB32eZvKYlo2CnTOcXQ9N)",
    meta: {
      event: "charge.dispute.created",
      object: "du_1QNyB32eZvKYlo2CnTOcXQ9N",
      livemode: false,
      amount: 4998,
      currency: "eur",
    },
  },
  "Typeform form_response": {
    preset: "typeform",
    sample: "typeform-form-response",
    sign: HOOK_SIGNERS.typeform,
    headers: {},
    chatId: "typeform:a3a12ec67a1365927098a606107fac15",
    userId: "u-5521",
    text: "Can I export my tickets as CSV?\nlaura@example.com\nTeam\nWidget, API\ntrue\n12",
    meta: {
      form: "lT4Z3j",
      title: "Ask us anything",
      submittedAt: "2026-11-19T18:17:46Z",
      hidden: { user_id: "u-5521", utm_source: "newsletter" },
    },
  },
  "Shopify orders/create": {
    preset: "shopify",
    sample: "shopify-orders-create",
    sign: HOOK_SIGNERS.shopify,
    headers: {
      "X-Shopify-Topic": "orders/create",
      "X-Shopify-Shop-Domain": "nordwind.myshopify.com",
      "X-Shopify-Webhook-Id": "b54557e4-bdd9-4b37-8a5f-bf7d70bcd043",
      "X-Shopify-Event-Id": "98880550-7158-44d4-b7cd-2c97c8a091b5",
    },
    chatId: "shopify:7418267099328",
    userId: "jon@example.com",
    text: "Order #1042: Please ring twice, and can I change the size to L?\nIPod Nano - 8 GB\nT-Shirt - M / blue",
    meta: {
      topic: "orders/create",
      shop: "nordwind.myshopify.com",
      order: 5838294720512,
      total: "79.00",
      currency: "EUR",
    },
  },
};

describe.each(Object.entries(PLATFORMS))("%s", (_name, { preset, sample, sign, headers, ...wanted }) => {
  const body = hookSample(sample);
  let hook: HookSecretItem;

  beforeAll(async () => {
    hook = await hooks.make({ preset, secret: SECRET });
  });

  test("202: a signed event is one message, however often and from wherever it is sent, and its reply is in the drain", async () => {
    const signed = () => ({ body, headers: { ...headers, ...sign(SECRET, body) } });
    const parallel = await Promise.all([0, 1, 0, 1].map((replica) => hooks.post(hook.url, { ...signed(), replica })));
    const again = await hooks.post(hook.url, signed());
    const all = [...parallel, again].map(expectQueued);
    expect(new Set(all.map((names) => JSON.stringify(names))).size).toBe(1);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(parallel.filter((answer) => answer.headers.get("idempotent-replayed") === null)).toHaveLength(1);

    const { userId, text, meta, chatId } = wanted;
    const user = userId === "" ? {} : { userId };
    const [message, ...more] = await messagesOf(hook.id);
    expect(more).toEqual([]);
    expect(message).toEqual({
      id: all[0]?.messageId,
      text,
      user_id: userId === "" ? null : userId,
      mode: "async",
      channel_meta: { ...meta, ...user, origin: "hook", hookId: hook.id },
    });
    expect(all[0]?.chatId).toBe(chatId);
    const reply = await waitFor(
      async () => {
        const { replies } = await api.drain("hooks", chatId, "?after=0&wait=1000");
        return replies.find(({ inReplyTo }) => inReplyTo === message?.id) ?? null;
      },
      { what: "the reply to the event" },
    );
    expect(reply).toMatchObject({ text: REPLY });
  });

  test("401: a forged, changed or unsigned body is rejected and not stored", async () => {
    const { id, url } = await hooks.make({ preset, secret: SECRET });
    const right = sign(SECRET, body);
    const changed = body.replace("{", "{ ");
    const forged: Record<string, string>[] = [
      sign("another-secret-that-is-as-long-xxxxx", body),
      sign(SECRET, changed),
      {},
      ...(preset === "stripe" ? [-301_000, 400_000].map((ms) => sign(SECRET, body, new Date(Date.now() + ms))) : []),
    ];
    for (const signature of forged) {
      const answer = await hooks.post(url, { body, headers: { ...headers, ...signature } });
      expectProblem(answer, "invalid_signature");
      expect(answer.headers.get("www-authenticate")).toBe('Hook realm="svc"');
    }
    expectProblem(await hooks.post(url, { body: changed, headers: { ...headers, ...right } }), "invalid_signature");
    expect([await messagesOf(id), await hooks.bodies(id)]).toEqual([[], []]);
  });
});

describe("proof", () => {
  const body = JSON.stringify({ text: "hello" });
  const mapping = { text: "{{$.text}}" };

  test("202: accepts Standard Webhooks signed by the reference library, plain HMACs in any header, and generated secrets", async () => {
    const standard = await hooks.make({ auth: { type: "standard-webhooks" }, mapping });
    expect(standard.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const signed = HOOK_SIGNERS["standard-webhooks"](standard.secret ?? "", body);
    expectQueued(await hooks.post(standard.url, { body, headers: signed }));
    const old = HOOK_SIGNERS["standard-webhooks"](standard.secret ?? "", body, new Date(Date.now() - 301_000));
    expectProblem(await hooks.post(standard.url, { body, headers: old }), "invalid_signature");

    const plain = await hooks.make({
      auth: { type: "hmac", header: "X-Sig", algorithm: "sha1", encoding: "base64", prefix: "v=" },
      mapping,
    });
    const mac = createHmac("sha1", plain.secret ?? "")
      .update(body)
      .digest("base64");
    expectQueued(await hooks.post(plain.url, { body, headers: { "x-sig": `v=${mac}` } }));
    expectProblem(await hooks.post(plain.url, { body, headers: { "x-sig": mac } }), "invalid_signature");
  });

  test("202: a secret in the path is enough, and no response contains it", async () => {
    const { id, url, secret = "" } = await hooks.make({ mapping });
    expect(url).toBe(`/api/v1/hooks/${id}/${secret}`);
    expectQueued(await hooks.post(url, { body }));
    const answer = await hooks.post(url, { body: "{" });
    expectProblem(answer, "invalid_json");
    expect(answer.text).not.toContain(secret);
    for (const wrong of [`/api/v1/hooks/${id}`, `${url}x`, `/api/v1/hooks/${id}/${secret.toUpperCase()}`]) {
      expectProblem(await hooks.post(wrong, { body }), "invalid_signature");
    }
  });

  test("401 and 404: no path of hooks is repeated, wherever it contains a secret", async () => {
    const { url, secret = "" } = await hooks.make({ mapping });
    for (const path of [`${url}/more`, `${url}/`, `/api/v1/hooks//${secret}/x`, `${url}%E0%A4%A`]) {
      for (const headers of [{}, { authorization: `Bearer ${product.adminKey}` }]) {
        const answer = await hooks.post(path, { body, headers });
        expect(answer.text).not.toContain(secret);
      }
    }
    const stray = await hooks.post(`${url}/more`, { body, headers: { authorization: `Bearer ${product.adminKey}` } });
    expectProblem(stray, "not_found");
  });

  test("401: an unknown hook has the same response as an invalid signature", async () => {
    const { id } = await hooks.make({ preset: "github" });
    const view = async (path: string, headers: Record<string, string>) => {
      const answer = await hooks.post(path, { body, headers });
      const { requestId, instance, ...problem } = answer.body;
      expect([requestId, instance]).toEqual([expect.any(String), expect.stringMatching(/^\/api\/v1\/hooks\/[^/]+$/)]);
      return { problem, headers: [...answer.headers.keys()].toSorted() };
    };
    const signature = HOOK_SIGNERS.github(SECRET, body);
    const wrong = await view(`/api/v1/hooks/${id}`, signature);
    for (const path of [newId(), "x", "%00", `${newId()}/secret`, `${id}/secret`]) {
      expect(await view(`/api/v1/hooks/${path}`, signature)).toEqual(wrong);
    }
    expect(await view(`/api/v1/hooks/${id}`, {})).toEqual(wrong);
  });

  test("a rotation keeps both secrets during an overlap, or revokes the previous one immediately", async () => {
    const hook = await hooks.make({ preset: "github", secret: SECRET, mapping, filter: [] });
    const send = (secret: string) =>
      hooks.post(hook.url, {
        body,
        headers: { ...HOOK_SIGNERS.github(secret, body), "X-GitHub-Delivery": newId() },
      });
    // The preset's mapping is for issues; this hook accepts any body.
    const reset = { chatId: null, userId: null, meta: null };
    expect((await hooks.admin(`/${hook.id}`, { method: "PATCH", json: { mapping: reset } })).status).toBe(200);
    const rotated = itemOf(await hooks.admin(`/${hook.id}/rotate`, { json: { overlapSeconds: 600 } }));
    const second = rotated.secret ?? "";
    expect(second).toHaveLength(43);
    expect(Date.parse(rotated.previousSecretUntil ?? "")).toBeGreaterThan(Date.now());
    expectQueued(await send(SECRET));
    expectQueued(await send(second));
    const third = itemOf(
      await hooks.admin(`/${hook.id}/rotate`, { json: { secret: `${SECRET}-3`, overlapSeconds: 0 } }),
    );
    expect([third.secret, third.previousSecretUntil]).toEqual([undefined, null]);
    for (const old of [SECRET, second]) expectProblem(await send(old), "invalid_signature");
    expectQueued(await send(`${SECRET}-3`));
  });

  test("secrets are shown once, and stored encrypted", async () => {
    const { id, secret = "" } = await hooks.make({ preset: "form" });
    const listed = await hooks.admin("?limit=200");
    expect(listed.text).toContain(id);
    for (const answer of [listed, await hooks.admin(`/${id}`), await hooks.admin(`/${id}/bodies`)]) {
      expect(answer.text).not.toContain(secret);
      expect(answer.text).not.toContain("sealed");
    }
    const [row] = await queryDatabase<{ row: string }>(
      product.databaseUrl,
      "SELECT h::text AS row FROM hooks h WHERE id = $1",
      [id],
    );
    expect(row?.row).not.toContain(secret);
  });
});

describe("bodies", () => {
  test("202: a form, urlencoded or multipart, is an object of its fields without files", async () => {
    const hook = await hooks.make({
      preset: "form",
      mapping: { meta: { topics: "{{$.topics}}", file: "{{$.file}}" } },
    });
    const { topics, ...fields } = JSON.parse(hookSample("contact-form")) as {
      topics: string[];
      [name: string]: unknown;
    };
    const pairs: [string, string][] = [
      ...Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]),
      ...topics.map((topic): [string, string] => ["topics", topic]),
    ];
    const encoded = new URLSearchParams(pairs).toString();
    const form = new FormData();
    for (const [name, value] of pairs) form.append(name, value);
    form.append("file", new Blob(["%PDF"]), "offer.pdf");
    const multipart = new Response(form);
    const sent = [
      { body: encoded, type: "application/x-www-form-urlencoded" },
      { body: await multipart.text(), type: multipart.headers.get("content-type") ?? "" },
      { body: hookSample("contact-form"), type: "application/vnd.form+json; charset=utf-8" },
    ];
    for (const { body, type } of sent) {
      const { chatId, messageId } = expectQueued(
        await hooks.post(hook.url, { body, headers: { "Content-Type": type } }),
      );
      expect(chatId).toBe(messageId);
    }
    const messages = await messagesOf(hook.id);
    expect(messages).toHaveLength(3);
    for (const { text, user_id, channel_meta } of messages) {
      expect(text).toBe("Do you deliver to Zürich & Genève? 100% sure?\r\nThanks!");
      expect(user_id).toBe("zoe@example.org");
      expect(channel_meta).toEqual({ topics, userId: "zoe@example.org", origin: "hook", hookId: hook.id });
    }
  });

  test("202: JSON in a form with only the field `payload` is parsed, as GitHub sends it", async () => {
    const hook = await hooks.make({ preset: "github", secret: SECRET });
    const body = new URLSearchParams({ payload: hookSample("github-issues-opened") }).toString();
    const headers = {
      "Content-Type": "application/x-www-form-urlencoded",
      "X-GitHub-Event": "issues",
      "X-GitHub-Delivery": newId(),
      ...HOOK_SIGNERS.github(SECRET, body),
    };
    expectQueued(await hooks.post(hook.url, { body, headers }));
  });

  test("202: events that do not match the filter are ignored, such as a ping", async () => {
    const hook = await hooks.make({ preset: "github", secret: SECRET });
    const body = hookSample("github-ping");
    const headers = { "X-GitHub-Event": "ping", "X-GitHub-Delivery": newId(), ...HOOK_SIGNERS.github(SECRET, body) };
    const answer = await hooks.post(hook.url, { body, headers });
    expect([answer.status, answer.body]).toEqual([202, { ok: true, status: "ignored" }]);
    expect(await messagesOf(hook.id)).toEqual([]);
    const [kept] = await hooks.bodies(hook.id);
    expect(kept).toMatchObject({
      outcome: "ignored",
      errors: [],
      messageId: null,
      headers: { "x-github-event": "ping" },
    });
  });

  test("400: a body that cannot be mapped is stored with its errors, and can be replayed with another mapping", async () => {
    const hook = await hooks.make({
      mapping: { text: "{{$.question}}", chatId: "c-{{$.id}}", userId: "{{$.user}}", eventId: "{{$.event}}" },
    });
    const sent = { user: "u-1", event: "e-1", message: "Where is it? \u0000", id: "." };
    const answer = await hooks.post(hook.url, { json: sent });
    expectProblem(answer, "invalid_request", ["/mapping/text"]);
    expect(answer.body.detail).toContain("$.question");
    const [kept] = await hooks.bodies(hook.id);
    expect(hookBodySchema.strict().parse(kept)).toMatchObject({
      outcome: "failed",
      errors: [{ pointer: "/mapping/text", code: "nothing_found" }],
      body: JSON.stringify(sent),
      isCut: false,
      eventId: "e-1",
      messageId: null,
      tries: 1,
    });

    const retry = () => hooks.admin(`/${hook.id}/bodies/${kept?.id}/retry`, { method: "POST" });
    const patch = (mapping: object) => hooks.admin(`/${hook.id}`, { method: "PATCH", json: { mapping } });
    await patch({ text: "{{$.message}}" });
    expect(itemOf(await retry())).toMatchObject({ outcome: "failed", errors: [{ code: "malformed_text" }], tries: 2 });
    await patch({ text: "asked by {{$.user}}" });
    const [first, second] = await Promise.all([retry(), retry()]);
    const tried = itemOf(first) as unknown as { messageId: string };
    expect(tried).toMatchObject({ outcome: "queued", errors: [], chatId: "c-.", eventId: "e-1" });
    expect(itemOf(second)).toMatchObject({ messageId: tried.messageId });
    expect(itemOf(await retry())).toMatchObject({ messageId: tried.messageId });
    const [message, ...more] = await messagesOf(hook.id);
    expect([message?.id, message?.text, more]).toEqual([tried.messageId, "asked by u-1", []]);
    expectProblem(await hooks.admin(`/${hook.id}/bodies/${newId()}/retry`, { method: "POST" }), "not_found");
    const other = await hooks.make({ preset: "form" });
    expectProblem(await hooks.admin(`/${other.id}/bodies/${kept?.id}/retry`, { method: "POST" }), "not_found");
  });

  test("400: truncated and unsupported bodies are rejected with the reason, and stored", async () => {
    const hook = await hooks.make({ preset: "form" });
    const boundary = 'multipart/form-data; boundary="x"';
    const part = '--x\r\nContent-Disposition: form-data; name="message"\r\n\r\nhello\r\n';
    const deep = `${"[".repeat(HOOK_LIMITS.bodyMaxDepth + 1)}${"]".repeat(HOOK_LIMITS.bodyMaxDepth + 1)}`;
    const send = (body: string | Uint8Array<ArrayBuffer>, type: string) =>
      hooks.post(hook.url, { body, headers: { "Content-Type": type } });
    expectProblem(await send('{"message":"a"', "application/json"), "invalid_json");
    expectProblem(await send("", "application/json"), "invalid_json");
    expectProblem(await send(Uint8Array.of(34, 0xff, 34), "application/json"), "invalid_json");
    expectProblem(await send(deep, "application/json"), "invalid_request", [""]);
    expectProblem(await send(part, boundary), "invalid_request", [""]);
    expectProblem(await send(`${part}--x--\r\n`, "multipart/form-data"), "invalid_request", [""]);
    expectProblem(await send("a=b", "application/x-www-form-urlencoded"), "invalid_request", ["/mapping/text"]);
    expectProblem(await send("{}", "text/plain"), "unsupported_media_type");
    expectProblem(await send("{}", "application/json; charset=utf-16"), "unsupported_media_type");
    expectQueued(await send(`${part}--x--\r\n`, boundary));
    const kept = await hooks.bodies(hook.id);
    expect(kept.map(({ outcome }) => outcome)).toEqual(["queued", ...Array.from({ length: 9 }, () => "failed")]);
    expect(kept.every(({ outcome, errors }) => (outcome === "failed") === errors.length > 0)).toBe(true);
  });

  test("413, 415 and 405: a body is at most 1 MB and uncompressed, and a hook only accepts POST", async () => {
    const hook = await hooks.make({ preset: "form" });
    const json = { message: "x".repeat(1_000), rest: "y".repeat(HOOK_LIMITS.bodyMaxBytes - 1_100) };
    expectQueued(await hooks.post(hook.url, { json }));
    const [kept] = await hooks.bodies(hook.id);
    expect([kept?.isCut, kept?.body.length]).toEqual([true, HOOK_LIMITS.shownBodyMaxChars]);
    expectProblem(await hooks.post(hook.url, { json: { ...json, more: "z".repeat(200) } }), "payload_too_large");
    const coded = { json: { message: "a" }, headers: { "Content-Encoding": "gzip" } };
    expectProblem(await hooks.post(hook.url, coded), "unsupported_media_type");
    for (const method of ["GET", "PUT", "DELETE"]) {
      const answer = await hooks.post(hook.url, { method });
      expectProblem(answer, "method_not_allowed");
      expect([answer.headers.get("allow"), answer.headers.has("ratelimit")]).toEqual(["POST", true]);
    }
    expect(await hooks.bodies(hook.id)).toHaveLength(1);
  });

  test("the last 20 are stored, newest first", async () => {
    const hook = await hooks.make({ preset: "form" });
    for (let number = 0; number < HOOK_LIMITS.keptBodies + 3; number++) {
      await hooks.post(hook.url, { json: { message: `number ${number}` } });
    }
    const kept = await hooks.bodies(hook.id);
    const wanted = Array.from({ length: HOOK_LIMITS.keptBodies }, (_, index) => `{"message":"number ${22 - index}"}`);
    expect(kept.map(({ body }) => body)).toEqual(wanted);
  });
});

describe("callbacks", () => {
  test("need a webhook secret, go to the mapped URL with the hook in their meta, and never to a forbidden one", async () => {
    const mapping = { text: "{{$.text}}", webhookUrl: "{{$.callback}}", eventId: "{{$.id}}" };
    expectProblem(await hooks.admin("", { json: { name: "early", mapping } }), "invalid_request", [
      "/mapping/webhookUrl",
    ]);

    const receiver = await startWebhookReceiver();
    try {
      const settings = { webhookSecret: product.store.sealer.seal(CALLBACK_SECRET) };
      await product.store.projects.update(project.id, settings);
      const hook = await hooks.make({ mapping });
      const json = { text: "call me", callback: receiver.url(), id: newId() };
      const answers = await Promise.all([hooks.post(hook.url, { json }), hooks.post(hook.url, { json })]);
      const bodies = answers.map(({ body }) => body as unknown as Record<string, unknown>);
      expect(bodies[0]).toEqual({ ...bodies[1] });
      expect(bodies[0]).toMatchObject({ ok: true, mode: "webhook", status: "queued", deliveryId: expect.any(String) });
      const request = await waitFor(() => receiver.requests[0] ?? null, { what: "the callback" });
      expectSigned(request, CALLBACK_SECRET);
      const callback = callbackOf(request);
      expect(callback).toMatchObject({
        type: "message.completed",
        deliveryId: bodies[0]?.["deliveryId"],
        meta: { origin: "hook", hookId: hook.id },
        replies: [{ text: REPLY }],
      });
      expect(receiver.requests).toHaveLength(1);

      for (const url of ["http://10.0.0.1/", "ftp://example.org/", "http://user@example.org/", "not a URL"]) {
        const refused = await hooks.post(hook.url, { json: { ...json, id: newId(), callback: url } });
        expectProblem(refused, "invalid_request", ["/mapping/webhookUrl"]);
      }
      const { callback: _none, ...quiet } = { ...json, id: newId() };
      expectQueued(await hooks.post(hook.url, { json: quiet }));
    } finally {
      await product.store.projects.update(project.id, { webhookSecret: null });
      await receiver.close();
    }
  });
});

describe("limits", () => {
  test("429: calls are counted by address and hook", async () => {
    const [busy, quiet] = [await hooks.make({ preset: "form" }), await hooks.make({ preset: "form" })];
    const json = { subject: "no message" };
    const send = (url: string, from: string) => hooks.post(url, { json, from, replica: 0 });
    const answers = await Promise.all(Array.from({ length: 125 }, () => send(busy.url, "203.0.113.5")));
    const limited = answers.filter(({ status }) => status === 429);
    expect(limited).toHaveLength(5);
    const [one] = limited;
    if (one === undefined) throw new Error("no call was limited");
    expectProblem(one, "rate_limited");
    expect(one.body.detail).toMatch(
      /^Rate limit exceeded: this hook is limited to 120 requests per minute from one address\. /,
    );
    expect(Number(one.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await send(quiet.url, "203.0.113.5")).status).toBe(400);
    expect((await send(busy.url, "203.0.113.6")).status).toBe(400);
  });

  test("429: invalid signatures are counted by address, and valid ones of that address still work", async () => {
    const hook = await hooks.make({ preset: "form" });
    const from = "203.0.113.7";
    const answers = await Promise.all(
      Array.from({ length: 32 }, () => hooks.post(`/api/v1/hooks/${hook.id}/wrong`, { json: {}, from, replica: 0 })),
    );
    const codes = answers.map(({ body }) => body.code).toSorted((a, b) => String(a).localeCompare(String(b)));
    expect(codes).toEqual([...Array.from({ length: 30 }, () => "invalid_signature"), "rate_limited", "rate_limited"]);
    expectQueued(await hooks.post(hook.url, { json: { message: "still here" }, from }));
    // Signed bodies must be read to be verified, so small ones are still accepted; of all others little is read.
    const signed = await hooks.make({ auth: { type: "github" }, secret: SECRET, mapping: { text: "{{$.text}}" } });
    const post = (text: string, url = signed.url, secret = SECRET) => {
      const body = JSON.stringify({ text });
      return hooks.post(url, { body, headers: HOOK_SIGNERS.github(secret, body), from, replica: 0 });
    };
    const large = "x".repeat(70_000);
    expectQueued(await post("small"));
    for (const url of [signed.url, `/api/v1/hooks/${newId()}`, `${hook.url}x`]) {
      expectProblem(await post(large, url), "rate_limited");
      expectProblem(await post("small", url, "another-secret-of-some-length"), "rate_limited");
    }
    // Other callers are not affected.
    const body = JSON.stringify({ text: "x".repeat(40_000), more: large });
    expectQueued(await hooks.post(signed.url, { body, headers: HOOK_SIGNERS.github(SECRET, body) }));
  });

  test("429: a hook pauses for some seconds after a body that took too long, until the hook is changed", async () => {
    const slow = await hooks.make({
      auth: { type: "path" },
      mapping: { text: "{{$.a[?search(@, '(a*)*(a*)*(a*)*b')]}}" },
    });
    const send = (json: object) => hooks.post(slow.url, { json, replica: 0 });
    expectProblem(await send({ a: ["a".repeat(40)] }), "invalid_request", ["/mapping"]);
    const paused = await send({ a: ["b"] });
    expectProblem(paused, "rate_limited");
    expect(Number(paused.headers.get("retry-after"))).toBeLessThanOrEqual(10);
    expect((await hooks.bodies(slow.id)).map(({ outcome }) => outcome)).toEqual(["failed", "failed"]);
    const mapping = { text: "{{$.a[0]}}" };
    expect((await hooks.admin(`/${slow.id}`, { method: "PATCH", json: { mapping } })).status).toBe(200);
    expectQueued(await send({ a: ["b"] }));
  });
});

test("503: while the channel is disabled an event is rejected and stored, and can be replayed", async () => {
  const hook = await hooks.make({ preset: "form" });
  const send = () => hooks.post(hook.url, { json: { message: "is anybody there?" } });
  await product.store.channelsConfig.setEnabled("api", false);
  try {
    const refused = await waitFor(
      async () => {
        const answer = await send();
        return answer.status === 503 ? answer : null;
      },
      { what: "the channel to stop" },
    );
    expectProblem(refused, "channel_disabled");
  } finally {
    await product.store.channelsConfig.setEnabled("api", true);
  }
  const failed = (await hooks.bodies(hook.id)).find(({ outcome }) => outcome === "failed");
  expect(failed?.errors).toMatchObject([{ pointer: "", code: "channel_disabled" }]);
  await waitFor(
    async () => {
      const answer = await hooks.admin(`/${hook.id}/bodies/${failed?.id}/retry`, { method: "POST" });
      return answer.status === 200 && itemOf(answer);
    },
    { what: "the channel to start" },
  );
  const bodies = await hooks.bodies(hook.id);
  expect(bodies.find(({ id }) => id === failed?.id)).toMatchObject({ outcome: "queued", messageId: failed?.id });
});
