import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { waitFor } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { findBarriers } from "./support/find-barriers.ts";
import { describeInBrowser } from "./support/open-browser.ts";
import { textsOf, widgetOn } from "./support/open-widget.ts";
import { queryDatabase } from "./support/query-database.ts";
import { startWidgetGround } from "./support/start-widget-ground.ts";
import type { WidgetGround } from "./support/start-widget-ground.ts";

const REPLY =
  "Look at [the shop](https://shop.example), and see `fly()`:\n\n- one\n- two\n\n| Drone | Price |\n|---|---|\n| Kestrel | 90 |\n\n> Fly well.\n\n```js\nfly();\n```";

describeInBrowser("everyone can use the widget", () => {
  let ground: WidgetGround;

  beforeAll(async () => {
    ground = await startWidgetGround({
      project: "fixed",
      prepare: async ({ store }) => void (await addProject(store, "fixed", { fixedReply: REPLY })),
    });
  });

  afterAll(() => ground.stop());

  describe("axe-core finds nothing to complain about, in light, dark and forced colours", () => {
    test("closed, open and empty, in a conversation, offline", () =>
      ground.browser.visit(async (open) => {
        const visitor = await open();
        const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
        await widget.launcher.waitFor();
        expect(await findBarriers(widget.page)).toEqual([]);
        await widget.open();
        expect(await findBarriers(widget.page)).toEqual([]);
        await widget.write("Hello");
        await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
        await widget.part("text").locator("table").waitFor();
        expect(await findBarriers(widget.page)).toEqual([]);
        ground.line.goAway();
        await widget.write("I am offline");
        await widget.untilShown((entries) => entries.some(({ state }) => state === "waiting"), "a message to wait");
        expect(await findBarriers(widget.page)).toEqual([]);
        ground.line.comeBack();
      }));

    test("a failed message", () =>
      ground.browser.visit(async (open) => {
        const visitor = await open();
        const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
        await widget.open();
        await widget.attach([{ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("words") }]);
        await waitFor(
          async () =>
            (await queryDatabase(ground.product.databaseUrl, "DELETE FROM widget_files RETURNING id")).length > 0,
          { what: "the file to be stored" },
        );
        await widget.write("The file is gone");
        await widget.untilShown((entries) => entries.some(({ state }) => state === "failed"), "a failed message");
        expect(await findBarriers(widget.page)).toEqual([]);
      }));
  });

  test("with the keyboard alone: open, write, close, and the focus comes back", () =>
    ground.browser.visit(async (open) => {
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.launcher.waitFor();
      const { keyboard } = widget.page;
      const focused = () =>
        widget.page.evaluate<string | null>(
          `(() => { let at = document.activeElement; while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
             return at?.getAttribute("data-part") ?? at?.id ?? null; })()`,
        );
      await keyboard.press("Tab");
      expect(await focused()).toBe("host");
      await keyboard.press("Tab");
      expect(await focused()).toBe("launcher");
      await keyboard.press("Enter");
      await waitFor(async () => (await focused()) === "composer", { what: "the focus to be in the text field" });
      await keyboard.type("By keyboard");
      await keyboard.press("Enter");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      // The focus goes round in the panel, both ways.
      for (const key of ["Tab", "Shift+Tab"]) {
        const seen = new Set<string | null>();
        for (let step = 0; step < 25; step++) {
          await keyboard.press(key);
          seen.add(
            await widget.page.evaluate<string>(
              `(() => { let at = document.activeElement; while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
                 return at?.closest('[data-part="panel"]') ? "panel" : "elsewhere"; })()`,
            ),
          );
        }
        expect([...seen]).toEqual(["panel"]);
      }
      await keyboard.press("Escape");
      await waitFor(async () => (await focused()) === "launcher", { what: "the focus to be back" });
      expect(await widget.panel.isVisible()).toBe(false);
      expect(visitor.faults()).toEqual([]);
    }));

  test.each([
    ["on a phone", { width: 375, height: 667 }, true],
    ["320 pixels wide", { width: 320, height: 568 }, true],
    ["enlarged to 400 %", { width: 320, height: 256 }, true],
    ["on a wide page", { width: 1280, height: 800 }, false],
  ])("%s nothing is cut off and nothing scrolls sideways", (_where, viewport, isFull) =>
    ground.browser.visit(async (open) => {
      const visitor = await open({ viewport });
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.open();
      await widget.write(`A long word: ${"Kestrel".repeat(60)}`);
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      const panel = await widget.panel.boundingBox();
      expect(panel?.x).toBeGreaterThanOrEqual(0);
      expect((panel?.x ?? 0) + (panel?.width ?? 0)).toBeLessThanOrEqual(viewport.width);
      expect((panel?.y ?? 0) + (panel?.height ?? 0)).toBeLessThanOrEqual(viewport.height);
      if (isFull) expect(panel?.width).toBe(viewport.width);
      const sideways = await widget.part("log").evaluate((log) => log.scrollWidth - log.clientWidth);
      expect(sideways).toBeLessThanOrEqual(0);
      expect(await widget.page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      // The text field and its button can be reached, and every button is big enough to be hit.
      expect(await widget.composer.isVisible()).toBe(true);
      const buttons = await widget.panel.getByRole("button").evaluateAll((all) =>
        all
          .map((button) => ({ name: button.getAttribute("aria-label"), box: button.getBoundingClientRect() }))
          .filter(({ box }) => box.width > 0 && (box.width < 24 || box.height < 24))
          .map(({ name }) => name as string),
      );
      expect(buttons).toEqual([]);
    }),
  );

  test("reduced motion is honoured", () =>
    ground.browser.visit(async (open) => {
      const visitor = await open({ reducedMotion: "reduce" });
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.open();
      await widget.write("Hello");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      const moving = await widget.page.evaluate<string[]>(
        `(() => { const roots = (root) => [root, ...[...root.querySelectorAll("*")].flatMap((one) => (one.shadowRoot ? roots(one.shadowRoot) : []))];
           return roots(document).flatMap((root) => root.getAnimations())
           .filter((one) => one.effect.getComputedTiming().activeDuration > 50).map((one) => one.animationName ?? one.transitionProperty); })()`,
      );
      expect(moving).toEqual([]);
    }));

  test("from right to left, where the language is written so", () =>
    ground.browser.visit(async (open) => {
      const visitor = await open({ locale: "ar", viewport: { width: 1000, height: 700 } });
      const widget = widgetOn(await visitor.openPage(ground.site.addPage({ html: 'lang="ar" dir="rtl"' })));
      await widget.open();
      expect(await widget.panel.evaluate((panel) => panel.matches(":dir(rtl)"))).toBe(true);
      // Also while nothing is written, or what stands in the field would begin at the wrong side.
      expect(await widget.composer.evaluate((field) => field.matches(":dir(rtl)"))).toBe(true);
      await widget.write("مرحبا");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      const mine = await widget.part("entry").first().locator('[data-part="text"]').boundingBox();
      const reply = await widget.part("entry").nth(1).locator('[data-part="text"]').boundingBox();
      expect(mine?.x).toBeLessThan(reply?.x ?? 0);
      expect(await findBarriers(widget.page)).toEqual([]);
    }));
});
