import { createHmac, randomUUID } from "node:crypto";
import { request } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { hashAddress, makeUnsubscribeToken } from "../../packages/channel-manager/src/index.ts";
import { visitorChatId, widgetConfigAnswerSchema } from "@svc/contracts";
import type { TicketDetail } from "@svc/contracts";
import { waitFor, queryDatabase } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { callApi } from "./support/call-api.ts";
import { WIDGET_KEY, startWidget } from "./support/start-widget.ts";
import type { WidgetProduct } from "./support/start-widget.ts";

const SITE = "https://shop.example";
const OTHER_SITE = "https://evil.example";
const SECRET = "an identity secret of the site";
const MB = 1024 * 1024;

let widget: WidgetProduct;

beforeAll(async () => {
  // No email is sent there.
  const mail = { SVC_SMTP_URL: "smtp://127.0.0.1:1", SVC_EMAIL_FROM: "support@shop.example" };
  widget = await startWidget({ env: mail });
});

afterAll(() => widget?.stop());

const newMessage = (more: object = {}) => ({
  text: "How do I start the service?",
  clientMessageId: randomUUID(),
  ...more,
});
const post = (visitorId: string, json: unknown, more: object = {}) =>
  widget.call("/api/widget/message", { visitorId, json, ...more });

async function expectProblem(response: Response, status: number, code: string): Promise<Record<string, unknown>> {
  const body = (await response.json()) as Record<string, unknown>;
  expect({ status: response.status, code: body["code"] }).toEqual({ status, code });
  expect(response.headers.get("content-type")).toMatch(/^application\/problem\+json/);
  expect(body).toMatchObject({ ok: false, type: `urn:svc:error:${code}`, status, requestId: expect.any(String) });
  return body;
}

/** Returns a ticket as operators see it, once it meets the condition. */
async function ticketWhen(ticketId: string, isSo: (ticket: TicketDetail) => boolean): Promise<TicketDetail> {
  const [url = ""] = widget.composition.apiUrls;
  return waitFor(
    async () => {
      const answer = await callApi(`${url}/api/v1/admin/tickets/${ticketId}`, { key: widget.adminKey });
      const { item } = answer.body as unknown as { item?: TicketDetail };
      return item !== undefined && isSo(item) ? item : null;
    },
    { what: "the ticket to be so" },
  );
}

async function upload(visitorId: string, content: Uint8Array | string, name: string, more: object = {}) {
  const form = new FormData();
  form.append("file", new Blob([content as never]), name);
  return widget.call("/api/widget/files", { visitorId, form, ...more });
}

describe("GET /api/widget/config/:apiKey", () => {
  const path = `/api/widget/config/${WIDGET_KEY}`;

  test("200: returns the appearance of the widget, cacheable for a minute, and no other settings", async () => {
    const response = await widget.call(path, { key: null });
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("max-age=60");
    const body: unknown = await response.json();
    expect(widgetConfigAnswerSchema.strict().parse(body)).toMatchObject({
      theme: "auto",
      color: "#3366ff",
      position: "bottom-right",
      locale: "en",
      dir: "ltr",
      features: { upload: true, rating: true, identity: false },
    });
    expect(JSON.stringify(body)).not.toContain(WIDGET_KEY);
  });

  test("304: is returned for an unchanged version", async () => {
    const etag = (await widget.call(path)).headers.get("etag") ?? "";
    expect((await widget.call(path, { headers: { "If-None-Match": etag } })).status).toBe(304);
  });

  test("404: an unknown key has no widget", async () => {
    await expectProblem(await widget.call("/api/widget/config/wk_nobody-0123456789"), 404, "not_found");
  });

  test("405: is read-only", async () => {
    const response = await widget.call(path, { method: "DELETE" });
    expect(response.headers.get("allow")).toBe("GET, HEAD");
    await expectProblem(response, 405, "method_not_allowed");
  });
});

