import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { newId } from "@svc/store";
import { repositoryPath, startFakeOllama, startWebhookReceiver, waitFor } from "@svc/testing";
import type { FakeOllama, WebhookReceiver } from "@svc/testing";
import type { Locator, Page } from "playwright-core";
import { addProject } from "./support/add-project.ts";
import { callApi } from "./support/call-api.ts";
import type { ApiRequest } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import { createKbClient, documentOf } from "./support/create-kb-client.ts";
import { createReviewClient } from "./support/create-review-client.ts";
import { findBarriers } from "./support/find-barriers.ts";
import { describeInBrowser, keepPicture } from "./support/open-browser.ts";
import { startConsoleGround } from "./support/start-console-ground.ts";
import type { ConsoleGround, ConsolePerson } from "./support/start-console-ground.ts";

/** An image of one white pixel. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg==",
  "base64",
);
/** A row of “Frequent tasks”: the task, the number of keys, the keys, the number of clicks. */
const TASK_ROW = /^\| ([^|]+?) +\| (\d+): ([^|]+?) +\| (\d+) +\| [\d–] +\|$/gm;
const DRAFT = "Your parcel left us this morning.";
const HOSTILE = "<img src=x onerror=alert(1)> ![beacon](https://example.com/pixel.png)";

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const tab = (page: Page, name: string) => page.getByRole("tab", { name, exact: true });

