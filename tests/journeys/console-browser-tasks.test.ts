import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Agent } from "@svc/contracts";
import { DEFAULT_PROJECT, newId } from "@svc/store";
import { startFakeBotApi, startFakeModel, startWebhookReceiver, waitFor } from "@svc/testing";
import type { FakeBotApi, FakeModel, ModelRequest, WebhookReceiver } from "@svc/testing";
import type { Page, Response } from "playwright-core";
import { addProject } from "./support/add-project.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callApi } from "./support/call-api.ts";
import type { ApiRequest } from "./support/call-api.ts";
import { callbackView } from "./support/callback-view.ts";
import { chooseOption } from "./support/choose-option.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { createKbClient, documentOf } from "./support/create-kb-client.ts";
import { createReviewClient, deliveryIdOf } from "./support/create-review-client.ts";
import {
  countAsked,
  noteNotifications,
  notificationsOf,
  pressNotification,
  turnTo,
  untilHeard,
} from "./support/note-notifications.ts";
import { describeInBrowser } from "./support/open-browser.ts";
import { startConsoleGround } from "./support/start-console-ground.ts";
import type { ConsoleGround, ConsolePerson, ConsoleVisitor } from "./support/start-console-ground.ts";

const DRAFT = "Your parcel left us this morning.";
const SENT = "The order was sent on Monday.";
const CANCELLED = "The order is cancelled now.";
const OLD = "We do not ship parcels to Iceland at the moment.";
const NEW = "We ship parcels to Iceland again since May.";
const GUIDE = `# Shipping\n\n## Europe\n\nWe ship to every country of the European Union within five days.\n\n## Iceland\n\n${OLD}\n\n## Prices\n\nA parcel costs 5 EUR.\n`;
const REFUNDS = "Money goes back to the card within five days of the return.";
const CALL_US = "Please call us on a Monday.";
const HOURS = "# Opening hours\n\nWe open at nine.\n";

/** Parts of the pages, by their accessible names. */
const ticketOn = (page: Page) => page.getByRole("region", { name: "Ticket", exact: true });
const draftOn = (page: Page) => page.getByRole("region", { name: "Draft", exact: true });
const composerOn = (page: Page, kind: string) => page.getByRole("textbox", { name: kind, exact: true });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const region = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

/** Navigates to a page, and waits until its request to this path starts to receive a response. */
async function goUntilAnswered<Done>(
  { context }: ConsoleVisitor,
  path: string,
  go: () => Promise<Done>,
): Promise<Done> {
  const isOfPath = (response: Response) => new URL(response.url()).pathname === path;
  const [done] = await Promise.all([go(), context.waitForEvent("response", isOfPath)]);
  return done;
}

/** Navigates to a page, and waits until its event stream has started. */
const followed = <Done>(visitor: ConsoleVisitor, go: () => Promise<Done>): Promise<Done> =>
  goUntilAnswered(visitor, "/events", go);

const agentIn = ({ body }: ApiAnswer) => (body as unknown as { item: Agent }).item;

/** Returns the text of all messages of a model request. */
const textOf = ({ messages }: ModelRequest) => JSON.stringify(messages);
const NOTHING = { answered: false, needsPerson: true, claims: [] };

/** Returns an answer of one sentence that cites the result containing it. */
function claim(request: ModelRequest, text: string): object {
  const found = [...textOf(request).matchAll(/begin passage (\d+), a result\]([\s\S]*?) end passage/g)].findLast(
    ([, , held = ""]) => held.includes(text),
  );
  const citations = found === undefined ? [] : [{ passage: Number(found[1]), quote: text }];
  return { answered: true, needsPerson: false, claims: [{ text, citations }] };
}

/** Calls the tool to cancel the order in question, and confirms it once that is done. */
function cancelling(request: ModelRequest): object {
  const text = textOf(request);
  if (text.includes(CANCELLED)) return claim(request, CANCELLED);
  if (request.messages.some(({ role }) => role === "tool")) return NOTHING;
  const [, orderId = ""] = /cancel order (\w+)/.exec(text) ?? [];
  return { toolCalls: [{ name: "cancel_order", arguments: JSON.stringify({ orderId }) }] };
}