describe("GET /api/widget/conversations", () => {
  const path = "/api/widget/conversations";
  const list = async (visitorId: string) =>
    ((await (await widget.call(path, { visitorId })).json()) as { items: Record<string, unknown>[] }).items;
  const inChat = (conversation: number | string) => ({ headers: { "X-Conversation": String(conversation) } });

  test("200: returns the visitor's own conversations, newest first, and none of other visitors", async () => {
    const [visitorId, stranger] = [randomUUID(), randomUUID()];
    expect(await list(visitorId)).toEqual([]);
    expect((await post(visitorId, newMessage({ text: "the first" }))).status).toBe(202);
    const second = await post(visitorId, newMessage({ text: "the second" }), inChat(2));
    expect(await second.json()).toMatchObject({ chatId: visitorChatId(visitorId, 2) });
    expect((await post(stranger, newMessage({ text: "a stranger's" }))).status).toBe(202);
    const items = await waitFor(
      async () => {
        const found = await list(visitorId);
        return found.every(({ author }) => author !== "visitor") ? found : null;
      },
      { what: "both to be answered" },
    );
    expect(items.map(({ conversation }) => conversation).toSorted()).toEqual([1, 2]);
    expect(items[0]).toMatchObject({ at: expect.any(String), unread: true, text: expect.any(String) });
    expect(await list(stranger)).toMatchObject([{ conversation: 1 }]);
  });

  test("both conversations belong to one customer", async () => {
    const visitorId = randomUUID();
    const answers = [
      await post(visitorId, newMessage(), inChat(1)),
      await post(visitorId, newMessage(), inChat(7)),
    ].map(async (response) => (await response.json()) as { ticketId: string });
    const [first, other] = await Promise.all(answers);
    const customers = await waitFor(
      async () => {
        const rows = await queryDatabase<{ id: string }>(
          widget.databaseUrl,
          `SELECT customer_id AS id FROM ticket_customers WHERE ticket_id IN ('${first?.ticketId}', '${other?.ticketId}')`,
        );
        return rows.length === 2 ? rows : null;
      },
      { what: "both to have a customer" },
    );
    expect(customers[0]?.id).toBe(customers[1]?.id);
  });

  test("400, 401: needs a visitor id and the widget's key, and a limit from 1 to 50", async () => {
    await expectProblem(await widget.call(path), 400, "invalid_request");
    await expectProblem(
      await widget.call(path, { visitorId: randomUUID(), key: "wk_other-0123456789" }),
      401,
      "invalid_key",
    );
    for (const conversation of [0, 51, 1.5, "x", ""]) {
      await expectProblem(await post(randomUUID(), newMessage(), inChat(conversation)), 400, "invalid_request");
    }
  });
});

