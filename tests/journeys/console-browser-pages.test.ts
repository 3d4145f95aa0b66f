import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { newId } from "@svc/store";
import { waitFor } from "@svc/testing";
import type { Page } from "playwright-core";
import { addProject } from "./support/add-project.ts";
import { callApi } from "./support/call-api.ts";
import type { ApiRequest } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import { createKbClient, documentOf } from "./support/create-kb-client.ts";
import { findBarriers } from "./support/find-barriers.ts";
import { describeInBrowser, keepPicture } from "./support/open-browser.ts";
import { startConsoleGround } from "./support/start-console-ground.ts";
import type { ConsoleGround, ConsolePerson } from "./support/start-console-ground.ts";

/** One white pixel. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg==",
  "base64",
);
const HOSTILE = "<img src=x onerror=alert(1)> ![beacon](https://example.com/pixel.png)";

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const tab = (page: Page, name: string) => page.getByRole("tab", { name, exact: true });

describeInBrowser("articles in the console", () => {
  let ground: ConsoleGround;
  let ann: ConsolePerson;

  beforeAll(async () => {
    ground = await startConsoleGround();
    ann = await ground.addPerson("Ann Able", [{ project: "*", role: "administrator" }]);
  });

  afterAll(() => ground?.stop());

  test("an article is written from a gap, previewed, reviewed, published, edited, compared and restored", () =>
    ground.browser.visit(async (open) => {
      const { product } = ground;
      await product.store.projects.ensure("garden");
      const kbs = createKbClient(product, "garden");
      const kb = await kbs.makeKb();
      await addProject(product.store, "garden", { kbIds: [kb.id], reviewPolicy: "auto_if" });
      await kbs.settled(kb.id, documentOf(await kbs.add(kb.id, { text: "# Opening hours\n\nWe open at nine." })).id);
      const api = createApiClient(product);
      const admin = (path: string, request: ApiRequest = {}) =>
        callApi(`${api.baseUrl()}/api/v1/admin${path}`, { key: product.adminKey, project: "garden", ...request });
      const send = () => api.send("garden", { text: "Do you sell zebra saddles?", chatId: newId() });
      await send();

      const visitor = await ground.enter(open, ann, { viewport: { width: 1280, height: 800 } });
      const page = await visitor.openPath("/garden/knowledge/gaps");
      await button(page, "Write article: Do you sell zebra saddles?").click();
      const text = `Yes, we sell zebra saddles in three sizes.\n\n${HOSTILE}`;
      await page.getByRole("dialog").getByLabel("Answer").fill(text);
      // The draft of a colleague is replaced only after a question.
      const [gap] = ((await admin("/gaps")).body as unknown as { items: { id: string }[] }).items;
      const theirs = { kbId: kb.id, gapId: gap?.id, title: "Saddles", text: "Yes." };
      expect((await admin("/articles", { json: theirs })).status).toBe(201);
      await button(page, "Save as draft").press("Enter");
      await page.getByText("has already saved a draft for this question").waitFor();
      await button(page, "Replace draft").press("Enter");

      await page.getByText("Draft", { exact: true }).waitFor();
      await page.locator("input[type=file]").setInputFiles({ name: "saddle.png", mimeType: "image/png", buffer: PNG });
      await waitFor(async () => (await page.getByLabel("Answer").inputValue()).includes("](images/"), {
        what: "the image in the text",
      });
      await button(page, "Save draft").click();
      await page.getByText("Draft saved.").waitFor();

      await tab(page, "Edit").focus();
      await page.keyboard.press("ArrowRight");
      const preview = page.getByRole("article");
      await preview.getByRole("img", { name: "Description of the image" }).waitFor();
      // Neither hostile HTML nor an image of another server is loaded.
      expect(await preview.locator("img").count()).toBe(1);
      await preview.getByRole("link", { name: "beacon" }).waitFor();
      expect(await findBarriers(page, "article preview")).toEqual([]);

      await button(page, "Send to review").click();
      await page.getByText("In review", { exact: true }).waitFor();
      await button(page, "Publish").click();
      await page.getByText("Published", { exact: true }).waitFor();
      const answer = await waitFor(async () => (await send()).texts.find((sent) => sent.includes("three sizes")), {
        what: "the question to be answered",
      });
      expect(answer).not.toMatch(/!\[|images\//);

      await tab(page, "Edit").click();
      await page.getByLabel("Answer").fill(text.replace("three", "seven"));
      // Unsaved text survives a reload.
      await page.reload();
      expect(await page.getByLabel("Answer").inputValue()).toContain("seven sizes");
      await button(page, "Save draft").click();
      await page.getByText("Version 3 is published").waitFor();
      expect(await findBarriers(page, "article editor")).toEqual([]);
      expect((await send()).texts.join()).toContain("three sizes");

      await tab(page, "Versions").click();
      await button(page, "Compare version 3 with the newest").press("Enter");
      const changes = page.getByRole("region", { name: "Changes from version 3 to the newest" });
      await changes.locator("del", { hasText: "three" }).waitFor();
      await changes.locator("ins", { hasText: "seven" }).waitFor();
      expect(await findBarriers(page, "article versions")).toEqual([]);
      await page.setViewportSize({ width: 390, height: 844 });
      await keepPicture(page, "article versions, narrow");
      await button(page, "Restore version 3").click();
      await page.getByText("restores version 3").waitFor();
      await tab(page, "Edit").click();
      expect(await page.getByLabel("Answer").inputValue()).toContain("three sizes");
      await keepPicture(page, "article editor, narrow");

      await page.getByRole("link", { name: "Articles" }).first().click();
      await page.getByRole("link", { name: /zebra saddles/ }).waitFor();
      expect(await findBarriers(page, "articles")).toEqual([]);
      expect(visitor.errors()).toEqual([]);
    }));
});
