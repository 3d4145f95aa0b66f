import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Agent, AnswerStats } from "@svc/contracts";
import { newId } from "@svc/store";
import { waitFor } from "@svc/testing";
import type { Page } from "playwright-core";
import { addProject } from "./support/add-project.ts";
import { callApi } from "./support/call-api.ts";
import type { ApiRequest } from "./support/call-api.ts";
import { chooseOption } from "./support/choose-option.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { createKbClient, documentOf } from "./support/create-kb-client.ts";
import { createReviewClient } from "./support/create-review-client.ts";
import { findBarriers } from "./support/find-barriers.ts";
import { describeInBrowser, keepPicture } from "./support/open-browser.ts";
import { startConsoleGround } from "./support/start-console-ground.ts";
import type { ConsoleGround, ConsolePerson } from "./support/start-console-ground.ts";

const ICELAND = "We ship parcels to Iceland again since May.";
const PRICE = "A parcel to any country costs 5 EUR.";
const SHIPPING = `# Shipping\n\n## Iceland\n\n${ICELAND}\n\n## Prices\n\n${PRICE}\n`;
const BATTERY = "A battery flies for 26 minutes.";
const DRONE = `# Drone\n\n## Batteries\n\n${BATTERY}\n\n## Rain\n\nIt is not made for rain.\n`;
const GIFT = "Yes, gift wrapping is free in December.";

const draftOn = (page: Page) => page.getByRole("region", { name: /^Draft/ });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const region = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

