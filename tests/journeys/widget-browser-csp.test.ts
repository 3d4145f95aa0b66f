import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { waitFor } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { describeInBrowser } from "./support/open-browser.ts";
import type { VisitorBrowser } from "./support/open-browser.ts";
import { textsOf, widgetOn } from "./support/open-widget.ts";
import { readLedger } from "./support/read-ledger.ts";
import { startWidgetGround } from "./support/start-widget-ground.ts";
import type { WidgetGround } from "./support/start-widget-ground.ts";

const REPLY = "Look at [the shop](https://shop.example):\n\n| Drone | Price |\n|---|---|\n| Kestrel | 90 |";

describeInBrowser("where little is allowed", () => {
  let ground: WidgetGround;

  beforeAll(async () => {
    ground = await startWidgetGround({
      project: "fixed",
      config: { features: { tables: true } },
      prepare: async ({ store }) => void (await addProject(store, "fixed", { fixedReply: REPLY })),
    });
  });

  afterAll(() => ground.stop());

  /** Adds a page that allows only scripts and connections of the widget's origin, and additional connections. */
  function addStrictPage(furtherConnections = ""): string {
    const { origin } = new URL(ground.line.url);
    const policy = [
      "default-src 'none'",
      `script-src ${origin}`,
      `connect-src ${origin} ${furtherConnections}`,
      `img-src ${origin}`,
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
      "report-uri /reports",
    ].join("; ");
    return ground.site.addPage({ headers: { "Content-Security-Policy": policy } });
  }

  test("a whole conversation violates nothing, without inline styles, inline scripts and eval", () =>
    ground.browser.visit(async (open) => {
      const url = addStrictPage(`ws://${new URL(ground.line.url).host}`);
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(url));
      await widget.open();
      await widget.write("What does it cost?");
      await widget.part("text").locator("table").waitFor();
      const coming = widget.page.waitForEvent("download");
      await widget.part("file").first().click();
      await (await coming).path();
      await widget.attach([{ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("words") }]);
      await widget.write("Here is a file");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 2, "the second answer");
      ground.line.cut();
      await widget.write("And again after a cut");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 3, "the third answer");
      await widget.page.keyboard.press("Escape");
      await widget.page.reload();
      await widget.launcher.waitFor();

      // A deliberate violation comes last, and shows that violations are reported.
      await widget.page.evaluate(`new Image().src = "https://elsewhere.example/x.png"`);
      await waitFor(() => ground.site.reports().some((report) => report.includes("elsewhere.example")), {
        what: "the report of a violation",
      });
      expect(ground.site.reports().filter((report) => !report.includes("elsewhere.example"))).toEqual([]);
      expect(
        visitor.log().filter((line) => line.includes("Content Security Policy") && !line.includes("elsewhere")),
      ).toEqual([]);
      expect(visitor.errors()).toEqual([]);
    }));

  /** Records the browser's requests. */
  function noteRequests(visitor: VisitorBrowser): string[] {
    const asked: string[] = [];
    visitor.context.on("request", (request) => asked.push(request.url()));
    return asked;
  }

  const isOverHttp = (url: string) => url.includes("/api/widget/ws") && url.includes("transport=polling");

  test("a page whose policy forbids WebSockets has the conversation over HTTP", () =>
    ground.browser.visit(async (open) => {
      const visitor = await open();
      const asked = noteRequests(visitor);
      const before = ground.site.reports().length;
      const widget = widgetOn(await visitor.openPage(addStrictPage()));
      await widget.open();
      await widget.write("What does it cost?");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      expect(asked.some(isOverHttp)).toBe(true);
      // The browser reports the WebSocket, as documented, and nothing else.
      const reports = ground.site.reports().slice(before);
      expect(reports.filter((report) => !report.includes('"blocked-uri":"ws:'))).toEqual([]);
      expect(visitor.errors()).toEqual([]);
    }));

  test("a proxy that rejects WebSockets has the conversation over HTTP, and later over a WebSocket again", () =>
    ground.browser.visit(async (open) => {
      ground.line.refuseSockets(true);
      const visitor = await open();
      const asked = noteRequests(visitor);
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.open();
      await widget.write("over HTTP: one");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      expect(asked.filter((url) => url.includes("/chunks/polling-"))).toHaveLength(1);
      expect(asked.some(isOverHttp)).toBe(true);
      ground.line.cut();
      await widget.write("over HTTP: two");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 2, "an answer after a cut");
      await widget.reload();
      await widget.write("over HTTP: three");
      const shown = await widget.untilShown((entries) => textsOf(entries, "reply").length === 3, "the third answer");
      const texts = ["over HTTP: one", "over HTTP: two", "over HTTP: three"];
      expect(textsOf(shown, "visitor")).toEqual(texts);

      const { sockets } = ground.line;
      ground.line.refuseSockets(false);
      ground.line.cut();
      await widget.write("over a WebSocket");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 4, "the fourth answer");
      await waitFor(() => ground.line.sockets > sockets, { what: "a WebSocket" });
      const ledger = await readLedger(ground.product.databaseUrl, "over HTTP: one");
      expect(ledger.messages).toEqual([...texts, "over a WebSocket"]);
      // The visitor's id is in no URL, which logs of proxies would contain.
      const kept = await widget.page.evaluate<string>(`Object.values(localStorage).join(" ")`);
      const ids = kept.match(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f-]{21}/g) ?? [];
      expect(ids.length).toBeGreaterThan(0);
      expect(asked.filter((url) => ids.some((id) => url.includes(id)))).toEqual([]);
      expect(visitor.errors()).toEqual([]);
    }));
});
