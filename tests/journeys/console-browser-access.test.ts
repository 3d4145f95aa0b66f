import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { TAG_COLORS } from "@svc/contracts";
import { newId } from "@svc/store";
import type { ProjectId } from "@svc/store";
import { findChromium, repositoryPath, waitFor, queryDatabase } from "@svc/testing";
import type { Page, Worker } from "playwright-core";
import { addProject } from "./support/add-project.ts";
import { callApi } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { createKbClient, documentOf } from "./support/create-kb-client.ts";
import { createReviewClient } from "./support/create-review-client.ts";
import { findBarriers } from "./support/find-barriers.ts";
import { DISGUISED_TEXTS, HOSTILE_HTML, HOSTILE_MARKDOWN } from "./support/hostile-payloads.ts";
import { describeInBrowser, openBrowser } from "./support/open-browser.ts";
import { startConsoleGround } from "./support/start-console-ground.ts";
import type { ConsoleGround, ConsolePerson } from "./support/start-console-ground.ts";

/** Test payloads of an HTML sanitizer. */
const { payloads: FIXTURES } = JSON.parse(
  readFileSync(repositoryPath("tests/journeys/support/dompurify-payloads.json"), "utf8"),
) as { payloads: string[] };
const ALL_HOSTILE = [...HOSTILE_HTML, ...HOSTILE_MARKDOWN, ...DISGUISED_TEXTS, ...FIXTURES];
/** A short text that is hostile in several ways, for names. */
const NAME = `<img src=x onerror=trap()> [press](javascript:trap()) "onmouseover="trap() \u202Efdp.exe`;
const WEB_LINK = /^(https?:\/\/|mailto:|tel:|\/)/;

const DRAFT =
  "You can send it back within **30 days**:\n\n1. print the [label](https://shop.example/label)\n2. put it on\n\n| Size | Price |\n|---|---|\n| S | 4 |";

/** The pages available to an administrator of all projects. */
const PAGES = [
  "start",
  "inbox/review",
  "inbox/all?q=nothing%20fits",
  "customers",
  "knowledge",
  "knowledge/gaps",
  "knowledge/proposals",
  "agents",
  "integrations",
  "integrations/api",
  "integrations/widget",
  "integrations/messenger",
  "integrations/tool-server",
  "overview",
  "administration/keys",
  "administration/operators",
  "administration/projects",
  "administration/models",
  "administration/tags",
  "administration/canned-replies",
  "administration/deliveries",
  "administration/audit",
] as const;

const rowOf = (page: Page, subject: string) =>
  page.getByRole("region", { name: "Tickets", exact: true }).getByRole("link", { name: subject });
const draftOn = (page: Page) => page.getByRole("region", { name: "Draft", exact: true });
const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name });

/** Waits until a page is loaded: no skeletons remain. */
async function settled(page: Page): Promise<void> {
  await page.locator("main h1").waitFor({ state: "attached" });
  await page
    .locator("main [aria-busy=true]:visible, main .animate-shimmer:visible")
    .first()
    .waitFor({ state: "hidden" });
}

/** Sends an event to a service worker, and waits until it has handled it. */
const dispatch = (worker: Worker, event: string) =>
  worker.evaluate(`(async () => {
    const event = ${event};
    const handling = [];
    // That of an event from a script throws.
    event.waitUntil = (promise) => void handling.push(promise);
    self.dispatchEvent(event);
    await Promise.all(handling);
  })()`);

/** The headless shell, which is preferred for the other tests, shows no notifications. */
const testWithNotifications = findChromium({ showsNotifications: true }) === null ? test.skip : test;

