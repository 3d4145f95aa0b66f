import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { waitFor, queryDatabase } from "@svc/testing";
import type { Page } from "playwright-core";
import { addProject } from "./support/add-project.ts";
import { chooseFiles } from "./support/choose-files.ts";
import { findBarriers } from "./support/find-barriers.ts";
import { describeInBrowser, keepPicture } from "./support/open-browser.ts";
import { textsOf, widgetOn } from "./support/open-widget.ts";
import type { WidgetOnPage } from "./support/open-widget.ts";
import { startWidgetGround } from "./support/start-widget-ground.ts";
import type { WidgetGround } from "./support/start-widget-ground.ts";

const REPLY =
  "Look at [the shop](https://shop.example), and see `fly()`:\n\n- one\n- two\n\n| Drone | Price |\n|---|---|\n| Kestrel | 90 |\n\n> Fly well.\n\n```js\nfly();\n```";
const NOTES = { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("three drones") };

const isSoak = process.env["SVC_SOAK"] === "1";
const ALL_THEMES = ["light", "dark", "forced colours"] as const;

/** Returns one theme per call, in turn; in a soak test all of them every time. */
function turnsOfThemes(): () => readonly (typeof ALL_THEMES)[number][] {
  let turn = 0;
  return () => {
    const next = turn++ % ALL_THEMES.length;
    return ALL_THEMES.filter((_, position) => isSoak || position === next);
  };
}

/** Declared here because Node.js types do not include it. */
declare const MutationObserver: new (listener: () => void) => { observe(node: object, options: object): void };

/** An expression for the focused element, across shadow roots. */
const FOCUSED = `(() => { let at = document.activeElement; while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement; return at; })()`;