describeInBrowser("what operators and administrators do in the console", () => {
  let ground: ConsoleGround;
  let model: FakeModel;
  let telegram: FakeBotApi;
  let receiver: WebhookReceiver;
  let api: ApiClient;
  /** An administrator of all projects. */
  let ann: ConsolePerson;

  beforeAll(async () => {
    [model, telegram, receiver] = await Promise.all([startFakeModel(), startFakeBotApi(), startWebhookReceiver()]);
    model.answerWith(cancelling);
    ground = await startConsoleGround({
      // Only the agent that names a model uses it.
      SVC_LLM_BASE_URL: model.baseUrl,
      SVC_FETCH_ALLOW: "127.0.0.1",
      SVC_WEBHOOK_ALLOW: "127.0.0.1",
      SVC_TELEGRAM_API_ROOT: telegram.url,
    });
    const { store } = ground.product;
    api = createApiClient(ground.product);
    ann = await ground.addPerson("Ann Able", [{ project: "*", role: "administrator" }]);
    await addProject(store, "desk", { fixedReply: DRAFT, reviewPolicy: "review" });
  });

  afterAll(async () => {
    await ground?.stop();
    await Promise.all([model?.close(), telegram?.close(), receiver?.close()]);
  });

  const admin = (project: string, path: string, request: ApiRequest = {}) =>
    callApi(`${api.baseUrl()}/api/v1/admin${path}`, { key: ground.product.adminKey, project, ...request });
  /** Sends a message in a new chat, and waits for its draft. */
  async function ask(project: string, text: string): Promise<{ chatId: string; ticketId: string }> {
    const { chatId, ticketId } = await createReviewClient(ground.product, project).heldChat({ text, mode: "async" });
    return { chatId, ticketId };
  }
  /** Texts that people and agents have sent to a chat, without the handoff text. */
  const textsSentTo = async (project: string, chatId: string) =>
    (await api.drain(project, chatId, "?peek=1")).replies.flatMap((reply) =>
      reply.type === "message" && reply.author !== "system" ? [reply.text] : [],
    );
  /** Creates a knowledge base of one document, and an agent that answers from it with review. */
  async function addReader(project: string, title: string, text: string): Promise<string> {
    const { product } = ground;
    await product.store.projects.ensure(project);
    const kbs = createKbClient(product, project);
    const { id } = await kbs.makeKb();
    await addProject(product.store, project, { kbIds: [id], reviewPolicy: "review" });
    await kbs.settled(id, documentOf(await kbs.add(id, { text, title, key: title })).id);
    return id;
  }

  test("the first steps lead from a new project to a test message that is answered", () =>
    ground.browser.visit(async (open) => {
      await ground.product.store.projects.ensure("fresh");
      const visitor = await ground.enter(open, ann);
      const page = await visitor.openPath("/fresh/inbox/review");
      await page.getByText("No tickets need review.").waitFor();
      await page.goto(`${ground.line.url}/`);
      await page.waitForURL("**/fresh/start");
      const teach = region(page, "Add what your customers ask about");
      const channel = region(page, "Connect a channel");
      const trial = region(page, "Send a test message");
      for (const step of [teach, channel, trial]) await step.getByText("To do").waitFor();

      const hours = { name: "hours.md", mimeType: "text/markdown", buffer: Buffer.from(HOURS) };
      await teach.locator("input[type=file]").setInputFiles(hours);
      await teach.getByText("1 document added.", { exact: true }).waitFor();

      await channel.getByRole("link", { name: "HTTP API" }).click();
      await page.getByRole("heading", { level: 1, name: "HTTP API" }).waitFor();
      await button(page, "Create key").click();
      await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
      await button(page, "I’ve copied it").click();
      await page.goBack();
      await channel.getByText("Customers can reach you.").waitFor();
      await teach.getByText("1 document added.", { exact: true }).waitFor();
      expect(await trial.getByText("To do").count()).toBe(1);

      await trial.getByLabel("Message").fill("When do you open?");
      await page.keyboard.press("Control+Enter");
      await trial.getByText("We open at nine.").waitFor();
      expect(await trial.getByText("To do").count()).toBe(1);
      await button(page, "Yes").click();
      await trial.getByText("The answer was correct. You’re ready.").waitFor();
      await page.goto(`${ground.line.url}/`);
      await page.waitForURL("**/fresh/inbox/review");
      const { body } = await admin("fresh", "/tickets");
      expect(body).toMatchObject({ items: [{ subject: "When do you open?", stage: "done" }] });
      expect(visitor.errors()).toEqual([]);
    }));

  test("a tool call that changes something waits with its arguments; it is made once when approved, never when rejected", () =>
    ground.browser.visit(async (open) => {
      await ground.product.store.projects.ensure("orders");
      const tool = {
        type: "http",
        name: "cancel_order",
        description: "Cancels an order.",
        method: "POST",
        url: receiver.url("/orders/{orderId}/cancel"),
        parameters: { type: "object", properties: { orderId: { type: "string" } }, required: ["orderId"] },
        access: "write",
      };
      const agent = { name: "helper", model: "gpt-test", reviewPolicy: "auto", tools: [tool] };
      expect((await admin("orders", "/agents", { json: agent })).status).toBe(201);
      receiver.answerWith({ status: 200, body: CANCELLED });
      const paths = () => receiver.requests.map(({ path }) => path);
      const [kept, refused] = [
        await ask("orders", "Please cancel order A7."),
        await ask("orders", "Please cancel order B8."),
      ];
      const visitor = await ground.enter(open, ann);
      const page = await followed(visitor, () => visitor.openPath(`/orders/inbox/review/${kept.ticketId}`));
      const calls = region(page, "Tool calls waiting for approval");
      await calls.getByText("cancel_order").waitFor();
      await calls.getByText("Changes data").waitFor();
      expect((await calls.locator("dl").innerText()).split(/\s+/)).toEqual(["orderId", "A7"]);
      expect(paths()).toEqual([]);

      await calls.getByRole("button", { name: "Allow" }).dblclick();
      await draftOn(page).getByText(CANCELLED).waitFor();
      await calls.waitFor({ state: "hidden" });
      await ticketOn(page).getByText("Ann Able allowed a tool call").waitFor();
      expect(paths()).toEqual(["/orders/A7/cancel"]);
      expect(await page.getByText("Not sent: the ticket has changed.").count()).toBe(0);
      await draftOn(page).getByRole("button", { name: "Approve and send" }).click();
      await createReviewClient(ground.product, "orders").untilIn(kept.ticketId, "done");
      expect(await textsSentTo("orders", kept.chatId)).toEqual([CANCELLED]);

      await followed(visitor, () => page.goto(`${ground.line.url}/orders/inbox/review/${refused.ticketId}`));
      const { version } = await createReviewClient(ground.product, "orders").read(refused.ticketId);
      expect((await calls.locator("dl").innerText()).split(/\s+/)).toEqual(["orderId", "B8"]);
      await calls.getByRole("button", { name: "Deny" }).click();
      await page.getByText("Denied.").waitFor();
      const redrafted = await createReviewClient(ground.product, "orders").untilRedrafted(
        refused.ticketId,
        version + 1,
      );
      expect(redrafted.toolCalls).toMatchObject([{ state: "rejected" }]);
      await calls.waitFor({ state: "hidden" });
      await ticketOn(page).getByText("Ann Able denied a tool call").waitFor();
      expect(paths()).toEqual(["/orders/A7/cancel"]);
      expect(visitor.errors()).toEqual([]);
    }));

  test("an argument of a tool is bound to the conversation in the editor, is changed and unbound, and is saved with the agent", () =>
    ground.browser.visit(async (open) => {
      await ground.product.store.projects.ensure("bindings");
      const tool = {
        type: "http",
        name: "list_orders",
        description: "Lists the orders of a customer.",
        method: "GET",
        url: receiver.url("/customers/{customerId}/orders?note={note}"),
        parameters: {
          type: "object",
          properties: { customerId: { type: "string" }, note: { type: "string" } },
          required: ["customerId"],
        },
      };
      const made = await admin("bindings", "/agents", {
        json: {
          name: "helper",
          model: "gpt-test",
          reviewPolicy: "auto",
          tools: [{ ...tool, bind: { note: "chat.id" } }],
        },
      });
      expect(made.status).toBe(201);
      const { id } = agentIn(made);
      const savedTools = async () => agentIn(await admin("bindings", `/agents/${id}`)).tools;
      const visitor = await ground.enter(open, ann);
      const page = await visitor.openPath(`/bindings/agents/${id}`);
      await button(page, "Edit list_orders").click();
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("combobox", { name: "Argument", exact: true }).fill("customerId");
      await button(page, "Add argument").click();
      await chooseOption(dialog.getByLabel("Value of customerId"), "Customer’s email address");
      await button(page, "Let the model choose note").click();
      await chooseOption(dialog.getByLabel("Calls for unverified customers"), "Deny");
      await button(page, "Apply").click();
      await dialog.waitFor({ state: "hidden" });
      await button(page, "Save").click();
      await page.getByText("helper saved").waitFor();
      expect(await savedTools()).toMatchObject([{ bind: { customerId: "customer.email" }, anonymous: "refuse" }]);
      expect((await savedTools())[0]).not.toHaveProperty("bind.note");
      expect(visitor.errors()).toEqual([]);
    }));

  test("a colleague is chosen with the keyboard, and finds the note among the mentions; no customer receives it", () =>
    ground.browser.visit(async (open) => {
      const note = "The invoice of May is open, see 4711:";
      const dana = await ground.addPerson("Dana Dale", [{ project: "desk", role: "operator" }]);
      const dora = await ground.addPerson("Dora Dean", [{ project: "desk", role: "operator" }]);
      const { chatId, ticketId } = await ask("desk", "Can I pay by invoice?");
      const path = `/desk/inbox/review/${ticketId}`;
      const visitor = await ground.enter(open, ann);
      const page = await visitor.openPath(path);
      const [bystander, colleague] = [await ground.enter(open, dana), await ground.enter(open, dora)];
      const ofDana = await followed(bystander, () => bystander.openPath(path));
      const ofDora = await followed(colleague, () => colleague.openPath("/desk/overview"));
      await draftOn(ofDana).waitFor();
      await button(ofDora, "Mentions").waitFor();
      await ofDora.evaluate("window.isTheSamePage = true");

      await draftOn(page).waitFor();
      await page.keyboard.press("n");
      await composerOn(page, "Note").pressSequentially(`${note} @d`);
      const people = page.getByRole("listbox", { name: "Mention" });
      await people.getByRole("option", { name: "Dana Dale", selected: true }).waitFor();
      await page.keyboard.press("ArrowDown");
      await people.getByRole("option", { name: "Dora Dean", selected: true }).waitFor();
      await page.keyboard.press("Enter");
      await people.waitFor({ state: "hidden" });
      expect(await composerOn(page, "Note").inputValue()).toBe(`${note} @Dora Dean `);
      await page.keyboard.press("Control+Enter");
      await page.getByText("Note added.").waitFor();

      await ofDora.getByText("You were mentioned in a note").waitFor();
      await button(ofDora, "Mentions: 1 new").click();
      await ofDora.getByRole("dialog", { name: "Mentions" }).getByRole("link", { name: note }).click();
      await ofDora.waitForURL(`**/desk/inbox/all/${ticketId}`);
      await ofDora.getByRole("article", { name: "Note by Ann Able" }).getByText(note).waitFor();
      await button(ofDora, "Mentions").waitFor();
      expect(await ofDora.evaluate("window.isTheSamePage")).toBe(true);
      await ofDana.getByRole("article", { name: "Note by Ann Able" }).getByText(note).waitFor();
      expect(await button(ofDana, "Mentions").count()).toBe(1);

      await draftOn(ofDora).getByRole("button", { name: "Approve and send" }).click();
      await createReviewClient(ground.product, "desk").untilIn(ticketId, "done");
      expect(await textsSentTo("desk", chatId)).toEqual([DRAFT]);
      expect((await api.drain("desk", chatId, "?peek=1")).text).not.toContain("4711");
      for (const { errors } of [visitor, bystander, colleague]) expect(errors()).toEqual([]);
    }));

  test("changes made before a page's event stream has started appear once it has started", () =>
    ground.browser.visit(async (open) => {
      const reviews = createReviewClient(ground.product, "desk");
      const eve = await ground.addPerson("Eve Elm", [{ project: "desk", role: "operator" }]);
      const { ticketId } = await ask("desk", "Do you take cheques?");
      const visitor = await ground.enter(open, eve);
      let letGo: () => void = () => undefined;
      const held = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      await visitor.context.route("**/events*", async (route) => {
        await held;
        await route.continue();
      });
      const page = await goUntilAnswered(visitor, "/session/mentions", () =>
        visitor.openPath(`/desk/inbox/review/${ticketId}`),
      );
      await draftOn(page).waitFor();
      await button(page, "Mentions").waitFor();
      const note = { text: "Cheques take three weeks.", mentions: [eve.id] };
      expect((await reviews.decide(ticketId, "note", { json: note })).status).toBe(200);
      letGo();
      await button(page, "Mentions: 1 new").waitFor();
      await ticketOn(page).getByText(note.text).waitFor();
      expect(visitor.errors()).toEqual([]);
    }));

  test("resolving a ticket whose customer still waits needs a confirmation, with the keyboard too", () =>
    ground.browser.visit(async (open) => {
      const { ticketId } = await ask("desk", "Is anybody there?");
      const desk = createReviewClient(ground.product, "desk");
      const visitor = await ground.enter(open, ann);
      const page = await visitor.openPath(`/desk/inbox/review/${ticketId}`);
      await draftOn(page).getByText(DRAFT).waitFor();
      const address = page.url();
      const dialog = page.getByRole("dialog", { name: "Resolve without a reply?" });
      await button(page, "Resolve").click();
      await dialog.getByRole("button", { name: "Cancel" }).click();
      await dialog.waitFor({ state: "detached" });
      await page.keyboard.press("Shift+E");
      await dialog.waitFor();
      expect((await desk.read(ticketId)).stage).toBe("review");
      await dialog.getByRole("button", { name: "Resolve without a reply" }).click();
      await page.getByText("Ticket resolved.").waitFor();
      expect((await desk.read(ticketId)).status).toBe("resolved");
      await button(page, "Undo").click();
      await waitFor(async () => (await desk.read(ticketId)).stage === "review", { what: "the ticket to be restored" });
      expect(await desk.read(ticketId)).toMatchObject({ status: "open", draft: { text: DRAFT } });
      await page.goto(address);
      await draftOn(page).getByText(DRAFT).waitFor();
      // The field has the focus before the next key can arrive.
      const focused = await page.evaluate(
        `document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "r", bubbles: true, cancelable: true }));
         document.activeElement.tagName`,
      );
      expect(focused).toBe("TEXTAREA");
      expect(visitor.errors()).toEqual([]);
    }));

  test("several tickets are resolved only after a confirmation with the number of waiting customers, prioritized and snoozed; undo restores them", () =>
    ground.browser.visit(async (open) => {
      const desk = createReviewClient(ground.product, "desk");
      const tickets = [await ask("desk", "Is the first one there?"), await ask("desk", "Is the second one there?")];
      const visitor = await ground.enter(open, ann);
      const page = await visitor.openPath("/desk/inbox/review");
      for (const subject of ["Is the first one there?", "Is the second one there?"]) {
        await page.getByLabel(`Select ${subject}`).check({ force: true });
      }
      const bar = page.getByRole("toolbar", { name: "Selected tickets" });
      await bar.getByRole("button", { name: "Resolve" }).click();
      const dialog = page.getByRole("dialog", { name: "Resolve without a reply?" });
      await dialog.getByText("2 of 2 customers are still waiting").waitFor();
      await dialog.getByRole("button", { name: "Resolve 2 tickets" }).click();
      await page.getByText("2 tickets resolved.").waitFor();
      await button(page, "Undo").click();
      for (const { ticketId } of tickets) {
        await waitFor(async () => (await desk.read(ticketId)).stage === "review", { what: "a ticket in review" });
        expect(await desk.read(ticketId)).toMatchObject({ status: "open", draft: { text: DRAFT } });
      }

      const changeBoth = async (action: string, choice: string) => {
        for (const subject of ["Is the first one there?", "Is the second one there?"]) {
          await page.getByLabel(`Select ${subject}`).check({ force: true });
        }
        await bar.getByRole("button", { name: "More bulk actions" }).click();
        await page.getByRole("menuitem", { name: action }).click();
        await page.getByRole("dialog").getByText(choice).click();
      };
      const untilAll = (expected: object, what: string) =>
        waitFor(
          async () => {
            for (const { ticketId } of tickets) expect(await desk.read(ticketId)).toMatchObject(expected);
            return true;
          },
          { what },
        );
      await changeBoth("Set priority…", "Urgent");
      await page.getByText("Priority of 2 tickets set.").waitFor();
      await untilAll({ priority: "urgent" }, "both to be urgent");
      await button(page, "Undo").last().click();
      await untilAll({ priority: "normal" }, "both to be normal again");

      // The tickets are still selected.
      await bar.getByRole("button", { name: "More bulk actions" }).click();
      await page.getByRole("menuitem", { name: "Add tag…" }).click();
      await page.getByRole("dialog").getByLabel("Tags").fill("refund, in the post");
      await page.keyboard.press("Enter");
      await untilAll({ tags: ["refund", "in the post"] }, "both to have two tags");
      await changeBoth("Snooze…", "Pick a date and time…");
      const until = page.getByLabel("Until");
      await until.fill("2020-01-01T09:00");
      await page.keyboard.press("Enter");
      await page.getByText("This time has passed.").waitFor();
      const month = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
      await until.fill(`${month}T12:00`);
      await page.keyboard.press("Enter");
      await untilAll({ snooze: { until: expect.any(String) } }, "both to be snoozed for a month");
      await button(page, "Undo").last().click();
      await untilAll({ snooze: null }, "both to be back");
      await changeBoth("Snooze…", "Until the customer replies");
      await page.getByText("2 tickets snoozed.").waitFor();
      await untilAll({ snooze: { until: null } }, "both to be snoozed");
      await page.getByLabel("Select Is the first one there?").waitFor({ state: "detached" });
      await button(page, "Undo").last().click();
      await untilAll({ snooze: null, stage: "review" }, "both to be back");
      expect(visitor.errors()).toEqual([]);
    }));

  test("a web page is fetched again, and search then finds its new content", () =>
    ground.browser.visit(async (open) => {
      let hours = "We open at nine.";
      const site = createServer((_request, response) => {
        response.setHeader("Content-Type", "text/html").end(`<title>Hours</title><p>${hours}</p>`);
      }).listen(0, "127.0.0.1");
      try {
        await once(site, "listening");
        const kbs = createKbClient(ground.product, "desk");
        const { id: kbId } = await kbs.makeKb();
        const address = `http://127.0.0.1:${(site.address() as AddressInfo).port}/hours`;
        const { id } = documentOf(await kbs.add(kbId, { url: address }));
        await kbs.settled(kbId, id);
        hours = "We open at seven.";
        const visitor = await ground.enter(open, ann);
        const page = await visitor.openPath(`/desk/knowledge/${kbId}`);
        await button(page, "Refetch Hours").click();
        await page.getByText("Refetching Hours").waitFor();
        await waitFor(async () => (await kbs.search(kbId, "open"))[0]?.text.includes("seven"), {
          what: "the new page",
        });
        expect(visitor.errors()).toEqual([]);
      } finally {
        site.close();
      }
    }));

  test("a website without a sitemap is added by its home page, and one that fails says why and is removed", () =>
    ground.browser.visit(async (open) => {
      const contents: Record<string, string> = {
        "/": '<title>Shop</title><a href="/hours">Hours</a><p>Our shop.</p>',
        "/hours": "<title>Hours</title><p>We open at nine.</p>",
      };
      const site = createServer((request, response) => {
        const body = contents[request.url ?? ""];
        response.writeHead(body === undefined ? 404 : 200, { "Content-Type": "text/html" }).end(body);
      }).listen(0, "127.0.0.1");
      try {
        await once(site, "listening");
        const kbs = createKbClient(ground.product, "desk");
        const { id: kbId } = await kbs.makeKb();
        const address = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
        const visitor = await ground.enter(open, ann);
        const page = await visitor.openPath(`/desk/knowledge/${kbId}`);
        const add = async (url: string) => {
          await button(page, "Add website").click();
          await page.getByLabel("URL").fill(url);
          await button(page, "Add").click();
        };
        const imports = page.getByRole("region", { name: "Website imports" });

        await add("http://10.0.0.1/");
        await page.getByText("add it to the setting SVC_FETCH_ALLOW on the server and restart the service").waitFor();
        await button(page, "Cancel").click();

        await add(`${address}/gone`);
        await page.getByText(`Reading ${address}/gone.`).waitFor();
        await imports.getByText("The server responded with 404").waitFor();
        contents["/gone"] = contents["/hours"] ?? "";
        await button(page, `Try again: ${address}/gone`).click();
        await imports.getByText("1 page imported").waitFor();
        await button(page, `Remove ${address}/gone from the list`).click();
        await imports.waitFor({ state: "detached" });

        await add(`${address}/`);
        await imports.getByText("2 pages imported").waitFor();
        await page.getByText("Shop", { exact: true }).waitFor();
        expect(await kbs.search(kbId, "open")).not.toEqual([]);
        expect(visitor.errors()).toEqual([]);
      } finally {
        site.close();
      }
    }));

  test("an operator's better answer is proposed, shown as a change, accepted and used for answers", () =>
    ground.browser.visit(async (open) => {
      const kbId = await addReader("care", "Guide", GUIDE);
      const reviews = createReviewClient(ground.product, "care");
      const { chatId, ticketId } = await ask("care", "Do you ship parcels to Iceland?");
      const visitor = await ground.enter(open, ann);
      const page = await visitor.openPath(`/care/inbox/review/${ticketId}`);
      await draftOn(page).getByText(OLD).first().waitFor();
      await composerOn(page, "Draft").fill(NEW);
      await page.keyboard.press("Control+Enter");
      await reviews.untilIn(ticketId, "done");
      expect(await textsSentTo("care", chatId)).toEqual([NEW]);

      await page.goto(`${ground.line.url}/care/knowledge/proposals`);
      const change = region(page, "Change: Guide");
      await change.waitFor();
      const without = async (mark: string) => (await change.locator(`:not(${mark})`).allTextContents()).join("");
      expect([await without("ins"), await without("del")]).toEqual([OLD, NEW]);
      expect(await change.locator("del").count()).toBeGreaterThan(0);
      const isKnown = async (text: string) =>
        (await createKbClient(ground.product, "care").search(kbId, "parcels to Iceland")).some(
          (hit) => hit.text === text,
        );
      expect([await isKnown(OLD), await isKnown(NEW)]).toEqual([true, false]);
      await button(page, "Accept").click();
      await page.getByText("“Guide” added to the knowledge base").waitFor();
      await page.getByText("No open proposals").waitFor();
      expect([await isKnown(OLD), await isKnown(NEW)]).toEqual([false, true]);
      const again = await ask("care", "Do you ship parcels to Iceland?");
      expect((await reviews.read(again.ticketId)).draft?.text).toContain(NEW);
      expect(visitor.errors()).toEqual([]);
    }));

  test("a change of an agent is replayed on past tickets before it is saved, with both answers and a summary", () =>
    ground.browser.visit(async (open) => {
      const { store } = ground.product;
      await addReader("library", "Refunds", `# Refunds\n\n## How long does a refund take?\n\n${REFUNDS}`);
      const reviews = createReviewClient(ground.product, "library");
      const approved = await ask("library", "How long does a refund take?");
      const { version } = await reviews.read(approved.ticketId);
      await reviews.decide(approved.ticketId, "approve", { ifMatch: version });
      const written = await ask("library", "Do you sell bicycles?");
      await reviews.decide(written.ticketId, "reply", { json: { text: CALL_US } });
      for (const { ticketId } of [approved, written]) await reviews.untilIn(ticketId, "done");
      const project = await store.projects.findByName("library");
      const agents = async (): Promise<Agent[]> => (project === null ? [] : store.agents.list(project.id));
      const before = await agents();
      const visitor = await ground.enter(open, ann);
      const page = await visitor.openPath(`/library/agents/${before[0]?.id ?? ""}`);
      await page.getByText("Change something or choose another agent").waitFor();
      expect(await button(page, "Replay").isDisabled()).toBe(true);

      await page.getByRole("switch", { name: "Fixed reply" }).click();
      await page.getByLabel("Text", { exact: true }).fill(CALL_US);
      await button(page, "Replay").click();
      const summary = page.getByLabel("Summary", { exact: true });
      await summary.waitFor();
      const figures = (await summary.locator("> div").allInnerTexts()).map((text) => text.split(/\s*\n\s*/));
      expect(figures).toEqual(
        expect.arrayContaining([
          ["Better", "1"],
          ["Worse", "1"],
          ["The same", "0"],
          ["Sent automatically", "0 → 0"],
        ]),
      );
      const cardOf = (question: string) => page.getByRole("listitem").filter({ hasText: question });
      const sideOf = (question: string, title: string) =>
        cardOf(question).getByRole("heading", { name: title }).locator("..").innerText();
      await cardOf("How long does a refund take?").getByText("Worse", { exact: true }).waitFor();
      expect(await sideOf("How long does a refund take?", "Current")).toContain(REFUNDS);
      expect(await sideOf("How long does a refund take?", "With changes")).toContain(CALL_US);
      await cardOf("Do you sell bicycles?").getByText("Better", { exact: true }).waitFor();
      expect(await sideOf("Do you sell bicycles?", "Current")).not.toContain(CALL_US);
      expect(await sideOf("Do you sell bicycles?", "With changes")).toContain(CALL_US);
      // The replay saved nothing.
      expect(await agents()).toEqual(before);
      expect(visitor.errors()).toEqual([]);
    }));

  test("a dead-lettered callback is shown with its error, and is received when it is sent again", () =>
    ground.browser.visit(async (open) => {
      const { product } = ground;
      const project = await addProject(product.store, "callbacks", { fixedReply: SENT });
      const callbacks = callbackView(product, project.id);
      receiver.answerWith({ status: 410 });
      const before = receiver.requests.length;
      const message = { text: "Where is it?", chatId: newId(), webhookUrl: receiver.url("/callback") };
      const id = deliveryIdOf(await api.send("callbacks", message));
      await callbacks.untilIn(id, "dead");
      const visitor = await ground.enter(open, ann);
      const page = await visitor.openPath("/callbacks/administration/deliveries");
      const row = page.getByRole("list", { name: "Deliveries" }).getByRole("listitem");
      await row.getByText("Failed", { exact: true }).waitFor();
      await row.getByRole("button", { name: receiver.url("/callback") }).click();
      await row.getByText("HTTP 410").waitFor();
      await row.getByText("the receiver responded with 410").waitFor();

      receiver.answerWith({ status: 204 });
      await row.getByRole("button", { name: "Resend" }).click();
      await page.getByText("Resending with the same ID").waitFor();
      await row.getByText("Delivered", { exact: true }).waitFor();
      await row.getByText("HTTP 204").waitFor();
      const posted = receiver.requests.slice(before);
      expect(posted.map(({ headers }) => headers["webhook-id"])).toEqual([id, id]);
      expect(posted[1]?.json).toMatchObject({ replies: [{ text: SENT }] });
      await page.getByRole("radio", { name: "Failed" }).check({ force: true });
      await page.getByText("No results").waitFor();
      expect(visitor.errors()).toEqual([]);
    }));

  test("opening the HTTP API to the network shows a warning before it is saved", () =>
    ground.browser.visit(async (open) => {
      const visitor = await ground.enter(open, ann);
      const page = await visitor.openPath("/default/integrations/api");
      const warning = page.getByText("Restrict access with a firewall");
      const [here, network] = [/^This machine only/, /^All network interfaces/].map((name) =>
        page.getByRole("radio", { name }),
      );
      if (here === undefined || network === undefined) throw new Error("there are two choices");
      const bindHost = async () =>
        ((await admin(DEFAULT_PROJECT, "/channels/api")).body as unknown as { item: { config: { bindHost: string } } })
          .item.config.bindHost;
      const save = async () => {
        await button(page, "Save").click();
        await page.getByText("Unsaved changes").waitFor({ state: "hidden" });
      };
      await here.waitFor();
      expect([await here.isChecked(), await warning.count()]).toEqual([true, 0]);
      await network.check();
      await warning.waitFor();
      expect(await bindHost()).toBe("127.0.0.1");
      await here.check();
      await warning.waitFor({ state: "detached" });
      await network.check();
      await save();
      expect(await bindHost()).toBe("0.0.0.0");
      await page.reload();
      await warning.waitFor();
      await here.check();
      await warning.waitFor({ state: "detached" });
      await save();
      expect([await bindHost(), await warning.count()]).toEqual(["127.0.0.1", 0]);
      expect(visitor.errors()).toEqual([]);
    }));

  test("a message to the bot appears when it arrives, and a test message is delivered to its chat", () =>
    ground.browser.visit(async (open) => {
      const { store } = ground.product;
      const project = await store.projects.findByName(DEFAULT_PROJECT);
      const [agent] = project === null ? [] : await store.agents.list(project.id);
      if (project === null || agent === undefined) throw new Error("nobody answers");
      await store.agents.update(project.id, { id: agent.id }, { fixedReply: SENT, reviewPolicy: "auto" });
      const bot = telegram.addBot({ username: "kestrel_bot" });
      const visitor = await ground.enter(open, ann);
      const page = await visitor.openPath("/default/integrations/messenger");
      await page.getByLabel("Token", { exact: true }).fill(bot.token);
      await button(page, "Connect").click();
      await page.getByText("Running", { exact: true }).waitFor();
      // Messages that arrived before the operator started to wait do not count.
      const checked = page.waitForResponse((response) => response.url().includes("channelId=messenger"));
      await button(page, "Wait for a message").click();
      await checked;
      await page.getByText("Waiting for a message…").waitFor();
      bot.write({ chatId: 4242, text: "Where is my order?" });
      const arrival = page.getByRole("status").filter({ hasText: "Message received and answered. It works." });
      await arrival.getByText("Where is my order?").waitFor();
      expect(bot.sentTo(4242).map(({ text }) => text)).toEqual([SENT]);

      await page.getByLabel("Chat", { exact: true }).fill("999");
      await button(page, "Send").click();
      await page.getByText("No one has written to the bot in this chat").waitFor();
      await page.getByLabel("Chat", { exact: true }).fill("4242");
      await button(page, "Send").click();
      await page.getByText("Test message delivered to chat 4242.").waitFor();
      expect(bot.sent.map(({ chatId, text }) => [chatId, text])).toEqual([
        ["4242", SENT],
        ["4242", expect.stringContaining("test message")],
      ]);
      expect(visitor.errors()).toEqual([]);
    }));

  test("a review is announced by system notifications only if enabled, and only while the page is in the background", () =>
    ground.browser.visit(async (open) => {
      const visitor = await ground.enter(open, ann);
      await noteNotifications(visitor.context);
      const page = await followed(visitor, () => visitor.openPath("/desk/inbox/review"));
      const begin = async (text: string) => {
        const { ticketId } = await ask("desk", text);
        await untilHeard(page, ticketId);
        return ticketId;
      };
      await turnTo(page, "hidden");
      await begin("Told to nobody");
      expect([await countAsked(page), await notificationsOf(page)]).toEqual([0, []]);

      await turnTo(page, "here");
      await button(page, "Account: Ann Able").click();
      await page.getByRole("menuitem", { name: "Notify me about reviews and mentions" }).click();
      await button(page, "Account: Ann Able").click();
      await page.getByRole("menuitem", { name: "Turn off notifications" }).waitFor();
      expect(await countAsked(page)).toBe(1);
      // The choice is stored, and the permission is not requested again.
      await followed(visitor, () => page.reload());
      await begin("Seen by who is there");
      await turnTo(page, "hidden");
      const first = await begin("Is this seen?");
      await turnTo(page, "elsewhere");
      const second = await begin("And this, beside another window?");
      // The customer's text must not appear on a lock screen.
      const message = { title: "A ticket needs review", body: "desk" };
      expect([await countAsked(page), await notificationsOf(page)]).toEqual([
        0,
        [
          { ...message, tag: first },
          { ...message, tag: second },
        ],
      ]);
      await pressNotification(page);
      await page.waitForURL(`**/desk/inbox/review/${second}`);

      await turnTo(page, "here");
      await button(page, "Account: Ann Able").click();
      await page.getByRole("menuitem", { name: "Turn off notifications" }).click();
      await button(page, "Account: Ann Able").click();
      await page.getByRole("menuitem", { name: "Notify me about reviews and mentions" }).waitFor();
      await turnTo(page, "hidden");
      await begin("Told to nobody any more");
      expect(await notificationsOf(page)).toHaveLength(2);
      expect(visitor.errors()).toEqual([]);
    }));
});
