import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { newId } from "@svc/store";
import type { AnswerStep, ProjectId } from "@svc/store";
import { answeredRun, claimNow, newMessage, openAndFinish, openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;
let project: ProjectId;
let agentId: string;

beforeAll(async () => {
  db = await openTestStore();
  project = await db.newProject();
  agentId = (await db.store.agents.insert(project, { name: "Guide", autoThreshold: 0.6 })).id;
});
afterAll(() => db.close());

const DAY_MS = 86_400_000;
const AROUND_NOW = { from: new Date(Date.now() - DAY_MS), to: new Date(Date.now() + DAY_MS), timeZone: "UTC" };

/** Inserts a conversation with these steps, a second apart; all answers have this confidence. */
async function plant(of: ProjectId, steps: readonly AnswerStep[], confidence = 0.5, at = new Date()): Promise<string> {
  const { ticketId } = await db.store.messages.accept(of, newMessage());
  const claimed = await claimNow(db.store, of, ticketId);
  await openAndFinish(db.store, answeredRun(claimed, []));
  for (const [index, step] of steps.entries()) {
    await db.sql(
      `INSERT INTO ticket_events (ticket_id, project_id, actor, at, answer_step, answer_confidence, answer_agent_id)
       VALUES ($1, $2, 'test', $3, $4, $5, $6)`,
      [ticketId, of, new Date(at.getTime() + index * 1_000), step, confidence, agentId],
    );
  }
  return ticketId;
}

async function followEvents(): Promise<void> {
  while (await db.store.ticketIndex.follow(() => []));
}

async function read(of: ProjectId, query = {}) {
  await followEvents();
  return db.store.stats.readAnswers(of, { ...AROUND_NOW, ...query });
}

describe("the outcome of an answer", () => {
  test.each<[readonly AnswerStep[], object]>([
    [["sent"], { answers: 1, automatic: 1, accepted: 1 }],
    [["sent", "sent"], { answers: 2, automatic: 2, accepted: 2 }],
    [["sent", "person"], { answers: 1, automatic: 1, askedPerson: 1 }],
    [["sent", "badRating"], { answers: 1, automatic: 1, ratedBadly: 1 }],
    [["sent", "reject"], { answers: 1, automatic: 1, accepted: 1 }],
    [["sent", "sent", "badRating"], { answers: 2, automatic: 2, accepted: 1, ratedBadly: 1 }],
    [["held"], { answers: 1, undecided: 1 }],
    [["held", "person"], { answers: 1, undecided: 1 }],
    [["held", "approve"], { answers: 1, accepted: 1 }],
    [["held", "edit"], { answers: 1, edited: 1 }],
    [["held", "reject"], { answers: 1, rejected: 1 }],
    [["held", "approve", "badRating"], { answers: 1, ratedBadly: 1 }],
    [["held", "edit", "person"], { answers: 1, askedPerson: 1 }],
    [["held", "reject", "badRating"], { answers: 1, rejected: 1 }],
    // Dismissed by closing the ticket, which was undone.
    [["held", "reject", "approve"], { answers: 1, accepted: 1 }],
    // The first draft was replaced before anyone decided about it.
    [["held", "held", "edit"], { answers: 1, edited: 1 }],
    [["person", "held", "approve", "sent"], { answers: 2, automatic: 1, accepted: 2 }],
  ])("of %j is %j", async (steps, counts) => {
    const own = await db.newProject();
    await plant(own, steps);
    const none = { automatic: 0, accepted: 0, edited: 0, askedPerson: 0, ratedBadly: 0, rejected: 0, undecided: 0 };
    const all = { ...none, ...counts };
    expect(await read(own)).toEqual([
      {
        agentId,
        name: null,
        reviewPolicy: null,
        autoThreshold: null,
        ...all,
        byConfidence: [{ percent: 50, ...all }],
      },
    ]);
  });

  test("is a bad rating for a score of 2 or less", async () => {
    const own = await db.newProject();
    for (const score of [1, 2, 3, 5]) {
      const ticketId = await plant(own, ["sent"]);
      expect(await db.store.visitors.rate(own, ticketId, { score, comment: null })).not.toBeNull();
    }
    expect(await read(own)).toMatchObject([{ answers: 4, accepted: 2, ratedBadly: 2 }]);
  });

  test("counts at the confidence of the answer, rounded down to whole percents", async () => {
    for (const [confidence, steps] of [
      [0.29, ["sent"]],
      [0.299, ["held", "edit"]],
      [0.3, ["sent", "person"]],
      [1, ["held", "approve"]],
    ] as const) {
      await plant(project, steps, confidence);
    }
    const [agent] = await read(project);
    expect(agent).toMatchObject({ name: "Guide", reviewPolicy: "auto_if", answers: 4, automatic: 2, accepted: 2 });
    expect(agent?.autoThreshold).toBeCloseTo(0.6);
    expect(agent?.byConfidence).toMatchObject([
      { percent: 29, answers: 2, automatic: 1, accepted: 1, edited: 1 },
      { percent: 30, answers: 1, askedPerson: 1 },
      { percent: 100, answers: 1, accepted: 1 },
    ]);
  });

  test("counts answers of the period with their later outcomes, by channel and by agent", async () => {
    const own = await db.newProject();
    const to = new Date(AROUND_NOW.from.getTime() + 500);
    await plant(own, ["held", "edit"], 0.5, AROUND_NOW.from);
    await plant(own, ["sent"]);
    expect(await read(own, { to })).toMatchObject([{ answers: 1, edited: 1 }]);
    expect(await read(own)).toMatchObject([{ answers: 2 }]);
    expect(await read(own, { channelId: "widget" })).toEqual([]);
    expect(await read(own, { agentId: newId() })).toEqual([]);
    expect(await read(own, { agentId })).toMatchObject([{ answers: 2 }]);
  });

  test("counts in the project that works on the ticket", async () => {
    const [home, other] = [await db.newProject(), await db.newProject()];
    const ticketId = await plant(home, ["sent"]);
    await db.sql("UPDATE tickets SET project_id = $2 WHERE id = $1", [ticketId, other]);
    await db.sql("INSERT INTO ticket_events (ticket_id, project_id, actor) VALUES ($1, $2, 'test')", [ticketId, home]);
    expect(await read(home)).toEqual([]);
    expect(await read(other)).toMatchObject([{ answers: 1, accepted: 1 }]);
  });
});

test("the counts only read the index of steps", async () => {
  const ticketId = await plant(project, ["sent"]);
  // In a table of a few pages the planner may prefer to read all of it.
  await db.sql(
    "INSERT INTO ticket_events (ticket_id, project_id, actor) SELECT $1, $2, 'test' FROM generate_series(1, 5000)",
    [ticketId, project],
  );
  await db.sql("VACUUM (ANALYZE) ticket_events");
  const plan = await db.sql<{ "QUERY PLAN": string }>(
    `EXPLAIN SELECT id, ticket_id, at, answer_step, answer_confidence, answer_agent_id FROM ticket_events
     WHERE project_id = '${project}' AND at >= now() - interval '1 day' AND answer_step IS NOT NULL`,
  );
  expect(plan.map((row) => row["QUERY PLAN"]).join("\n")).toContain("Index Only Scan using ticket_events_answers");
});
