import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { AgentAssignment } from "@svc/contracts";
import { newId } from "@svc/store";
import type { ProjectId } from "@svc/store";
import { answeredRun, claimNow, newMessage, openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;
let project: ProjectId;

beforeAll(async () => {
  db = await openTestStore();
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.sql("DELETE FROM operators");
  await db.sql("DELETE FROM tickets");
  project = await db.newProject();
});

const DRAFT = { text: "The draft.", markdown: false, sources: [], confidence: 0.4, why: "not sure" };

const newAgent = async (assignment: AgentAssignment) =>
  (await db.store.agents.insert(project, { name: `agent ${newId()}`, assignment })).id;

async function newOperator(role: "operator" | "viewer" = "operator", of: ProjectId | null = project): Promise<string> {
  const roles = [{ project: of, role }];
  const operator = await db.store.operators.insert({ email: `${newId()}@example.com`, name: "Ann", roles });
  const id = operator?.id ?? "";
  await db.store.operators.setDuty(id, true);
  return id;
}

/** Creates a ticket of this agent that waits for review, with its entry in the ticket list. */
async function heldTicket(agentId: string, chatId: string = newId()): Promise<string> {
  const { ticketId } = await db.store.messages.accept(project, newMessage({ chatId }));
  const message = await claimNow(db.store, project, ticketId);
  await db.store.tickets.open(project, message);
  const held = { state: "held", stage: "review", status: "open", draft: DRAFT, agentId } as const;
  await db.store.tickets.finish(project, answeredRun(message, [], held));
  while (await db.store.ticketIndex.follow(() => []));
  return ticketId;
}

const assigneeOf = async (id: string) => (await db.store.ticketDetails.find(project, id))?.assignee;

/** Assigns like the sweep of one replica. */
async function assignAll(): Promise<void> {
  while (await db.store.ticketIndex.assignNext());
}

describe("tickets of an agent that assigns in turn", () => {
  test("go to the operators on duty who may answer, one after the other, and keep their draft", async () => {
    const agentId = await newAgent("round-robin");
    const [ann, ben] = [await newOperator(), await newOperator("operator", null)];
    await newOperator("viewer");
    await newOperator("operator", await db.newProject());
    const off = await newOperator();
    await db.store.operators.setDuty(off, false);
    const disabled = await newOperator();
    await db.store.operators.update(disabled, { disabled: true }, null);
    const tickets: string[] = [];
    for (let count = 0; count < 4; count++) tickets.push(await heldTicket(agentId));

    expect((await db.store.dueWork.find()).assignments).toBe(true);
    await assignAll();
    const assignees = await Promise.all(tickets.map(assigneeOf));
    expect(assignees).toEqual([ann, ben, ann, ben].map((id) => `operator:${id}`));
    const found = await db.store.ticketDetails.read(project, tickets[0] ?? "");
    expect(found?.ticket).toMatchObject({ stage: "review", status: "open" });
    expect(found?.contents.draft).toMatchObject({ text: DRAFT.text });
    expect(found?.contents.events.at(-1)).toMatchObject({
      actor: "service",
      data: { decision: "assign", assignee: `operator:${ann}`, rule: "round-robin" },
    });
    while (await db.store.ticketIndex.follow(() => []));
    expect((await db.store.dueWork.find()).assignments).toBe(false);
  });

  test("are assigned once each and evenly by several replicas at the same time", async () => {
    const agentId = await newAgent("round-robin");
    const operators = [await newOperator(), await newOperator(), await newOperator()];
    const tickets: string[] = [];
    for (let count = 0; count < 6; count++) tickets.push(await heldTicket(agentId));
    const replica = async () => {
      for (let count = 0; count < 12; count++) await db.store.ticketIndex.assignNext();
    };
    await Promise.all([replica(), replica(), replica()]);
    await assignAll();
    const assignees = await Promise.all(tickets.map(assigneeOf));
    for (const id of operators) expect(assignees.filter((assignee) => assignee === `operator:${id}`)).toHaveLength(2);
    const events = await db.sql("SELECT FROM ticket_events WHERE actor = 'service' AND ticket_id = ANY ($1)", [
      tickets,
    ]);
    expect(events).toHaveLength(6);
  });

  test("wait while no operator is on duty, while they are snoozed, and while they are assigned", async () => {
    const agentId = await newAgent("round-robin");
    const [waiting, snoozed, taken] = [await heldTicket(agentId), await heldTicket(agentId), await heldTicket(agentId)];
    await db.sql("UPDATE tickets SET snoozed_until = 'infinity' WHERE id = $1", [snoozed]);
    await db.sql("UPDATE tickets SET assignee = 'Ada' WHERE id = $1", [taken]);
    expect(await db.store.ticketIndex.assignNext()).toBe(false);
    expect((await db.store.dueWork.find()).assignments).toBe(false);
    const ann = await newOperator();
    await assignAll();
    expect(await Promise.all([waiting, snoozed, taken].map(assigneeOf))).toEqual([`operator:${ann}`, null, "Ada"]);
  });

  test("interrupt a run in progress, so that nothing is sent automatically after the assignment", async () => {
    const agentId = await newAgent("round-robin");
    const ticketId = await heldTicket(agentId, "under way");
    await db.store.messages.accept(project, newMessage({ chatId: "under way" }));
    const run = await claimNow(db.store, project, ticketId);
    await newOperator();
    // The run has added its message to the ticket.
    await db.store.tickets.open(project, run);
    await db.sql("UPDATE tickets SET stage = 'review' WHERE id = $1", [ticketId]);
    await assignAll();
    expect(await assigneeOf(ticketId)).toMatch(/^operator:/);
    expect(await db.store.tickets.finish(project, answeredRun(run, ["too late"], { agentId }))).toBeNull();
  });
});

test("tickets of other agents are not assigned", async () => {
  await newOperator();
  const ticketId = await heldTicket(await newAgent("none"));
  expect(await db.store.ticketIndex.assignNext()).toBe(false);
  expect((await db.store.dueWork.find()).assignments).toBe(false);
  expect(await assigneeOf(ticketId)).toBeNull();
});