describe("POST /api/widget/message", () => {
  test("202: accepts a message, which is answered like any other", async () => {
    const visitorId = randomUUID();
    const page = { url: "https://shop.example/cart", title: "Cart" };
    const response = await post(
      visitorId,
      newMessage({ page, locale: "de", contact: { name: "Ann", email: "a@b.example" } }),
    );
    expect(response.status).toBe(202);
    const body = (await response.json()) as { ticketId: string };
    expect(body).toEqual({
      ok: true,
      chatId: visitorChatId(visitorId),
      ticketId: expect.any(String),
      messageId: expect.any(String),
      seq: 1,
    });
    const ticket = await ticketWhen(body.ticketId, ({ replies }) => replies.length > 0);
    expect(ticket).toMatchObject({
      channelId: "widget",
      channel_meta: { page, locale: "de", contact: { name: "Ann", email: "a@b.example" } },
    });
    expect(JSON.stringify(ticket)).not.toContain(visitorId);
  });

  test("202: the key may be in the body", async () => {
    const response = await post(randomUUID(), newMessage({ apiKey: WIDGET_KEY }), { key: null });
    expect(response.status).toBe(202);
  });

  test("202: the same clientMessageId is one message, also with concurrent calls, on every replica, and with another text", async () => {
    const visitorId = randomUUID();
    const message = newMessage();
    const answers = await Promise.all(
      Array.from({ length: 8 }, async (_, index) => {
        const json = index === 7 ? { ...message, text: "Something else" } : message;
        const response = await post(visitorId, json, { replica: index % widget.urls.length });
        return (await response.json()) as { messageId: string; seq: number };
      }),
    );
    expect(new Set(answers.map(({ messageId }) => messageId)).size).toBe(1);
    expect(answers.every(({ seq }) => seq === 1)).toBe(true);
    const later = (await (await post(visitorId, newMessage())).json()) as { seq: number };
    expect(later.seq).toBeLessThanOrEqual(3);
  });

  test("400: rejects invalid messages with all errors, and guessable ids", async () => {
    const invalid = { text: "x".repeat(10_001), clientMessageId: "a b", attachments: [{ fileId: "1" }] };
    const body = await expectProblem(await post(randomUUID(), invalid), 400, "invalid_request");
    expect((body["errors"] as { pointer: string }[]).map(({ pointer }) => pointer)).toEqual([
      "/text",
      "/clientMessageId",
      "/attachments/0/fileId",
    ]);
    await expectProblem(await post(randomUUID(), newMessage({ text: " \n" })), 400, "invalid_request");
    for (const weak of [
      "1",
      "visitor",
      "00000000-0000-0000-0000-000000000000",
      "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    ]) {
      const refused = await expectProblem(await post(weak, newMessage()), 400, "invalid_request");
      expect(JSON.stringify(refused["errors"])).toContain("/X-Visitor-Id");
    }
  });

  test("400, 413, 415: rejects a body that is not JSON, too large, or of another type", async () => {
    const visitorId = randomUUID();
    const raw = (body: string, type = "application/json") =>
      fetch(`${widget.urls[0]}/api/widget/message`, {
        method: "POST",
        headers: { "X-Api-Key": WIDGET_KEY, "X-Visitor-Id": visitorId, "Content-Type": type },
        body,
      });
    await expectProblem(await raw("{"), 400, "invalid_json");
    await expectProblem(await raw(`"${"x".repeat(MB)}"`), 413, "payload_too_large");
    await expectProblem(await raw("text", "text/plain"), 415, "unsupported_media_type");
  });

  test("400: needs exactly one visitor id", async () => {
    const missing = await expectProblem(
      await widget.call("/api/widget/message", { json: newMessage() }),
      400,
      "invalid_request",
    );
    expect(JSON.stringify(missing["errors"])).toContain("/X-Visitor-Id");
    const twice = `${randomUUID()}, ${randomUUID()}`;
    await expectProblem(await post(twice, newMessage()), 400, "invalid_request");
  });

  test("401: rejects a missing and a wrong key", async () => {
    const missing = await post(randomUUID(), newMessage(), { key: null });
    expect(missing.headers.get("www-authenticate")).toBe('Bearer realm="svc"');
    await expectProblem(missing, 401, "missing_key");
    const other = await post(randomUUID(), newMessage(), { key: widget.adminKey });
    expect(other.headers.get("www-authenticate")).toBe('Bearer realm="svc", error="invalid_token"');
    await expectProblem(other, 401, "invalid_key");
  });
});

describe("a handoff", () => {
  test("is confirmed and assigns the conversation to operators if the visitor asks for a person, whatever could be answered", async () => {
    const response = await post(randomUUID(), newMessage({ wantsPerson: true }));
    const { ticketId } = (await response.json()) as { ticketId: string };
    const ticket = await ticketWhen(ticketId, ({ replies }) => replies.length > 0);
    expect(ticket).toMatchObject({
      stage: "review",
      replies: [{ author: "system" }],
      draft: { covers: [expect.any(String)] },
    });
    expect(JSON.stringify(ticket.events)).toContain("the visitor asks for a person");
  });

  test("includes files without a text, and no agent tries to answer them", async () => {
    const visitorId = randomUUID();
    const { fileId } = (await (await upload(visitorId, "a,b\n1,2", "data.csv")).json()) as { fileId: string };
    const response = await post(visitorId, newMessage({ text: "", attachments: [{ fileId }] }));
    const { ticketId } = (await response.json()) as { ticketId: string };
    const ticket = await ticketWhen(ticketId, ({ replies }) => replies.length > 0);
    expect(ticket).toMatchObject({ stage: "review", replies: [{ author: "system" }] });
    const [attachment] = ticket.messages[0]?.attachments ?? [];
    expect(attachment).toEqual({
      type: "text/plain",
      name: "data.csv",
      url: `/api/v1/admin/tickets/${ticketId}/files/${fileId}`,
    });
    const [url] = widget.composition.apiUrls;
    const file = await fetch(`${url}${attachment?.url}`, { headers: { "X-Api-Key": widget.adminKey } });
    expect(await file.text()).toBe("a,b\n1,2");
    expect(file.headers.get("content-disposition")).toContain("attachment");
    expect(file.headers.get("content-type")).toBe("application/octet-stream");
  });
});

describe("files", () => {
  test("are typed by their content, get sanitized names, and can only be downloaded by their own visitor", async () => {
    const visitorId = randomUUID();
    const html = "<script>alert(1)</script>";
    const response = await upload(visitorId, html, "../../in\u202evoice\u0000.html");
    expect(response.status).toBe(201);
    const file = (await response.json()) as { fileId: string };
    expect(file).toEqual({
      ok: true,
      fileId: expect.any(String),
      filename: "invoice.html",
      mime: "text/plain",
      sizeBytes: html.length,
    });
    const path = `/api/widget/files/${file.fileId}`;
    const download = await widget.call(path, { visitorId, replica: widget.urls.length - 1 });
    expect(await download.text()).toBe(html);
    expect(Object.fromEntries(download.headers)).toMatchObject({
      "content-disposition": "attachment; filename=invoice.html",
      "content-type": expect.stringMatching(/^text\/plain/),
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
    });
    await expectProblem(await widget.call(path, { visitorId: randomUUID() }), 404, "not_found");
    await expectProblem(await widget.call(path, { visitorId, key: "wk_other-0123456789" }), 401, "invalid_key");
    await expectProblem(await widget.call("/api/widget/files/x", { visitorId }), 404, "not_found");
  });

  test("belong to one message, and never to one of another visitor", async () => {
    const visitorId = randomUUID();
    const { fileId } = (await (await upload(visitorId, "x", "x.txt")).json()) as { fileId: string };
    const message = newMessage({ attachments: [{ fileId }] });
    await expectProblem(await post(randomUUID(), newMessage({ attachments: [{ fileId }] })), 404, "not_found");
    expect((await post(visitorId, message)).status).toBe(202);
    expect((await post(visitorId, message)).status).toBe(202);
    await expectProblem(await post(visitorId, newMessage({ attachments: [{ fileId }] })), 404, "not_found");
  });

  test("413, 400, 415: are rejected if they are too large, empty or not a form", async () => {
    const visitorId = randomUUID();
    await expectProblem(await upload(visitorId, new Uint8Array(10 * MB + 1), "big.bin"), 413, "payload_too_large");
    expect((await upload(visitorId, new Uint8Array(10 * MB), "fits.bin")).status).toBe(201);
    await expectProblem(await upload(visitorId, "", "empty.txt"), 400, "invalid_request");
    await expectProblem(
      await widget.call("/api/widget/files", { visitorId, form: new FormData() }),
      400,
      "invalid_request",
    );
    await expectProblem(await widget.call("/api/widget/files", { visitorId, json: {} }), 415, "unsupported_media_type");
  });

  test("409: are rejected while too many of the conversation are not part of a message", async () => {
    const visitorId = randomUUID();
    const { fileId } = (await (await upload(visitorId, "x", "x.txt")).json()) as { fileId: string };
    await queryDatabase(
      widget.databaseUrl,
      `INSERT INTO widget_files (id, project_id, ticket_id, filename, mime, content)
       SELECT gen_random_uuid(), project_id, ticket_id, filename, mime, decode(repeat('00', $2), 'hex')
       FROM widget_files, generate_series(1, 10) WHERE id = $1`,
      [fileId, 10 * MB - 1],
    );
    await expectProblem(await upload(visitorId, "x".repeat(10), "x.txt"), 409, "too_many_files");
    expect((await upload(randomUUID(), "x".repeat(10), "x.txt")).status).toBe(201);
  });

  test("429: slow senders from one address do not block others, and their slots are free once they disconnect", async () => {
    const visitorId = randomUUID();
    const sendSlowly = () => {
      const call = request(`${widget.urls[0]}/api/widget/files`, {
        method: "POST",
        headers: {
          "X-Api-Key": WIDGET_KEY,
          "X-Visitor-Id": visitorId,
          "Content-Type": "multipart/form-data; boundary=b",
          "Content-Length": "1000",
        },
      });
      // The test drops it.
      call.on("error", () => undefined);
      call.write('--b\r\nContent-Disposition: form-data; name="file"; filename="slow.txt"\r\n\r\nx');
      return call;
    };
    const slow = Array.from({ length: 4 }, sendSlowly);
    const refused = await waitFor(
      async () => {
        const response = await upload(visitorId, "x", "x.txt");
        if (response.status === 429) return response;
        // The call may have had the slot of one of them, which was then rejected.
        slow.push(sendSlowly());
        return null;
      },
      { what: "all places to be taken" },
    );
    expect(refused.headers.get("retry-after")).toBe("2");
    await expectProblem(refused, 429, "rate_limited");
    for (const call of slow) call.destroy();
    await waitFor(async () => (await upload(visitorId, "x", "x.txt")).status === 201, { what: "a place to be free" });
  });

  test("400: are rejected if the site has disabled them", async () => {
    const { widget: settings } = await widget.store.channelsConfig.read();
    const { features } = settings.config;
    const visitorId = randomUUID();
    const { fileId } = (await (await upload(visitorId, "x", "x.txt")).json()) as { fileId: string };
    await widget.configure({ features: { ...features, upload: false } });
    await expectProblem(await upload(visitorId, "x", "x.txt"), 400, "invalid_request");
    await expectProblem(await post(visitorId, newMessage({ attachments: [{ fileId }] })), 400, "invalid_request");
    await widget.configure({ features });
    expect((await post(visitorId, newMessage({ attachments: [{ fileId }] }))).status).toBe(202);
  });

  test("of a reply are available to its visitor: a table is sent as XLSX", async () => {
    const project = await addProject(widget.store, "tables", { fixedReply: "| a | b |\n| - | - |\n| 1 | 2 |" });
    const { widget: settings } = await widget.store.channelsConfig.read();
    await widget.configure({ project: project.name, features: { ...settings.config.features, tables: true } });
    const visitorId = randomUUID();
    const { ticketId } = (await (await post(visitorId, newMessage())).json()) as { ticketId: string };
    const { fileId } = await waitFor(
      async () => {
        const entries = await widget.store.visitors.listAfter(project.id, ticketId, 0, 10);
        return entries.flatMap((entry) => (entry.kind === "reply" && "fileId" in entry.item ? [entry.item] : []))[0];
      },
      { what: "the table" },
    );
    const path = `/api/widget/files/${fileId}`;
    const download = await widget.call(path, { visitorId });
    expect(
      Buffer.from(await download.arrayBuffer())
        .subarray(0, 2)
        .toString(),
    ).toBe("PK");
    expect(Object.fromEntries(download.headers)).toMatchObject({
      "content-disposition": expect.stringMatching(/^attachment; filename=.*\.xlsx/),
      "content-type": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    });
    await expectProblem(await widget.call(path, { visitorId: randomUUID() }), 404, "not_found");
    await widget.configure({ project: "default" });
    await expectProblem(await widget.call(path, { visitorId }), 404, "not_found");
  });

  test("that no message refers to are deleted after a day, and those of a message stay", async () => {
    const visitorId = randomUUID();
    const ids = await Promise.all(
      ["used", "unused"].map(async (name) => {
        const { fileId } = (await (await upload(visitorId, name, `${name}.txt`)).json()) as { fileId: string };
        return fileId;
      }),
    );
    await post(visitorId, newMessage({ attachments: [{ fileId: ids[0] }] }));
    await queryDatabase(
      widget.databaseUrl,
      "UPDATE widget_files SET created_at = now() - interval '25 hours' WHERE id = ANY ($1)",
      [ids],
    );
    await widget.store.widgetFiles.removeUnused();
    expect((await widget.call(`/api/widget/files/${ids[0]}`, { visitorId })).status).toBe(200);
    expect((await widget.call(`/api/widget/files/${ids[1]}`, { visitorId })).status).toBe(404);
  });
});

describe("the script", () => {
  test("is cached for a day, and can be loaded by pages of every site", async () => {
    const response = await widget.call("/widget.js", { key: null, origin: OTHER_SITE });
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=86400, stale-while-revalidate=604800",
      "access-control-allow-origin": "*",
      "cross-origin-resource-policy": "cross-origin",
      etag: expect.any(String),
    });
    const etag = response.headers.get("etag") ?? "";
    expect((await widget.call("/widget.js", { headers: { "If-None-Match": etag } })).status).toBe(304);
    const unknown = await widget.call("/chunks/panel-00000000.js");
    expect(unknown.status).toBe(200);
    expect(unknown.headers.get("cache-control")).toBe("public, max-age=60");
  });

  test("404: has no chunk of another name, and nothing outside its folder", async () => {
    for (const path of ["/chunks/nothing-00000000.js", "/chunks/..%2f..%2fservice.js", "/chunks/manifest.json"]) {
      await expectProblem(await widget.call(path), 404, "not_found");
    }
  });
});

