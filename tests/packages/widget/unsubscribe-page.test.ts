import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { ProjectId } from "@svc/store";
import { testLog } from "@svc/testing";
import { getUnsubscribePage, postUnsubscribe } from "../../../apps/widget/src/unsubscribe-page.ts";
import { hashAddress, makeUnsubscribeToken } from "../../../packages/channel-manager/src/index.ts";
import { createApp, listen } from "../../../packages/http/src/index.ts";
import { exchange, newMessage, openTestStore } from "../store/open-test-store.ts";
import type { TestStore } from "../store/open-test-store.ts";

let db: TestStore;
let project: ProjectId;
let server: Awaited<ReturnType<typeof listen>>;

beforeAll(async () => {
  db = await openTestStore();
  project = await db.newProject();
  const app = createApp(testLog(), (routes) => {
    routes.route("/unsubscribe/:token").get(getUnsubscribePage(db)).post(postUnsubscribe(db));
  });
  server = await listen(app, { host: "127.0.0.1", port: 0, setting: "SVC_WIDGET_PORT" });
});
afterAll(async () => {
  await server.close(1_000);
  await db.close();
});

/** Creates a customer of the project, and returns its unsubscribe URL. */
async function newCustomer() {
  const message = newMessage({ channelId: "widget", channelMeta: { contact: { email: "mia@example.com" } } });
  await exchange(db.store, project, message, ["Yes."]);
  await db.store.ticketIndex.follow(() => []);
  while (await db.store.ticketTexts.indexNext(() => ({ ofText: [], ofCustomer: [] })));
  const { customers } = await db.store.customers.listPage(project, { limit: 1, after: undefined, q: message.chatId });
  const [customer] = customers;
  if (customer === undefined) throw new Error("the message has no customer");
  const addressHash = hashAddress(db.store.sealer, "mia@example.com");
  const token = makeUnsubscribeToken(db.store.sealer, { project, customerId: customer.id, addressHash });
  const read = async () => (await db.store.customers.find(project, customer.id))?.unsubscribedAt ?? null;
  return { id: customer.id, token, url: `http://127.0.0.1:${server.port}/unsubscribe/${token}`, read };
}

const oneClick = { method: "POST", body: new URLSearchParams({ "List-Unsubscribe": "One-Click" }) };

describe("the page of an unsubscribe link", () => {
  test("does not unsubscribe when it is opened, and asks in the language of the email", async () => {
    const { url, read } = await newCustomer();
    for (const method of ["GET", "HEAD"]) expect((await fetch(`${url}?lang=de`, { method })).status).toBe(200);
    const response = await fetch(`${url}?lang=de`);
    const html = await response.text();
    expect(html).toContain('<html lang="de"');
    expect(html).toContain("<button>Abbestellen</button>");
    expect(response.headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(response.headers.get("referrer-policy")).toBe("no-referrer");
    expect(await read()).toBeNull();
  });

  test("unsubscribes with its button and with a mail program's one-click request, once, and keeps the first time", async () => {
    const { url, read } = await newCustomer();
    const response = await fetch(`${url}?lang=ar`, oneClick);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('dir="rtl"');
    const first = await read();
    expect(first).toBeInstanceOf(Date);
    expect((await fetch(url, oneClick)).status).toBe(200);
    expect(await read()).toEqual(first);
  });

  test("still unsubscribes after the customer was merged into another one", async () => {
    const [one, other] = [await newCustomer(), await newCustomer()];
    await db.store.customers.merge(project, other.id, one.id);
    expect((await fetch(one.url, oneClick)).status).toBe(200);
    expect(await other.read()).toBeInstanceOf(Date);
  });

  test("rejects a link that was changed, and shows nothing of what it contains", async () => {
    const { token, read } = await newCustomer();
    for (const changed of [`${token.slice(0, -2)}AA`, "x", encodeURIComponent("<script>"), `${token}%00`]) {
      const url = `http://127.0.0.1:${server.port}/unsubscribe/${changed}?lang=${encodeURIComponent('"><script>')}`;
      const response = await fetch(url, oneClick);
      expect(response.status).toBe(404);
      const html = await response.text();
      expect(html).not.toContain("script>");
      expect(html).toContain('<html lang="en"');
    }
    expect(await read()).toBeNull();
  });
});
