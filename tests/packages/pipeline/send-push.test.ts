import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingHttpHeaders, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { createAddressGuard, sendPush } from "@svc/outbound";
import type { Queues } from "@svc/queue";
import type { ProjectId } from "@svc/store";
import { metricsText } from "@svc/telemetry";
import { testLog, waitFor } from "@svc/testing";
import type { Work } from "@svc/work";
import { sendEmails } from "../../../apps/pipeline/src/email/send-emails.ts";
import { readPushSender } from "../../../packages/runtime/src/open-resources.ts";
import { exchange, newMessage, openTestStore } from "../store/open-test-store.ts";
import type { TestStore } from "../store/open-test-store.ts";

interface PushRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

let db: TestStore;
let project: ProjectId;
let service: Server;
let origin: string;
let works: Work<string>;
/** Whether the store fails when it is asked for a browser. */
let isStoreDown = false;
const received: PushRequest[] = [];
let status = 201;
/** Delays the response of the push service. */
let held = Promise.resolve();
const config = {
  consoleUrl: "https://console.example.com",
  widgetUrl: "https://chat.example.com",
  email: undefined,
};

beforeAll(async () => {
  db = await openTestStore();
  project = (await db.store.projects.ensure("shop")).project.id;
  service = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      received.push({ path: request.url ?? "", headers: request.headers, body: Buffer.concat(chunks) });
      void held.then(() => response.writeHead(status).end());
    });
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const guard = createAddressGuard({ allow: [], allowLoopback: true, ownPorts: [] });
  const sender = await readPushSender(db.store, config);
  const { pushSubscriptions } = db.store;
  const findDevice = (id: string) =>
    isStoreDown ? Promise.reject(new Error("the store is unavailable")) : pushSubscriptions.findDevice(id);
  const store = { ...db.store, pushSubscriptions: { ...pushSubscriptions, findDevice } };
  // Only sweeps use the queues.
  const context = { store, queues: {} as Queues, log: testLog(), mailer: null, config };
  works = sendEmails({ ...context, push: (notification) => sendPush(guard, sender, notification) }, { delaysMs: [0] });
});
afterAll(async () => {
  await works.stop();
  service.closeAllConnections();
  await new Promise((resolve) => service.close(resolve));
  await db.close();
});
beforeEach(() => {
  received.length = 0;
  status = 201;
  isStoreDown = false;
  held = Promise.resolve();
});

/** Creates a browser's subscription, with keys for the push service. */
function newBrowser() {
  const ecdh = createECDH("prime256v1");
  ecdh.generateKeys();
  const auth = randomBytes(16);
  const path = `/push/${randomBytes(8).toString("hex")}`;
  const keys = { p256dh: ecdh.getPublicKey("base64url"), auth: auth.toString("base64url") };
  /** Decrypts a message with the content coding aes128gcm (RFC 8188) and the keys of RFC 8291. */
  function decrypt(body: Buffer): { title: string; body: string; path: string; tag: string } {
    const salt = body.subarray(0, 16);
    const senderKey = body.subarray(21, 21 + (body[20] ?? 0));
    const shared = ecdh.computeSecret(senderKey);
    const info = Buffer.concat([Buffer.from("WebPush: info\0"), ecdh.getPublicKey(), senderKey]);
    const secret = Buffer.from(hkdfSync("sha256", shared, auth, info, 32));
    const key = Buffer.from(hkdfSync("sha256", secret, salt, "Content-Encoding: aes128gcm\0", 16));
    const nonce = Buffer.from(hkdfSync("sha256", secret, salt, "Content-Encoding: nonce\0", 12));
    const encrypted = body.subarray(21 + senderKey.length);
    const decipher = createDecipheriv("aes-128-gcm", key, nonce);
    decipher.setAuthTag(encrypted.subarray(-16));
    const padded = Buffer.concat([decipher.update(encrypted.subarray(0, -16)), decipher.final()]);
    return JSON.parse(padded.subarray(0, padded.lastIndexOf(2)).toString("utf8"));
  }
  return { subscription: { endpoint: `${origin}${path}`, ...keys }, path, decrypt };
}