describeInBrowser("pages of the console", () => {
  let ground: ConsoleGround;
  let ollama: FakeOllama;
  let receiver: WebhookReceiver;
  let ann: ConsolePerson;

  beforeAll(async () => {
    ollama = await startFakeOllama([{ name: "llama3.2:3b", sizeBytes: 2_019_393_189, contextWindow: 131_072 }]);
    receiver = await startWebhookReceiver();
    ground = await startConsoleGround({ SVC_OLLAMA_BASE_URL: ollama.url, SVC_WEBHOOK_ALLOW: "127.0.0.1" });
    ann = await ground.addPerson("Ann Able", [{ project: "*", role: "administrator" }]);
    await addProject(ground.product.store, "keys", { fixedReply: DRAFT, reviewPolicy: "review" });
  });

  afterAll(async () => {
    await ground?.stop();
    await Promise.all([ollama?.close(), receiver?.close()]);
  });

  /** Finds accessibility violations of a page at both widths, and checks that it is no wider than its window. */
  async function findBarriersAtBothWidths(page: Page, what: string): Promise<unknown[]> {
    const found: unknown[] = [];
    const title = await page.title();
    if (!title.endsWith(" · Console")) found.push(`is titled “${title}” like others`);
    // The tooltip of the focused button is not part of the page.
    await page.evaluate("document.activeElement.blur()");
    for (const [width, height] of [
      [1280, 800],
      [390, 844],
    ] as const) {
      await page.setViewportSize({ width, height });
      found.push(...(await findBarriers(page, `${what} at ${width}`, ["light", "dark"])));
      if ((await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth")) > 0)
        found.push("too wide");
    }
    return found;
  }

  test.each<[string, string, (page: Page) => Promise<void>]>([
    [
      "models are searched",
      "administration/models",
      async (page) => {
        await page.getByText("llama3.2:3b").first().waitFor();
        await page.getByLabel("Search models").press("z");
        await page.keyboard.type("zz");
        await page.getByText("No results").waitFor();
        await page.getByLabel("Search models").fill("llama");
        await page.getByRole("list", { name: "Models" }).getByText("llama3.2:3b").first().waitFor();
      },
    ],
    [
      "a report is downloaded as CSV",
      "overview/reports",
      async (page) => {
        const download = page.waitForEvent("download");
        await button(page, "Download as CSV: Reports").press("Enter");
        const stream = await (await download).createReadStream();
        expect(await text(stream)).toMatch(/^.*\r?\n/);
      },
    ],
    [
      "a tag is created and renamed",
      "administration/tags",
      async (page) => {
        await button(page, "New tag").first().press("Enter");
        await page.keyboard.type("refund");
        await page.keyboard.press("Control+Enter");
        await page.getByText("refund saved").waitFor();
        for (const [width, name] of [
          [1280, "refunds"],
          [390, "money back"],
        ] as const) {
          await page.setViewportSize({ width, height: 800 });
          await page.getByRole("button", { name: /^Edit / }).press("Enter");
          await page.getByRole("dialog").getByLabel("Name").fill(name);
          await page.keyboard.press("Control+Enter");
          const toast = page.getByRole("region", { name: "Notifications" }).getByText(`${name} saved`);
          await toast.waitFor();
          await keepPicture(page, `toast on tags at ${width}`);
          // A toast does not overlap: it begins where the page ends, and ends where the navigation begins.
          const [shown, main] = [await toast.boundingBox(), await page.getByRole("main").boundingBox()];
          expect(shown?.y).toBeGreaterThanOrEqual((main?.y ?? 0) + (main?.height ?? 0));
          const navigation = await page.getByRole("navigation").first().boundingBox();
          const end = width === 390 ? (navigation?.y ?? 0) : 800;
          expect((shown?.y ?? 0) + (shown?.height ?? 0)).toBeLessThanOrEqual(end);
        }
      },
    ],
    [
      "a webhook is created and tested",
      "administration/webhooks",
      async (page) => {
        await button(page, "Add webhook").first().press("Enter");
        await page.getByRole("dialog").getByLabel("URL").fill(receiver.url("/events"));
        await page.keyboard.press("Control+Enter");
        await page.getByRole("dialog", { name: "Webhook secret" }).waitFor();
        await button(page, "I’ve copied it").press("Enter");
        await button(page, "Send test event").press("Enter");
        await page.getByText("Test event delivered.").waitFor();
        await waitFor(() => receiver.requests.some(({ path }) => path === "/events"), { what: "the test event" });
      },
    ],
    [
      "notification settings are saved, and keep the time zone UTC",
      "notifications",
      async (page) => {
        const zone = page.getByLabel("Time zone");
        await zone.waitFor();
        expect(await zone.textContent()).toContain("Europe/Berlin");
        await zone.press("Enter");
        await page.keyboard.type("UTC");
        await page.keyboard.press("Enter");
        await page.getByLabel("A ticket needs review").first().press("Space");
        await button(page, "Save").press("Enter");
        await page.getByText("Notifications saved.").waitFor();
        await page.reload();
        await zone.waitFor();
        expect(await zone.textContent()).toContain("UTC");
        expect(await page.getByLabel("A ticket needs review").first().isChecked()).toBe(true);
      },
    ],
  ])("%s with the keyboard, on a page without barriers at 1280 and 390 pixels", (what, path, act) =>
    ground.browser.visit(async (open) => {
      const viewport = { width: 1280, height: 800 };
      const visitor = await ground.enter(open, ann, { viewport, timezoneId: "Europe/Berlin", acceptDownloads: true });
      const page = await visitor.openPath(`/keys/${path}`);
      await act(page);
      expect(await findBarriersAtBothWidths(page, what)).toEqual([]);
      expect(visitor.errors()).toEqual([]);
    }),
  );

  test("an unknown page and one that cannot be displayed name their windows", () =>
    ground.browser.visit(async (open) => {
      const visitor = await ground.enter(open, ann, { viewport: { width: 1280, height: 800 } });
      const page = await visitor.openPath("/keys/nowhere");
      await page.getByText("Page not found").waitFor();
      expect(await page.title()).toBe("Page not found · Console");
      const agents = "**/admin/agents?*";
      await page.route(agents, (route) => route.fulfill({ json: { ok: true, items: [null], nextCursor: null } }));
      await page.goto(new URL("/keys/agents", page.url()).href);
      await page.getByText("This page can’t be displayed").waitFor();
      expect(await page.title()).toBe("This page can’t be displayed · Console");
      await page.unroute(agents);
      await page.reload();
      await page.getByRole("heading", { name: "Agents", exact: true }).waitFor();
      expect(await page.title()).toBe("Agents · Console");
    }));

  describe("a frequent task", () => {
    const rows = [...readFileSync(repositoryPath("docs/console.md"), "utf8").matchAll(TASK_ROW)];
    let bob: ConsolePerson;
    let ticketId: string;
    let gapCount = 0;

    beforeAll(async () => {
      const { store } = ground.product;
      bob = await ground.addPerson("Bob Bell", [{ project: "keys", role: "operator" }]);
      await ask("Is anybody there?", "First");
      const macro = { name: "Parcel", text: "It is on its way." };
      await callKeys("/canned-replies", { json: macro });
      await store.projects.ensure("gaps");
      const kb = await createKbClient(ground.product, "gaps").makeKb();
      await addProject(store, "gaps", { kbIds: [kb.id], reviewPolicy: "auto_if" });
    });

    const callKeys = (path: string, request: ApiRequest = {}) =>
      callApi(`${createApiClient(ground.product).baseUrl()}/api/v1/admin${path}`, {
        key: ground.product.adminKey,
        project: "keys",
        ...request,
      });
    const keys = () => createReviewClient(ground.product, "keys");
    const read = () => keys().read(ticketId);
    /** Sends a message in a new chat, and waits for its draft. */
    async function ask(words: string, userId: string): Promise<void> {
      const message = { text: words, chatId: newId(), userId, mode: "async" };
      ticketId = String((await createApiClient(ground.product).send("keys", message)).body.ticketId);
      await keys().untilIn(ticketId, "review");
    }
    const isElsewhere = (page: Page) => !page.url().endsWith(ticketId) && /inbox\/review\/\w/.test(page.url());
    const reply = (page: Page) => page.getByRole("textbox", { name: "Reply", exact: true });
    const option = (page: Page, name: string | RegExp) => page.getByRole("option", { name });
    type Click = (target: Locator) => Promise<void>;
    /**
     * By the row of the table: typed keys, clicks, and the check that it is done. `before` prepares what an undo needs.
     */
    const tasks: Record<
      string,
      {
        typed?: string[];
        before?: (page: Page) => Promise<void>;
        click: (page: Page, click: Click) => Promise<void>;
        isDone: (page: Page) => Promise<boolean> | boolean;
      }
    > = {
      "Open the next ticket": {
        click: (page, click) => click(page.getByRole("region", { name: "Tickets" }).getByRole("listitem").nth(1)),
        // The window is named after the ticket.
        isDone: async (page) => isElsewhere(page) && !/^(?:Inbox|Console)/.test(await page.title()),
      },
      "Approve and send the draft, open the next": {
        click: (page, click) => click(button(page, "Approve and send")),
        isDone: async (page) => isElsewhere(page) && (await read()).stage === "done",
      },
      "Reply and send": {
        typed: ["It is here."],
        async click(page, click) {
          await click(button(page, "Reply"));
          await reply(page).fill("It is here.");
          await click(button(page, "Send"));
        },
        isDone: async (page) =>
          !isElsewhere(page) && (await read()).replies.some(({ author }) => author === "operator"),
      },
      "Reply, resolve and open the next": {
        typed: ["It is here."],
        async click(page, click) {
          await click(button(page, "Reply"));
          await reply(page).fill("It is here.");
          await click(button(page, "Send and resolve"));
        },
        isDone: async (page) => isElsewhere(page) && (await read()).status === "resolved",
      },
      "Assign to yourself": {
        click: (page, click) => click(button(page, "Assign to me")),
        isDone: async () => (await read()).assignee === `operator:${ann.id}`,
      },
      "Assign to a colleague": {
        typed: ["bob"],
        async click(page, click) {
          await click(page.getByRole("complementary").getByRole("button", { name: "Assign", exact: true }));
          await click(option(page, "Bob Bell"));
        },
        isDone: async () => (await read()).assignee === `operator:${bob.id}`,
      },
      "Add a tag": {
        typed: ["parcel"],
        async click(page, click) {
          await click(
            page
              .getByRole("complementary")
              .getByRole("button", { name: /^Edit subject/ })
              .last(),
          );
          await page.getByRole("dialog").getByLabel("Tags").fill("parcel");
          await click(button(page, "Save"));
        },
        isDone: async () => (await read()).tags.includes("parcel"),
      },
      "Note that mentions a colleague": {
        typed: ["@bo", "do you know?"],
        async click(page, click) {
          await click(button(page, "Note"));
          await page.keyboard.type("@bo");
          await click(option(page, "Bob Bell"));
          await page.keyboard.type("do you know?");
          await click(button(page, "Add note"));
        },
        isDone: async () => JSON.stringify((await read()).events).includes("@Bob Bell do you know?"),
      },
      "Insert a canned reply": {
        typed: ["parcel"],
        async click(page, click) {
          await click(button(page, "Reply"));
          await click(button(page, "Canned replies"));
          await click(option(page, /^Parcel/));
        },
        isDone: async (page) => (await reply(page).inputValue()) === "It is on its way.",
      },
      "Find a customer's conversations": {
        typed: ["Second"],
        async click(page, click) {
          await click(page.getByRole("searchbox", { name: "Search tickets" }));
          await page.keyboard.type("Second");
        },
        isDone: async (page) => (await page.getByRole("region", { name: "Tickets" }).getByText("First").count()) === 0,
      },
      "Snooze until tomorrow": {
        async click(page, click) {
          await click(button(page, "Snooze"));
          await click(option(page, /^Tomorrow/));
        },
        isDone: async () => (await read()).snooze !== null,
      },
      "Write an article from a gap": {
        typed: ["Yes, we do."],
        async before(page) {
          gapCount += 1;
          // The article that answers the first one must not answer the second one.
          const words = gapCount === 1 ? "Do you sell zebra saddles?" : "Who repairs church clocks on Sundays?";
          await createApiClient(ground.product).send("gaps", { text: words, chatId: newId() });
          await page.goto(`${ground.line.url}/gaps/knowledge/gaps`);
          await button(page, `Write article: ${words}`).waitFor();
        },
        async click(page, click) {
          await click(page.getByRole("button", { name: /^Write article: / }));
          await page.getByRole("dialog").getByLabel("Answer").fill("Yes, we do.");
          await click(button(page, "Add to knowledge base"));
        },
        isDone: (page) => page.getByText("Article added.").isVisible(),
      },
      Undo: {
        async before(page) {
          await page.keyboard.press("i");
          await button(page, "Undo").waitFor();
        },
        click: (page, click) => click(button(page, "Undo")),
        isDone: async (page) => (await read()).assignee === null && (await button(page, "Undo").count()) === 0,
      },
    };
    /** Where the next input goes is settled: a field has the focus, and a list shows results. */
    const IS_READY = `document.activeElement.matches("input, textarea") &&
      (document.querySelector("dialog [cmdk-root]") === null || document.querySelector("[cmdk-item][data-selected=true]") !== null)`;
    /** A dialog whose fields are still being loaded cannot be submitted yet. */
    const CAN_SUBMIT = `document.querySelector("dialog[open] [type=submit]:disabled") === null`;

    async function press(page: Page, row: string, typed: readonly string[]): Promise<number> {
      const [...texts] = typed;
      let count = 0;
      for (const [part, key] of row.matchAll(/`([^`]+)`|text|name/g)) {
        const isCommand = key !== undefined && !key.includes("Enter");
        if (!isCommand || key === "/") {
          const isSearch = key === "/" && count === 0;
          if (!isSearch) await waitFor(async () => page.evaluate<boolean>(IS_READY), { what: `a field for ${part}` });
        }
        if (key === undefined) await page.keyboard.type(texts.shift() ?? "");
        else {
          count += 1;
          if (key.includes("Enter")) {
            await waitFor(async () => page.evaluate<boolean>(CAN_SUBMIT), { what: "a form that can be submitted" });
          }
          await page.keyboard.press(
            key
              .replace("Ctrl", "Control")
              .replaceAll(" ", "+")
              .replace(/^[A-Z]$/, (x) => x.toLowerCase()),
          );
        }
      }
      return count;
    }

    test("needs the keys and clicks listed in docs/console.md", () =>
      ground.browser.visit(async (open) => {
        expect(rows.map(([, task]) => task)).toEqual(Object.keys(tasks));
        const visitor = await ground.enter(open, ann, { viewport: { width: 1920, height: 1080 } });
        const page = await visitor.openPath("/keys/inbox/review");
        for (const [, task = "", keyCount, pressed = "", clickCount] of rows) {
          const { before, click, isDone, typed = [] } = tasks[task] ?? {};
          if (click === undefined || isDone === undefined) throw new Error(`${task} is no task of this test`);
          const begin = async () => {
            await ask("Where is my parcel?", "Second");
            await page.goto(`${ground.line.url}/keys/inbox/review/${ticketId}`);
            await page.getByRole("region", { name: "Draft" }).getByText(DRAFT).waitFor();
            await page.getByRole("complementary", { name: "Details" }).waitFor();
            await before?.(page);
          };
          await begin();
          const keyed = await press(page, pressed, typed);
          await waitFor(() => isDone(page), { what: `${task}, by keys` });
          await begin();
          let clicks = 0;
          await click(page, async (target) => {
            await target.click();
            clicks += 1;
          });
          await waitFor(() => isDone(page), { what: `${task}, by clicks` });
          await keepPicture(page, `task ${task}`);
          expect([task, keyed, clicks]).toEqual([task, Number(keyCount), Number(clickCount)]);
        }
        expect(visitor.errors()).toEqual([]);
      }));
  });

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
      // A colleague's draft is replaced only after a confirmation.
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
      // Neither hostile HTML nor an image from another server is loaded.
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
