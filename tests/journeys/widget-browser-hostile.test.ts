import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { repositoryPath, queryDatabase } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { DISGUISED_TEXTS, HOSTILE_HTML, HOSTILE_MARKDOWN } from "./support/hostile-payloads.ts";
import { describeInBrowser } from "./support/open-browser.ts";
import type { VisitorBrowser } from "./support/open-browser.ts";
import { textsOf, widgetOn } from "./support/open-widget.ts";
import type { WidgetOnPage } from "./support/open-widget.ts";
import type { HostPage } from "./support/start-host-site.ts";
import { startWidgetGround } from "./support/start-widget-ground.ts";
import type { WidgetGround } from "./support/start-widget-ground.ts";

/** Test payloads of an HTML sanitizer. */
const { payloads: FIXTURES } = JSON.parse(
  readFileSync(repositoryPath("tests/journeys/support/dompurify-payloads.json"), "utf8"),
) as { payloads: string[] };

/** The only elements that a panel may contain, whatever it shows. */
const ELEMENTS =
  /^(a|bdi|blockquote|br|button|canvas|code|del|div|em|fieldset|form|h[1-6]|header|hr|input|label|legend|li|ol|p|path|pre|progress|q|section|small|span|strong|svg|table|tbody|td|textarea|th|thead|tr|ul)$/;
const ATTRIBUTES =
  /^(aria-[a-z]+|autocomplete|class|d|data-[a-z]+|dir|enterkeyhint|hidden|href|id|lang|maxlength|multiple|name|pattern|placeholder|rel|required|role|rows|scope|start|style|tabindex|target|title|type|value|viewBox)$/;
/** URLs of other sites in the payloads, which may become links. */
const LINK = /^(https?:\/\/|mailto:|tel:)/;
/** Characters that change the direction of surrounding text. */
const TURNS = /[\u202A-\u202E\u2066-\u2069]/;

const words = (text: string) => text.replaceAll(/\s+/g, " ").trim();

/** Joins texts into messages, as many per message as fit. */
function inMessages(texts: readonly string[]): string[] {
  const messages: string[] = [];
  for (const text of texts) {
    const last = messages.at(-1);
    if (last !== undefined && last.length + text.length < 9_900) messages[messages.length - 1] = `${last}\n${text}`;
    else messages.push(text);
  }
  return messages;
}

