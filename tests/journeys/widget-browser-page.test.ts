import { createHmac } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { waitFor } from "@svc/testing";
import type { Locator, Page } from "playwright-core";
import { addProject } from "./support/add-project.ts";
import { describeInBrowser, keepPicture } from "./support/open-browser.ts";
import { textsOf, widgetOn } from "./support/open-widget.ts";
import { readLedger } from "./support/read-ledger.ts";
import { startWidgetGround, WIDGET_KEY } from "./support/start-widget-ground.ts";
import type { WidgetGround } from "./support/start-widget-ground.ts";

const IDENTITY_SECRET = "journey-identity-secret-of-32-characters";
const hashOf = (userId: string) => createHmac("sha256", IDENTITY_SECRET).update(userId).digest("hex");

/** Declared here because Node.js types do not include it. */
declare const getComputedStyle: (element: object) => Iterable<string> & { getPropertyValue: (name: string) => string };

/** The snippet in docs/widget.md for pages that call the widget before it has loaded. */
const STUB = `window.svcWidget ??= { q: [] };
  for (const name of ["open","close","toggle","destroy","identify","logout","setLocale","setTheme","send","on","off"])
    svcWidget[name] ??= (...args) => svcWidget.q.push([name, ...args]);`;

describeInBrowser("a page with the widget", () => {
  let ground: WidgetGround;

  beforeAll(async () => {
    ground = await startWidgetGround({
      project: "fixed",
      prepare: async ({ store }) => void (await addProject(store, "fixed", { fixedReply: "Noted." })),
    });
  });

  afterAll(() => ground.stop());

  const call = (page: Page, script: string) => page.evaluate<unknown>(`(() => { ${script} })()`);

  test("calls it before it has loaded, in order, and receives its events", () =>
    ground.browser.visit(async (open) => {
      const head = `<script>${STUB}
        window.heard = [];
        for (const name of ["ready","open","close","message","unread"]) svcWidget.on(name, (detail) => heard.push([name, detail ?? null]));
        svcWidget.setLocale("de");
        svcWidget.setTheme("dark");
        svcWidget.open();
        svcWidget.send("early: by the page");
      </script>`;
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(ground.site.addPage({ head })));
      await widget.composer.waitFor();
      const shown = await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      expect(textsOf(shown, "visitor")).toEqual(["early: by the page"]);
      expect(await widget.composer.getAttribute("aria-label")).toBe("Ihre Nachricht");
      expect((await readLedger(ground.product.databaseUrl, "early: by the page")).messages).toHaveLength(1);
      await call(widget.page, `svcWidget.close();`);
      await widget.panel.waitFor({ state: "hidden" });
      await call(widget.page, `svcWidget.toggle();`);
      await widget.panel.waitFor();
      const heard = await widget.page.evaluate<[string, { role?: string; text?: string } | null][]>("window.heard");
      const names = heard.map(([name]) => name);
      expect(names[0]).toBe("ready");
      expect(names.filter((name) => name === "open")).toHaveLength(2);
      expect(names.filter((name) => name === "close")).toHaveLength(1);
      expect(heard.flatMap(([name, detail]) => (name === "message" ? [detail?.text] : []))).toEqual([
        "early: by the page",
        "Noted.",
      ]);
      expect(visitor.errors()).toEqual([]);
    }));

  test.each([
    ["of the page, whatever its region", 'lang="de-AT"', {}, "Ihre Nachricht"],
    ["that its tag names, before that of the page", 'lang="de"', { "data-locale": "fr-CA" }, "Votre message"],
    ["of the settings, where the page has none that it knows", 'lang="xx"', {}, "Your message"],
  ])("shows it in the language %s", (_which, html, attributes: Record<string, string>, label) =>
    ground.browser.visit(async (open) => {
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(ground.site.addPage({ html, attributes })));
      await widget.open();
      expect(await widget.composer.getAttribute("aria-label")).toBe(label);
      expect(visitor.errors()).toEqual([]);
    }),
  );

  test("can show it in any of its 15 languages", () =>
    ground.browser.visit(async (open) => {
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.open();
      const label = () => widget.composer.getAttribute("aria-label");
      const seen = [await label()];
      for (const locale of ["de", "fr", "es", "pt", "it", "nl", "pl", "ru", "uk", "tr", "ar", "he", "ja", "zh"]) {
        await call(widget.page, `svcWidget.setLocale("${locale}");`);
        await waitFor(async () => !seen.includes(await label()), { what: locale });
        seen.push(await label());
        const isRightToLeft = await widget.panel.evaluate((panel) => panel.matches(":dir(rtl)"));
        expect({ locale, isRightToLeft }).toEqual({ locale, isRightToLeft: ["ar", "he"].includes(locale) });
        await keepPicture(widget.page, `locale ${locale}`);
      }
      expect(visitor.errors()).toEqual([]);
    }));

  test("changes language and theme while it is open, and unsubscribes from events", () =>
    ground.browser.visit(async (open) => {
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.open();
      await widget.composer.fill("half a sent");
      await call(widget.page, `svcWidget.setLocale("fr");`);
      await waitFor(async () => (await widget.composer.getAttribute("aria-label")) === "Votre message", {
        what: "French",
      });
      await call(widget.page, `svcWidget.setLocale("ar");`);
      await waitFor(async () => (await widget.composer.getAttribute("aria-label"))?.includes("رسالتك"), {
        what: "Arabic",
      });
      expect(await widget.panel.evaluate((panel) => panel.matches(":dir(rtl)"))).toBe(true);
      await call(widget.page, `svcWidget.setLocale("xx-nothing"); svcWidget.setLocale("en");`);
      await widget.panel.getByRole("button", { name: "Send" }).waitFor();
      expect(await widget.composer.inputValue()).toBe("half a sent");
      const background = () =>
        widget.panel.evaluate((panel) => panel.computedStyleMap().get("background-color").toString());
      await call(widget.page, `svcWidget.setTheme("light");`);
      const light = await waitFor(background, { what: "a colour" });
      await call(widget.page, `svcWidget.setTheme("dark");`);
      await waitFor(async () => (await background()) !== light, { what: "another colour" });
      await call(
        widget.page,
        `window.heard = 0; const count = () => { window.heard++; }; svcWidget.on("close", count);
         svcWidget.close(); svcWidget.off("close", count); svcWidget.open(); svcWidget.close();`,
      );
      await widget.panel.waitFor({ state: "hidden" });
      expect(await widget.page.evaluate("window.heard")).toBe(1);
      expect(visitor.errors()).toEqual([]);
    }));

  test("has one widget, however many script elements it has and whenever they load", () =>
    ground.browser.visit(async (open) => {
      const script = `<script async src="${ground.line.url}/widget.js" data-svc-widget data-api-key="${WIDGET_KEY}"></script>`;
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(ground.site.addPage({ head: script.repeat(3) })));
      await widget.open();
      await call(
        widget.page,
        `const again = document.createElement("script");
         again.src = "${ground.line.url}/widget.js"; again.dataset.svcWidget = ""; again.dataset.apiKey = "${WIDGET_KEY}";
         again.onload = () => { window.isAgain = true; }; document.head.append(again);`,
      );
      await waitFor(() => widget.page.evaluate("window.isAgain === true"), { what: "the script to be loaded again" });
      expect(await widget.page.locator("svc-widget").count()).toBe(1);
      await widget.write("several: once");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      expect((await readLedger(ground.product.databaseUrl, "several: once")).messages).toHaveLength(1);
      expect(visitor.errors()).toEqual([]);
    }));

  test("does not get it from a script element that was removed before the script loaded, but from the next one", () =>
    ground.browser.visit(async (open) => {
      const visitor = await open();
      await visitor.context.addInitScript(
        `window.fetched = []; const plain = window.fetch; window.fetch = (...given) => { fetched.push(given[0]); return plain(...given); };`,
      );
      const widget = widgetOn(await visitor.openPage(ground.site.addPage({ attributes: null })));
      const add = (then: string) =>
        call(
          widget.page,
          `const tag = document.createElement("script");
           tag.src = "${ground.line.url}/widget.js"; tag.dataset.svcWidget = ""; tag.dataset.apiKey = "${WIDGET_KEY}";
           const loaded = new Promise((resolve) => { tag.onload = resolve; });
           document.head.append(tag); ${then} return loaded.then(() => fetched.length);`,
        );
      expect(await add("tag.remove(); window.svcWidget?.destroy?.();")).toBe(0);
      expect(await widget.page.locator("svc-widget").count()).toBe(0);
      expect(await add("")).toBe(1);
      await widget.open();
      expect(visitor.errors()).toEqual([]);
    }));

  test("removes it completely, and restores it with the conversation", () =>
    ground.browser.visit(async (open) => {
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      const sockets: { isClosed(): boolean }[] = [];
      widget.page.on("websocket", (socket) => sockets.push(socket));
      await widget.open();
      await widget.write("destroy: before");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      await call(widget.page, `svcWidget.destroy(); svcWidget.destroy();`);
      await waitFor(() => sockets.length > 0 && sockets.every((socket) => socket.isClosed()), { what: "no socket" });
      expect(await widget.page.locator("svc-widget").count()).toBe(0);
      const asked: string[] = [];
      widget.page.on("request", (request) => asked.push(request.url()));
      await call(
        widget.page,
        `document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" })); dispatchEvent(new Event("online")); dispatchEvent(new Event("focus"));`,
      );
      expect(await widget.page.locator("svc-widget").count()).toBe(0);
      expect(asked).toEqual([]);

      await call(
        widget.page,
        `const again = document.createElement("script");
         again.src = "${ground.line.url}/widget.js"; again.dataset.svcWidget = ""; again.dataset.apiKey = "${WIDGET_KEY}";
         document.head.append(again);`,
      );
      await widget.open();
      const shown = await widget.untilShown((entries) => entries.length === 2, "the conversation");
      expect(textsOf(shown, "visitor")).toEqual(["destroy: before"]);
      await widget.write("destroy: after");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 2, "an answer");
      expect(visitor.errors()).toEqual([]);
    }));

  test("that replaces its body keeps the widget", () =>
    ground.browser.visit(async (open) => {
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.open();
      await widget.write("single page: before");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      await call(
        widget.page,
        `history.pushState({}, "", "/pages/other"); document.body.innerHTML = "<main><h1>Other</h1></main>";`,
      );
      await widget.open();
      await widget.write("single page: after");
      const shown = await widget.untilShown((entries) => textsOf(entries, "reply").length === 2, "an answer");
      expect(textsOf(shown, "visitor")).toEqual(["single page: before", "single page: after"]);
      expect(visitor.errors()).toEqual([]);
    }));

  test("loads only the launcher, the settings and a language until a visitor opens it", () =>
    ground.browser.visit(async (open) => {
      const visitor = await open();
      const asked: string[] = [];
      visitor.context.on("request", (request) => asked.push(new URL(request.url()).pathname));
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.launcher.waitFor();
      // If the browser is idle, everything that is loaded then would be loaded now.
      await call(widget.page, `return new Promise((resolve) => requestIdleCallback(resolve));`);
      const known = [/^\/widget\.js$/, /^\/api\/widget\/config\//, /^\/chunks\/en-/, /^\/pages\//, /^\/favicon/];
      expect(asked.filter((path) => !known.some((one) => one.test(path)))).toEqual([]);
      expect(await widget.page.evaluate("Object.keys(localStorage)")).toEqual([]);
      expect(await visitor.context.cookies()).toEqual([]);
      await widget.open();
      expect(asked.filter((path) => path.startsWith("/chunks/panel-"))).toHaveLength(1);
      expect(await visitor.context.cookies()).toEqual([]);
    }));

  test("posts no message to any window and adds only one global", () =>
    ground.browser.visit(async (open) => {
      const visitor = await open();
      await visitor.context.addInitScript(
        `window.posted = []; addEventListener("message", ({ data }) => posted.push(data));
         { const post = window.postMessage; window.postMessage = (...given) => { posted.push(given); post.apply(window, given); }; }
         window.before = Object.getOwnPropertyNames(window);`,
      );
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.open();
      await widget.write("globals: hello");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      expect(await widget.page.evaluate("window.posted")).toEqual([]);
      expect(
        await widget.page.evaluate(
          "Object.getOwnPropertyNames(window).filter((name) => !before.includes(name) && name !== 'before')",
        ),
      ).toEqual(["svcWidget"]);
    }));

  test("and the widget do not affect each other's styles", () =>
    ground.browser.visit(async (open) => {
      const visitor = await open();
      const styles = `<style>* { color: rgb(0, 255, 0) !important; font: 40px/3 cursive !important; letter-spacing: 9px !important;
        text-transform: uppercase !important; padding: 30px !important; border: 9px solid !important; direction: rtl !important;
        opacity: 0.9; transform: none; } button { width: 7px !important } svc-widget { color: red }</style>`;
      /** Returns the computed styles of the elements of a locator. */
      const check = (found: Locator) =>
        found.evaluate(async (element) => {
          // The pointer is on the launcher, which grows.
          await Promise.all(element.getAnimations().map(({ finished }: { finished: Promise<unknown> }) => finished));
          const styles = getComputedStyle(element);
          return Object.fromEntries([...styles].map((name) => [name, styles.getPropertyValue(name)]));
        });
      const plain = widgetOn(await visitor.openPage(ground.site.addPage()));
      const bare = await visitor.openPage(ground.site.addPage({ attributes: null }));
      const loud = widgetOn(await visitor.openPage(ground.site.addPage({ head: styles })));
      for (const widget of [plain, loud]) await widget.open();
      for (const part of ["launcher", "panel", "composer", "text", "log", "send"]) {
        expect({ part, ...(await check(loud.part(part).first())) }).toEqual({
          part,
          ...(await check(plain.part(part).first())),
        });
      }
      for (const selector of ["h1", "p", "#host", "body", "html"]) {
        expect(await check(plain.page.locator(selector).first())).toEqual(await check(bare.locator(selector).first()));
      }
      expect(visitor.errors()).toEqual([]);
    }));

  test("may pass anything to any call: none throws", () =>
    ground.browser.visit(async (open) => {
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.open();
      const thrown = await call(
        widget.page,
        `const values = [undefined, null, 0, NaN, "", "x".repeat(100_000), "\ud800", [], {}, Symbol("x"), 1n, () => { throw new Error("mine"); },
           { toString() { throw new Error("mine"); } }, "__proto__", new Proxy({}, { get() { throw new Error("mine"); } })];
         const thrown = [];
         for (const name of Object.keys(svcWidget)) if (!["destroy", "logout", "send"].includes(name))
           for (const first of values) for (const second of values)
             try { svcWidget[name](first, second); } catch (fault) { thrown.push(name + ": " + fault); }
         for (const value of values) if (typeof value !== "string") try { svcWidget.send(value); } catch (fault) { thrown.push("send: " + fault); }
         svcWidget.setLocale("en"); svcWidget.open(); return thrown;`,
      );
      expect(thrown).toEqual([]);
      await widget.panel.getByRole("button", { name: "Send" }).waitFor();
    }));

  test("with a wrong key or from a forbidden site gets no usable widget, and the reason in the console", () =>
    ground.browser.visit(async (open) => {
      const visitor = await open();
      const widget = widgetOn(
        await visitor.openPage(ground.site.addPage({ attributes: { "data-api-key": "wrong-key-0123456789" } })),
      );
      await waitFor(() => visitor.log().some((line) => /svc.*widget.*key/i.test(line)), {
        what: () => `a word on the key in the console; it says ${visitor.log().join("\n")}`,
      });
      expect(await widget.composer.count()).toBe(0);
      // The same site with another host name is another origin.
      await visitor.openPage(ground.site.addPage().replace("127.0.0.1", "localhost"));
      await waitFor(() => visitor.log().some((line) => /svc.*widget.*origin/i.test(line)), {
        what: () => `a word on the origin in the console; it says ${visitor.log().join("\n")}`,
      });
      expect(visitor.errors()).toEqual([]);
    }));

  describe("if the settings require an identity", () => {
    beforeAll(() => ground.configure({ identitySecret: IDENTITY_SECRET, requireIdentity: true }));

    test("rejects a visitor without one or with a forged one, and accepts a genuine one", () =>
      ground.browser.visit(async (open) => {
        const stranger = await open();
        const closed = widgetOn(await stranger.openPage(ground.site.addPage()));
        await closed.launcher.click();
        await closed.part("refusal").waitFor();
        const forged = await open();
        const attributes = { "data-user-id": "ada", "data-user-hash": hashOf("bob") };
        const other = widgetOn(await forged.openPage(ground.site.addPage({ attributes })));
        await other.launcher.click();
        await other.part("refusal").waitFor();

        const known = await open();
        const widget = widgetOn(
          await known.openPage(
            ground.site.addPage({ attributes: { "data-user-id": "ada", "data-user-hash": hashOf("ada") } }),
          ),
        );
        await widget.open();
        await widget.write("identity: it is me");
        await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
        // Signing out leaves nothing to the next visitor, including unsent text.
        await widget.composer.fill("a draft of anna's");
        await call(widget.page, `svcWidget.logout();`);
        await widget.untilShown((entries) => entries.length === 0, "an empty list");
        await call(widget.page, `svcWidget.identify("bob", "${hashOf("bob")}");`);
        await widget.open();
        await widget.composer.waitFor();
        expect(await widget.composer.inputValue()).toBe("");
        await widget.write("identity: somebody else");
        const shown = await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
        expect(textsOf(shown, "visitor")).toEqual(["identity: somebody else"]);
        // The same, if a page calls it before the widget has loaded, or before its conversation has.
        const head = `<script>${STUB} svcWidget.logout(); svcWidget.identify("eve", "${hashOf("eve")}"); svcWidget.open();</script>`;
        const again = widgetOn(await widget.page.context().newPage());
        await again.page.goto(ground.site.addPage({ head }));
        await again.composer.waitFor();
        await again.write("identity: a third one");
        const third = await again.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
        expect(textsOf(third, "visitor")).toEqual(["identity: a third one"]);
        expect([...stranger.errors(), ...forged.errors(), ...known.errors()]).toEqual([]);
      }));
  });
});
