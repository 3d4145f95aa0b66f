import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { addDocument, ensureKb } from "@svc/knowledge";
import { newId } from "@svc/store";
import type { ProjectId } from "@svc/store";
import { testLog, waitFor } from "@svc/testing";
import { openPipelines } from "./support/open-pipelines.ts";
import type { Pipelines } from "./support/open-pipelines.ts";

let world: Pipelines;

beforeAll(async () => {
  world = await openPipelines();
});
afterAll(() => world.close());

/** Creates a project with agents that answer every message with their name. */
async function newProject(agents: { name: string; examples?: string[]; kbIds?: string[] }[]): Promise<ProjectId> {
  const { project } = await world.store.projects.ensure(`triage-${newId()}`);
  for (const agent of agents) {
    await world.store.agents.insert(project.id, { ...agent, fixedReply: agent.name, reviewPolicy: "auto" });
  }
  return project.id;
}

/** Returns the answer to a message: the name of an agent, or the handoff text. */
async function ask(project: ProjectId, text: string, chatId: string = newId()): Promise<string> {
  const { ticketId, messageId } = await world.send(project, chatId, text);
  const reply = await waitFor(
    async () => (await world.listReplies(ticketId)).find(({ inReplyTo }) => inReplyTo === messageId),
    { what: `a reply to "${text}"`, timeoutMs: 30_000 },
  );
  return reply.text;
}

const isAnsweredBy = (project: ProjectId, text: string, name: string) =>
  waitFor(async () => (await ask(project, text)) === name, { what: `"${text}" to be answered by ${name}` });

const BILLING = { name: "billing", examples: ["I was charged twice", "Where is my invoice?"] };
const TECH = { name: "tech", examples: ["The installer crashes", "error when I open the app"] };

describe("triage", () => {
  test("an added example counts within seconds on every replica, and so do operators' decisions", async () => {
    const stopFirst = await world.start();
    const stopSecond = await world.start();
    const project = await newProject([BILLING, TECH]);
    const warm = await Promise.all(Array.from({ length: 20 }, () => ask(project, "Where is my invoice?")));
    expect(new Set(warm)).toEqual(new Set(["billing"]));

    const tech = (await world.store.agents.list(project)).find(({ name }) => name === "tech");
    if (tech === undefined) throw new Error("the agent is gone");
    const examples = [...tech.examples, "my flimflam wobbles"];
    await world.store.agents.update(project, { id: tech.id }, { examples });
    await stopFirst();
    await isAnsweredBy(project, "the flimflam wobbles", "tech");

    await world.start();
    expect(await ask(project, "Where is my invoice?")).toBe("billing");
    await world.store.triageMessages.record(project, {
      messageId: newId(),
      ticketId: newId(),
      agentId: tech.id,
      text: "the gizmo on the invoice is upside down",
    });
    await stopSecond();
    await isAnsweredBy(project, "gizmo upside down on my invoice", "tech");
  });

  test("messages similar to ones that operators assigned to no agent are handed over to a person", async () => {
    await world.start();
    const project = await newProject([BILLING, TECH]);
    for (const text of ["what is the weather like", "will it rain tomorrow", "how warm is it in Berlin"]) {
      await world.store.triageMessages.record(project, { messageId: newId(), ticketId: newId(), agentId: null, text });
    }
    expect(["billing", "tech"]).not.toContain(await ask(project, "is it going to rain in Berlin tomorrow?"));
    expect(await ask(project, "Where is my invoice?")).toBe("billing");
  });

  test("of agents with only names and documents, the one whose documents match answers", async () => {
    await world.start();
    const project = await newProject([]);
    const deps = { store: world.store, log: testLog() };
    const documents = {
      red: "# Pairing\n\nHold the button of the remote for three seconds. The lamp blinks while it pairs.",
      blue: "# Refunds\n\nMoney goes back to the card within five days of the return.",
    };
    for (const [name, text] of Object.entries(documents)) {
      const { kb } = await ensureKb(deps, project, name);
      await addDocument(deps, project, kb.id, { key: name, text, mime: "text/markdown" });
      await world.store.agents.insert(project, { name, kbIds: [kb.id], fixedReply: name, reviewPolicy: "auto" });
    }
    expect(await ask(project, "How do I pair the remote?")).toBe("red");
    expect(await ask(project, "When is the money of my return back on the card?")).toBe("blue");
  });

  test("the agent of a conversation keeps it unless a message clearly matches another one", async () => {
    await world.start();
    const project = await newProject([BILLING, TECH]);
    const chatId = newId();
    expect(await ask(project, "the installer crashes", chatId)).toBe("tech");
    expect(await ask(project, "and how long does that take?", chatId)).toBe("tech");
    expect(await ask(project, "I was charged twice, where is my invoice?", chatId)).toBe("billing");
  });
});