describeInBrowser("hostile content", () => {
  let ground: WidgetGround;

  beforeAll(async () => {
    ground = await startWidgetGround({
      project: "hostile",
      prepare: async ({ store }) => void (await addProject(store, "hostile", { fixedReply: "x" })),
    });
  });

  afterAll(() => ground.stop());

  /** Opens the panel on a page that records executed scripts and requests. */
  async function openTrapped(
    visitor: VisitorBrowser,
    page: HostPage = {},
  ): Promise<WidgetOnPage & { expectHarmless: () => Promise<void> }> {
    await visitor.context.addInitScript(
      `window.sprung = []; for (const name of ["trap", "alert", "confirm", "prompt", "print", "open"])
         window[name] = (...given) => { window.sprung.push([name, ...given.map(String)]); };`,
    );
    const asked: string[] = [];
    visitor.context.on("request", (request) => asked.push(request.url()));
    const url = ground.site.addPage(page);
    const widget = widgetOn(await visitor.openPage(url));
    await widget.open();

    /** Checks every visible element, and that no script has run and no other server was called. */
    async function expectHarmless(): Promise<void> {
      const found = await widget.panel.locator("*").evaluateAll((elements) =>
        elements.map((element) => ({
          element: element.localName,
          attributes: [...element.attributes].map(({ name }) => name),
          href: element.getAttribute("href"),
        })),
      );
      expect(found.length).toBeGreaterThan(20);
      expect(found.filter(({ element }) => !ELEMENTS.test(element))).toEqual([]);
      expect(found.filter(({ attributes }) => attributes.some((name) => !ATTRIBUTES.test(name)))).toEqual([]);
      expect(found.filter(({ href }) => href !== null && !LINK.test(href))).toEqual([]);
      expect(await widget.page.evaluate("window.sprung")).toEqual([]);
      expect(widget.page.url()).toBe(url);
      expect(await widget.page.title()).toBe("Kestrel Drones");
      const ours = [ground.line.url, ground.site.origin, `blob:${ground.site.origin}`];
      expect(asked.filter((address) => !ours.some((own) => address.startsWith(own)))).toEqual([]);
      expect(visitor.errors()).toEqual([]);
    }
    return { ...widget, expectHarmless };
  }

  describe("of replies", () => {
    test(`${HOSTILE_HTML.length} payloads of HTML are shown as literal text, also from the cache`, () =>
      ground.browser.visit(async (open) => {
        await ground.answerWith(HOSTILE_HTML.join("\n\n"));
        const widget = await openTrapped(await open());
        await widget.write("Show me");
        const isThere = (shown: { text: string }[]) => shown.length === 2;
        for (const when of ["at once", "after a reload"]) {
          if (when === "after a reload") await widget.reload();
          const shown = await widget.untilShown(isThere, `the reply ${when}`);
          const reply = words(textsOf(shown, "reply").at(-1) ?? "");
          expect(HOSTILE_HTML.map(words).filter((payload) => !reply.includes(payload))).toEqual([]);
          await widget.expectHarmless();
        }
      }));

    test(`${HOSTILE_MARKDOWN.length} payloads of Markdown produce no executable link, no image and no request`, () =>
      ground.browser.visit(async (open) => {
        await ground.answerWith(HOSTILE_MARKDOWN.join("\n\n---\n\n"));
        const widget = await openTrapped(await open());
        await widget.write("Show me");
        await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "the reply");
        await widget.expectHarmless();
        for (const link of await widget.part("text").locator("a").all()) {
          expect(await link.getAttribute("href")).toMatch(/^https?:\/\/evil\.example\//);
          expect(await link.getAttribute("rel")).toContain("noopener");
          expect(await link.getAttribute("target")).toBe("_blank");
        }
      }));

    test(`the ${FIXTURES.length} payloads that DOMPurify is tested with do nothing`, () =>
      ground.browser.visit(async (open) => {
        await ground.answerWith(FIXTURES.join("\n\n"));
        const widget = await openTrapped(await open());
        await widget.write("Show me");
        const shown = await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "the reply");
        const reply = textsOf(shown, "reply")[0] ?? "";
        // All payloads are present, so the reply is not truncated.
        expect(reply.match(/alert/g)?.length).toBeGreaterThan(150);
        expect(reply).toContain("selectedcontent");
        await widget.expectHarmless();
      }));

    test("sources are shown with their titles, and only web pages are links", () =>
      ground.browser.visit(async (open) => {
        const { databaseUrl } = ground.product;
        await ground.configure({ project: "default", title: "With sources" });
        const title = `<img src=x onerror=trap()> [press](javascript:trap()) "onmouseover="trap() \u202Efdp.exe`;
        const urls = [
          "javascript:trap()",
          'https://evil.example/" onclick="trap()',
          " data:text/html,trap()",
          "//evil",
        ];
        const widget = await openTrapped(await open());
        for (const [index, url] of urls.entries()) {
          await queryDatabase(databaseUrl, "UPDATE documents SET title = $1, url = $2 RETURNING id", [title, url]);
          await widget.write(`How long can the text of a message be?${" ".repeat(index)}`);
          await widget.untilShown((entries) => textsOf(entries, "reply").length === index + 1, `the answer for ${url}`);
        }
        const sources = widget.part("sources");
        expect(await sources.count()).toBe(urls.length);
        expect(words(await sources.first().innerText())).toContain("<img src=x onerror=trap()> [press](javascript:");
        const links = await sources
          .locator("a")
          .evaluateAll((all) => all.map((link) => link.getAttribute("href") ?? ""));
        expect(links.filter((href) => !href.startsWith("https://evil.example/"))).toEqual([]);
        // The text of a source can be read with the keyboard too.
        const quote = sources.first().locator("q").first();
        await quote.focus();
        expect(await quote.evaluate((one) => one.matches(":focus"))).toBe(true);
        expect(await quote.innerText()).toContain("50,000 characters");
        await widget.expectHarmless();
        await ground.configure({ project: "hostile", title: "" });
      }));
  });

  test("of visitors is shown to them as they wrote it", () =>
    ground.browser.visit(async (open) => {
      await ground.answerWith("Thank you.");
      const visitor = await open();
      const widget = await openTrapped(visitor);
      const texts = inMessages([...HOSTILE_HTML, ...HOSTILE_MARKDOWN, ...DISGUISED_TEXTS, ...FIXTURES]);
      for (const text of texts) await widget.write(text);
      const isAnswered = (shown: { kind: string }[]) =>
        shown.filter(({ kind }) => kind === "reply").length === texts.length;
      const shown = await widget.untilShown(isAnswered, "all replies");
      expect(textsOf(shown, "visitor").map(words)).toEqual(texts.map(words));
      await widget.expectHarmless();
      // As in a browser that has only the service's data.
      await widget.page.evaluate(
        `for (const key of Object.keys(localStorage)) if (/history/.test(key)) localStorage.removeItem(key)`,
      );
      await widget.reload();
      const again = await widget.untilShown(isAnswered, "the conversation");
      expect(textsOf(again, "visitor").map(words)).toEqual(texts.map(words));
      await widget.expectHarmless();
    }));

  test("of file names is shown as a name, here and in another tab", () =>
    ground.browser.visit(async (open) => {
      await ground.answerWith("Thank you.");
      const visitor = await open();
      const widget = await openTrapped(visitor);
      await widget.attach(
        DISGUISED_TEXTS.map((name) => ({ name, mimeType: "text/plain", buffer: Buffer.from("a few words") })),
      );
      await widget.expectHarmless();
      await widget.write("names");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      const other = await openTrapped(visitor);
      await other.untilShown((entries) => textsOf(entries, "reply").length === 1, "the conversation");
      for (const tab of [widget, other]) {
        expect(await tab.part("file").count()).toBe(DISGUISED_TEXTS.length);
        expect((await tab.part("file").allInnerTexts()).join("\n")).not.toMatch(TURNS);
        await tab.expectHarmless();
      }
    }));

  test("of the settings and of the page is shown as text", () =>
    ground.browser.visit(async (open) => {
      await ground.configure({
        title: "<img src=x onerror=trap()>",
        greeting: "**Hello** <svg onload=trap()> [press](javascript:trap())",
        questions: ["<img src=x onerror=trap()> [press](javascript:trap())", "\u202Eturned <svg onload=trap()>"],
        logo: '/none.png"onerror="trap()',
        launcher: { label: "<b onclick=trap()>ask</b>", image: "/none.svg?'onload=trap()", hiddenPaths: ["/<script>"] },
        languages: { de: { strings: { title: "<script>trap()</script>" } } },
        strings: {
          messagePlaceholder: '"><script>trap()</script>',
          send: "<b onclick=trap()>send</b>",
          you: "<img src=x onerror=trap()>",
          sent: "\u202E<svg onload=trap()>",
          unread: "<script>trap()</script>{count}",
          __proto__: "trap",
        },
      });
      const widget = await openTrapped(await open(), {
        attributes: {
          "data-accent": "red;}</style><script>trap()</script>",
          "data-position": "<x>",
          "data-theme": "javascript:trap()",
          "data-locale": '"><script>trap()</script>',
        },
        html: `lang='"><img src=x onerror=trap()>'`,
      });
      await widget.panel.getByText("<img src=x onerror=trap()>").first().waitFor();
      await widget.panel.getByText("**Hello** <svg onload=trap()>").waitFor();
      expect(await widget.composer.getAttribute("placeholder")).toBe('"><script>trap()</script>');
      await widget.write("hello");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      await widget.expectHarmless();
    }));
});
