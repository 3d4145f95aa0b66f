import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Page } from "playwright-core";
import { addProject } from "./support/add-project.ts";
import { DISGUISED_TEXTS, HOSTILE_HTML, HOSTILE_MARKDOWN } from "./support/hostile-payloads.ts";
import { describeInBrowser } from "./support/open-browser.ts";
import type { VisitorBrowser } from "./support/open-browser.ts";
import { textsOf, widgetOn } from "./support/open-widget.ts";
import type { WidgetOnPage } from "./support/open-widget.ts";
import { startWidgetGround } from "./support/start-widget-ground.ts";
import type { WidgetGround } from "./support/start-widget-ground.ts";

/** Payloads in one reply: parted by empty lines, so that each begins anew for a parser of Markdown. */
const PAYLOADS_A_REPLY = 24;
/** Everything that a reply may be made of. */
const HARMLESS_ELEMENTS =
  /^(a|b|blockquote|br|button|caption|code|del|div|em|h[1-6]|hr|i|li|ol|p|pre|s|section|span|strong|table|tbody|td|th|thead|tr|ul)$/;
const HARMLESS_ATTRIBUTES =
  /^(aria-.*|class|colspan|data-.*|dir|href|lang|rel|role|rowspan|scope|start|tabindex|target|title|type)$/;