describe("health", () => {
  test("needs no key", async () => {
    expect((await widget.call("/healthz", { key: null })).status).toBe(200);
    expect(await (await widget.call("/readyz", { key: null })).json()).toEqual({ ok: true });
  });
});

describe("with a list of allowed sites", () => {
  beforeAll(() => widget.configure({ allowedOrigins: [SITE, "https://*.partner.example"] }));
  afterAll(() => widget.configure({ allowedOrigins: [] }));

  const CALLS: Record<string, (origin: string) => Promise<Response>> = {
    config: (origin) => widget.call(`/api/widget/config/${WIDGET_KEY}`, { origin }),
    message: (origin) => post(randomUUID(), newMessage(), { origin }),
    files: (origin) => upload(randomUUID(), "x", "x.txt", { origin }),
    "a file": (origin) => widget.call(`/api/widget/files/${randomUUID()}`, { origin, visitorId: randomUUID() }),
    "the question before": (origin) => widget.call("/api/widget/message", { method: "OPTIONS", origin }),
  };

  test.each(Object.entries(CALLS))(
    "403: %s is rejected for other sites, which may read the reason only for the settings",
    async (name, call) => {
      for (const origin of [
        OTHER_SITE,
        "null",
        "https://shop.example.evil.example",
        "https://partner.example",
        "http://shop.example",
      ]) {
        const response = await call(origin);
        expect(response.headers.get("access-control-allow-origin")).toBe(name === "config" ? "*" : null);
        await expectProblem(response, 403, "origin_not_allowed");
      }
    },
  );

  test.each(Object.entries(CALLS))("%s is allowed for sites on the list", async (_name, call) => {
    for (const origin of [SITE, "https://a.partner.example", "https://a.b.partner.example"]) {
      const response = await call(origin);
      expect(response.status).not.toBe(403);
      expect(response.headers.get("access-control-allow-origin")).toBe(origin);
      expect(response.headers.get("vary")).toContain("Origin");
    }
  });
});