let count = 0;
async function newOperator(push: object = {}, settings: object = {}) {
  const email = `ann${++count}@example.com`;
  const record = await db.store.operators.insert({
    email,
    name: `Ann ${count}`,
    roles: [{ project, role: "operator" }],
  });
  if (record === null) throw new Error("the address is taken");
  await db.sql("UPDATE operators SET notifications = $2 WHERE id = $1", [
    record.id,
    JSON.stringify({ push, ...settings }),
  ]);
  return record.id;
}

/** Assigns a new ticket to an operator, and makes the notification due. */
async function assign(operatorId: string, subject = "Where is my parcel?"): Promise<string> {
  const { accepted } = await exchange(db.store, project, newMessage({ text: subject }), []);
  const assignee = `operator:${operatorId}`;
  await db.sql("UPDATE tickets SET assignee = $2 WHERE id = $1", [accepted.ticketId, assignee]);
  await db.sql("INSERT INTO ticket_events (ticket_id, project_id, actor, data) VALUES ($1, $2, 'key:1', $3)", [
    accepted.ticketId,
    project,
    JSON.stringify({ assignee }),
  ]);
  await db.store.ticketIndex.follow(() => []);
  await makeDue();
  return accepted.ticketId;
}
const makeDue = () => db.sql("UPDATE email_notifications SET next_at = now() WHERE finished_at IS NULL");

async function sendAll(operatorId: string): Promise<void> {
  const devices = await db.sql<{ id: string }>("SELECT id FROM push_subscriptions WHERE operator_id = $1", [
    operatorId,
  ]);
  for (const { id } of devices) await Promise.all([works.process(id), works.process(id)]);
}
const outcomesOf = (operatorId: string) =>
  db.sql<{ outcome: string | null }>("SELECT outcome FROM email_notifications WHERE operator_id = $1", [operatorId]);

describe("an operator gets a push notification", () => {
  test("once in each browser, without a mail server, encrypted for it and signed by the installation", async () => {
    const operatorId = await newOperator();
    const browsers = [newBrowser(), newBrowser()];
    for (const { subscription } of browsers) await db.store.pushSubscriptions.put(operatorId, subscription);
    const ticketId = await assign(operatorId);
    await db.store.ticketIndex.follow(() => []);
    await sendAll(operatorId);
    await sendAll(operatorId);
    expect(received).toHaveLength(2);
    const { keys } = await readPushSender(db.store, config);
    for (const { path, decrypt } of browsers) {
      const request = received.find((one) => one.path === path);
      if (request === undefined) throw new Error("a browser got no notification");
      expect(request.body.toString("latin1")).not.toContain("shop");
      expect(decrypt(request.body)).toEqual({
        title: "Ticket assigned to you",
        body: "shop",
        path: `/shop/inbox/all/${ticketId}`,
        tag: ticketId,
      });
      expect(request.headers["content-encoding"]).toBe("aes128gcm");
      expect(Number(request.headers.ttl)).toBeGreaterThan(0);
      const [, token = "", key = ""] = /^vapid t=([^,]+), k=(.+)$/.exec(request.headers.authorization ?? "") ?? [];
      expect(key).toBe(keys.publicKey);
      const [head, claims = "", signature = ""] = token.split(".");
      const point = Buffer.from(key, "base64url");
      const jwk = {
        kty: "EC",
        crv: "P-256",
        x: point.subarray(1, 33).toString("base64url"),
        y: point.subarray(33).toString("base64url"),
      };
      const verifier = { key: createPublicKey({ key: jwk, format: "jwk" }), dsaEncoding: "ieee-p1363" as const };
      expect(verify("sha256", Buffer.from(`${head}.${claims}`), verifier, Buffer.from(signature, "base64url"))).toBe(
        true,
      );
      expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toMatchObject({
        aud: origin,
        sub: config.consoleUrl,
      });
    }
  });

  test("with the subject only if the operator wants that", async () => {
    const operatorId = await newOperator({ showsSubject: true });
    const { subscription, decrypt } = newBrowser();
    await db.store.pushSubscriptions.put(operatorId, subscription);
    await assign(operatorId, "My card 4111\u202e was declined");
    await sendAll(operatorId);
    expect(decrypt(received[0]?.body ?? Buffer.alloc(0)).body).toBe("shop\nMy card 4111 was declined");
  });

  test("neither for disabled events, nor during quiet hours, nor after the ticket was opened", async () => {
    const hour = new Date().getUTCHours();
    const time = (offset: number) => `${String((hour + offset + 24) % 24).padStart(2, "0")}:00`;
    const off = await newOperator({ assigned: false });
    const asleep = await newOperator({}, { quietHours: [time(-1), time(2)] });
    for (const id of [off, asleep]) {
      await db.store.pushSubscriptions.put(id, newBrowser().subscription);
      await assign(id);
      await sendAll(id);
    }
    const looking = await newOperator();
    await db.store.pushSubscriptions.put(looking, newBrowser().subscription);
    const ticketId = await assign(looking);
    const sessionId = "018f0000-0000-7000-8000-000000000001";
    await db.sql("INSERT INTO operator_sessions (id, operator_id, hash) VALUES ($1, $2, '\\x01')", [
      sessionId,
      looking,
    ]);
    await db.store.operatorPresence.put(
      project,
      { sessionId, tab: "a" },
      { operatorId: looking, ticketId, isTyping: false },
    );
    await sendAll(looking);
    expect(received).toEqual([]);
    expect(await outcomesOf(off)).toEqual([]);
    expect(await outcomesOf(asleep)).toEqual([{ outcome: null }]);
    expect(await outcomesOf(looking)).toEqual([{ outcome: "withdrawn" }]);
  });
});

