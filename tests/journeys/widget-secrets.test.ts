import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { visitorChatId } from "@svc/contracts";
import { ticketIdOf } from "@svc/store";
import { waitFor, queryDatabase } from "@svc/testing";
import { callApi } from "./support/call-api.ts";
import { createVisitorLines, errorsOf, say } from "./support/create-visitor-lines.ts";
import { findInDatabase } from "./support/find-in-database.ts";
import { startWidget } from "./support/start-widget.ts";
import type { WidgetProduct } from "./support/start-widget.ts";

const SECRET = "an identity secret of the site";

/** Every value that must not appear in the log, with its position in the requests. */
const planted = new Map<string, string>();

/** Creates a secret without a recognizable pattern. */
function plant(where: string): string {
  const value = `planted${randomBytes(12).toString("hex")}`;
  planted.set(value, where);
  return value;
}

/** The ids of visitors, which must not be stored anywhere. */
const visitorIds: string[] = [];

function newVisitor(where: string): string {
  const visitorId = randomUUID();
  planted.set(visitorId, `a visitorId in ${where}`);
  visitorIds.push(visitorId);
  return visitorId;
}

let widget: WidgetProduct;
const lines = createVisitorLines(() => widget.urls);

beforeAll(async () => {
  widget = await startWidget({ env: { SVC_LOG_LEVEL: "debug" } });
  await widget.configure({ identitySecret: widget.store.sealer.seal(SECRET) });
});

afterAll(async () => {
  lines.closeAll();
  await widget?.stop();
});

const newMessage = () => ({ text: plant("a text"), clientMessageId: plant("a clientMessageId") });

/** Data of conversations that operators, webhooks and exports may show. */
const shown: string[] = [];

async function showTicket(visitorId: string): Promise<void> {
  const project = await widget.store.projects.findByName("default");
  if (project === null) throw new Error("no project is named default");
  const ticketId = ticketIdOf(project.id, "widget", visitorChatId(visitorId));
  const [url = ""] = widget.composition.apiUrls;
  for (const path of [`tickets/${ticketId}`, "tickets?q=planted", "audit", "channels"]) {
    shown.push((await callApi(`${url}/api/v1/admin/${path}`, { key: widget.adminKey })).text);
  }
  const json = { visitorId };
  const exported = await callApi(`${url}/api/v1/admin/privacy/export`, { key: widget.adminKey, json });
  // It repeats the id that was requested, and only there.
  shown.push(exported.text.replace(visitorId, ""));
}

