import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { addProject } from "./support/add-project.ts";
import { describeInBrowser } from "./support/open-browser.ts";
import { textsOf, widgetOn } from "./support/open-widget.ts";
import { readLedger } from "./support/read-ledger.ts";
import { startWidgetGround } from "./support/start-widget-ground.ts";
import type { WidgetGround } from "./support/start-widget-ground.ts";

/** Scripts that break the storage before anything else runs on a page. */
const STORAGES = {
  "that is blocked": `Object.defineProperty(window, "localStorage", { get() { throw new DOMException("no", "SecurityError"); } });`,
  "that is missing": `Object.defineProperty(window, "localStorage", { value: null });`,
  "that is full": `Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError"); };`,
  "that is read only for a while": `let left = 5; const set = Storage.prototype.setItem;
    Storage.prototype.setItem = function (...given) { if (left-- > 0) throw new DOMException("full", "QuotaExceededError"); set.apply(this, given); };`,
};

/** Invalid values that replace the stored ones. */
const INVALID_VALUES = [
  "",
  "{",
  "null",
  "[]",
  "42",
  `{"v":99}`,
  `{"entries":[null,{}],"seq":"x","__proto__":{"a":1}}`,
  "\u0000",
  "x".repeat(100_000),
];

describeInBrowser("a visitor with a storage", () => {
  let ground: WidgetGround;

  beforeAll(async () => {
    ground = await startWidgetGround({
      project: "fixed",
      prepare: async ({ store }) => void (await addProject(store, "fixed", { fixedReply: "Noted." })),
    });
  });

  afterAll(() => ground.stop());

  test.each(Object.entries(STORAGES))("%s has a conversation all the same", (what, script) =>
    ground.browser.visit(async (open) => {
      const visitor = await open();
      await visitor.context.addInitScript(script);
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.open();
      const texts = [1, 2].map((index) => `${what}: ${index}`);
      for (const text of texts) await widget.write(text);
      const shown = await widget.untilShown((entries) => textsOf(entries, "reply").length === 2, "two answers");
      expect(textsOf(shown, "visitor")).toEqual(texts);
      expect((await readLedger(ground.product.databaseUrl, texts[0] ?? "")).messages).toEqual(texts);
      expect(visitor.errors()).toEqual([]);
    }),
  );

  test("with only invalid values starts with the server's data, or with a new conversation", () =>
    ground.browser.visit(async (open) => {
      const visitor = await open();
      const url = ground.site.addPage();
      const widget = widgetOn(await visitor.openPage(url));
      await widget.open();
      await widget.write("before the ruin");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      for (const [index, ruin] of INVALID_VALUES.entries()) {
        await widget.page.evaluate(
          `for (const key of Object.keys(localStorage)) localStorage.setItem(key, ${JSON.stringify(ruin)})`,
        );
        await widget.reload();
        const text = `after ruin ${index}`;
        await widget.write(text);
        await widget.untilShown(
          (entries) => entries.at(-1)?.kind === "reply" && textsOf(entries, "visitor").at(-1) === text,
          `an answer after ${ruin.slice(0, 20)}`,
        );
        expect((await readLedger(ground.product.databaseUrl, text)).messages.filter((sent) => sent === text)).toEqual([
          text,
        ]);
      }
      expect(visitor.errors()).toEqual([]);
    }));

  test.each([
    ["a year behind", -365],
    ["a year ahead", 365],
  ])("and a clock that is %s shows everything in the order of the conversation", (_what, days) =>
    ground.browser.visit(async (open) => {
      const visitor = await open();
      await visitor.context.addInitScript(
        `{ const now = Date.now; const by = ${days} * 86_400_000; const Real = Date;
           Date.now = () => now() + by;
           window.Date = class extends Real { constructor(...given) { if (given.length === 0) super(now() + by); else super(...given); } }; }`,
      );
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.open();
      for (const index of [1, 2, 3]) {
        await widget.write(`clock ${days}: ${index}`);
        await widget.untilShown((entries) => textsOf(entries, "reply").length === index, "an answer");
      }
      const shown = await widget.entries();
      expect(shown.map(({ kind }) => kind)).toEqual(["visitor", "reply", "visitor", "reply", "visitor", "reply"]);
      expect(textsOf(shown, "visitor")).toEqual([1, 2, 3].map((index) => `clock ${days}: ${index}`));
      await widget.reload();
      const again = await widget.untilShown((entries) => entries.length >= 6, "the conversation");
      expect(again.map(({ text }) => text)).toEqual(shown.map(({ text }) => text));
      expect(visitor.errors()).toEqual([]);
    }),
  );
});
