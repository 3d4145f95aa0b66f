import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { localAdministrator } from "@svc/auth";
import { addDocument, ensureKb } from "@svc/knowledge";
import { getTicket, retryDeadLetter, reviewTicket } from "@svc/operations";
import { newId } from "@svc/store";
import type { Project } from "@svc/store";
import { testLog, waitFor } from "@svc/testing";
import { openPipelines } from "./support/open-pipelines.ts";
import type { Pipelines } from "./support/open-pipelines.ts";
import { plantPoison } from "./support/plant-poison.ts";

const SHOP = `# Questions

## How long does shipping take?

Parcels arrive within three working days.

## How do I return an item?

Print the label from your account and bring the parcel to any post office.
`;
const SHIPPING = "How long does shipping take?";
const RETURNS = "How do I return an item?";

let world: Pipelines;
let shop: Project;

beforeAll(async () => {
  world = await openPipelines();
  const { store } = world;
  shop = (await store.projects.ensure(`shop-${newId()}`)).project;
  const deps = { store, log: testLog() };
  const { kb } = await ensureKb(deps, shop.id, "shop");
  await addDocument(deps, shop.id, kb.id, { key: "faq", text: SHOP, mime: "text/markdown" });
  await store.agents.insert(shop.id, { name: "guide", kbIds: [kb.id], reviewPolicy: "review" });
  await world.start();
});

afterAll(() => world.close());

const operator = () => localAdministrator(shop);
const deps = () => ({ store: world.store, queues: world.queues, log: testLog() });
const read = (ticketId: string) => getTicket(deps(), operator(), ticketId);

/** Sends a message and waits until it is held, or in another state if given. */
async function ask(chatId: string, text: string, state = "held") {
  const sent = await world.send(shop.id, chatId, text);
  await waitFor(async () => (await world.readMessage(sent.messageId))?.state === state, {
    what: `"${text}" to be ${state}`,
    timeoutMs: 30_000,
  });
  return sent;
}

test("a draft answers every held question, also when it is regenerated, and approving it answers them all", async () => {
  const { ticketId, messageId } = await ask("two questions", SHIPPING);
  expect((await read(ticketId)).draft).toMatchObject({ text: expect.stringContaining("three working days") });
  const second = await ask("two questions", RETURNS);
  const isWhole = {
    text: expect.stringMatching(/three working days[\s\S]*\n\n[\s\S]*post office/),
    covers: [messageId, second.messageId],
    isStale: false,
  };
  const before = await read(ticketId);
  expect(before.draft).toMatchObject(isWhole);
  expect(before.draft?.sources.map(({ quote }) => quote).join(" ")).toMatch(/three working days.*post office/s);

  await reviewTicket.regenerate(deps(), operator(), { id: ticketId }, {});
  const after = await waitFor(
    async () => {
      const ticket = await read(ticketId);
      return ticket.stage === "review" && ticket.version > before.version + 1 ? ticket : null;
    },
    { what: "the draft that was made anew" },
  );
  expect(after.draft).toMatchObject(isWhole);
  await reviewTicket.approve(deps(), operator(), { id: ticketId, versions: [after.version] }, {});
  await waitFor(async () => (await read(ticketId)).stage === "done", { what: "the reply" });
  expect((await world.listReplies(ticketId)).filter(({ author }) => author === "agent")).toEqual([
    expect.objectContaining({ text: isWhole.text, inReplyTo: second.messageId }),
  ]);
});

test("a draft is not approved while a message has failed, until that message was retried and is in the draft", async () => {
  const { ticketId } = await ask("a failure", SHIPPING);
  const poison = await plantPoison(world.databaseUrl, RETURNS);
  const bad = await world.send(shop.id, "a failure", RETURNS);
  await waitFor(
    async () => {
      await world.hurry(bad.messageId);
      return (await world.readMessage(bad.messageId))?.state === "failed";
    },
    { what: "the dead letter", timeoutMs: 30_000 },
  );
  const ticket = await read(ticketId);
  expect(ticket).toMatchObject({ stage: "review", draft: { isStale: true } });
  const approving = reviewTicket.approve(deps(), operator(), { id: ticketId, versions: [ticket.version] }, {});
  await expect(approving).rejects.toMatchObject({ code: "version_conflict" });

  await poison.cure();
  await retryDeadLetter(deps(), operator(), bad.messageId);
  await waitFor(async () => (await world.readMessage(bad.messageId))?.state === "held", { what: "the second try" });
  const { version, draft } = await read(ticketId);
  expect(draft).toMatchObject({ text: expect.stringMatching(/three working days[\s\S]*post office/), isStale: false });
  await reviewTicket.approve(deps(), operator(), { id: ticketId, versions: [version] }, {});
  await waitFor(async () => (await read(ticketId)).stage === "done", { what: "the reply" });
});