describeInBrowser("everyone can use the widget", () => {
  let ground: WidgetGround;

  beforeAll(async () => {
    ground = await startWidgetGround({
      project: "fixed",
      prepare: async ({ store }) => void (await addProject(store, "fixed", { fixedReply: REPLY })),
    });
  });

  afterAll(() => ground.stop());

  /** Sends a message, and waits for the answer. */
  async function converse(widget: WidgetOnPage): Promise<void> {
    await widget.open();
    await widget.write("Hello");
    await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
    await widget.part("text").locator("table").waitFor();
  }

  const call = (page: Page, script: string) => page.evaluate<unknown>(`(() => { ${script} })()`);

  describe("axe-core finds no violations in light, dark and forced colors:", () => {
    test("closed, open, with a file, in a conversation, rating, waiting for a person, offline, with unread replies", () =>
      ground.browser.visit(async (open) => {
        const visitor = await open();
        const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
        // The main views are checked in every theme, the others in turn, because each check takes a second.
        const looksOf = turnsOfThemes();
        const expectNone = async (what: string, checks = looksOf()) =>
          expect(await findBarriers(widget.page, what, checks)).toEqual([]);
        await widget.launcher.waitFor();
        await expectNone("closed");
        await widget.open();
        await expectNone("open");
        await widget.attach([NOTES]);
        await expectNone("with a file");
        await converse(widget);
        await expectNone("in a conversation", ALL_THEMES);
        await widget.panel.getByRole("button", { name: "How was this conversation?" }).click();
        await widget.panel.getByRole("radio").first().waitFor();
        await expectNone("rating");
        await widget.part("person").click();
        await widget.panel.getByText("A member of our team will reply here.").waitFor();
        // No rating is requested while an operator has yet to answer.
        await widget.part("rating").waitFor({ state: "detached" });
        await expectNone("waiting for a person");
        ground.line.goAway();
        await widget.write("I am offline");
        await widget.untilShown((entries) => entries.at(-1)?.state === "waiting", "a message to wait");
        await expectNone("offline");
        ground.line.comeBack();
        const other = widgetOn(await (await open()).openPage(ground.site.addPage()));
        await other.open();
        await other.write("Hello");
        await other.page.keyboard.press("Escape");
        await waitFor(() => other.part("unread").isVisible(), { what: "an unread reply" });
        expect(await findBarriers(other.page, "unread", looksOf())).toEqual([]);
      }));

    test("a message that was rejected", () =>
      ground.browser.visit(async (open) => {
        const visitor = await open();
        const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
        await widget.open();
        await widget.attach([NOTES]);
        await queryDatabase(ground.product.databaseUrl, "DELETE FROM widget_files RETURNING id");
        await widget.write("The file is gone");
        await widget.untilShown((entries) => entries.some(({ state }) => state === "failed"), "a failed message");
        expect(await findBarriers(widget.page, "failed")).toEqual([]);
      }));

    test("the form before the first message, and a visitor who is rejected", () =>
      ground.browser.visit(async (open) => {
        await ground.configure({ features: { prechat: ["name", "email"] } });
        const widget = widgetOn(await (await open()).openPage(ground.site.addPage()));
        await widget.launcher.click();
        await widget.part("prechat").waitFor();
        expect(await findBarriers(widget.page, "form")).toEqual([]);
        await ground.configure({
          features: { prechat: [] },
          identitySecret: "journey-identity-secret-of-32-characters",
          requireIdentity: true,
        });
        const refused = widgetOn(await (await open()).openPage(ground.site.addPage()));
        await refused.launcher.click();
        await refused.part("refusal").waitFor();
        expect(await findBarriers(refused.page, "refused")).toEqual([]);
        await ground.configure({ requireIdentity: false });
      }));

    // The lightest accent, and the one with the least contrast to both black and white.
    const ACCENTS = ["#ffffff", "#808080", ...(isSoak ? ["#000000", "#ffff00", "#ff0000"] : [])];
    test.each(ACCENTS)("with the accent %s, in each theme", (accent) =>
      ground.browser.visit(async (open) => {
        const attributes = { "data-accent": accent };
        const widget = widgetOn(await (await open()).openPage(ground.site.addPage({ attributes })));
        await converse(widget);
        // An explicit theme overrides the system's preference, which is the opposite here.
        const themes = { auto: undefined, light: ["dark"], dark: ["light"] } as const;
        for (const [theme, checks] of Object.entries(themes)) {
          await call(widget.page, `svcWidget.setTheme("${theme}")`);
          await waitFor(
            () => widget.page.evaluate(`!!document.querySelector("svc-widget").shadowRoot.querySelector(".${theme}")`),
            {
              what: `the theme ${theme}`,
            },
          );
          expect(await findBarriers(widget.page, `accent ${accent} ${theme}`, checks)).toEqual([]);
        }
      }),
    );
  });

  test("with the keyboard alone: open, write, send, attach, rate, close, and the focus returns", () =>
    ground.browser.visit(async (open) => {
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.launcher.waitFor();
      const { keyboard } = widget.page;
      const focused = () =>
        widget.page.evaluate<string>(`${FOCUSED}?.getAttribute("data-part") ?? ${FOCUSED}?.id ?? ""`);
      const check = () =>
        // The focus ring of the text field surrounds the box that contains its buttons too.
        widget.page.evaluate<{ where: string; name: string; outlinePx: number }>(
          `(() => { const at = ${FOCUSED};
             const widthOf = ({ outlineStyle, outlineWidth }) => outlineStyle === "none" ? 0 : parseFloat(outlineWidth);
             return { where: at.closest('[data-part="panel"]') ? "panel" : "elsewhere",
               name: at.title || at.getAttribute("aria-label") || at.name || at.textContent,
               outlinePx: Math.max(...[at, at.closest(".field") ?? at].map((one) => widthOf(getComputedStyle(one)))) }; })()`,
        );
      /** Presses a key until the focused element has this name. */
      const pressUntil = async (key: string, name: RegExp) => {
        const names: string[] = [];
        for (let step = 0; step < 40; step++) {
          await keyboard.press(key);
          names.push((await check()).name);
          if (name.test(names.at(-1) ?? "")) return;
        }
        throw new Error(`${key} never came to ${String(name)}, but to ${names.join(" | ")}`);
      };
      await keyboard.press("Tab");
      expect(await focused()).toBe("host");
      await keyboard.press("Tab");
      expect(await focused()).toBe("launcher");
      // A two-tone ring: one of the tones is visible on any page, and beside any accent.
      const ring = await widget.launcher.evaluate((button) => [
        button.computedStyleMap().get("outline-color").toString(),
        button.computedStyleMap().get("box-shadow").toString(),
      ]);
      expect(ring).toEqual(["rgb(26, 29, 33)", expect.stringContaining("rgb(255, 255, 255)")]);
      await keyboard.press("Enter");
      await waitFor(async () => (await focused()) === "composer", { what: "the focus to be in the text field" });
      await keyboard.type("By keyboard");
      await keyboard.press("Enter");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      await widget.part("text").locator("table").waitFor();

      // The focus cycles within the panel, in both directions, and is always visible.
      for (const key of ["Tab", "Shift+Tab"]) {
        const seen = new Set<string>();
        for (let step = 0; step < 25; step++) {
          await keyboard.press(key);
          const { where, name, outlinePx } = await check();
          seen.add(`${where}${outlinePx >= 2 ? "" : `: no outline around ${name}`}`);
        }
        expect([...seen]).toEqual(["panel"]);
      }

      await pressUntil("Tab", /^Attach a file$/);
      await chooseFiles(widget.page, () => keyboard.press("Enter"), [NOTES]);
      await widget.panel.getByText("notes.txt").waitFor();
      await pressUntil("Tab", /^Remove notes.txt$/);
      await pressUntil("Tab", /^Your message$/);
      await waitFor(async () => (await widget.panel.locator("progress").count()) === 0, {
        what: "the file to be sent",
      });
      await keyboard.type("With a file");
      await keyboard.press("Enter");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 2, "an answer");

      await pressUntil("Shift+Tab", /^How was this conversation\?$/);
      await keyboard.press("Enter");
      await widget.panel.getByRole("radio").first().waitFor();
      expect((await check()).where).toBe("panel");
      await pressUntil("Tab", /^score$/);
      await keyboard.press("ArrowDown");
      await keyboard.press("ArrowDown");
      await pressUntil("Tab", /^comment$/);
      await keyboard.type("Well done");
      await pressUntil("Tab", /^Send rating$/);
      await keyboard.press("Enter");
      await widget.panel.getByText("Thanks for your feedback.").last().waitFor();
      const { databaseUrl } = ground.product;
      const rated = async () =>
        (
          await queryDatabase<{ score: number }>(databaseUrl, "SELECT score FROM visitors WHERE comment = 'Well done'")
        )[0];
      expect(await waitFor(rated, { what: "the rating to be stored" })).toEqual({ score: 3 });
      expect((await check()).where).toBe("panel");

      await keyboard.press("Escape");
      await waitFor(async () => (await focused()) === "launcher", { what: "the focus to be back" });
      expect(await widget.panel.isVisible()).toBe(false);
      await keyboard.press("Enter");
      await waitFor(async () => (await focused()) === "composer", { what: "the focus to be in the text field again" });
      await pressUntil("Tab", /^Close chat$/);
      await keyboard.press("Enter");
      await waitFor(async () => (await focused()) === "launcher", { what: "the focus to be back again" });
      expect(visitor.errors()).toEqual([]);
    }));

  test("a screen reader announces each reply once, and nothing from before", () =>
    ground.browser.visit(async (open) => {
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      /** Records every change of the live region. */
      const listen = () =>
        widget.page.locator(`svc-widget [role="status"]`).evaluate((region) => {
          const heard: string[] = [];
          Object.assign(globalThis, { heard });
          new MutationObserver(() => {
            const text = region.textContent.trim();
            if (text !== "") heard.push(text);
          }).observe(region, { childList: true, subtree: true, characterData: true });
        });
      const heard = () => widget.page.evaluate<string[]>("window.heard");
      await widget.open();
      await listen();
      await widget.write("Hello");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      await waitFor(async () => (await heard()).length > 0, { what: "the reply to be read" });
      await widget.composer.fill("More is written");
      await widget.composer.fill("");
      const texts = await heard();
      expect(texts.filter((text) => text.includes("Look at the shop"))).toHaveLength(1);
      expect(texts).toHaveLength(1);
      expect(texts[0]).toContain("Look at the shop");
      expect(texts.join("\n")).not.toMatch(/\||\*|https:/);

      await widget.reload();
      await listen();
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "the conversation");
      await widget.write("Again");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 2, "another answer");
      await waitFor(async () => (await heard()).length > 0, { what: "the other reply to be read" });
      expect((await heard()).filter((text) => text.includes("Look at the shop"))).toHaveLength(1);
      // Changes of the list itself are not announced a second time.
      expect(await widget.part("log").getAttribute("aria-live")).toBe("off");
      expect(visitor.errors()).toEqual([]);
    }));

  test.each([
    ["on a phone", { width: 375, height: 667 }, true],
    ["320 pixels wide", { width: 320, height: 568 }, true],
    ["enlarged to 400 %", { width: 320, height: 256 }, true],
    ["on a phone that is turned", { width: 667, height: 375 }, true],
    ["on a wide page", { width: 1280, height: 800 }, false],
  ])("%s nothing is cut off and nothing scrolls sideways", (where, viewport, isFull) =>
    ground.browser.visit(async (open) => {
      const visitor = await open({ viewport });
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.open();
      await widget.write(`A long word: ${"Kestrel".repeat(60)}`);
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      await keepPicture(widget.page, where);
      const panel = await widget.panel.boundingBox();
      expect(panel?.x).toBeGreaterThanOrEqual(0);
      expect((panel?.x ?? 0) + (panel?.width ?? 0)).toBeLessThanOrEqual(viewport.width);
      expect(panel?.y).toBeGreaterThanOrEqual(0);
      expect((panel?.y ?? 0) + (panel?.height ?? 0)).toBeLessThanOrEqual(viewport.height);
      if (isFull) expect(panel).toEqual({ x: 0, y: 0, ...viewport });
      const sideways = await widget.part("log").evaluate((log) => log.scrollWidth - log.clientWidth);
      expect(sideways).toBeLessThanOrEqual(0);
      expect(await widget.page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      // The text field and its button are reachable, part of the conversation is visible, and every button is large
      // enough.
      const field = await widget.composer.boundingBox();
      expect((field?.y ?? 0) + (field?.height ?? 0)).toBeLessThanOrEqual(viewport.height);
      expect((await widget.part("log").boundingBox())?.height).toBeGreaterThan(60);
      await widget.panel.getByRole("button", { name: "How was this conversation?" }).click();
      await widget.panel.getByRole("radio").first().waitFor();
      const targets = await widget.panel.locator("button, input, textarea, summary").evaluateAll((all) =>
        all
          // A click on a label activates its control.
          .map((one) => ({ name: one.outerHTML, box: (one.closest("label") ?? one).getBoundingClientRect() }))
          .filter(({ box }) => box.width > 0)
          .map(({ name, box }) => ({ name, isBig: box.width >= 24 && box.height >= 24 })),
      );
      expect(targets.filter(({ isBig }) => !isBig)).toEqual([]);
      expect(targets.filter(({ name }) => name.includes("radio"))).toHaveLength(5);
    }),
  );

  test("the panel fills the part of a phone's screen that an on-screen keyboard leaves visible", () =>
    ground.browser.visit(async (open) => {
      const visitor = await open({ viewport: { width: 375, height: 667 }, hasTouch: true, isMobile: true });
      // A headless Chromium has no such keyboard; this object is how browsers report one to pages.
      await visitor.context.addInitScript(
        `{ const screen = new EventTarget(); Object.assign(screen, { offsetTop: 0, offsetLeft: 0, width: 375, height: 667, scale: 1 });
           Object.defineProperty(window, "visualViewport", { value: screen });
           window.setKeyboard = (height, offsetTop) => { Object.assign(screen, { height, offsetTop }); screen.dispatchEvent(new Event("resize")); }; }`,
      );
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.open();
      await widget.write("Hello");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      await call(widget.page, "setKeyboard(360, 40)");
      expect(await widget.panel.boundingBox()).toEqual({ x: 0, y: 40, width: 375, height: 360 });
      const field = await widget.composer.boundingBox();
      expect((field?.y ?? 0) + (field?.height ?? 0)).toBeLessThanOrEqual(400);
      await call(widget.page, "setKeyboard(667, 0)");
      expect(await widget.panel.boundingBox()).toEqual({ x: 0, y: 0, width: 375, height: 667 });
      expect(visitor.errors()).toEqual([]);
    }));

  test("launcher and panel stay on the screen, however far from the corner the launcher is to be", async () => {
    const launcher = { side: 400, bottom: 400, label: "Do you have a question?" };
    try {
      await ground.configure({ launcher });
      await ground.browser.visit(async (open) => {
        for (const position of ["bottom-right", "bottom-left"]) {
          for (const [width, height] of [
            [390, 844],
            [500, 420],
            [1280, 720],
          ] as const) {
            const visitor = await open({ viewport: { width, height } });
            const attributes = { "data-position": position };
            const widget = widgetOn(await visitor.openPage(ground.site.addPage({ attributes })));
            await widget.launcher.waitFor();
            const boxes = [await widget.launcher.boundingBox()];
            await widget.open();
            boxes.push(await widget.panel.boundingBox());
            for (const box of boxes) {
              expect(box?.x).toBeGreaterThanOrEqual(0);
              expect(box?.y).toBeGreaterThanOrEqual(0);
              expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(width);
              expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(height);
            }
            expect(boxes[1]?.width).toBeGreaterThanOrEqual(Math.min(384, width));
            expect(boxes[1]?.height).toBeGreaterThanOrEqual(300);
            expect(visitor.errors()).toEqual([]);
          }
        }
      });
    } finally {
      await ground.configure({ launcher: {} });
    }
  });

  test("reduced motion is respected", () =>
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

  test("right to left for languages written that way", () =>
    ground.browser.visit(async (open) => {
      const visitor = await open({ locale: "ar", viewport: { width: 1000, height: 700 } });
      const widget = widgetOn(await visitor.openPage(ground.site.addPage({ html: 'lang="ar" dir="rtl"' })));
      await widget.open();
      expect(await widget.panel.evaluate((panel) => panel.matches(":dir(rtl)"))).toBe(true);
      // Also while the field is empty, otherwise its placeholder would start on the wrong side.
      expect(await widget.composer.evaluate((field) => field.matches(":dir(rtl)"))).toBe(true);
      await widget.write("مرحبا");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      const mine = await widget.part("entry").first().locator('[data-part="text"]').boundingBox();
      const reply = await widget.part("entry").nth(1).locator('[data-part="text"]').boundingBox();
      expect(mine?.x).toBeLessThan(reply?.x ?? 0);
      expect(await findBarriers(widget.page, "right to left")).toEqual([]);
    }));
});
