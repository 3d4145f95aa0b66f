import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import type { Project } from "@svc/store";
import { startWebhookReceiver, waitFor, queryDatabase } from "@svc/testing";
import type { ReceivedRequest, WebhookReceiver } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callApi } from "./support/call-api.ts";
import { callbackView } from "./support/callback-view.ts";
import type { CallbackView } from "./support/callback-view.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { callbackOf, expectSigned, isAccepted } from "./support/expect-signed.ts";
import { holdChat } from "./support/hold-chat.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const FIXED = "This is always the answer.";
const PLAIN = "a plain secret, with spaces = and signs";
const STANDARD = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OLDER = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

let product: Product;
let api: ApiClient;
let receiver: WebhookReceiver;
let project: Project;
let callbacks: CallbackView;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  project = await addProject(product.store, "secrets", { fixedReply: FIXED });
  callbacks = callbackView(product, project.id);
});

afterAll(() => product?.stop());

beforeEach(async () => {
  receiver = await startWebhookReceiver();
});

afterEach(() => receiver.close());

const deliveryIdOf = ({ body }: ApiAnswer) => (body as { deliveryId: string }).deliveryId;

/** Creates a key of the project; returns it with its id. */
async function makeKey(): Promise<{ id: string; key: string }> {
  const issued = await issueKey(product.store, {
    name: `sender ${randomUUID()}`,
    scopes: ["messages:write"],
    project: project.id,
    createdBy: "test",
  });
  return { id: issued.record.id, key: issued.key };
}

/** Sends a message whose callbacks go to the receiver. */
async function send(options: { key?: string; headers?: Record<string, string>; chatId?: string } = {}) {
  const { chatId = randomUUID(), key, headers } = options;
  const answer = await callApi(`${api.baseUrl()}/api/v1/messages`, {
    ...(key === undefined ? {} : { key }),
    ...(headers === undefined ? {} : { headers }),
    json: { text: "hello", chatId, webhookUrl: receiver.url() },
  });
  expect(answer.status).toBe(202);
  return answer;
}

/** Time after which changed settings are used everywhere. */
const IN_USE_WITHIN_MS = 2_000;

/** Stores the secrets of the project, and waits as long as the documentation tells administrators to. */
async function setSecrets(
  secret: string | null,
  previous: { secret: string; until: Date } | null = null,
): Promise<void> {
  const { sealer, projects } = product.store;
  await projects.update(project.id, {
    webhookSecret: secret === null ? null : sealer.seal(secret),
    previousWebhookSecret:
      previous === null ? null : { ...sealer.seal(previous.secret), until: previous.until.toISOString() },
  });
  const changedAt = performance.now();
  await waitFor(() => performance.now() > changedAt + IN_USE_WITHIN_MS, { what: "the secret to be in use" });
}

const signatureCount = ({ headers }: ReceivedRequest) => headers["webhook-signature"]?.split(" ").length;

/** Returns the whole database as text, one line per row. */
async function readEverything(): Promise<string> {
  const tables = await queryDatabase<{ name: string }>(
    product.databaseUrl,
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  );
  const texts: string[] = [];
  for (const { name } of tables) {
    const rows = await queryDatabase<{ line: string }>(product.databaseUrl, `SELECT t::text AS line FROM ${name} t`);
    texts.push(...rows.map(({ line }) => line));
  }
  return texts.join("\n");
}

const sealedOf = async (ticketId = "") =>
  (
    await queryDatabase<{ sealed: string | null }>(
      product.databaseUrl,
      "SELECT sealed_secret AS sealed FROM callbacks WHERE ticket_id = $1",
      [ticketId],
    )
  ).map(({ sealed }) => sealed);

describe("if no webhook secret is set", () => {
  test.each([
    ["Authorization", (key: string) => ({ key })],
    ["X-Api-Key", (key: string) => ({ headers: { "X-Api-Key": key } })],
  ])("a callback is signed with the API key that sent the message in %s", async (_, withKey) => {
    const { key } = await makeKey();
    await send(withKey(key));
    const request = await receiver.next();
    expectSigned(request, key);
    expect(signatureCount(request)).toBe(1);
    expect(isAccepted(request, product.adminKey)).toBe(false);
  });

  test("the key is only stored encrypted, and deleted when the final callback is delivered", async () => {
    const { key } = await makeKey();
    receiver.answerWith({ status: 500 });
    const answer = await send({ key });
    await callbacks.untilTried(deliveryIdOf(answer), 1);
    const [sealed] = await sealedOf(answer.body.ticketId);
    expect(product.store.sealer.open({ sealed: sealed ?? "" })).toBe(key);
    const secretPart = key.slice(-30);
    expect(await readEverything()).not.toContain(secretPart);
    for (const part of product.composition.processes) expect(part.output()).not.toContain(secretPart);

    receiver.answerWith({ status: 204 });
    await callbacks.hurry(deliveryIdOf(answer));
    await callbacks.untilIn(deliveryIdOf(answer), "delivered");
    expect(await sealedOf(answer.body.ticketId)).toEqual([null]);
  });

  test("a revoked key signs nothing: nothing is sent, and its replies are in the drain", async () => {
    const { id, key } = await makeKey();
    const chatId = randomUUID();
    const release = await holdChat(product.store, project, chatId);
    const answer = await send({ key, chatId });
    expect(await product.store.apiKeys.revoke(id)).toBe(true);
    await release();
    const dead = await callbacks.untilIn(deliveryIdOf(answer), "dead");
    expect(dead.attempts).toEqual([
      { at: expect.any(String), status: null, ms: 0, error: expect.stringMatching(/revoked/) },
    ]);
    expect((await api.drain("secrets", chatId, "?wait=5000")).texts).toEqual([FIXED]);
    expect(receiver.requests).toEqual([]);
  });

  test("a callback that waits for its next attempt is not signed after the key is revoked", async () => {
    const { id, key } = await makeKey();
    const chatId = randomUUID();
    receiver.answerWith({ status: 500 });
    const answer = await send({ key, chatId });
    await callbacks.untilTried(deliveryIdOf(answer), 1);
    await product.store.apiKeys.revoke(id);
    await callbacks.hurry(deliveryIdOf(answer));
    await callbacks.untilIn(deliveryIdOf(answer), "dead");
    expect(receiver.requests).toHaveLength(1);
    expect((await api.drain("secrets", chatId)).texts).toEqual([FIXED]);
  });
});