test.each([
  ["have the wrong length", { p256dh: "AAAA", auth: "AAAA" }],
  ["are not on the curve", { p256dh: `B${"A".repeat(86)}`, auth: "A".repeat(22) }],
])("a browser whose keys %s is removed: nothing can be encrypted for it", async (_what, keys) => {
  const operatorId = await newOperator();
  const { endpoint } = newBrowser().subscription;
  await db.store.pushSubscriptions.put(operatorId, { endpoint, ...keys });
  await assign(operatorId);
  await sendAll(operatorId);
  expect(await db.store.pushSubscriptions.isOf(operatorId, endpoint)).toBe(false);
  expect(await outcomesOf(operatorId)).toEqual([{ outcome: "withdrawn" }]);
  expect(received).toEqual([]);
});

test("an error of the store during a push is counted as one of a push, not of an email", async () => {
  const operatorId = await newOperator();
  await db.store.pushSubscriptions.put(operatorId, newBrowser().subscription);
  await assign(operatorId);
  // Other files of this process may have counted emails.
  const emails = async () => (await metricsText()).match(/^svc_deliveries_total\{way="email".*$/gm);
  const before = await emails();
  isStoreDown = true;
  await sendAll(operatorId);
  expect(await outcomesOf(operatorId)).toEqual([{ outcome: null }]);
  expect(await metricsText()).toMatch(/svc_deliveries_total\{way="web_push",outcome="later"[^}]*\} [1-9]/);
  expect(await emails()).toEqual(before);
});

test("push services that do not respond use only some of the slots: others wait, which is not an attempt", async () => {
  const operatorId = await newOperator();
  for (let index = 0; index < 8; index++) await db.store.pushSubscriptions.put(operatorId, newBrowser().subscription);
  await assign(operatorId);
  let respond = () => {};
  held = new Promise((resolve) => {
    respond = () => resolve();
  });
  const devices = await db.sql<{ id: string }>("SELECT id FROM push_subscriptions WHERE operator_id = $1", [
    operatorId,
  ]);
  const running = devices.map(({ id }) => works.process(id));
  await waitFor(() => received.length === 6, { what: "all slots to be in use" });
  const waiting = "SELECT FROM email_notifications WHERE operator_id = $1 AND attempts = 0 AND lease_id IS NULL";
  await waitFor(async () => (await db.sql(waiting, [operatorId])).length === 2, { what: "the others to wait" });
  expect(received).toHaveLength(6);
  respond();
  await Promise.all(running);
  await makeDue();
  await sendAll(operatorId);
  expect((await outcomesOf(operatorId)).map(({ outcome }) => outcome)).toEqual(devices.map(() => "sent"));
  expect(await metricsText()).toMatch(/svc_deliveries_total\{way="web_push",outcome="delivered"[^}]*\} [1-9]/);
});