describe("if signed users are required", () => {
  const userId = "user 42 ü";
  const userHash = createHmac("sha256", SECRET).update(userId).digest("hex");
  const signed = (hash: string) => ({ headers: { "X-User-Id": encodeURIComponent(userId), "X-User-Hash": hash } });

  beforeAll(() => widget.configure({ identitySecret: widget.store.sealer.seal(SECRET), requireIdentity: true }));
  afterAll(() => widget.configure({ identitySecret: null, requireIdentity: false }));

  test("403: only they may write or read files", async () => {
    const visitorId = randomUUID();
    await expectProblem(await post(visitorId, newMessage()), 403, "invalid_identity");
    for (const hash of ["", "0".repeat(64), userHash.slice(1), `${userHash}00`, `${userHash}zz`]) {
      await expectProblem(await post(visitorId, newMessage(), signed(hash)), 403, "invalid_identity");
    }
    await expectProblem(await widget.call(`/api/widget/files/${randomUUID()}`, { visitorId }), 403, "invalid_identity");
  });

  test("202: they are identified by their id", async () => {
    const response = await post(randomUUID(), newMessage(), signed(userHash));
    expect(response.status).toBe(202);
    const { ticketId } = (await response.json()) as { ticketId: string };
    expect(await ticketWhen(ticketId, ({ stage }) => stage !== "received")).toMatchObject({ userId });
  });
});

