import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { makeLink } from "@svc/auth";
import { linesOfPull, startFakeBotApi, startFakeOllama, waitFor } from "@svc/testing";
import type { FakeBotApi, FakeOllama } from "@svc/testing";
import { newId } from "@svc/store";
import type { Page } from "playwright-core";
import { addProject } from "./support/add-project.ts";
import { callApi } from "./support/call-api.ts";
import { chooseOption } from "./support/choose-option.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { createReviewClient } from "./support/create-review-client.ts";
import type { ReviewClient } from "./support/create-review-client.ts";
import { describeInBrowser } from "./support/open-browser.ts";
import { startConsoleGround } from "./support/start-console-ground.ts";
import type { ConsoleGround, ConsolePerson } from "./support/start-console-ground.ts";

const PASSWORD = "a password of my own";
const DRAFT = "Your parcel left us this morning.";
/** An image of one white pixel. */
const PNG_BASE64 = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg==";

/** Parts of the pages, by their accessible names. */
const listOf = (page: Page) => page.getByRole("region", { name: "Tickets", exact: true });
const ticketOn = (page: Page) => page.getByRole("region", { name: "Ticket", exact: true });
const draftOn = (page: Page) => page.getByRole("region", { name: "Draft", exact: true });
const rowOf = (page: Page, subject: string) => listOf(page).getByRole("link", { name: subject });
const composerOn = (page: Page, kind: string) => page.getByRole("textbox", { name: kind, exact: true });
const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name });