describe("the subscriptions of an operator end", () => {
  test.each([
    ["signs out everywhere", (id: string) => db.store.operatorSessions.removeOf(id)],
    ["gets another password", (id: string) => db.store.operators.update(id, { passwordHash: "another" }, null)],
  ])("when the operator %s, and no others", async (_what, run) => {
    const [ann, ben] = [await newOperator(), await newOperator()];
    const [ofAnn, ofBen] = [newBrowser().subscription, newBrowser().subscription];
    await db.store.pushSubscriptions.put(ann, ofAnn);
    await db.store.pushSubscriptions.put(ben, ofBen);
    await run(ann);
    expect(await db.store.pushSubscriptions.isOf(ann, ofAnn.endpoint)).toBe(false);
    expect(await db.store.pushSubscriptions.isOf(ben, ofBen.endpoint)).toBe(true);
  });
});

describe("a push service that responds with", () => {
  test.each([404, 410])("%i ends the subscription, and nothing more is sent to it", async (gone) => {
    const operatorId = await newOperator();
    await db.store.pushSubscriptions.put(operatorId, newBrowser().subscription);
    await assign(operatorId);
    status = gone;
    await sendAll(operatorId);
    expect(await db.sql("SELECT FROM push_subscriptions WHERE operator_id = $1", [operatorId])).toEqual([]);
    await assign(operatorId);
    expect(await outcomesOf(operatorId)).toEqual([{ outcome: "withdrawn" }]);
    expect(received).toHaveLength(1);
  });

  test("403 keeps the subscription, and the notification fails", async () => {
    const operatorId = await newOperator();
    const { subscription } = newBrowser();
    await db.store.pushSubscriptions.put(operatorId, subscription);
    await assign(operatorId);
    status = 403;
    await sendAll(operatorId);
    expect(await db.store.pushSubscriptions.isOf(operatorId, subscription.endpoint)).toBe(true);
    expect(await outcomesOf(operatorId)).toEqual([{ outcome: "failed" }]);
    expect(await metricsText()).toMatch(/svc_deliveries_total\{way="web_push",outcome="dead"[^}]*\} [1-9]/);
  });

  test("503 gets the notification again later", async () => {
    const operatorId = await newOperator();
    await db.store.pushSubscriptions.put(operatorId, newBrowser().subscription);
    await assign(operatorId);
    status = 503;
    await sendAll(operatorId);
    expect(await outcomesOf(operatorId)).toEqual([{ outcome: null }]);
    status = 201;
    await makeDue();
    await sendAll(operatorId);
    expect(await outcomesOf(operatorId)).toEqual([{ outcome: "sent" }]);
  });
});

test("the keys of the installation are created once, and the private one is stored encrypted", async () => {
  const [first, second] = await Promise.all([
    readPushSender(db.store, config),
    readPushSender(db.openAnother(), config),
  ]);
  expect(second.keys).toEqual(first.keys);
  const [row] = await db.sql<{ text: string }>("SELECT push_keys::text AS text FROM installation");
  expect(row?.text).toContain(first.keys.publicKey);
  expect(row?.text).not.toContain(first.keys.privateKey);
});

test("a browser used by another operator belongs to that operator, and only its owner can remove it", async () => {
  const [ann, ben] = [await newOperator(), await newOperator()];
  const { subscription } = newBrowser();
  await db.store.pushSubscriptions.put(ann, subscription);
  await db.store.pushSubscriptions.put(ben, subscription);
  await db.store.pushSubscriptions.removeOf(ann, subscription.endpoint);
  expect(
    await db.sql("SELECT operator_id AS id FROM push_subscriptions WHERE endpoint = $1", [subscription.endpoint]),
  ).toEqual([{ id: ben }]);
});
