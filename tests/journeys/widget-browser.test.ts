import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { ProjectId } from "@svc/store";
import { waitFor, queryDatabase } from "@svc/testing";
import ExcelJS from "exceljs";
import { callApi } from "./support/call-api.ts";
import { createReviewClient } from "./support/create-review-client.ts";
import { holdChat } from "./support/hold-chat.ts";
import { describeInBrowser } from "./support/open-browser.ts";
import { textsOf, widgetOn } from "./support/open-widget.ts";
import { readLedger } from "./support/read-ledger.ts";
import { startWidgetGround } from "./support/start-widget-ground.ts";
import type { WidgetGround } from "./support/start-widget-ground.ts";

const TABLE = "| City | People |\n|---|---|\n| Oslo | 717710 |\n| Rome | 2748109 |";
const TALL = Array.from({ length: 60 }, (_, line) => `Line ${line} of a long answer.`).join("\n\n");

/** Declared here because Node.js types do not include it. */
declare const MutationObserver: new (listener: (records: { target: unknown }[]) => void) => {
  observe(node: object, options: object): void;
};

/** Splits each file that a page fetches, and delays the second half until `letGo` is called. */
const HOLD_DOWNLOADS = `{ const plain = window.fetch; window.fetches = 0;
  const gate = new Promise((go) => { window.letGo = go; });
  window.fetch = async (...given) => {
    const response = await plain(...given);
    if (!String(given[0]).includes("/api/widget/files/")) return response;
    window.fetches++;
    const held = new TransformStream({ async transform(bytes, out) {
      const half = bytes.length >> 1;
      out.enqueue(bytes.slice(0, half)); await gate; out.enqueue(bytes.slice(half)); } });
    return new Response(response.body.pipeThrough(held), response);
  }; }`;

const QUESTION = "How long can the text of a message be?";