describe("if a webhook secret is set", () => {
  afterAll(() => setSecrets(null));

  test.each([
    ["a plain one", PLAIN],
    ["a whsec_ one", STANDARD],
  ])("callbacks are signed with it, both ways: %s", async (_, secret) => {
    await setSecrets(secret);
    const { id, key } = await makeKey();
    const answer = await send({ key });
    const request = await receiver.next();
    expectSigned(request, secret);
    expect(isAccepted(request, key)).toBe(false);
    expect(signatureCount(request)).toBe(1);
    // The key of the sender is not stored then, and revoking it changes nothing.
    expect(await sealedOf(answer.body.ticketId)).toEqual([null]);
    await product.store.apiKeys.revoke(id);
    expect(await readEverything()).not.toContain(secret);
  });

  test("only the project's secret signs, not that of another project", async () => {
    const { sealer, channelsConfig } = product.store;
    await channelsConfig.update("api", { webhookSecret: sealer.seal(OLDER) });
    await setSecrets(STANDARD);
    await send(await makeKey());
    const own = await receiver.next();
    expect([isAccepted(own, STANDARD), isAccepted(own, OLDER)]).toEqual([true, false]);
    // Without a secret of the project, the key that sent the message signs.
    await setSecrets(null);
    const { key } = await makeKey();
    await send({ key });
    const keyed = await receiver.next();
    expect([isAccepted(keyed, key), isAccepted(keyed, OLDER)]).toEqual([true, false]);
    // The secret of the installation belongs to the project `default`.
    await callApi(`${api.baseUrl()}/api/v1/messages`, {
      key: product.adminKey,
      json: { text: "hello", chatId: randomUUID(), webhookUrl: receiver.url() },
    });
    expect(isAccepted(await receiver.next(), OLDER)).toBe(true);
    await channelsConfig.update("api", { webhookSecret: null });
  });

  test("receivers with the old or the new secret accept during a rotation; afterwards only those with the new one", async () => {
    await setSecrets(STANDARD, { secret: OLDER, until: new Date(Date.now() + 60_000) });
    await send(await makeKey());
    const during = await receiver.next();
    expect(signatureCount(during)).toBe(2);
    expect([isAccepted(during, STANDARD), isAccepted(during, OLDER)]).toEqual([true, true]);
    // The single signature header of the service specification contains one value: that of the current secret.
    expectSigned(during, STANDARD);

    await setSecrets(STANDARD, { secret: OLDER, until: new Date(Date.now() - 1_000) });
    await send(await makeKey());
    const after = await receiver.next();
    expect(signatureCount(after)).toBe(1);
    expect([isAccepted(after, STANDARD), isAccepted(after, OLDER)]).toEqual([true, false]);
  });

  test("messages that were accepted before are signed with it too", async () => {
    await setSecrets(null);
    const { key } = await makeKey();
    receiver.answerWith({ status: 500 });
    const answer = await send({ key });
    await callbacks.untilTried(deliveryIdOf(answer), 1);
    await setSecrets(PLAIN);
    receiver.answerWith({ status: 204 });
    await callbacks.hurry(deliveryIdOf(answer));
    await callbacks.untilIn(deliveryIdOf(answer), "delivered");
    const signers = receiver.requests.map((request) => [key, PLAIN].filter((secret) => isAccepted(request, secret)));
    expect(signers).toEqual([[key], [PLAIN]]);
  });

  test("and then removed, messages that were accepted meanwhile cannot be signed: their replies are in the drain until a replay", async () => {
    await setSecrets(PLAIN);
    const chatId = randomUUID();
    const release = await holdChat(product.store, project, chatId);
    const answer = await send({ ...(await makeKey()), chatId });
    await setSecrets(null);
    await release();
    const dead = await callbacks.untilIn(deliveryIdOf(answer), "dead");
    expect(dead.attempts).toMatchObject([{ status: null, error: expect.stringMatching(/set a project secret/) }]);
    expect((await api.drain("secrets", chatId, "?peek=1&wait=5000")).texts).toEqual([FIXED]);
    expect(receiver.requests).toEqual([]);

    await setSecrets(STANDARD);
    const replayed = await callApi(`${api.baseUrl()}/api/v1/admin/deliveries/${dead.id}/replay`, {
      method: "POST",
      key: product.adminKey,
      project: "secrets",
    });
    expect(replayed.status).toBe(200);
    const request = await receiver.next();
    expect(callbackOf(request)).toMatchObject({ deliveryId: dead.id, replies: [{ text: FIXED }] });
    expectSigned(request, STANDARD);
  });
});