describeInBrowser("everyone can use the console", () => {
  let ground: ConsoleGround;
  let api: ApiClient;
  let admin: ConsolePerson;
  let agentId: string;
  let kbId: string;
  let shop: ProjectId;

  beforeAll(async () => {
    ground = await startConsoleGround();
    const { product } = ground;
    api = createApiClient(product);
    admin = await ground.addPerson("Ann Able", [{ project: "*", role: "administrator" }]);
    await product.store.projects.ensure("shop");
    const kbs = createKbClient(product, "shop");
    kbId = (await kbs.makeKb()).id;
    await kbs.settled(
      kbId,
      documentOf(await kbs.add(kbId, { text: "# Returns\n\nWithin 30 days.", title: "Returns" })).id,
    );
    const project = await addProject(product.store, "shop", {
      fixedReply: DRAFT,
      reviewPolicy: "review",
      description: "Answers about parcels",
      kbIds: [kbId],
    });
    agentId = (await product.store.agents.list(project.id))[0]?.id ?? "";
    shop = project.id;
  });

  afterAll(() => ground?.stop());

  async function ask(text: string, project = "shop", more: object = {}): Promise<{ chatId: string; ticketId: string }> {
    const chatId = newId();
    const sent = await api.send(project, { text, chatId, userId: "Ben Bell", mode: "async", ...more });
    if (sent.status !== 202) throw new Error(`the message was not taken: ${sent.text}`);
    const ticketId = String(sent.body.ticketId);
    await createReviewClient(ground.product, project).untilIn(ticketId, "review");
    return { chatId, ticketId };
  }

  test("axe-core finds no violations on any page, in light and dark", () =>
    ground.browser.visit(async (open) => {
      const { ticketId } = await ask("Where is my parcel?", "shop", { meta: { order: "A-17" } });
      await createReviewClient(ground.product, "shop").decide(ticketId, "note", { json: { text: "He **called**." } });
      for (const color of TAG_COLORS) await ground.product.store.tags.insert(shop, { name: color, color });
      const change = { tags: [...TAG_COLORS, "not managed"] };
      await ground.product.store.ticketDetails.update(shop, ticketId, { change, versions: null, actor: "test" });
      // During a color transition the contrast cannot be measured.
      const visitor = await ground.enter(open, admin, { reducedMotion: "reduce" });
      const page = await visitor.openPath("/shop/inbox/review");
      const barriers: unknown[] = [];
      const check = async (what: string) => barriers.push(...(await findBarriers(page, what, ["light", "dark"])));
      for (const path of [...PAGES, `knowledge/${kbId}`, `knowledge/${kbId}?tab=search`, `agents/${agentId}`]) {
        await page.goto(`${ground.line.url}/shop/${path}`);
        await settled(page);
        await check(path);
      }
      await page.goto(`${ground.line.url}/shop/inbox/review/${ticketId}`);
      await draftOn(page).getByText("You can send it back").waitFor();
      await page.keyboard.press("d");
      await check("a ticket with its details");
      await page.getByRole("tab", { name: "Trace" }).click();
      await check("a ticket with its trace");
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
      await check("the list of keys");
      await page.keyboard.press("Escape");
      await page.keyboard.press("Control+k");
      await page.getByPlaceholder("Type a command, or search tickets and customers…").waitFor();
      await check("the palette");
      const stranger = await open({ reducedMotion: "reduce" });
      const entry = await stranger.openPage(`${ground.line.url}/sign-in?fault=unknown_operator`);
      await entry.getByLabel("Password").waitFor();
      await entry.getByText("No account here uses the email address from your identity provider.").waitFor();
      barriers.push(...(await findBarriers(entry, "signing in", ["light", "dark"])));
      expect(barriers).toEqual([]);
      expect(visitor.errors()).toEqual([]);
    }));

  test.each([1280, 1024])("the details of a ticket do not cover the draft in its composer at %i pixels", (width) =>
    ground.browser.visit(async (open) => {
      const { ticketId } = await ask("Where is my parcel?");
      const visitor = await ground.enter(open, admin, { viewport: { width, height: 800 } });
      const page = await visitor.openPath(`/shop/inbox/review/${ticketId}`);
      await draftOn(page).waitFor();
      const details = page.getByRole("complementary", { name: "Details" });
      if (!(await details.isVisible())) await page.keyboard.press("d");
      const left = (await details.boundingBox())?.x ?? 0;
      for (const part of [draftOn(page), page.getByRole("textbox", { name: "Draft", exact: true })]) {
        const { x, width: wide } = (await part.boundingBox()) ?? { x: left, width: width };
        expect(x + wide).toBeLessThanOrEqual(left);
      }
      const conversation = await page.getByRole("region", { name: "Conversation", exact: true }).boundingBox();
      if (width === 1280) expect(conversation?.width).toBeGreaterThanOrEqual(560);
      expect(visitor.errors()).toEqual([]);
    }),
  );

  test("with the keyboard alone: sign in, choose a ticket, approve its draft, find keys and commands", () =>
    ground.browser.visit(async (open) => {
      const { chatId, ticketId } = await ask("How do I send it back?");
      const visitor = await open();
      const page = await visitor.openPage(`${ground.line.url}/shop/inbox/all`);
      await page.getByLabel("Email").waitFor();
      await page.keyboard.type(admin.email);
      await page.keyboard.press("Tab");
      await page.keyboard.type(admin.password);
      await page.keyboard.press("Enter");
      await rowOf(page, "How do I send it back?").waitFor();
      await page.keyboard.press("j");
      await page.keyboard.press("k");
      await page.waitForURL(`**/shop/inbox/all/${ticketId}`);
      await draftOn(page).getByText("You can send it back").waitFor();
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Keyboard shortcuts" }).getByText("Approve and send").waitFor();
      await page.keyboard.press("Escape");
      // A list box in a dialog: letters, Home, End and Enter choose, Escape closes only the list.
      await page.keyboard.press("t");
      const priority = page.getByRole("dialog").getByRole("combobox", { name: "Priority" });
      await priority.focus();
      await page.keyboard.type("hi");
      await page.getByRole("option", { name: "High", exact: true }).waitFor();
      expect(await findBarriers(page, "a list box in a dialog", ["light", "dark"])).toEqual([]);
      await page.keyboard.press("Escape");
      await page.getByRole("option").first().waitFor({ state: "detached" });
      expect(await priority.innerText()).toBe("Normal");
      for (const key of ["Home", "End", "Enter"]) await page.keyboard.press(key);
      expect(await priority.innerText()).toBe("Urgent");
      await page.getByRole("dialog").getByRole("button", { name: "Save", exact: true }).press("Enter");
      await page.getByText("Ticket updated.").waitFor();
      const isUrgent = async () =>
        (await createReviewClient(ground.product, "shop").read(ticketId)).priority === "urgent";
      await waitFor(isUrgent, { what: "the ticket to be urgent" });
      await page.keyboard.press("a");
      await page.getByText("Draft sent.").waitFor();
      await waitFor(
        async () => (await api.drain("shop", chatId, "?peek=1")).texts.some((text) => text.includes("30 days")),
        { what: "the customer to have the draft" },
      );
      await page.keyboard.press("Control+k");
      await page.getByPlaceholder("Type a command, or search tickets and customers…").waitFor();
      await page.keyboard.type("agents");
      await page.keyboard.press("Enter");
      await page.waitForURL("**/shop/agents");
      await page.keyboard.press("Control+k");
      await page.getByPlaceholder("Type a command, or search tickets and customers…").waitFor();
      await page.keyboard.type("send it back");
      await page
        .getByRole("option", { name: /send it back/i })
        .first()
        .waitFor();
      await page.keyboard.press("Escape");
      await page.keyboard.press("g");
      await page.keyboard.press("i");
      await page.waitForURL("**/shop/inbox/review");
      expect(visitor.errors()).toEqual([]);
    }));

  test("customers are found, edited and merged with the keyboard, and their texts are shown as plain text", () =>
    ground.browser.visit(async (open) => {
      const name = '<img src=x onerror="document.title=1">Mallory';
      const other = `Mei Lin ${newId()}`;
      const meta = {
        customer: { name },
        page: { url: "https://shop.example/lamps", title: "Lamps" },
        referrer: "javascript:alert(1)",
      };
      const userId = `mallory-${newId()}`;
      const tickets = [
        await ask("Where is my first parcel?", "shop", { userId, meta }),
        await ask("Where is my second parcel?", "shop", { userId, meta }),
        await ask("Where is my lamp?", "shop", { userId: `mei-${newId()}`, meta: { customer: { name: other } } }),
      ];
      for (const { ticketId } of tickets) {
        const isStored = async () => (await createReviewClient(ground.product, "shop").read(ticketId)).customer?.id;
        await waitFor(isStored, { what: "the customer of a ticket" });
      }
      const [{ ticketId } = { ticketId: "" }] = tickets;
      const visitor = await ground.enter(open, admin, { viewport: { width: 1280, height: 800 } });
      const page = await visitor.openPath(`/shop/inbox/all/${ticketId}`);
      await draftOn(page).waitFor();
      const details = page.getByRole("complementary", { name: "Details" });
      if (!(await details.isVisible())) await page.keyboard.press("d");
      expect(await details.getByRole("link", { name: "Lamps" }).getAttribute("href")).toBe(
        "https://shop.example/lamps",
      );
      expect(await details.locator('a[href^="javascript"]').count()).toBe(0);
      await details.getByRole("link", { name: "Where is my second parcel?" }).waitFor();
      // A note that was not added yet is kept, and so are the open details.
      const noteField = page.getByPlaceholder("Write a note for your team…");
      await noteField.fill("Half a note");
      await page.reload();
      expect(await noteField.inputValue()).toBe("Half a note");
      await details.getByRole("link", { name, exact: true }).press("Enter");
      await page.getByRole("heading", { level: 1, name }).waitFor();
      expect(await noteField.inputValue()).toBe("Half a note");
      await page.getByRole("link", { name: "Where is my first parcel?" }).waitFor();

      await page.keyboard.press("e");
      await page.getByLabel("Attributes").fill("plan: enterprise\nseats: 12");
      await page.getByLabel("Name", { exact: true }).fill("Mallory Weber");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: "Mallory Weber" }).waitFor();
      await page.keyboard.press("m");
      await page.getByLabel("Search by name, address, ID or attribute").fill(other);
      await page.getByRole("radio", { name: other }).press("Space");
      await button(page, "Merge").last().press("Enter");
      await page.getByRole("link", { name: "Where is my lamp?" }).waitFor();

      const note = "<img src=x onerror='document.title=1'>Pays late.";
      await noteField.fill(note);
      await button(page, "Add note").press("Enter");
      await page.getByRole("listitem").filter({ hasText: "Pays late." }).waitFor();
      expect(await noteField.inputValue()).toBe("");
      await page.keyboard.press("!");
      await page.getByText("Block Mallory Weber?").waitFor();
      await page.getByRole("dialog").getByRole("button", { name: "Block", exact: true }).press("Enter");
      await page.getByText("Blocked", { exact: true }).waitFor();
      expect(await findBarriers(page, "a blocked customer with a note", ["light", "dark"])).toEqual([]);

      await page.keyboard.press("g");
      await page.keyboard.press("c");
      await page.waitForURL("**/shop/customers");
      await page.getByLabel("Search by name, address, ID or attribute").fill("ENTERPRISE");
      const rows = page.getByRole("list", { name: "Customers" }).getByRole("link");
      await waitFor(async () => (await rows.count()) === 1, { what: "one customer to be found" });
      expect(await rows.innerText()).toContain("Mallory Weber");
      expect(await findBarriers(page, "a customer that was found", ["light", "dark"])).toEqual([]);
      expect(visitor.errors()).toEqual([]);
    }));

  test("viewers see everything in their project and are offered only permitted actions", () =>
    ground.browser.visit(async (open) => {
      const { ticketId } = await ask("Can a viewer see this?");
      const vera = await ground.addPerson("Vera View", [{ project: "shop", role: "viewer" }]);
      const visitor = await ground.enter(open, vera);
      const refused: string[] = [];
      visitor.context.on("response", (answer) => {
        if (answer.status() === 403) refused.push(answer.url());
      });
      const page = await visitor.openPath(`/shop/inbox/review/${ticketId}`);
      await draftOn(page).getByText("You can send it back").waitFor();
      for (const name of ["Approve and send", "Edit", "Dismiss", "Resolve", "Send"]) {
        expect(await button(page, name).count()).toBe(0);
      }
      expect(await page.getByRole("textbox", { name: "Reply" }).count()).toBe(0);
      for (const key of ["a", "e", "r", "Shift+E", "!"]) await page.keyboard.press(key);
      expect(await page.getByRole("dialog").count()).toBe(0);
      for (const path of [
        "knowledge",
        `knowledge/${kbId}`,
        "agents",
        `agents/${agentId}`,
        "integrations/api",
        "overview",
      ]) {
        await page.goto(`${ground.line.url}/shop/${path}`);
        await settled(page);
        const offered = button(page, /^(New|Create|Add|Save|Delete|Write|Choose files)/).and(page.locator(":enabled"));
        expect({ path, offered: await offered.allInnerTexts() }).toEqual({ path, offered: [] });
      }
      await page.goto(`${ground.line.url}/shop/administration/keys`);
      await page.getByText("Only administrators of all projects can see this.").waitFor();
      await page.goto(`${ground.line.url}/default/inbox/review`);
      await page.getByText("You don’t have a role in this project").waitFor();
      expect(refused.filter((url) => !url.includes("/default/"))).toEqual([]);
      const ticket = await createReviewClient(ground.product, "shop").read(ticketId);
      expect([ticket.stage, ticket.status]).toEqual(["review", "open"]);
    }));

  test("text typed while the server is unavailable is kept, and sent when the server recovers", () =>
    ground.browser.visit(async (open) => {
      const { chatId, ticketId } = await ask("Are you there?");
      const visitor = await ground.enter(open, admin);
      const page = await visitor.openPath(`/shop/inbox/review/${ticketId}`);
      await draftOn(page).waitFor();
      await page.keyboard.press("r");
      const composer = page.getByRole("textbox", { name: "Reply" });
      await composer.pressSequentially("We are");
      ground.line.goAway();
      const banner = page.getByText("The server is unavailable.");
      await banner.waitFor();
      const [above, below] = [await banner.boundingBox(), await page.getByRole("main").boundingBox()];
      expect((above?.y ?? 0) + (above?.height ?? 0)).toBeLessThanOrEqual(below?.y ?? 0);
      await composer.pressSequentially(" here.");
      await page.keyboard.press("Control+Enter");
      await page.getByText("Can’t reach the server. Your text is saved here").waitFor();
      expect(await composer.inputValue()).toBe("We are here.");
      ground.line.comeBack();
      await page.getByText("The server is unavailable.").waitFor({ state: "hidden" });
      await page.reload();
      await draftOn(page).waitFor();
      expect(await composer.inputValue()).toBe("We are here.");
      await composer.focus();
      await page.keyboard.press("Control+Enter");
      await waitFor(async () => (await api.drain("shop", chatId, "?peek=1")).texts.includes("We are here."), {
        what: "the customer to have the reply",
      });
    }));

  test(`${ALL_HOSTILE.length} hostile texts remain text in every field that shows them`, () =>
    ground.browser.visit(async (open) => {
      const { product } = ground;
      const { databaseUrl, store } = product;
      const { project } = await store.projects.ensure("hostile");
      const kbs = createKbClient(product, "hostile");
      const kb = await kbs.makeKb();
      const document = documentOf(
        await kbs.add(kb.id, { text: `# Parcels\n\n${NAME}\n\n${HOSTILE_HTML.join("\n\n")}` }),
      );
      await kbs.settled(kb.id, document.id);
      const agent = await store.agents.insert(project.id, {
        name: NAME.slice(0, 60),
        description: NAME,
        instructions: ALL_HOSTILE.join("\n"),
        examples: [NAME],
        fixedReply: FIXTURES.join("\n\n"),
        reviewPolicy: "review",
        kbIds: [kb.id],
      });
      await ground.addPerson(NAME, [{ project: "hostile", role: "operator" }]);
      const half = Math.ceil(FIXTURES.length / 2);
      const { ticketId, chatId } = await ask(FIXTURES.slice(0, half).join("\n"), "hostile", {
        meta: Object.fromEntries(
          HOSTILE_HTML.slice(0, 20).map((text, index) => [`${text.slice(0, 20)}${index}`, text]),
        ),
        attachments: DISGUISED_TEXTS.slice(0, 5).map((name) => ({
          name,
          type: "image",
          url: `https://evil.example/${encodeURIComponent(name)}`,
        })),
      });
      for (const text of [
        FIXTURES.slice(half).join("\n"),
        HOSTILE_HTML.join("\n\n"),
        HOSTILE_MARKDOWN.join("\n\n---\n\n"),
      ]) {
        await api.send("hostile", { text, chatId, mode: "async" });
      }
      const reviews = createReviewClient(product, "hostile");
      await reviews.untilHeld(ticketId, 4);
      await reviews.decide(ticketId, "note", { json: { text: [...HOSTILE_MARKDOWN, ...HOSTILE_HTML].join("\n\n") } });
      const sql = (text: string, values: unknown[]) => queryDatabase(databaseUrl, text, values);
      const [chunk] = await queryDatabase<{ id: string }>(
        databaseUrl,
        "SELECT id FROM chunks WHERE document_id = $1 LIMIT 1",
        [document.id],
      );
      const sources = ["javascript:trap()", "data:text/html,trap()", null].map((url) => ({
        kbId: kb.id,
        documentId: document.id,
        chunkId: chunk?.id,
        title: NAME,
        url,
        quote: NAME,
        page: null,
        headingPath: [NAME],
        score: 1,
      }));
      await sql("UPDATE drafts SET text = $2, markdown = true, why = $3, sources = $4 WHERE ticket_id = $1", [
        ticketId,
        [...HOSTILE_MARKDOWN, ...FIXTURES].join("\n\n"),
        NAME,
        JSON.stringify(sources),
      ]);
      await sql("UPDATE tickets SET subject = $2, user_id = $2, tags = $3 WHERE id = $1", [
        ticketId,
        NAME,
        [NAME, "<b>x</b>"],
      ]);
      await sql("UPDATE messages SET user_id = $2 WHERE ticket_id = $1", [ticketId, NAME]);
      await sql("UPDATE documents SET title = $2, url = 'javascript:trap()', error = $2 WHERE id = $1", [
        document.id,
        NAME,
      ]);
      await sql("UPDATE kbs SET name = $2 WHERE id = $1", [kb.id, NAME]);
      await store.gaps.record(project.id, {
        messageId: newId(),
        ticketId,
        agentId: null,
        text: NAME,
        question: NAME,
        terms: ["trap"],
        language: "en",
      });
      await sql(
        `INSERT INTO proposals (id, project_id, kb_id, ticket_id, action, title, question, before, after, created_by)
         VALUES ($1, $2, $3, $4, 'add', $5, $5, $5, $6, $5)`,
        [newId(), project.id, kb.id, ticketId, NAME, HOSTILE_MARKDOWN.join("\n")],
      );

      const visitor = await ground.enter(open, admin);
      await visitor.context.addInitScript(
        `window.sprung = []; for (const name of ["trap", "alert", "confirm", "prompt", "print", "open"])
           window[name] = (...given) => { window.sprung.push([name, ...given.map(String)]); };
         document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
           window.sprung.push([violatedDirective, blockedURI]));`,
      );
      const asked: string[] = [];
      visitor.context.on("request", (request) => asked.push(request.url()));
      const page = await visitor.openPath(`/hostile/inbox/review/${ticketId}`);
      let dialogs = 0;
      page.on("dialog", (dialog) => {
        dialogs++;
        void dialog.dismiss();
      });
      const expectHarmless = async () => {
        const found = await page.locator("body *").evaluateAll((elements) =>
          elements.map((element) => ({
            element: element.localName,
            handlers: [...element.attributes].map(({ name }) => name).filter((name) => name.startsWith("on")),
            href: element.getAttribute("href") ?? element.getAttribute("src") ?? "/",
          })),
        );
        expect(found.length).toBeGreaterThan(20);
        expect(
          found.filter(({ element }) =>
            /^(script|iframe|object|embed|style|base|meta|marquee|math|video|audio|img)$/.test(element),
          ),
        ).toEqual([]);
        expect(found.filter(({ handlers }) => handlers.length > 0)).toEqual([]);
        expect(found.filter(({ href }) => !WEB_LINK.test(href) && !href.startsWith("#"))).toEqual([]);
        expect(await page.evaluate("window.sprung")).toEqual([]);
      };
      await draftOn(page).getByText("press").first().waitFor();
      await page.getByText("selectedcontent").first().waitFor();
      await page.keyboard.press("d");
      await page.getByRole("tab", { name: "Trace" }).click();
      await expectHarmless();
      await page.getByRole("tab", { name: "Details" }).click();
      await expectHarmless();
      // It covers the draft if there is no room beside it.
      await page.getByRole("complementary", { name: "Details" }).getByRole("button", { name: "Close" }).click();
      await draftOn(page)
        .getByRole("button", { name: /Open the passage|<img/ })
        .first()
        .click();
      await page.getByRole("dialog").waitFor();
      await expectHarmless();
      await page.keyboard.press("Escape");
      for (const path of [
        "inbox/all",
        "knowledge",
        `knowledge/${kb.id}`,
        `knowledge/${kb.id}?tab=search`,
        "knowledge/gaps",
        "knowledge/proposals",
        "agents",
        `agents/${agent.id}`,
        "overview",
        "administration/operators",
        "administration/audit",
      ]) {
        await page.goto(`${ground.line.url}/hostile/${path}`);
        await settled(page);
        await expectHarmless();
      }
      expect(dialogs).toBe(0);
      const own = [ground.line.url, `blob:${ground.line.url}`, "data:"];
      expect(asked.filter((url) => !own.some((start) => url.startsWith(start)))).toEqual([]);
      expect(visitor.errors()).toEqual([]);
    }));

  test("is an installable app", () =>
    ground.browser.visit(async (open) => {
      const visitor = await ground.enter(open, admin);
      const page = await visitor.openPath("/shop/inbox/review");
      await page.evaluate("navigator.serviceWorker.ready.then(() => true)");
      const session = await visitor.context.newCDPSession(page);
      const { errors, data } = await session.send("Page.getAppManifest");
      expect(errors).toEqual([]);
      expect(JSON.parse(data ?? "{}")).toMatchObject({ display: "standalone", start_url: "/" });
      const { installabilityErrors } = await session.send("Page.getInstallabilityErrors");
      // Tests run in an incognito window, which cannot install apps.
      expect(installabilityErrors.filter(({ errorId }) => errorId !== "in-incognito")).toEqual([]);
      expect((await callApi(`${ground.line.url}/sw.js`)).status).toBe(200);
    }));

  test("a search that finds nothing in a view is offered in all tickets, and finds them there", () =>
    ground.browser.visit(async (open) => {
      const word = "trebuchet";
      const { ticketId } = await ask(`Is the ${word} heavy?`);
      const searched = () =>
        callApi(`${api.baseUrl(0)}/api/v1/admin/tickets?q=${word}`, { key: ground.product.adminKey, project: "shop" });
      await waitFor(async () => (await searched()).text.includes(ticketId), { what: "the words of the ticket" });
      const visitor = await ground.enter(open, admin);
      const page = await visitor.openPath(`/shop/inbox/resolved?q=${word}`);
      await page.getByText("No results").waitFor();
      await button(page, "Search in All").click();
      await rowOf(page, word).waitFor();
      expect(new URL(page.url()).pathname).toBe("/shop/inbox/all");
      expect(new URL(page.url()).searchParams.get("q")).toBe(word);
      // There is nowhere else to search.
      await page.goto(`${ground.line.url}/shop/inbox/all?q=not${word}`);
      await page.getByText("No results").waitFor();
      expect(await button(page, "Search in All").count()).toBe(0);
      expect(visitor.errors()).toEqual([]);
    }));

  test("the model server is removed only after a question", () =>
    ground.browser.visit(async (open) => {
      const settings = async () =>
        (await callApi(`${api.baseUrl(0)}/api/v1/admin/model-settings`, { key: ground.product.adminKey })).text;
      const baseUrl = "https://models.example.com/v1";
      const stored = await callApi(`${api.baseUrl(0)}/api/v1/admin/model-settings`, {
        method: "PUT",
        key: ground.product.adminKey,
        json: { baseUrl },
      });
      expect(stored.status).toBe(200);
      const visitor = await ground.enter(open, admin);
      const page = await visitor.openPath("/shop/administration/models");
      const dialog = page.getByRole("dialog", { name: "Remove the model server?" });
      await button(page, "Remove").click();
      await dialog.getByRole("button", { name: "Cancel" }).click();
      await dialog.waitFor({ state: "detached" });
      expect(await settings()).toContain(baseUrl);
      await button(page, "Remove").click();
      await dialog.getByRole("button", { name: "Remove" }).click();
      await page.getByText("Removed. Agents quote their knowledge bases.").waitFor();
      await dialog.waitFor({ state: "detached" });
      expect(await settings()).not.toContain(baseUrl);
      expect(visitor.errors()).toEqual([]);
    }));

  test("push notifications that one tab turns off are off in the other, once that has the focus", () =>
    ground.browser.visit(async (open) => {
      const endpoint = `https://push.example.com/${newId()}`;
      const { pushSubscriptions } = ground.product.store;
      await pushSubscriptions.put(admin.id, { endpoint, p256dh: "key", auth: "secret" });
      const visitor = await ground.enter(open, admin);
      // A subscription needs the push service of Chromium's maker.
      await visitor.context.addInitScript(`PushManager.prototype.getSubscription = async () =>
        localStorage.getItem("ended") === null
          ? { endpoint: ${JSON.stringify(endpoint)}, unsubscribe: async () => localStorage.setItem("ended", "yes") }
          : null;`);
      const page = await visitor.openPath("/shop/notifications");
      const other = await visitor.openPath("/shop/notifications");
      await button(other, "Turn off in this browser").waitFor();
      await button(page, "Turn off in this browser").click();
      await button(page, "Turn on in this browser").waitFor();
      expect(await pushSubscriptions.isOf(admin.id, endpoint)).toBe(false);
      await other.evaluate('window.dispatchEvent(new Event("visibilitychange"))');
      await button(other, "Turn on in this browser").waitFor();
      expect(visitor.errors()).toEqual([]);
    }));

  testWithNotifications(
    "a push is shown unless the operator looks at the console, and a click on it opens its page",
    async () => {
      const browser = await openBrowser({ showsNotifications: true });
      const { url: origin } = ground.line;
      try {
        await browser.visit(async (open) => {
          const visitor = await ground.enter(open, admin);
          const { context } = visitor;
          await context.grantPermissions(["notifications"], { origin });
          const page = await visitor.openPath("/shop/customers");
          // A message to a page that is still loading is not heard.
          await settled(page);
          const isActive = () => page.evaluate<boolean>("navigator.serviceWorker.controller?.state === 'activated'");
          await waitFor(isActive, { what: "the service worker" });
          const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent("serviceworker"));
          const push = (path: string) =>
            JSON.stringify({ title: "Ticket assigned to you", body: "shop", path, tag: path });
          const shown = async () =>
            await worker.evaluate<string[]>("registration.getNotifications().then((all) => all.map(({ tag }) => tag))");
          const asked = async () => await worker.evaluate<string[]>("asked");
          const click = () =>
            dispatch(
              worker,
              'new NotificationEvent("notificationclick", { notification: (await registration.getNotifications())[0] })',
            );
          // Chromium allows both only after the click of a person.
          await worker.evaluate(`self.asked = [];
          WindowClient.prototype.focus = async function () { asked.push("focus " + new URL(this.url).pathname); };
          clients.openWindow = async (path) => asked.push("open " + path);`);

          await dispatch(worker, `new PushEvent("push", { data: ${JSON.stringify(push("/shop/agents"))} })`);
          expect(await shown()).toEqual([]);

          // Playwright emulates the focus in every page; without that, only the page in front has it.
          const emulation = await context.newCDPSession(page);
          await emulation.send("Emulation.setFocusEmulationEnabled", { enabled: false });
          const front = await context.newPage();
          await front.bringToFront();
          const session = await context.newCDPSession(front);
          const registered = new Promise<string>((resolve) => {
            session.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
              const own = registrations.find(({ scopeURL }) => scopeURL === `${origin}/`);
              if (own !== undefined) resolve(own.registrationId);
            });
          });
          await session.send("ServiceWorker.enable");
          const registrationId = await registered;
          const deliver = async (path: string) => {
            await session.send("ServiceWorker.deliverPushMessage", { origin, registrationId, data: push(path) });
            await waitFor(async () => (await shown()).length > 0, { what: "the notification" });
            expect(await shown()).toEqual([path]);
          };
          await deliver("/shop/inbox/all");
          await click();
          await page.waitForURL(`${origin}/shop/inbox/all`);
          expect([await shown(), await asked()]).toEqual([[], ["focus /shop/customers"]]);

          await page.close();
          await deliver("/shop/agents");
          await click();
          expect([await shown(), await asked()]).toEqual([[], ["focus /shop/customers", "open /shop/agents"]]);
          expect(visitor.errors()).toEqual([]);
        });
      } finally {
        await browser.close();
      }
    },
  );
});