describe("with secrets in every position available to visitors", () => {
  test("accepted and rejected calls", async () => {
    for (const replica of widget.urls.keys()) {
      const visitorId = newVisitor("X-Visitor-Id");
      const userId = plant("a user id");
      const userHash = createHmac("sha256", SECRET).update(userId).digest("hex");
      planted.set(userHash, "a user's hash");
      const page = { url: `https://shop.example/${plant("a page")}?${plant("a query")}`, title: plant("a title") };
      const contact = { name: plant("a name"), email: `${plant("an address")}@shop.example` };
      const headers = { "X-User-Id": userId, "X-User-Hash": userHash, Cookie: plant("a cookie") };
      const sent = await widget.call("/api/widget/message", {
        visitorId,
        headers,
        replica,
        json: { ...newMessage(), page, contact },
      });
      expect(sent.status).toBe(202);
      const refused = [
        { visitorId: newVisitor("a call with a wrong key"), key: plant("a wrong key"), json: newMessage() },
        { visitorId: plant("a weak X-Visitor-Id"), json: newMessage() },
        { visitorId: newVisitor("a call with a wrong hash"), headers: { "X-User-Id": "u" }, json: newMessage() },
        { visitorId: newVisitor("a call with a wrong body"), json: { text: 1, [plant("a field")]: 2 } },
        { visitorId: newVisitor("a call without a text"), json: { ...newMessage(), text: "", locale: plant("x") } },
      ];
      for (const call of refused) {
        expect((await widget.call("/api/widget/message", { ...call, replica })).status).toBeGreaterThanOrEqual(400);
      }
      await widget.call(`/api/widget/config/${plant("a wrong key of a config")}`, { replica, key: null });
      await widget.call(`/api/widget/${plant("a path")}?visitorId=${newVisitor("an address")}`, { replica });
      const form = new FormData();
      form.append("file", new Blob([plant("a file")]), `${plant("the name of a file")}.txt`);
      expect((await widget.call("/api/widget/files", { visitorId, headers, replica, form })).status).toBe(201);
      await widget.call(`/api/widget/files/${plant("the id of a file")}`, { visitorId, headers, replica });
      await showTicket(visitorId);
    }
  });

  test("accepted and rejected connections", async () => {
    for (const replica of widget.urls.keys()) {
      const open = [
        lines.plain({ visitorId: newVisitor("the address of a WebSocket"), replica }),
        lines.socketIo({ visitorId: newVisitor("the address of socket.io"), replica }),
        lines.hello(newVisitor("hello"), 0, { replica }),
        lines.openers["socket.io by HTTP alone"](newVisitor("socket.io's auth payload"), 0, { replica }),
      ];
      for (const line of open) {
        await line.next("ready");
        await say(line, plant("a text of a frame"));
        await line.next("reply");
        line.send("rate", { score: 1, comment: plant("a comment") });
        line.send("hello", { sinceSeq: 0, visitorId: newVisitor("a further hello") });
        line.send(plant("a type"), { [plant("a field of a frame")]: plant("a value of a frame") });
        await waitFor(() => errorsOf(line).length === 2, { what: "both refusals" });
      }
      const refused = [
        lines.plain({ apiKey: plant("a wrong key of a WebSocket"), visitorId: newVisitor("a refused address") }),
        lines.plain({ visitorId: newVisitor("bad JSON"), replica }),
      ];
      refused[1]?.send(`${plant("no JSON")}"`, undefined);
      expect(await refused[0]?.closed).toBe(4401);
      const { fault: error } = lines.socketIo({ apiKey: plant("a wrong key of socket.io"), replica });
      await error;
    }
    for (const visitorId of visitorIds) await showTicket(visitorId);
  });

  test("internal errors", async () => {
    const visitorId = newVisitor("a call that fails");
    const line = lines.hello(newVisitor("a line that fails"));
    await line.next("ready");
    const rename = (from: string, to: string) =>
      queryDatabase(widget.databaseUrl, `ALTER TABLE ${from} RENAME TO ${to}`);
    await rename("widget_messages", "widget_messages_away");
    try {
      expect((await widget.call("/api/widget/message", { visitorId, json: newMessage() })).status).toBe(500);
      line.send("message", newMessage());
      expect((await line.next("error")).data.code).toBe("internal");
    } finally {
      await rename("widget_messages_away", "widget_messages");
    }
  });
});

describe("afterwards", () => {
  test("no visitor id is in the database", async () => {
    // One of each position, because every search reads the whole database.
    const oneOfEach = new Map(visitorIds.map((visitorId) => [planted.get(visitorId), visitorId]));
    for (const visitorId of oneOfEach.values()) {
      expect(await findInDatabase(widget.databaseUrl, visitorId)).toEqual([]);
    }
  });

  test("no visitor id is shown to operators, or in an export", () => {
    expect(shown.length).toBeGreaterThan(10);
    expect(visitorIds.filter((visitorId) => shown.some((text) => text.includes(visitorId)))).toEqual([]);
  });

  test("the log contains nothing that visitors sent, and reports the errors", async () => {
    lines.closeAll();
    await Promise.all(widget.composition.processes.map((process) => process.kill("SIGTERM")));
    const log = widget.composition.processes.flatMap((process) => process.output().split("\n"));
    for (const message of ["request failed", "failed to process a visitor's frame", "stopping"]) {
      expect({ message, isThere: log.some((line) => line.includes(message)) }).toEqual({ message, isThere: true });
    }
    expect(planted.size).toBeGreaterThan(50);
    const found = [...planted].flatMap(([value, where]) => {
      const forms = [value, encodeURIComponent(value), Buffer.from(value).toString("base64").replace(/=+$/, "")];
      const line = log.find((text) => forms.some((form) => text.includes(form)));
      return line === undefined ? [] : [{ where, line }];
    });
    expect(found).toEqual([]);
  });
});