describeInBrowser("hostile content", () => {
  let ground: WidgetGround;

  beforeAll(async () => {
    ground = await startWidgetGround({
      project: "hostile",
      prepare: async ({ store }) => void (await addProject(store, "hostile", { fixedReply: "x" })),
    });
  });

  afterAll(() => ground.stop());

  /** A page on which `trap` notes that it was called, wherever it is called from. */
  async function openTrapped(visitor: VisitorBrowser): Promise<WidgetOnPage> {
    await visitor.context.addInitScript("window.sprung = 0; window.trap = () => { window.sprung++; };");
    const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
    await widget.open();
    return widget;
  }

  const sprung = (page: Page) => page.evaluate<number>("window.sprung");

  /** Looks at every element below the parts of this name: none may run, load or carry away anything. */
  async function expectHarmless(widget: WidgetOnPage, part: string): Promise<void> {
    const found = await widget
      .part(part)
      .locator("*")
      .evaluateAll((elements) =>
        elements.map((element) => ({
          element: element.localName,
          attributes: [...element.attributes].map(({ name }) => name),
          href: element.getAttribute("href"),
        })),
      );
    expect(found.filter(({ element }) => !HARMLESS_ELEMENTS.test(element))).toEqual([]);
    expect(found.filter(({ attributes }) => attributes.some((name) => !HARMLESS_ATTRIBUTES.test(name)))).toEqual([]);
    expect(found.filter(({ href }) => href !== null && !/^(https?:|mailto:|tel:)/.test(href))).toEqual([]);
  }

  const words = (text: string) => text.replaceAll(/\s+/g, " ").trim();

  describe("of replies", () => {
    test(`${HOSTILE_HTML.length} payloads of HTML are shown as the text that they are, and none runs`, () =>
      ground.browser.visit(async (open) => {
        const visitor = await open();
        const widget = await openTrapped(visitor);
        for (let first = 0; first < HOSTILE_HTML.length; first += PAYLOADS_A_REPLY) {
          const payloads = HOSTILE_HTML.slice(first, first + PAYLOADS_A_REPLY);
          await ground.answerWith(payloads.join("\n\n"));
          await widget.write(`from ${first}`);
          const shown = await widget.untilShown(
            (entries) => textsOf(entries, "reply").length === first / PAYLOADS_A_REPLY + 1,
            "the next reply",
          );
          const reply = words(textsOf(shown, "reply").at(-1) ?? "");
          expect(payloads.map(words).filter((payload) => !reply.includes(payload))).toEqual([]);
        }
        await expectHarmless(widget, "text");
        // What comes out of the cache after a reload goes the same way.
        await widget.reload();
        await widget.untilShown((entries) => textsOf(entries, "reply").length === 3, "the conversation");
        await expectHarmless(widget, "text");
        expect(await sprung(widget.page)).toBe(0);
        expect(visitor.faults()).toEqual([]);
      }));

    test(`${HOSTILE_MARKDOWN.length} payloads of Markdown become no link that runs, no picture and no request`, () =>
      ground.browser.visit(async (open) => {
        const visitor = await open();
        const asked: string[] = [];
        visitor.context.on("request", (request) => asked.push(request.url()));
        const widget = await openTrapped(visitor);
        await ground.answerWith(HOSTILE_MARKDOWN.join("\n\n---\n\n"));
        await widget.write("Show me");
        await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "the reply");
        await expectHarmless(widget, "text");
        // Whatever can be pressed is pressed; addresses of other sites are only looked at.
        for (const link of await widget.part("text").locator("a").all()) {
          expect(await link.getAttribute("href")).toMatch(/^https?:\/\/evil\.example\//);
          expect(await link.getAttribute("rel")).toContain("noopener");
        }
        expect(asked.filter((url) => !url.startsWith(ground.line.url) && !url.startsWith(ground.site.origin))).toEqual(
          [],
        );
        expect(await sprung(widget.page)).toBe(0);
        expect(visitor.faults()).toEqual([]);
      }));
  });

  test("of visitors is shown to them as they wrote it", () =>
    ground.browser.visit(async (open) => {
      await ground.answerWith("Thank you.");
      const visitor = await open();
      const widget = await openTrapped(visitor);
      const texts = [...HOSTILE_HTML.slice(0, 8), ...HOSTILE_MARKDOWN.slice(0, 4), ...DISGUISED_TEXTS.slice(0, 4)];
      for (const text of texts) {
        await widget.write(text.replaceAll("\n", " "));
      }
      const shown = await widget.untilShown(
        (entries) => textsOf(entries, "reply").length === texts.length,
        "all replies",
      );
      expect(textsOf(shown, "visitor").map(words)).toEqual(texts.map(words));
      await expectHarmless(widget, "text");
      expect(await sprung(widget.page)).toBe(0);
    }));

  test("of file names stays a name, here and in another tab", () =>
    ground.browser.visit(async (open) => {
      await ground.answerWith("Thank you.");
      const visitor = await open();
      const widget = await openTrapped(visitor);
      await widget.attach(
        DISGUISED_TEXTS.map((name) => ({ name, mimeType: "text/plain", buffer: Buffer.from("a few words") })),
      );
      await widget.write("names");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      const other = widgetOn(await visitor.openPage(ground.site.addPage()));
      await other.open();
      await other.untilShown((entries) => textsOf(entries, "reply").length === 1, "the conversation");
      for (const tab of [widget, other]) {
        expect(await tab.part("file").count()).toBe(DISGUISED_TEXTS.length);
        await expectHarmless(tab, "file");
        const names = (await tab.part("file").allInnerTexts()).join("\n");
        // Nothing turns the direction of what stands around it.
        expect(names).not.toMatch(/[\u202A-\u202E\u2066-\u2069]/);
        expect(await sprung(tab.page)).toBe(0);
      }
      expect(visitor.faults()).toEqual([]);
    }));

  test("of the settings and of the page is shown as text", () =>
    ground.browser.visit(async (open) => {
      await ground.configure({
        title: "<img src=x onerror=trap()>",
        greeting: "**Hello** <svg onload=trap()>",
        strings: { messagePlaceholder: '"><script>trap()</script>', send: "<b>send</b>" },
      });
      const visitor = await open();
      await visitor.context.addInitScript("window.sprung = 0; window.trap = () => { window.sprung++; };");
      const widget = widgetOn(
        await visitor.openPage(
          ground.site.addPage({
            attributes: { "data-accent": "red;}</style><script>trap()</script>", "data-position": "<x>" },
          }),
        ),
      );
      await widget.open();
      await widget.panel.getByText("<img src=x onerror=trap()>").waitFor();
      expect(await widget.composer.getAttribute("placeholder")).toBe('"><script>trap()</script>');
      await widget.write("hello");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      expect(await sprung(widget.page)).toBe(0);
      expect(visitor.faults()).toEqual([]);
    }));
});
