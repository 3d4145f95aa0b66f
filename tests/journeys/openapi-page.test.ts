import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { waitFor } from "@svc/testing";
import type { Page } from "playwright-core";
import { callApi } from "./support/call-api.ts";
import { describeInBrowser, keepPicture, openBrowser } from "./support/open-browser.ts";
import type { TestBrowser, VisitorBrowser } from "./support/open-browser.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

describeInBrowser("the page of the API description", () => {
  let product: Product;
  let browser: TestBrowser;

  beforeAll(async () => {
    product = await startProduct();
    browser = await openBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    await product?.stop();
  });

  const apiUrl = () => product.composition.apiUrls[0] ?? "";

  /** Opens the page at an operation; returns the URLs that it has requested. */
  async function openDocs(visitor: VisitorBrowser, operation: string): Promise<{ page: Page; requested: string[] }> {
    const requested: string[] = [];
    visitor.context.on("request", (request) => requested.push(request.url()));
    const page = await visitor.openPage(`${apiUrl()}/api/v1/docs#${operation}`);
    return { page, requested };
  }

  const violations = (visitor: VisitorBrowser) =>
    visitor.log().filter((line) => line.includes("Content Security Policy"));

  test("needs no other origin, no evaluated script and no inline script, for any interaction", () =>
    browser.visit(async (open) => {
      const visitor = await open({ viewport: { width: 1280, height: 900 } });
      const { page, requested } = await openDocs(visitor, "tag/messages/POST/api/v1/messages");
      await page.getByRole("heading", { name: "Send a message" }).waitFor();
      await page.getByText("Python", { exact: true }).first().click();
      await page.getByText("import").first().waitFor();
      await page.keyboard.press("Control+k");
      const search = page.getByRole("dialog");
      await search.locator("input").fill("collect the replies");
      await search.getByText("Collect the replies of a chat").first().click();
      await page.getByRole("heading", { name: "Collect the replies of a chat" }).waitFor();
      const origins = new Set(requested.map((url) => new URL(url).origin));
      expect([...origins].filter((origin) => origin !== "null")).toEqual([apiUrl()]);
      expect([violations(visitor), visitor.errors()]).toEqual([[], []]);

      // A deliberate violation shows that violations are reported.
      await page.evaluate(`new Image().src = "https://elsewhere.example/x.png"`);
      await waitFor(() => violations(visitor).length > 0, { what: "the report of a violation" });
      expect(violations(visitor)).toEqual([expect.stringContaining("elsewhere.example")]);
    }));

  test("sends a request with the entered key, and does not store the key", () =>
    browser.visit(async (open) => {
      const visitor = await open({ viewport: { width: 1280, height: 900 } });
      const { page } = await openDocs(visitor, "tag/messages/POST/api/v1/messages");
      await page
        .getByRole("button", { name: /Test Request/ })
        .first()
        .click();
      const dialog = page.getByRole("dialog");
      await dialog
        .getByRole("textbox", { name: /Bearer Token/ })
        .or(dialog.locator(".cm-content").nth(0))
        .first()
        .click();
      await page.keyboard.type(product.adminKey);
      const [response] = await Promise.all([
        page.waitForResponse((answer) => answer.url() === `${apiUrl()}/api/v1/messages`),
        dialog.getByRole("button", { name: /Send post request/ }).click(),
      ]);
      expect(response.request().headers()["authorization"]).toBe(`Bearer ${product.adminKey}`);
      expect(await response.json()).toMatchObject({ ok: true, mode: "sync", chatId: "customer-17" });
      const stored = await page.evaluate(
        "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])",
      );
      expect(stored).not.toContain(product.adminKey);
    }));

  test.each([
    ["a desktop in light colors", 1280, "light"],
    ["a desktop in dark colors", 1280, "dark"],
    ["a phone in light colors", 390, "light"],
    ["a phone in dark colors", 390, "dark"],
  ] as const)("fits %s", (what, width, colorScheme) =>
    browser.visit(async (open) => {
      const visitor = await open({ viewport: { width, height: 900 }, colorScheme });
      const { page } = await openDocs(visitor, "tag/messages/POST/api/v1/messages");
      await page.getByRole("heading", { name: "Send a message" }).waitFor();
      await keepPicture(page, `API description on ${what}`);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
      const background = await page.evaluate("getComputedStyle(document.body).backgroundColor");
      expect(/\d+/.exec(String(background))?.[0]).toMatch(colorScheme === "dark" ? /^\d\d?$/ : /^2\d\d$/);
    }),
  );

  test("and its script are cached and compressed, and forbid frames and other origins", async () => {
    const page = await callApi(`${apiUrl()}/api/v1/docs`);
    expect(page.headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    const [, path] = /<script src="([^"]+)"/.exec(page.text) ?? [];
    const script = await fetch(`${apiUrl()}/api/v1/${path}`, { headers: { "Accept-Encoding": "br" } });
    expect(script.headers.get("content-encoding")).toBe("br");
    expect(script.headers.get("cache-control")).toContain("immutable");
    expect(await script.text()).toContain("createApiReference");
  });
});