describeInBrowser("a day of operators", () => {
  let ground: ConsoleGround;
  let ollama: FakeOllama;
  let telegram: FakeBotApi;
  let api: ApiClient;
  let shop: ReviewClient;
  /** An administrator, after signing in by the link. */
  let ann: ConsolePerson;

  beforeAll(async () => {
    ollama = await startFakeOllama([{ name: "llama3.2:3b", sizeBytes: 2_019_393_189, contextWindow: 131_072 }]);
    telegram = await startFakeBotApi();
    ground = await startConsoleGround({
      SVC_OLLAMA_BASE_URL: ollama.url,
      SVC_TELEGRAM_API_ROOT: telegram.url,
    });
    const { store } = ground.product;
    api = createApiClient(ground.product);
    shop = createReviewClient(ground.product, "shop");
    const project = await addProject(store, "shop", { fixedReply: DRAFT, reviewPolicy: "review" });
    await store.agents.insert(project.id, {
      name: "Returns",
      description: "Money back",
      fixedReply: "Send it back within 30 days.",
      reviewPolicy: "review",
    });
    await addProject(store, "workshop", { fixedReply: "The workshop looks at it.", reviewPolicy: "review" });
  });

  afterAll(async () => {
    await ground?.stop();
    await telegram?.close();
    await ollama?.close();
  });

  /** Sends a message in a new chat, and waits for its draft. */
  async function ask(text: string, project = "shop"): Promise<{ chatId: string; ticketId: string }> {
    const chatId = newId();
    const { body } = await api.send(project, { text, chatId, userId: "Ben Bell", mode: "async" });
    const ticketId = String(body.ticketId);
    await createReviewClient(ground.product, project).untilIn(ticketId, "review");
    return { chatId, ticketId };
  }
  /** Texts that people and agents have sent to a chat, without the handoff text. */
  const textsSentTo = async (chatId: string) =>
    (await api.drain("shop", chatId, "?peek=1")).replies.flatMap((reply) =>
      reply.type === "message" && reply.author !== "system" ? [reply.text] : [],
    );

  test("starts with a link for the first administrator, who then signs in with a password", () =>
    ground.browser.visit(async (open) => {
      const { token } = await makeLink(ground.product.store, null);
      const visitor = await open();
      const page = await visitor.openPage(`${ground.line.url}/link#${token}`);
      await page.getByLabel("Your name").fill("Ann Able");
      await page.getByLabel("Email").fill("ann@example.com");
      await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
      await page.getByLabel("Confirm password").fill("another password");
      await button(page, "Continue").click();
      await page.getByText("The passwords don’t match.").waitFor();
      await page.getByLabel("Confirm password").fill(PASSWORD);
      await button(page, "Continue").click();
      await button(page, "Account: Ann Able").click();
      await page.getByRole("menuitem", { name: "Sign out", exact: true }).click();
      await page.getByLabel("Email").fill("ann@example.com");
      await page.getByLabel("Password").fill("not my password");
      await button(page, "Sign in").click();
      await page.getByText("Incorrect email or password.").waitFor();
      await page.getByLabel("Password").fill(PASSWORD);
      await page.keyboard.press("Enter");
      await button(page, "Account: Ann Able").waitFor();
      expect(visitor.errors()).toEqual([]);
      const found = await ground.product.store.operators.findByEmail("ann@example.com");
      ann = { id: found?.id ?? "", name: "Ann Able", email: "ann@example.com", password: PASSWORD };
    }));

  test("a message appears without a reload; the customer gets the draft as edited by the operator", () =>
    ground.browser.visit(async (open) => {
      const visitor = await ground.enter(open, ann);
      const page = await visitor.openPath("/shop/inbox/review");
      await page.getByText("No tickets need review.").waitFor();
      await page.evaluate("window.isTheSamePage = true");
      const { chatId } = await ask("Where is my parcel?");
      await rowOf(page, "Where is my parcel?").click();
      await draftOn(page).getByText(DRAFT).waitFor();
      const composer = composerOn(page, "Draft");
      expect(await composer.inputValue()).toBe(DRAFT);
      // The draft is hidden during a reply, and reappears; deleted text does not reappear by itself.
      await page.keyboard.press("r");
      expect(await composerOn(page, "Reply").inputValue()).toBe("");
      await page.keyboard.press("Escape");
      await page.keyboard.press("e");
      await composer.fill("");
      expect(await composer.inputValue()).toBe("");
      expect(await button(page, "Send edited draft").isDisabled()).toBe(true);
      await composer.fill(`${DRAFT} It comes **tomorrow**.`);
      await button(page, "Send edited draft").click();
      await page.getByText("Reply sent.").waitFor();
      await waitFor(async () => (await textsSentTo(chatId)).includes(`${DRAFT} It comes **tomorrow**.`), {
        what: "the customer to have the edited text",
      });
      expect(await textsSentTo(chatId)).not.toContain(DRAFT);
      await page.getByText("Ann Able edited and sent the draft").waitFor();
      await page.getByText("No tickets need review.").waitFor();
      expect(await page.evaluate("window.isTheSamePage")).toBe(true);
      expect(visitor.errors()).toEqual([]);
    }));

  test("if two operators decide about the same draft, the second is informed, and nothing is sent twice", () =>
    ground.browser.visit(async (open) => {
      const bob = await ground.addPerson("Bob Brook", [{ project: "shop", role: "operator" }]);
      const { chatId, ticketId } = await ask("Can I have a discount?");
      const path = `/shop/inbox/review/${ticketId}`;
      const ofAnn = await (await ground.enter(open, ann)).openPath(path);
      const second = await ground.enter(open, bob);
      const ofBob = await second.openPath(path);
      await draftOn(ofAnn).getByText(DRAFT).waitFor();
      await ofBob.getByLabel("Ann Able is viewing this ticket").waitFor();
      await draftOn(ofBob).getByText(DRAFT).waitFor();
      // The caret is at the end of the draft.
      await ofBob.keyboard.press("e");
      await composerOn(ofBob, "Draft").pressSequentially(" Yes.");
      await ofAnn.getByText("Bob Brook is typing…").waitFor();
      await draftOn(ofAnn).getByRole("button", { name: "Approve and send" }).click();
      await ofAnn.getByText("Draft sent.").waitFor();
      await ofBob.getByText("Since you started writing").waitFor();
      await ofBob.getByText(`Sent automatically: ${DRAFT}`).waitFor();
      await ofBob.keyboard.press("Control+Enter");
      await ofBob.getByText("Not sent: the ticket has changed.").first().waitFor();
      expect(await composerOn(ofBob, "Reply").inputValue()).toBe(`${DRAFT} Yes.`);
      expect(await textsSentTo(chatId)).toEqual([DRAFT]);
      // After seeing the other decision, the operator may add a reply.
      await button(ofBob, "Got it").click();
      await composerOn(ofBob, "Reply").fill("You get 10 %.");
      await ofBob.keyboard.press("Control+Enter");
      await waitFor(async () => (await textsSentTo(chatId)).length === 2, { what: "the second reply" });
      expect(await textsSentTo(chatId)).toEqual([DRAFT, "You get 10 %."]);
      expect(second.errors()).toEqual([]);
    }));

  test("approving an outdated state without having been notified sends nothing either", () =>
    ground.browser.visit(async (open) => {
      const { chatId, ticketId } = await ask("Is the shop open?");
      const visitor = await ground.enter(open, ann);
      await visitor.context.route("**/events*", () => undefined);
      const page = await visitor.openPath(`/shop/inbox/review/${ticketId}`);
      await draftOn(page).getByText(DRAFT).waitFor();
      await shop.decide(ticketId, "note", { json: { text: "Look at this." } });
      const { version } = await shop.read(ticketId);
      await shop.decide(ticketId, "edit", { ifMatch: version, json: { text: "From nine to five." } });
      await draftOn(page).getByRole("button", { name: "Approve and send" }).click();
      await page.getByText("Not sent: the ticket has changed.").waitFor();
      await ticketOn(page).getByText("From nine to five.").waitFor();
      await shop.untilIn(ticketId, "done");
      expect(await textsSentTo(chatId)).toEqual(["From nine to five."]);
    }));

  test("a held key decides about one ticket, and not about the next one, which is still unread", () =>
    ground.browser.visit(async (open) => {
      await ask("Do you wrap presents?");
      const { ticketId } = await ask("Do you ship abroad?");
      const page = await (await ground.enter(open, ann)).openPath(`/shop/inbox/review/${ticketId}`);
      await draftOn(page).getByText(DRAFT).waitFor();
      // Without its list there is no next ticket.
      await rowOf(page, "Do you wrap presents?").waitFor();
      while (page.url().endsWith(ticketId)) await page.keyboard.down("a");
      await draftOn(page).waitFor();
      for (let count = 0; count < 10; count += 1) await page.keyboard.down("a");
      await page.keyboard.up("a");
      const nextId = page.url().split("/").at(-1) ?? "";
      expect([nextId === ticketId, (await shop.read(nextId)).stage]).toEqual([false, "review"]);
      await shop.untilIn(ticketId, "done");
    }));

  test("an unsent reply survives a reload, with its file and newer messages; after it is sent in one tab, the other tab clears it", () =>
    ground.browser.visit(async (open) => {
      const { chatId, ticketId } = await ask("Where is the plan?");
      const path = `/shop/inbox/review/${ticketId}`;
      const pia = await ground.addPerson("Pia Plan", [{ project: "shop", role: "operator" }]);
      await ground.product.store.operators.setProfile(pia.id, { signature: "Pia, **shop** team" });
      const signed = (text: string) => `${text}\n\nPia, **shop** team`;
      const visitor = await ground.enter(open, pia);
      const page = await visitor.openPath(path);
      await draftOn(page).waitFor();
      await page.keyboard.press("r");
      await composerOn(page, "Reply").pressSequentially("Here is the plan.");
      const plan = { name: "plan.txt", mimeType: "text/plain", buffer: Buffer.from("first this, then that") };
      await page.locator("input[type=file]").setInputFiles(plan);
      await page.getByRole("list", { name: "Files" }).getByText("21").waitFor();
      await page.goto(`${ground.line.url}/shop/inbox/review`);
      await rowOf(page, "Where is the plan?").getByRole("img", { name: "Unsent text" }).waitFor();
      await api.send("shop", { text: "Is it ready?", chatId, userId: "Ben Bell", mode: "async" });
      await waitFor(async () => (await shop.read(ticketId)).draft?.covers.length === 2, { what: "a draft for both" });
      await page.goto(`${ground.line.url}${path}`);
      await page.getByText("The customer wrote: Is it ready?").waitFor();
      await page.getByRole("list", { name: "Files" }).getByText("plan.txt").waitFor();
      const other = await visitor.openPath(path);
      await draftOn(other).waitFor();
      expect(await composerOn(other, "Reply").inputValue()).toBe("Here is the plan.");
      await composerOn(page, "Reply").focus();
      await page.keyboard.press("Control+Enter");
      await page.getByText("Not sent: the ticket has changed.").waitFor();
      await button(page, "Got it").click();
      await composerOn(page, "Reply").focus();
      await page.keyboard.press("Control+Enter");
      await page.getByText("Reply sent.").waitFor();
      await waitFor(async () => (await textsSentTo(chatId)).includes(signed("Here is the plan.")), {
        what: "the reply",
      });
      await waitFor(async () => (await composerOn(other, "Reply").inputValue()) === "", { what: "the other tab" });
      // An operator's own reply does not count as a newer message.
      await ticketOn(page).getByText("plan.txt").waitFor();
      await composerOn(page, "Reply").fill("Anything else?");
      const picture = { name: "plan.png", mimeType: "image/png", buffer: Buffer.from(PNG_BASE64, "base64") };
      await page.locator("input[type=file]").setInputFiles(picture);
      // Its size is shown once it is uploaded; until then nothing is sent.
      await page.getByRole("list", { name: "Files" }).getByText(String(picture.buffer.length)).waitFor();
      await page.keyboard.press("Control+Enter");
      await waitFor(async () => (await textsSentTo(chatId)).includes(signed("Anything else?")), {
        what: "the next reply",
      });
      await ticketOn(page).getByRole("img", { name: "plan.png" }).waitFor();
      expect(visitor.errors()).toEqual([]);
    }));

  test("files are sent without a text, and an image that loads later keeps the end of the conversation in view", () =>
    ground.browser.visit(async (open) => {
      const { chatId, ticketId } = await ask(`Where is it?\n${"I have looked.\n".repeat(60)}`);
      const fay = await ground.addPerson("Fay File", [{ project: "shop", role: "operator" }]);
      await ground.product.store.operators.setProfile(fay.id, { signature: "Fay" });
      const visitor = await ground.enter(open, fay);
      const page = await visitor.openPath(`/shop/inbox/review/${ticketId}`);
      await draftOn(page).waitFor();
      await page.keyboard.press("r");
      const send = button(page, /^Send(?! and)/);
      expect(await send.isDisabled()).toBe(true);
      const picture = { name: "shelf.png", mimeType: "image/png", buffer: await page.screenshot() };
      await page.locator("input[type=file]").setInputFiles(picture);
      await page.getByText("The files are sent without a message.").waitFor();
      await waitFor(() => send.isEnabled(), { what: "the upload" });
      await send.click();
      await page.getByText("Reply sent.").waitFor();
      await ticketOn(page).getByRole("img", { name: "shelf.png" }).waitFor();
      const conversation = page.getByRole("region", { name: "Conversation", exact: true });
      const isAtEnd = () =>
        conversation.evaluate((area) => {
          const { clientHeight, scrollHeight, scrollTop } = area;
          return scrollHeight > clientHeight && scrollHeight - scrollTop - clientHeight < 2;
        });
      await waitFor(isAtEnd, { what: "the end of the conversation to be in view" });
      // As does one that loads between a scroll and its event.
      await conversation.evaluate((area) => {
        area.scrollTop -= 20;
      });
      await conversation.evaluate((area) => {
        area.scrollTop = area.scrollHeight;
        area.lastElementChild?.setAttribute("style", "padding-bottom: 300px");
      });
      await waitFor(isAtEnd, { what: "the end to be in view again" });
      const sent = (await api.drain("shop", chatId, "?peek=1")).replies.filter(({ author }) => author === "operator");
      expect(sent).toMatchObject([{ type: "attachment", filename: "shelf.png" }]);
      expect(visitor.errors()).toEqual([]);
    }));

  test("a reply, a note and the edited draft stay apart, and what one tab writes last is not lost to another", () =>
    ground.browser.visit(async (open) => {
      const { ticketId } = await ask("Which of the two is it?");
      const path = `/shop/inbox/review/${ticketId}`;
      const eve = await ground.addPerson("Eve Edit", [{ project: "shop", role: "operator" }]);
      const visitor = await ground.enter(open, eve);
      const page = await visitor.openPath(path);
      await draftOn(page).getByText(DRAFT).waitFor();
      const holds = (on: Page, kind: string, text: string) =>
        waitFor(async () => (await composerOn(on, kind).inputValue()) === text, { what: `“${text}” in the field` });
      await page.keyboard.press("r");
      await page.keyboard.type("It is the red one.");
      await page.keyboard.press("Escape");
      await page.keyboard.press("e");
      await holds(page, "Draft", DRAFT);
      await page.keyboard.type(" Today.");
      await page.keyboard.press("Escape");
      await page.keyboard.press("n");
      await holds(page, "Note", "");
      await page.keyboard.type("He is angry.");
      await page.keyboard.press("Escape");
      await page.keyboard.press("r");
      await holds(page, "Reply", "It is the red one.");
      await page.reload();
      await holds(page, "Reply", "It is the red one.");
      const unsent = page.getByRole("img", { name: "Unsent text" });
      await waitFor(async () => (await unsent.count()) === 2, { what: "the note and the edited draft to be marked" });
      await page.keyboard.press("n");
      await holds(page, "Note", "He is angry.");
      await page.keyboard.press("Control+Enter");
      await waitFor(async () => (await shop.read(ticketId)).events.some(({ data }) => "note" in data), {
        what: "the note to be stored",
      });
      await holds(page, "Reply", "It is the red one.");
      await waitFor(async () => (await unsent.count()) === 1, { what: "the edited draft alone to be marked" });
      // “Approve” does not send the original draft instead of its edited text.
      await page.keyboard.press("a");
      await holds(page, "Draft", `${DRAFT} Today.`);

      const other = await visitor.openPath(path);
      await holds(other, "Draft", `${DRAFT} Today.`);
      await composerOn(other, "Draft").press("End");
      await other.keyboard.type(" At six.");
      await holds(page, "Draft", `${DRAFT} Today. At six.`);
      for (const tab of [other, page]) {
        await tab.getByRole("link", { name: "All", exact: true }).click();
        await composerOn(tab, "Draft").waitFor({ state: "detached" });
      }
      await page.goto(`${ground.line.url}${path}`);
      await holds(page, "Draft", `${DRAFT} Today. At six.`);
      expect((await shop.read(ticketId)).stage).toBe("review");
      // The operator's own reply is neither sent with the edited draft nor lost.
      await page.keyboard.press("e");
      await composerOn(page, "Draft").press("Control+Enter");
      await waitFor(async () => (await shop.read(ticketId)).replies.length > 0, {
        what: "the edited draft to be sent",
      });
      await composerOn(page, "Draft").waitFor({ state: "detached" });
      await page.keyboard.press("r");
      await holds(page, "Reply", "It is the red one.");
      expect(visitor.errors()).toEqual([]);
    }));

  test("the scroll position is kept when a message arrives, with a button that leads to it", () =>
    ground.browser.visit(async (open) => {
      const parts = Array.from({ length: 8 }, (_, part) => `Part ${part} of my story\n${"It goes on.\n".repeat(12)}`);
      const { chatId, ticketId } = await ask("Listen to my story.");
      const tell = (text: string) => api.send("shop", { text, chatId, userId: "Ben Bell", mode: "async" });
      for (const text of parts) await tell(text);
      const visitor = await ground.enter(open, ann);
      const page = await visitor.openPath(`/shop/inbox/review/${ticketId}`);
      const inSight = async (text: string) => {
        const box = await ticketOn(page).getByText(text).first().boundingBox();
        const height = page.viewportSize()?.height ?? 0;
        return box !== null && box.y + box.height > 0 && box.y < height;
      };
      await ticketOn(page).getByText("Part 7 of my story").waitFor();
      await draftOn(page).waitFor();
      await ticketOn(page).getByText("Part 0 of my story").first().scrollIntoViewIfNeeded();
      await waitFor(() => inSight("Part 0 of my story"), { what: "the beginning of the story" });
      expect(await button(page, "New message").count()).toBe(0);
      await tell("That was all.");
      await button(page, "New message").waitFor();
      expect(await inSight("Part 0 of my story")).toBe(true);
      await button(page, "New message").click();
      await waitFor(() => inSight("That was all."), { what: "the new message" });
      await button(page, "New message").waitFor({ state: "detached" });
      expect(visitor.errors()).toEqual([]);
    }));

  test("a ticket is moved to a colleague, to another agent and to another project, with the keyboard", () =>
    ground.browser.visit(async (open) => {
      const dana = await ground.addPerson("Dana Dale", [{ project: "shop", role: "operator" }]);
      const { ticketId } = await ask("What happens now?");
      const visitor = await ground.enter(open, ann);
      const page = await visitor.openPath(`/shop/inbox/review/${ticketId}`);
      await draftOn(page).getByText(DRAFT).waitFor();
      // Assigning the ticket and undoing that does not change the draft.
      const { version } = await shop.read(ticketId);
      await page.keyboard.press("i");
      await page.getByText("Ticket assigned.").waitFor();
      await button(page, "Undo").click();
      const isBack = async () => (await shop.read(ticketId)).version === version + 2;
      await waitFor(isBack, { what: "the ticket to be nobody's again" });
      expect(await shop.read(ticketId)).toMatchObject({ assignee: null, stage: "review", draft: { text: DRAFT } });
      // Meanwhile a colleague has it.
      await page.keyboard.press("#");
      await page.getByPlaceholder("Search…").waitFor();
      await page.keyboard.type("Dana");
      await page.keyboard.press("Enter");
      await page.getByText("Ticket assigned.").waitFor();
      await listOf(page).getByLabel("Assigned to Dana Dale").waitFor();
      expect((await shop.read(ticketId)).assignee).toBe(`operator:${dana.id}`);
      await page.keyboard.press("m");
      await page.getByPlaceholder("Search…").waitFor();
      await page.keyboard.type("Returns");
      await page.keyboard.press("Enter");
      await draftOn(page).getByText("Send it back within 30 days.").waitFor();
      await page.keyboard.press("m");
      await chooseOption(page.getByRole("dialog").getByLabel("Project"), "workshop");
      await page.getByRole("dialog").getByText("workshop-agent").click();
      await waitFor(
        async () =>
          (
            await createReviewClient(ground.product, "workshop")
              .read(ticketId)
              .catch(() => null)
          )?.draft?.text === "The workshop looks at it.",
        { what: "the agent of the other project to draft an answer" },
      );
      // The page follows the ticket.
      await page.waitForURL(`**/workshop/inbox/review/${ticketId}`);
      await draftOn(page).getByText("The workshop looks at it.").waitFor();
      const other = await visitor.openPath("/workshop/inbox/review");
      await rowOf(other, "What happens now?").waitFor();
      expect(visitor.errors()).toEqual([]);
    }));

  test("a snoozed ticket leaves the review until its customer writes; a reply resolves it and opens the next", () =>
    ground.browser.visit(async (open) => {
      const { chatId, ticketId } = await ask("When do you open?");
      const visitor = await ground.enter(open, ann);
      const page = await visitor.openPath(`/shop/inbox/review/${ticketId}`);
      await draftOn(page).waitFor();
      await page.keyboard.press("z");
      await page.getByPlaceholder("Search…").waitFor();
      await page.keyboard.type("customer replies");
      await page.keyboard.press("Enter");
      await page.getByText("Ticket snoozed.").waitFor();
      await rowOf(page, "When do you open?").waitFor({ state: "detached" });
      expect(await shop.read(ticketId)).toMatchObject({ snooze: { until: null }, stage: "review" });
      await page.getByRole("link", { name: "Snoozed" }).click();
      await rowOf(page, "When do you open?").waitFor();

      await api.send("shop", { text: "Hello?", chatId, userId: "Ben Bell", mode: "async" });
      const isTaken = async () =>
        (await shop.read(ticketId)).messages.filter(({ state }) => state === "held").length === 2;
      await waitFor(isTaken, { what: "the second message to be in the ticket" });
      await page.getByRole("link", { name: "Needs review" }).click();
      await rowOf(page, "When do you open?").click();
      // What arrives after the first letter has to be seen before a reply is sent.
      await ticketOn(page).getByText("I've added this to your request").waitFor();
      await draftOn(page).waitFor();
      await page.keyboard.press("r");
      await page.keyboard.type("At nine.");
      await page.keyboard.press("Control+Shift+Enter");
      await page.getByText("Reply sent, ticket resolved.").waitFor();
      const isResolved = async () => (await shop.read(ticketId)).status === "resolved";
      await waitFor(isResolved, { what: "the ticket to be resolved with its reply" });
      expect(await textsSentTo(chatId)).toContain("At nine.");
      await rowOf(page, "When do you open?").waitFor({ state: "detached" });
      expect(page.url()).not.toContain(ticketId);
      expect(visitor.errors()).toEqual([]);
    }));

  test("the list keeps its chosen order; after a reply the keyboard goes on from the place of its ticket, which has left", () =>
    ground.browser.visit(async (open) => {
      for (const text of ["Place one", "Place two", "Place three"]) await ask(text);
      const visitor = await ground.enter(open, ann);
      const page = await visitor.openPath("/shop/inbox/review");
      const subjects = () =>
        page
          .getByRole("region", { name: "Tickets", exact: true })
          .getByRole("link", { name: /^.*Place (one|two|three)/ })
          .evaluateAll((links) => links.map((link) => link.getAttribute("href") ?? ""));
      await waitFor(async () => (await subjects()).length === 3, { what: "three tickets in the list" });
      const newestFirst = await subjects();
      await button(page, "Sort by").click();
      await page.getByRole("menuitemradio", { name: "Oldest first" }).click();
      const places = (hrefs: readonly string[]) => hrefs.map((href) => href.split("?")[0]).join(" ");
      const isOldestFirst = async () => places(await subjects()) === places(newestFirst.toReversed());
      await waitFor(isOldestFirst, { what: "the oldest first" });
      await visitor.openPath("/shop/inbox/review");
      await waitFor(isOldestFirst, { what: "the order to be kept" });
      const [, , below = ""] = await subjects();
      await rowOf(page, "Place two").click();
      await draftOn(page).waitFor();
      await page.keyboard.press("r");
      await page.keyboard.type("Here.");
      await page.keyboard.press("Control+Enter");
      await rowOf(page, "Place two").waitFor({ state: "detached" });
      await page.keyboard.press("j");
      await page.waitForURL((url) => below.startsWith(url.pathname));
      expect(visitor.errors()).toEqual([]);
    }));

  test("a bulk action skips tickets that a colleague has changed meanwhile, and names them", () =>
    ground.browser.visit(async (open) => {
      const [first, second] = [await ask("Bulk one"), await ask("Bulk two")];
      const visitor = await ground.enter(open, ann);
      await visitor.context.route("**/events*", () => undefined);
      const page = await visitor.openPath("/shop/inbox/review");
      // Filters are found by their values, are part of the URL, and are removed by their chips.
      await rowOf(page, "Bulk one").waitFor();
      await page.keyboard.press("f");
      await page.getByPlaceholder("Search…").waitFor();
      await page.keyboard.type("urgent");
      await page.keyboard.press("Enter");
      await rowOf(page, "Bulk one").waitFor({ state: "detached" });
      expect(new URL(page.url()).searchParams.get("priority")).toBe("urgent");
      await button(page, "Remove filter: Priority: Urgent").press("Enter");
      await rowOf(page, "Bulk one").waitFor();
      await button(page, "Filter").press("Enter");
      await page.getByRole("dialog").getByText("Tag", { exact: true }).click();
      await page.getByRole("dialog", { name: "Tag" }).getByPlaceholder("Search…").fill("no such tag");
      await page.keyboard.press("Enter");
      await rowOf(page, "Bulk one").waitFor({ state: "detached" });
      await page.reload();
      await button(page, "Remove filter: Tag: no such tag").click();
      for (const subject of ["Bulk one", "Bulk two"]) {
        await listOf(page)
          .getByRole("checkbox", { name: new RegExp(subject) })
          .check({ force: true });
      }
      await shop.decide(second.ticketId, "assign", { json: { assignee: "operator:bob" } });
      await page.getByRole("toolbar").getByRole("button", { name: "Assign to me", exact: true }).click();
      await button(page, "Show tickets").click();
      await page.getByRole("dialog").getByText("Bulk two").waitFor();
      expect(await page.getByRole("dialog").getByText("Bulk one").count()).toBe(0);
      await page.getByRole("dialog").locator("footer").getByRole("button", { name: "Close" }).click();
      expect((await shop.read(second.ticketId)).assignee).toBe("operator:bob");
      expect((await shop.read(first.ticketId)).assignee).toBe(`operator:${ann.id}`);
      // An action is undone only if nothing has happened since.
      await shop.decide(first.ticketId, "assign", { json: { assignee: "operator:cleo" } });
      await button(page, "Undo").click();
      await button(page, "Show tickets").last().click();
      await page.getByRole("dialog").getByText("Bulk one").waitFor();
      expect((await shop.read(first.ticketId)).assignee).toBe("operator:cleo");
    }));

  test("an operator writes a canned reply, previews it with examples, and inserts it into a reply", () =>
    ground.browser.visit(async (open) => {
      const fay = await ground.addPerson("Fay Fell", [{ project: "shop", role: "operator" }]);
      const { ticketId } = await ask("Do you ship to Iceland?");
      const visitor = await ground.enter(open, fay);
      const page = await visitor.openPath("/shop/administration/tags");
      await page.getByRole("link", { name: "Canned replies" }).waitFor();
      await page.keyboard.press("Control+k");
      await page.getByPlaceholder("Type a command, or search tickets and customers…").waitFor();
      await page.keyboard.type("canned");
      await page.getByText("Go to Canned replies").waitFor();
      await page.keyboard.press("Enter");
      await button(page, "New canned reply").first().click();
      const dialog = page.getByRole("dialog");
      const sender = dialog.getByRole("button", { name: "Insert operator.name: the sender of the reply" });
      await sender.click();
      await page.keyboard.press("Escape");
      await button(page, "Keep editing").click();
      await dialog.getByLabel("Name", { exact: true }).fill("Iceland");
      await dialog.getByLabel("Text", { exact: true }).fill("We **ship** there, {{customer.nickname}}. ");
      await dialog.getByText("Unknown: {{customer.nickname}}.").waitFor();
      // Neither a single key press discards typed text nor the Back button.
      for (const leave of [() => page.keyboard.press("Escape"), () => page.evaluate("history.back()")]) {
        await leave();
        await button(page, "Keep editing").click();
        await button(page, "Keep editing").waitFor({ state: "detached" });
      }
      await dialog.getByLabel("Text", { exact: true }).fill("We **ship** there. ");
      await sender.click();
      await dialog.getByRole("region", { name: "Preview" }).getByText("Fay Fell").waitFor();
      await dialog.getByLabel("Add tags").fill("iceland");
      await chooseOption(dialog.getByLabel("Assignee"), "Sender of the reply");
      await chooseOption(dialog.getByLabel("After sending"), "Resolve");
      await dialog.getByRole("button", { name: "Save" }).click();
      await page.getByText("Iceland saved").waitFor();
      await button(page, "Delete Iceland").click();
      await page.getByText("No canned replies yet").waitFor();
      await button(page, "Undo").click();
      await button(page, "Edit Iceland").waitFor();

      const inbox = await visitor.openPath(`/shop/inbox/review/${ticketId}`);
      await draftOn(inbox).getByText(DRAFT).waitFor();
      await inbox.keyboard.press("r");
      await composerOn(inbox, "Reply").waitFor();
      await inbox.keyboard.type("/");
      await inbox.getByRole("dialog").getByText("Iceland", { exact: true }).click();
      await waitFor(async () => (await composerOn(inbox, "Reply").inputValue()) === "We **ship** there. Fay Fell", {
        what: "the reply to be filled in",
      });
      const actions = inbox.getByRole("group", { name: "Actions" });
      const seesActions = async () => {
        for (const text of ["#iceland", "Assign to Fay Fell", "Resolve"]) await actions.getByText(text).waitFor();
      };
      await seesActions();
      await inbox.reload();
      await seesActions();
      await button(inbox, "Emoji").press("Enter");
      await inbox.getByPlaceholder("Search…").waitFor();
      await inbox.keyboard.type("thumbs up");
      await inbox.keyboard.press("Enter");
      await waitFor(async () => (await composerOn(inbox, "Reply").inputValue()) === "We **ship** there. Fay Fell👍", {
        what: "the emoji at the caret",
      });
      await composerOn(inbox, "Reply").focus();
      await inbox.keyboard.press("Control+Enter");
      await waitFor(async () => (await shop.read(ticketId)).status === "resolved", {
        what: "the ticket to be resolved",
      });
      expect((await shop.read(ticketId)).tags).toEqual(["iceland"]);
      const resolved = await visitor.openPath(`/shop/inbox/all/${ticketId}`);
      const line = resolved.getByText("Fay Fell replied");
      for (const text of ["#iceland", "Assign to Fay Fell"]) await line.getByText(text).waitFor();
      expect(visitor.errors()).toEqual([]);
    }));

  test("business hours are a command of the palette, and focused first in the project's settings", () =>
    ground.browser.visit(async (open) => {
      const visitor = await ground.enter(open, ann);
      const page = await visitor.openPath("/workshop/overview");
      await page.getByRole("heading", { name: "Overview", exact: true }).waitFor();
      await page.keyboard.press("Control+k");
      await page.getByPlaceholder("Type a command, or search tickets and customers…").waitFor();
      await page.keyboard.type("business hours");
      await page.keyboard.press("Enter");
      await page.waitForURL("**/workshop/administration/projects");
      const row = page.getByRole("listitem").filter({ hasText: "workshop" });
      const hours = row.getByRole("button", { name: "No business hours" });
      const projectName = page.locator(`[id="${await hours.getAttribute("aria-describedby")}"]`);
      expect(await projectName.textContent()).toBe("workshop");
      await hours.click();
      const zone = page.getByRole("dialog").getByLabel("Time zone");
      await waitFor(() => zone.evaluate((field) => field.matches(":focus")), { what: "the focus" });
      await page.keyboard.type("Europe/Berlin");
      const dialog = page.getByRole("dialog");
      const holidays = dialog.getByLabel("Holidays");
      await holidays.fill("2026-02-30 Never");
      await dialog.getByLabel("Storage (MB)").scrollIntoViewIfNeeded();
      await dialog.getByRole("button", { name: "Save", exact: true }).click();
      // The field with the error is shown, and is no longer marked once it is changed.
      const fault = dialog.getByText("Line 1: Enter an existing date");
      await fault.waitFor();
      const heading = await dialog.getByRole("heading").first().boundingBox();
      await waitFor(
        async () => {
          const field = await holidays.boundingBox();
          return field !== null && heading !== null && field.y > heading.y && field.y < 600;
        },
        { what: "the marked field to be in view" },
      );
      await holidays.fill("2026-12-25 Christmas");
      await fault.waitFor({ state: "detached" });
      await dialog.getByRole("button", { name: "Save", exact: true }).click();
      await row.getByRole("button", { name: "Business hours (Europe/Berlin)" }).waitFor();
      expect(visitor.errors()).toEqual([]);
    }));

  test("a new key is shown once, and works", () =>
    ground.browser.visit(async (open) => {
      const visitor = await ground.enter(open, ann);
      const page = await visitor.openPath("/shop/integrations/api");
      await button(page, "Create key").click();
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("button", { name: "Create key" }).click();
      const key = await dialog.getByRole("region", { name: "API key" }).innerText();
      await dialog.getByRole("button", { name: "I’ve copied it" }).click();
      expect((await page.getByRole("region", { name: "curl" }).innerText()).includes(key)).toBe(true);
      const sent = await callApi(`${api.baseUrl()}/api/v1/messages`, {
        headers: { "X-Api-Key": key },
        json: { text: "By the new key", mode: "async" },
      });
      expect(sent.status).toBe(202);
      await page.reload();
      await page.getByText(key.slice(0, 8)).first().waitFor();
      expect(await page.content()).not.toContain(key);
      expect(await button(page, /^Revoke /).count()).toBe(1);
      await button(page, /^Revoke shop app/).click();
      await page.getByRole("dialog").getByRole("button", { name: "Revoke", exact: true }).click();
      await waitFor(
        async () =>
          (
            await callApi(`${api.baseUrl()}/api/v1/messages`, {
              headers: { "X-Api-Key": key },
              json: { text: "By the old key", mode: "async" },
            })
          ).status === 401,
        { what: "the key to be refused" },
      );
      expect(visitor.errors()).toEqual([]);
    }));

  test("each integration is set up on its page, and changes take effect immediately", () =>
    ground.browser.visit(async (open) => {
      const visitor = await ground.enter(open, ann);
      const page = await visitor.openPath("/default/integrations");
      const save = async () => {
        await button(page, /^Save/).click();
        await page.getByText("Unsaved changes").waitFor({ state: "hidden" });
      };
      const openCard = async (name: string) => {
        await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Integrations" }).click();
        await page.getByRole("heading", { level: 2 }).getByRole("link", { name, exact: true }).click();
        await page.getByRole("heading", { level: 1, name }).waitFor();
      };

      // The reply timeout of calls.
      await openCard("HTTP API");
      await page.getByLabel("Reply timeout (seconds)").fill("0.001");
      await save();
      await waitFor(async () => (await api.send("default", { text: "hello" })).body.timedOut === true, {
        what: "calls to wait no longer",
      });
      await page.getByLabel("Reply timeout (seconds)").fill("-3");
      await button(page, /^Save/).click();
      await page
        .getByText("Some fields need your attention.")
        .or(page.locator("main [aria-invalid=true]"))
        .first()
        .waitFor();
      await page.getByLabel("Reply timeout (seconds)").fill("30");
      await save();
      await button(page, /^Create$/).click();
      await page.getByText("This secret is shown only once").waitFor();
      expect(await page.getByRole("region", { name: "Webhook secret" }).innerText()).toMatch(/^\S{20,}$/);

      // The widget, with its preview.
      await openCard("Web widget");
      const theSwitch = page.getByRole("switch", { name: /^(On|Off)$/ });
      if (!(await theSwitch.isChecked())) await theSwitch.click();
      const tag = page.getByRole("region", { name: "Add to your website" });
      await waitFor(async () => /data-api-key="\S+"/.test(await tag.innerText()), { what: "the tag with its key" });
      const [, widgetKey = ""] = /data-api-key="([^"]+)"/.exec(await tag.innerText()) ?? [];
      await page.getByLabel("Title", { exact: true }).fill("Kestrel help");
      await page.getByRole("img", { name: "The widget with these settings: Kestrel help" }).waitFor();
      await page
        .locator("label")
        .filter({ hasText: /^Left$/ })
        .click();
      await save();
      const [widgetUrl = ""] = ground.product.composition.widgetUrls;
      const config = await waitFor(
        async () => {
          const answer = await callApi(`${widgetUrl}/api/widget/config/${widgetKey}`).catch(() => null);
          return answer !== null && answer.text.includes("Kestrel help") ? answer : null;
        },
        { what: "visitors to be told the new title" },
      );
      expect(config.text).toContain("bottom-left");

      // The bot.
      await openCard("Telegram");
      const bot = telegram.addBot({ username: "kestrel_bot" });
      await page.getByLabel("Token", { exact: true }).fill(bot.token);
      await button(page, "Connect").click();
      await page.getByText("Token saved. The bot is starting.").waitFor();
      await page.getByText("Running", { exact: true }).waitFor();
      expect(await page.content()).not.toContain(bot.token);

      // The tool server.
      await openCard("Tool server");
      await button(page, "Create key").click();
      await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
      const key = await page.getByRole("dialog").getByRole("region", { name: "API key" }).innerText();
      await button(page, "I’ve copied it").click();
      expect(await page.getByRole("region", { name: "Claude Code" }).innerText()).toContain(key);
      const [toolsUrl = ""] = ground.product.composition.toolsUrls;
      const tools = await callApi(`${toolsUrl}/mcp`, {
        headers: { "X-Api-Key": key, Accept: "application/json, text/event-stream" },
        json: {
          jsonrpc: "2.0",
          id: 1,
          method: "initialize",
          params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
        },
      });
      expect(tools.status).toBe(200);
      expect(visitor.errors()).toEqual([]);
    }));

  test("a model is installed with progress, and a missing one is reported with an explanation", () =>
    ground.browser.visit(async (open) => {
      let letGo: () => void = () => undefined;
      const held = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      ollama.pullWith((_, index) =>
        index === 0
          ? [...linesOfPull().slice(0, 3), { wait: held }, ...linesOfPull().slice(3)]
          : [{ status: "pulling manifest" }, { error: "pull model manifest: file does not exist" }],
      );
      const visitor = await ground.enter(open, ann);
      const page = await visitor.openPath("/shop/administration/models");
      const name = page.getByLabel("Name in the Ollama library");
      await name.fill("qwen3:0.6b");
      await page.keyboard.press("Enter");
      const bar = page.getByRole("progressbar", { name: "Installation progress of ollama:qwen3:0.6b" });
      await bar.first().waitFor();
      letGo();
      await page.getByText("ollama:qwen3:0.6b installed").first().waitFor();
      expect(ollama.installed().map((model) => model.name)).toContain("qwen3:0.6b");
      await name.fill("no-such-model:1b");
      await page.keyboard.press("Enter");
      await page.getByText("The model no-such-model:1b does not exist.").first().waitFor();
      expect(visitor.errors()).toEqual([]);
    }));

  test("signing out everywhere ends the session of the other browser too; a removed operator is signed out immediately", () =>
    ground.browser.visit(async (open) => {
      const cleo = await ground.addPerson("Cleo Clay", [{ project: "*", role: "operator" }]);
      const one = await ground.enter(open, cleo);
      const other = await ground.enter(open, cleo, { isAnotherSession: true });
      const [here, there] = [await one.openPath("/shop/inbox/all"), await other.openPath("/shop/inbox/all")];
      await button(there, "Account: Cleo Clay").waitFor();
      await button(here, "Account: Cleo Clay").click();
      await here.getByRole("menuitem", { name: "Sign out everywhere" }).click();
      for (const page of [here, there]) await page.getByLabel("Password").waitFor();
      await there.getByLabel("Email").fill(cleo.email);
      await there.getByLabel("Password").fill(cleo.password);
      await there.keyboard.press("Enter");
      await button(there, "Account: Cleo Clay").waitFor();
      expect(new URL(there.url()).pathname).toBe("/shop/inbox/all");

      const page = await (await ground.enter(open, ann)).openPath("/shop/administration/operators");
      await button(page, "More actions for Cleo Clay").click();
      await page.getByRole("menuitem", { name: "Delete", exact: true }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
      await page.getByText("Cleo Clay deleted").waitFor();
      await there.getByLabel("Password").waitFor();
    }));
});