describeInBrowser("a visitor", () => {
  let ground: WidgetGround;

  /** Sets whether tables of answers are also sent as files. The pipeline reads the setting for each answer. */
  async function sendTables(tables: boolean): Promise<void> {
    const { channelsConfig } = ground.product.store;
    const { features } = (await channelsConfig.read()).widget.config;
    await channelsConfig.update("widget", { features: { ...features, tables } }, { enabled: true });
  }

  beforeAll(async () => {
    ground = await startWidgetGround();
  });

  afterAll(() => ground.stop());

  test("is answered by the knowledge base, with formatting and sources, and sees it all again after a reload", () =>
    ground.browser.visit(async (open) => {
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.open();
      await widget.write(QUESTION);
      const shown = await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      expect(textsOf(shown, "visitor")).toEqual([QUESTION]);
      expect(textsOf(shown, "reply")[0]).toContain("50,000 characters");
      expect(await widget.part("sources").count()).toBe(1);
      await widget.untilShown(([entry]) => entry?.state === "sent", "the message to be sent");

      await widget.reload();
      const again = await widget.untilShown((entries) => entries.length === shown.length, "the conversation");
      expect(again.map(({ text }) => text)).toEqual(shown.map(({ text }) => text));
      expect((await readLedger(ground.product.databaseUrl, QUESTION)).messages).toEqual([QUESTION]);
      expect(visitor.errors()).toEqual([]);
    }));

  test("sees one conversation in two tabs; another visitor sees nothing of it", () =>
    ground.browser.visit(async (open) => {
      await ground.answerWith("Yes, gladly.");
      const visitor = await open();
      const url = ground.site.addPage();
      const first = widgetOn(await visitor.openPage(url));
      await first.open();
      await first.write("In the first tab");
      await first.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer in the first tab");

      const second = widgetOn(await visitor.openPage(url));
      await second.open();
      await second.untilShown((entries) => entries.length >= 2, "the conversation in the second tab");
      await second.write("In the second tab");
      const there = await first.untilShown(
        (entries) => textsOf(entries, "visitor").length === 2 && textsOf(entries, "reply").length === 2,
        "what the second tab has sent, and its answer",
      );
      const here = await second.untilShown((entries) => entries.length === there.length, "the same in both");
      expect(here.map(({ text }) => text)).toEqual(there.map(({ text }) => text));

      const stranger = widgetOn(await (await open()).openPage(url));
      await stranger.open();
      await stranger.write("I am somebody else");
      const seen = await stranger.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      expect(textsOf(seen, "visitor")).toEqual(["I am somebody else"]);
      expect(visitor.errors()).toEqual([]);
    }));

  test("sees a table as a table, and gets a spreadsheet only if the site enables that", () =>
    ground.browser.visit(async (open) => {
      await ground.answerWith(TABLE);
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.open();
      await widget.write("How many people live there?");
      const table = widget.part("text").locator("table");
      await table.waitFor();
      expect(await table.locator("th").allInnerTexts()).toEqual(["City", "People"]);
      expect(await table.locator("td").allInnerTexts()).toEqual(["Oslo", "717710", "Rome", "2748109"]);

      await sendTables(true);
      await widget.write("And as a file?");
      await widget.part("file").first().waitFor();
      await sendTables(false);
      expect(await widget.part("file").count()).toBe(1);
      const coming = widget.page.waitForEvent("download");
      await widget.part("file").first().click();
      const download = await coming;
      expect(download.suggestedFilename()).toMatch(/\.xlsx$/);
      const book = new ExcelJS.Workbook();
      await book.xlsx.load((await readFile(await download.path())).buffer);
      expect(book.worksheets[0]?.getCell("A1").value).toBe("City");
      expect(book.worksheets[0]?.getCell("B3").value).toBe(2_748_109);
      expect(visitor.errors()).toEqual([]);
    }));

  test("sends a file with progress, and the operators get it", () =>
    ground.browser.visit(async (open) => {
      await ground.answerWith("Thank you for the picture.");
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.open();
      // Such a file would be sent at once without throttling.
      const network = await visitor.context.newCDPSession(widget.page);
      const throughput = { offline: false, latency: 0, downloadThroughput: -1 };
      await network.send("Network.enable");
      await network.send("Network.emulateNetworkConditions", { ...throughput, uploadThroughput: 1_000_000 });
      await widget.panel.evaluate((panel) => {
        const parts: number[] = [];
        Object.assign(globalThis, { parts });
        new MutationObserver((records) => {
          for (const { target } of records) parts.push((target as { value: number }).value);
        }).observe(panel, { subtree: true, attributeFilter: ["value"] });
      });
      await widget.attach([{ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("three drones") }]);
      await widget.attach([{ name: "big.txt", mimeType: "text/plain", buffer: Buffer.alloc(1_000_000, "drone ") }], 2);
      await network.send("Network.emulateNetworkConditions", { ...throughput, uploadThroughput: -1 });
      const parts = await widget.page.evaluate<number[]>("window.parts");
      expect(parts.filter((part) => part > 0 && part < 1).length).toBeGreaterThan(0);
      await widget.write("Here are my notes");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");

      const coming = widget.page.waitForEvent("download");
      await widget.part("file").first().click();
      const download = await coming;
      expect(download.suggestedFilename()).toBe("notes.txt");
      expect(await readFile(await download.path(), "utf8")).toBe("three drones");
      expect(visitor.errors()).toEqual([]);
    }));

  test("receives a file, which is downloaded once however often its button is pressed", () =>
    ground.browser.visit(async (open) => {
      await ground.answerWith("Thank you.");
      const visitor = await open();
      await visitor.context.addInitScript(HOLD_DOWNLOADS);
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.open();
      await widget.attach([{ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("three drones") }]);
      await widget.write("Here are my notes");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      const coming = widget.page.waitForEvent("download");
      const button = widget.part("file").first();
      await button.click();
      const part = () => button.locator("progress").evaluate((bar) => (bar as unknown as { value: number }).value);
      await waitFor(async () => (await part()) === 0.5, { what: "half of the file" });
      await button.click();
      await widget.page.evaluate("window.letGo()");
      expect(await readFile(await (await coming).path(), "utf8")).toBe("three drones");
      await button.locator("progress").waitFor({ state: "detached" });
      expect(await widget.page.evaluate("window.fetches")).toBe(1);
      expect(visitor.errors()).toEqual([]);
    }));

  test("sees the line above unread messages before the whole answer, even if the answer has several parts", () =>
    ground.browser.visit(async (open) => {
      await ground.answerWith(TABLE);
      await sendTables(true);
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.open();
      await widget.panel.press("Escape");
      await widget.page.evaluate(`svcWidget.send("How many people?")`);
      await waitFor(async () => (await widget.part("unread").textContent()) === "1", { what: "one unread reply" });
      await widget.open();
      const kinds = await widget
        .part("log")
        .locator("ol > li")
        .evaluateAll((all) =>
          all.map((one) => (one.className.includes("new") ? "new" : (one.dataset["kind"] ?? ""))).filter(Boolean),
        );
      expect(kinds.slice(0, 3)).toEqual(["visitor", "new", "reply"]);
      expect(await widget.part("file").count()).toBe(1);
      await sendTables(false);
      expect(visitor.errors()).toEqual([]);
    }));

  test("sees a reply that is taller than the panel from its beginning", () =>
    ground.browser.visit(async (open) => {
      await ground.answerWith(TALL);
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.open();
      await widget.write("Tell me all");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      const log = await widget.part("log").boundingBox();
      const reply = await widget.part("entry").last().boundingBox();
      expect(reply?.height).toBeGreaterThan(log?.height ?? 0);
      expect(Math.abs((reply?.y ?? 0) - (log?.y ?? 0))).toBeLessThan(40);
      expect(visitor.errors()).toEqual([]);
    }));

  test("sees the number of unread replies while the panel is closed", () =>
    ground.browser.visit(async (open) => {
      await ground.answerWith("Here you are.");
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.open();
      await widget.panel.press("Escape");
      await widget.page.evaluate(`svcWidget.send("One")`);
      await waitFor(async () => (await widget.part("unread").textContent()) === "1", { what: "one unread reply" });
      expect(await widget.launcher.getAttribute("aria-label")).toContain("1");
      await widget.open();
      await waitFor(async () => !(await widget.part("unread").isVisible()), { what: "nothing to be unread" });
      expect(visitor.errors()).toEqual([]);
    }));

  test("sees that a reply is being prepared until it arrives", () =>
    ground.browser.visit(async (open) => {
      await ground.answerWith("It took a while.");
      const { databaseUrl, store } = ground.product;
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.open();
      await widget.write("typing: first");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      await widget.part("typing").waitFor({ state: "detached" });
      const [chat] = await queryDatabase<{ project_id: ProjectId; chat_id: string }>(
        databaseUrl,
        "SELECT t.project_id, t.chat_id FROM tickets t JOIN messages m ON m.ticket_id = t.id WHERE m.text = $1",
        ["typing: first"],
      );
      if (chat === undefined) throw new Error("the message has no ticket");
      const letGo = await holdChat(store, { id: chat.project_id }, chat.chat_id, "widget");
      await widget.write("typing: second");
      await widget.part("typing").waitFor();
      await letGo();
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 2, "the second answer");
      await widget.part("typing").waitFor({ state: "detached" });
      expect(visitor.errors()).toEqual([]);
    }));

  test("who asks for a person is told to wait, and then gets a person's reply", () =>
    ground.browser.visit(async (open) => {
      const { databaseUrl, adminKey, composition } = ground.product;
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(ground.site.addPage({ html: 'lang="de"' })));
      await widget.open();
      await widget.write("person: hello");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      await widget.part("person").click();
      await widget.part("status").getByText("Jemand aus unserem Team").waitFor();
      expect(await widget.part("person").count()).toBe(0);
      const ticket = async () =>
        (
          await queryDatabase<{ id: string }>(
            databaseUrl,
            "SELECT ticket_id AS id FROM messages WHERE text = 'person: hello'",
          )
        )[0]?.id;
      const answer = await callApi(`${composition.apiUrls[0]}/api/v1/admin/tickets/${await ticket()}/reply`, {
        key: adminKey,
        json: { text: "I am a **person**." },
      });
      expect(answer.status).toBe(200);
      await widget.part("entry").and(widget.page.locator('[data-author="operator"]')).getByText("person").waitFor();
      // Neither a rating nor another handoff is offered instead of an answer to this one.
      expect(await widget.panel.locator(".offers button, [data-part=rating]").count()).toBe(0);
      expect(visitor.errors()).toEqual([]);
    }));

  test("who is blocked gets no reply, not even by email, and is answered again after the block", () =>
    ground.browser.visit(async (open) => {
      await ground.answerWith("Two days.");
      const reviews = createReviewClient(ground.product, "default");
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.open();
      await widget.write("before the block: how long?");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      const [row] = await queryDatabase<{ id: string }>(
        ground.product.databaseUrl,
        "SELECT ticket_id AS id FROM messages WHERE text = 'before the block: how long?'",
      );
      const ticketId = row?.id ?? "";
      await reviews.setBlocked(ticketId, true);
      await widget.write("during the block");
      const seen = await reviews.untilRejected(ticketId, 1);
      expect(seen.status).toBe("spam");
      // Emails contain replies, and there is none.
      expect(seen.replies).toHaveLength(1);
      await reviews.setBlocked(ticketId, false);
      await widget.write("after the block");
      const shown = await widget.untilShown((entries) => textsOf(entries, "reply").length === 2, "the next answer");
      expect(textsOf(shown, "visitor")).toEqual(["before the block: how long?", "during the block", "after the block"]);
      expect(visitor.errors()).toEqual([]);
    }));

  test("asks a suggested question, starts another conversation, and finds the first one again, with its image", () =>
    ground.browser.visit(async (open) => {
      await ground.answerWith("Two days.");
      await ground.configure({ questions: ["How long does it take?"], logo: "/none.png" });
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.open();
      await widget.panel.getByRole("button", { name: "How long does it take?" }).click();
      const answered = await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      expect(textsOf(answered, "visitor")).toEqual(["How long does it take?"]);
      // The agent is named, and the handoff replaces the rating and the suggested questions.
      await widget.part("entry").getByText("assistant", { exact: true }).waitFor();
      expect(await widget.panel.getByRole("button", { name: "How long does it take?" }).count()).toBe(0);
      const image = { name: "lamp.png", mimeType: "image/png", buffer: await widget.page.screenshot() };
      await widget.attach([image]);
      await widget.write("like this one");
      const size = () => widget.panel.locator("canvas").evaluate((canvas) => canvas.getBoundingClientRect().width);
      await waitFor(async () => (await widget.panel.locator("canvas:visible").count()) === 1 && (await size()) > 50, {
        what: "the thumbnail",
      });
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 2, "another answer");

      await widget.part("chats").and(widget.page.locator("button")).click();
      await widget.part("newChat").click();
      await widget.panel.getByRole("button", { name: "How long does it take?" }).waitFor();
      expect(await widget.entries()).toEqual([]);
      await widget.write("a second matter");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      await widget.reload();
      const second = await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "the second one");
      expect(textsOf(second, "visitor")).toEqual(["a second matter"]);

      await widget.part("chats").and(widget.page.locator("button")).click();
      await waitFor(async () => (await widget.part("chat").count()) === 2, { what: "both conversations" });
      await widget.part("chat").nth(1).click();
      const first = await widget.untilShown((entries) => textsOf(entries, "reply").length === 2, "the first one");
      expect(textsOf(first, "visitor")).toEqual(["How long does it take?", "like this one"]);
      await widget.panel.locator("canvas:visible").waitFor();
      await ground.configure({ questions: [], logo: "" });
      expect(visitor.errors()).toEqual([]);
    }));

  test("enters name and address before the first message, if required, and only once", () =>
    ground.browser.visit(async (open) => {
      await ground.configure({ features: { prechat: ["name", "email"] } });
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.launcher.click();
      const form = widget.part("prechat");
      await form.waitFor();
      expect(await widget.composer.count()).toBe(0);
      await form.getByLabel("Name").fill("Ada");
      await form.getByLabel("Email").fill("no address");
      await form.getByRole("button", { name: "Start chat" }).click();
      expect(await form.getByLabel("Email").evaluate((field) => field.matches(":invalid"))).toBe(true);
      await form.getByLabel("Email").fill("ada@example.com");
      await form.getByRole("button", { name: "Start chat" }).click();
      await widget.composer.waitFor();
      await widget.write("prechat: hello");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      const [sent] = await queryDatabase<{ meta: object }>(
        ground.product.databaseUrl,
        "SELECT channel_meta AS meta FROM messages WHERE text = 'prechat: hello'",
      );
      expect(sent?.meta).toMatchObject({ contact: { name: "Ada", email: "ada@example.com" } });
      await widget.reload();
      await widget.write("prechat: again");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 2, "another answer");
      await ground.configure({ features: { prechat: [] } });
      expect(visitor.errors()).toEqual([]);
    }));

  test("hears a sound only after enabling it, and the choice is stored", () =>
    ground.browser.visit(async (open) => {
      await ground.answerWith("Hear, hear.");
      const visitor = await open();
      await visitor.context.addInitScript(
        `window.tones = 0; window.AudioContext = class extends AudioContext { constructor() { super(); window.tones++; } };`,
      );
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      const tones = () => widget.page.evaluate<number>("window.tones");
      const unread = (count: string) =>
        waitFor(async () => (await widget.part("unread").textContent()) === count, { what: `${count} unread` });
      await widget.open();
      await widget.panel.press("Escape");
      await widget.page.evaluate(`svcWidget.send("Silence")`);
      await unread("1");
      expect(await tones()).toBe(0);
      await widget.open();
      await widget.panel.getByRole("button", { name: "Turn sound on" }).click();
      await widget.panel.getByRole("button", { name: "Turn sound off" }).waitFor();
      await widget.reload();
      await widget.panel.getByRole("button", { name: "Turn sound off" }).waitFor();
      await widget.write("Who looks hears nothing");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 2, "an answer");
      expect(await tones()).toBe(0);
      await widget.panel.press("Escape");
      await widget.page.evaluate(`svcWidget.send("Sound")`);
      await unread("1");
      await waitFor(async () => (await tones()) === 1, { what: "a tone" });
      expect(visitor.errors()).toEqual([]);
    }));
});
