import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { randomFrom, waitFor, queryDatabase } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { describeInBrowser } from "./support/open-browser.ts";
import { textsOf, widgetOn } from "./support/open-widget.ts";
import type { WidgetOnPage } from "./support/open-widget.ts";
import { readLedger } from "./support/read-ledger.ts";
import { startWidgetGround } from "./support/start-widget-ground.ts";
import type { WidgetGround } from "./support/start-widget-ground.ts";

const FIXED = "Noted.";
/** Number of dropped connections. A panel shows 300 entries at most: everything received is compared as a whole. */
const CUTS = 20;
/** Each seed drops connections elsewhere: 200 drops in `npm run soak`, a tenth of that in `npm test`. */
const SEEDS = process.env["SVC_SOAK"] === "1" ? [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] : [7];

describeInBrowser("a visitor with a bad line", () => {
  let ground: WidgetGround;

  beforeAll(async () => {
    ground = await startWidgetGround({
      project: "fixed",
      prepare: async ({ store }) => void (await addProject(store, "fixed", { fixedReply: FIXED })),
      // Queued messages are sent faster than anyone types.
      config: { messagesPerMinute: 100_000 },
    });
  });

  afterAll(() => ground.stop());

  /** Waits until all these messages are stored, answered and shown, and checks that page and store match. */
  async function expectEqualLedgers(widget: WidgetOnPage, texts: readonly string[], timeoutMs?: number): Promise<void> {
    const [first = ""] = texts;
    let ledger = await readLedger(ground.product.databaseUrl, first);
    await waitFor(
      async () => {
        ledger = await readLedger(ground.product.databaseUrl, first);
        return ledger.messages.length >= texts.length && ledger.replies.length >= texts.length;
      },
      {
        what: () => `${texts.length} messages to be answered; the store has ${JSON.stringify(ledger)}`,
        ...(timeoutMs !== undefined && { timeoutMs }),
      },
    );
    expect(ledger.messages).toEqual(texts);
    expect(ledger.replies).toEqual(texts.map(() => FIXED));
    const shown = await widget.untilShown(
      (entries) =>
        entries.filter(({ state }) => state === "sent").length >= texts.length &&
        textsOf(entries, "reply").length >= texts.length,
      `${texts.length} messages and their answers, all of which are stored`,
    );
    expect(textsOf(shown, "visitor")).toEqual(ledger.messages);
    expect(textsOf(shown, "reply")).toEqual(ledger.replies);
  }

  test("writes while the server is unavailable, reloads, and all messages are sent once and in order when it recovers", () =>
    ground.browser.visit(async (open) => {
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.open();
      await widget.write("away: with a line");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      ground.line.goAway();
      await widget.part("status").waitFor();
      const kept = ["away: one", "away: two", "away: three"];
      for (const text of kept) await widget.write(text);
      await widget.untilShown(
        (entries) => entries.filter(({ state }) => state === "waiting").length === 3,
        "3 to wait",
      );

      await widget.reload();
      const waiting = await widget.untilShown((entries) => textsOf(entries, "visitor").length === 4, "all pages");
      expect(textsOf(waiting, "visitor")).toEqual(["away: with a line", ...kept]);
      expect((await readLedger(ground.product.databaseUrl, "away: with a line")).messages).toHaveLength(1);

      ground.line.comeBack();
      await expectEqualLedgers(widget, ["away: with a line", ...kept]);
      expect(visitor.errors()).toEqual([]);
    }));

  test("writes while the computer is offline, and the message is sent as soon as it is online", () =>
    ground.browser.visit(async (open) => {
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.open();
      await widget.write("offline: with a line");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      await visitor.context.setOffline(true);
      ground.line.cut();
      await widget.write("offline: later");
      await widget.untilShown((entries) => entries.some(({ state }) => state === "waiting"), "one to wait");
      await visitor.context.setOffline(false);
      await expectEqualLedgers(widget, ["offline: with a line", "offline: later"]);
    }));

  test.each(SEEDS)(
    `writes while the connection drops ${CUTS} times at any byte: every message is stored, shown and answered once (%s)`,
    (seed) =>
      ground.browser.visit(async (open) => {
        const random = randomFrom(seed);
        const visitor = await open();
        const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
        await widget.open();
        const texts: string[] = [];
        const before = ground.line.cuts;
        while (ground.line.cuts - before < CUTS) {
          const text = `cut ${seed}: ${texts.length + 1}`;
          texts.push(text);
          const { cuts } = ground.line;
          ground.line.cutAfter(1 + Math.floor(random() * 2_500));
          await widget.write(text);
          // Half of the time the browser reports that it is online again, which shortens the wait.
          if (random() < 0.5) await widget.page.evaluate(`dispatchEvent(new Event("online"))`);
          await widget.untilShown(
            (entries) =>
              ground.line.cuts > cuts || entries.findLast(({ text: shown }) => shown === text)?.state === "sent",
            `the line to be cut for ${text}, or the message to be sent`,
            60_000,
          );
        }
        ground.line.comeBack();
        await expectEqualLedgers(widget, texts, 120_000);
        expect(visitor.errors()).toEqual([]);
      }),
    240_000,
  );

  test("resends a rejected message with a click, once, or removes it", () =>
    ground.browser.visit(async (open) => {
      const { databaseUrl } = ground.product;
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.open();
      await widget.write("refused: before");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      // The service does not find the file for a while: a message that refers to it is rejected.
      await widget.attach([{ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("words") }]);
      const turn = "UPDATE widget_files SET ticket_id = overlay(ticket_id::text placing $1 from 1)::uuid";
      const [file] = await queryDatabase<{ id: string; begin: string }>(
        databaseUrl,
        "SELECT id, left(ticket_id::text, 8) AS begin FROM widget_files",
      );
      await queryDatabase(databaseUrl, `${turn} RETURNING id`, ["00000000"]);
      await widget.write("refused: with a file");
      await widget.untilShown(([, , entry]) => entry?.state === "failed", "the message to be refused");
      await widget.reload();
      await widget.untilShown(([, , entry]) => entry?.state === "failed", "the refused message after a reload");
      expect((await readLedger(databaseUrl, "refused: before")).messages).toEqual(["refused: before"]);

      await widget.write("refused: after");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 2, "an answer to the next one");
      await queryDatabase(databaseUrl, `${turn} WHERE id = $2 RETURNING id`, [file?.begin, file?.id]);
      await widget.panel.getByRole("button", { name: "Try again" }).click();
      await expectEqualLedgers(widget, ["refused: before", "refused: after", "refused: with a file"]);

      await widget.attach([{ name: "b.txt", mimeType: "text/plain", buffer: Buffer.from("words") }]);
      await queryDatabase(databaseUrl, "DELETE FROM widget_files WHERE filename = 'b.txt' RETURNING id");
      await widget.write("refused: for good");
      await widget.untilShown((entries) => entries.some(({ state }) => state === "failed"), "the refused message");
      await widget.panel.getByRole("button", { name: "Delete" }).click();
      await widget.untilShown((entries) => !entries.some(({ state }) => state === "failed"), "it to be gone");
      await widget.reload();
      await expectEqualLedgers(widget, ["refused: before", "refused: after", "refused: with a file"]);
      expect(visitor.errors()).toEqual([]);
    }));

  test("cannot send a text that is too long, and is warned beforehand", () =>
    ground.browser.visit(async (open) => {
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.open();
      await widget.composer.fill("x".repeat(10_001));
      await widget.composer.press("Enter");
      expect(await widget.composer.getAttribute("aria-invalid")).toBe("true");
      await widget.panel.getByText("-1").waitFor();
      expect(textsOf(await widget.entries(), "visitor")).toEqual([]);
      await widget.write("too long: no more");
      await expectEqualLedgers(widget, ["too long: no more"]);
    }));
});
