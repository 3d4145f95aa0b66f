import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { visitorChatId } from "@svc/contracts";
import { ticketIdOf } from "@svc/store";
import { waitFor } from "@svc/testing";
import { callApi } from "./support/call-api.ts";
import { createVisitorLines, errorsOf, say } from "./support/create-visitor-lines.ts";
import { findInDatabase } from "./support/find-in-database.ts";
import { queryDatabase } from "./support/query-database.ts";
import { startWidget } from "./support/start-widget.ts";
import type { WidgetProduct } from "./support/start-widget.ts";

const SECRET = "an identity secret of the site";

/** What must stay out of the log, by its value, with where it was planted. */
const planted = new Map<string, string>();

/** Makes a secret that looks like nothing in particular, so that no pattern can know it. */
function plant(where: string): string {
  const value = `planted${randomBytes(12).toString("hex")}`;
  planted.set(value, where);
  return value;
}

/** The ids of visitors, which stand nowhere at all. */
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

/** What of a conversation operators, webhooks and exports may be shown. */
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
  // It repeats whom it was asked about, and that alone.
  shown.push(exported.text.replace(visitorId, ""));
}

describe("with secrets in every place that visitors have", () => {
  test("calls that are taken, and calls that are refused", async () => {
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

  test("lines that are taken, and lines that are refused", async () => {
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

  test("faults of the service itself", async () => {
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
  test("no id of a visitor stands in the database", async () => {
    // One of each place: the whole database is read for each.
    const oneOfEach = new Map(visitorIds.map((visitorId) => [planted.get(visitorId), visitorId]));
    for (const visitorId of oneOfEach.values()) {
      expect(await findInDatabase(widget.databaseUrl, visitorId)).toEqual([]);
    }
  });

  test("none is in what operators are shown, nor in an export", () => {
    expect(shown.length).toBeGreaterThan(10);
    expect(visitorIds.filter((visitorId) => shown.some((text) => text.includes(visitorId)))).toEqual([]);
  });

  test("the log has nothing of what visitors sent, and says what failed", async () => {
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