describe("above the limits", () => {
  beforeEach(() =>
    widget.configure({
      messagesPerMinute: 2,
      configReadsPerMinute: 2,
      filesPerMinute: 2,
      apiKey: `wk_limited-${randomUUID()}`,
    }),
  );

  test("429: responds with the time to retry, counted over all replicas", async () => {
    const { widget: settings } = await widget.store.channelsConfig.read();
    const key = settings.config.apiKey ?? "";
    const CALLS = [
      (replica: number) => widget.call(`/api/widget/config/${key}`, { replica }),
      (replica: number) => post(randomUUID(), newMessage(), { key, replica }),
      (replica: number) => upload(randomUUID(), "x", "x.txt", { key, replica }),
    ];
    for (const call of CALLS) {
      const last = widget.urls.length - 1;
      for (const replica of [0, last]) expect((await call(replica)).status).toBeLessThan(300);
      const refused = await call(0);
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(refused.headers.get("ratelimit-policy")).toMatch(/;q=2;w=60$/);
      await expectProblem(refused, 429, "rate_limited");
    }
  });
});

test("links that unsubscribe from emails work while the widget is disabled, and nothing else does", async () => {
  const { store, urls } = widget;
  const project = (await store.projects.ensure("default")).project.id;
  const who = { project, customerId: randomUUID(), addressHash: hashAddress(store.sealer, "mia@example.com") };
  const path = `/unsubscribe/${makeUnsubscribeToken(store.sealer, who)}`;
  await store.channelsConfig.update("widget", {}, { enabled: false });
  for (const replica of urls.keys()) {
    const isDisabled = async () => {
      const { status } = await widget.call("/widget.js", { replica });
      return status === 503;
    };
    await waitFor(isDisabled, { what: "the widget to be disabled" });
    expect((await widget.call(path, { replica })).status).toBe(200);
    await expectProblem(await post(randomUUID(), newMessage(), { replica }), 503, "channel_disabled");
  }
  const form = new FormData();
  form.append("List-Unsubscribe", "One-Click");
  expect((await widget.call(path, { form })).status).toBe(200);
  expect(await store.emailNotifications.isUnsubscribed(project, who)).toBe(true);
  await store.channelsConfig.update("widget", {}, { enabled: true });
  await waitFor(async () => (await widget.call("/widget.js")).ok, { what: "the widget to be enabled" });
});