describeInBrowser("how the console helps to trust answers", () => {
  let ground: ConsoleGround;
  let api: ApiClient;
  let ann: ConsolePerson;

  beforeAll(async () => {
    ground = await startConsoleGround();
    api = createApiClient(ground.product);
    ann = await ground.addPerson("Ann Able", [{ project: "*", role: "administrator" }]);
  });

  afterAll(() => ground?.stop());

  const admin = (project: string, path: string, request: ApiRequest = {}) =>
    callApi(`${api.baseUrl()}/api/v1/admin${path}`, { key: ground.product.adminKey, project, ...request });

  async function addKb(project: string, title: string, text: string): Promise<string> {
    await ground.product.store.projects.ensure(project);
    const kbs = createKbClient(ground.product, project);
    const { id } = await kbs.makeKb();
    await kbs.settled(id, documentOf(await kbs.add(id, { text, title, key: title })).id);
    return id;
  }

  async function agentOf(project: string): Promise<Agent> {
    const { body } = await admin(project, "/agents");
    const [agent] = (body as unknown as { items: Agent[] }).items;
    if (agent === undefined) throw new Error(`project ${project} has no agent`);
    return agent;
  }

  test("a draft below the threshold is collapsed with its reason, and sending it needs a confirmation; above it, the draft is ready to send", () =>
    ground.browser.visit(async (open) => {
      const kbId = await addKb("weak", "Shipping", SHIPPING);
      await addProject(ground.product.store, "weak", { kbIds: [kbId], reviewPolicy: "auto_if", autoThreshold: 0.99 });
      const reviews = createReviewClient(ground.product, "weak");
      const { ticketId } = await reviews.heldChat({ text: "Do you ship parcels to Iceland?", mode: "async" });
      const visitor = await ground.enter(open, ann, { reducedMotion: "reduce" });
      const page = await visitor.openPath(`/weak/inbox/review/${ticketId}`);
      const draft = draftOn(page);
      await draft.getByText(/^Confidence \d+\s?% \(threshold 99\s?%\):$/).waitFor();
      expect(await draft.getByText(ICELAND).count()).toBe(0);
      expect(await page.getByRole("textbox", { name: "Reply", exact: true }).inputValue()).toBe("");
      expect(await draft.getByRole("button", { name: "Approve and send" }).count()).toBe(0);
      expect(await findBarriers(page, "a folded draft", ["light", "dark"])).toEqual([]);

      await page.keyboard.press("a");
      const question = page.getByRole("dialog", { name: "Send low-confidence draft?" });
      await question.getByText(/threshold 99\s?%/).waitFor();
      await page.keyboard.press("Escape");
      await question.waitFor({ state: "detached" });
      expect((await reviews.read(ticketId)).stage).toBe("review");

      await draft.getByRole("button", { name: "Use draft" }).press("Enter");
      const field = page.getByRole("textbox", { name: "Draft", exact: true });
      expect(await field.inputValue()).toContain(ICELAND);
      await draft.getByRole("list", { name: "Sources" }).getByText("Shipping").first().waitFor();
      expect(await findBarriers(page, "a weak draft that is used", ["light", "dark"])).toEqual([]);
      // Every way to send it needs the confirmation.
      await field.press("Control+Enter");
      await question.waitFor();
      await page.keyboard.press("Escape");
      await draft.getByRole("button", { name: "Approve and send" }).click();
      await question.waitFor();
      await page.keyboard.press("Escape");
      expect((await reviews.read(ticketId)).stage).toBe("review");

      const agent = await agentOf("weak");
      const change = { json: { autoThreshold: 0.05 }, method: "PATCH", headers: { "If-Match": `"${agent.version}"` } };
      expect((await admin("weak", `/agents/${agent.id}`, change)).status).toBe(200);
      await page.reload();
      await field.waitFor();
      expect(await field.inputValue()).toContain(ICELAND);
      expect(await draft.getByRole("button", { name: "Use draft" }).count()).toBe(0);
      expect(await findBarriers(page, "a draft that stands in the composer", ["light", "dark"])).toEqual([]);
      await keepPicture(page, "a draft that stands in the composer");
      await page.setViewportSize({ width: 390, height: 844 });
      await keepPicture(page, "a draft that stands in the composer, narrow");
      await draft.getByRole("button", { name: "Approve and send" }).click();
      await page.getByText("Draft sent.").waitFor();
      expect(visitor.errors()).toEqual([]);
    }));

  test("the first steps end with a confirmed answer: a wrong one is corrected by an article and by another agent", () =>
    ground.browser.visit(async (open) => {
      const [shipping, drone] = [await addKb("taught", "Shipping", SHIPPING), await addKb("taught", "Drone", DRONE)];
      const { store } = ground.product;
      const { project } = await store.projects.ensure("taught");
      const policy = { reviewPolicy: "auto_if", autoThreshold: 0.3 } as const;
      await store.agents.insert(project.id, { name: "Parcels", kbIds: [shipping], ...policy });
      const flights = await store.agents.insert(project.id, { name: "Flights", kbIds: [drone], ...policy });
      const visitor = await ground.enter(open, ann, { reducedMotion: "reduce" });
      const page = await visitor.openPath("/taught/start");
      const trial = region(page, "Send a test message");
      const send = async (text: string) => {
        await trial.getByLabel("Message").fill(text);
        await page.keyboard.press("Control+Enter");
      };
      const ready = trial.getByText("The answer was correct. You’re ready.");

      // No document has the answer: it is written, and asked for again.
      await send("Do you offer gift wrapping?");
      const answer = trial.getByLabel("Correct answer");
      const no = trial.getByRole("button", { name: "No", exact: true });
      await no.or(answer).first().waitFor();
      expect(await ready.count()).toBe(0);
      if (!(await answer.isVisible())) await no.press("Enter");
      await answer.fill(GIFT);
      expect(await findBarriers(page, "a wrong answer", ["light", "dark"])).toEqual([]);
      await button(page, "Save and ask again").press("Enter");
      await trial.getByText(GIFT).first().waitFor();
      expect(await ready.count()).toBe(0);
      await trial.getByRole("button", { name: /^Yes/ }).press("Enter");
      await ready.waitFor();

      // A passage is picked, and another agent is chosen as the right one.
      await send("What does a parcel with a battery to Iceland cost?");
      await trial.getByText("What does a parcel with a battery to Iceland cost?").waitFor();
      await no.click();
      expect(await ready.count()).toBe(0);
      await chooseOption(trial.getByLabel("Which agent should answer?"), "Flights");
      await trial.getByRole("button", { name: /26 minutes/ }).click();
      await waitFor(async () => (await answer.inputValue()).includes(BATTERY), { what: "the passage to be picked" });
      const { items: before } = (await admin("taught", "/tickets")).body as unknown as { items: { id: string }[] };
      await button(page, "Save and ask again").click();
      await waitFor(
        async () => {
          const { items } = (await admin("taught", "/tickets")).body as unknown as {
            items: { id: string; stage: string; agentId: string | null }[];
          };
          const asked = items.find(({ id }) => !before.some((known) => known.id === id));
          return asked?.agentId === flights.id && ["done", "review"].includes(asked.stage);
        },
        { what: "the question to go to the other agent" },
      );
      const gaps = (await admin("taught", "/gaps?status=open")).body as unknown as { items: { question: string }[] };
      expect(gaps.items.map(({ question }) => question)).not.toContain("Do you offer gift wrapping?");
      expect(visitor.errors()).toEqual([]);
    }));

  test("the overview shows outcomes of answers, what thresholds would have sent, and sets the threshold", () =>
    ground.browser.visit(async (open) => {
      const kbId = await addKb("figures", "Shipping", SHIPPING);
      await addProject(ground.product.store, "figures", { kbIds: [kbId], reviewPolicy: "review", autoThreshold: 0.5 });
      const reviews = createReviewClient(ground.product, "figures");
      const ask = async () =>
        (await reviews.heldChat({ text: "Do you ship parcels to Iceland?", mode: "async" })).ticketId;
      const decide = async (action: "approve" | "edit" | "reject", json: object) => {
        const ticketId = await ask();
        const { version } = await reviews.read(ticketId);
        expect((await reviews.decide(ticketId, action, { json, ifMatch: version })).status).toBe(200);
        await reviews.untilIn(ticketId, "done");
        return ticketId;
      };
      await decide("approve", {});
      await decide("edit", { text: "Yes, since May." });
      await decide("reject", {});
      const approved = await decide("approve", {});
      const { chatId } = await reviews.read(approved);
      await api.send("figures", { text: "I want to talk to a human", chatId, mode: "async" });
      await reviews.untilIn(approved, "review");
      const undecided = await ask();
      // Greetings do not count for the agent's knowledge.
      await api.send("figures", { text: "Hello!", chatId: newId(), mode: "async" });

      const answersOf = async (query = "") => {
        const { body } = await admin("figures", `/stats/answers${query}`);
        return (body as unknown as AnswerStats).agents;
      };
      const [agent] = await waitFor(
        async () => {
          const agents = await answersOf();
          return agents[0]?.answers === 5 && agents;
        },
        { what: "the figures" },
      );
      expect(agent).toMatchObject({
        name: "figures-agent",
        automatic: 0,
        accepted: 1,
        edited: 1,
        askedPerson: 1,
        ratedBadly: 0,
        rejected: 1,
        undecided: 1,
      });
      const { draft } = await reviews.read(undecided);
      expect(agent?.byConfidence).toMatchObject([{ percent: Math.floor((draft?.confidence ?? 0) * 100), answers: 5 }]);
      expect(await answersOf("?channelId=widget")).toEqual([]);
      expect((await admin("figures", "/stats/answers?from=x")).status).toBe(400);

      const visitor = await ground.enter(open, ann, { reducedMotion: "reduce" });
      const page = await visitor.openPath("/figures/overview");
      await page.getByText("5 answers · 25% accepted").waitFor();
      const slider = page.getByRole("slider", { name: "Confidence threshold" });
      expect(await slider.inputValue()).toBe("50");
      await slider.press("End");
      expect(await slider.getAttribute("aria-valuetext")).toBe("100%: 0% would have been sent, – of them accepted");
      await slider.press("Home");
      expect(await slider.getAttribute("aria-valuetext")).toBe("0%: 100% would have been sent, 25% of them accepted");
      for (let step = 0; step < 3; step += 1) await slider.press("ArrowRight");
      expect(await findBarriers(page, "the overview with answers", ["light", "dark"])).toEqual([]);
      await button(page, "Set threshold to 3%").press("Enter");
      await page.getByText("Threshold for figures-agent set to 3%.").waitFor();
      expect((await agentOf("figures")).autoThreshold).toBeCloseTo(0.03);
      await button(page, "Undo").click();
      await page.getByText("Threshold for figures-agent set to 50%.").waitFor();
      expect((await agentOf("figures")).autoThreshold).toBeCloseTo(0.5);

      const vera = await ground.addPerson("Vera View", [{ project: "figures", role: "viewer" }]);
      const viewer = await ground.enter(open, vera);
      const shown = await viewer.openPath("/figures/overview");
      await shown.getByRole("slider", { name: "Confidence threshold" }).waitFor();
      expect(await shown.getByRole("button", { name: /^Set threshold/ }).count()).toBe(0);
      expect([...visitor.errors(), ...viewer.errors()]).toEqual([]);
    }));
});
