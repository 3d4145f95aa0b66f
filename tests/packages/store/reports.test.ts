import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { newId } from "@svc/store";
import type { ProjectId, ReportSpan } from "@svc/store";
import { openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;
let project: ProjectId;

beforeAll(async () => {
  db = await openTestStore();
});
afterAll(() => db.close());
beforeEach(async () => {
  project = await db.newProject();
});

const ANN = `operator:${newId()}`;
const BEN = `operator:${newId()}`;
const AGENT = newId();

/** A conversation: times are RFC 3339. */
interface Planted {
  begunAt: string;
  channelId?: string;
  agentId?: string;
  repliedAt?: string;
  resolvedAt?: string;
  stage?: string;
  /** Operators' decisions: time, actor, decision, and the target of a breach or the draft of an edit. */
  decisions?: [at: string, actor: string, decision: string, target?: string | undefined, draft?: string][];
  rating?: { at: string; score: number; comment?: string };
  /** Times at which messages were processed, and whether their answers were sent. */
  runs?: [at: string, sends: boolean][];
  home?: ProjectId;
}

/** Inserts a conversation as the pipeline, operators and visitors store it. */
async function plant({ begunAt, channelId = "widget", decisions = [], runs = [], ...rest }: Planted): Promise<string> {
  const ticketId = newId();
  const { agentId = null, repliedAt = null, resolvedAt = null, stage = "done", rating, home = project } = rest;
  await db.sql(
    `INSERT INTO tickets (id, home_project_id, project_id, channel_id, chat_id, subject, status, stage, agent_id,
       created_at, first_reply_at, resolved_at)
     VALUES ($1::uuid, $9, $2, $3, $1::uuid::text, '', $8, $4, $5, $6, $7, $10)`,
    [
      ticketId,
      project,
      channelId,
      stage,
      agentId,
      begunAt,
      repliedAt,
      resolvedAt === null ? "pending" : "resolved",
      home,
      resolvedAt,
    ],
  );
  await db.sql(
    `INSERT INTO ticket_list (ticket_id, project_id, created_us, updated_us, urgency, version, status, stage, channel_id,
       agent_id, foreign_chat_id, tag_keys)
     SELECT id, project_id, extract(epoch FROM created_at) * 1000000, extract(epoch FROM created_at) * 1000000, 0, 1,
       status, stage, channel_id, agent_id, CASE WHEN home_project_id <> project_id THEN chat_id END, '{}'
     FROM tickets WHERE id = $1`,
    [ticketId],
  );
  const events = [
    ...runs.map(([at, sends]) => ({ at, actor: "pipeline", messageId: newId(), data: { gate: { sends } } })),
    ...decisions.map(([at, actor, decision, target, draft]) => ({
      at,
      actor,
      messageId: null,
      data: { decision, target, draft },
    })),
  ].toSorted((one, other) => (one.at < other.at ? -1 : 1));
  for (const { at, actor, messageId, data } of events) {
    await db.sql(
      `INSERT INTO ticket_events (ticket_id, project_id, message_id, at, actor, data, answer_step)
       VALUES ($1, $2, $3, $4, $5, $6, CASE WHEN $6::jsonb ->> 'decision' IN ('reject', 'reply', 'resolve') THEN 'reject'
         WHEN $6::jsonb ->> 'decision' IN ('approve', 'edit') THEN $6::jsonb ->> 'decision'
         WHEN $6::jsonb #>> '{gate,sends}' = 'false' THEN 'held' END)`,
      [ticketId, home, messageId, at, actor, JSON.stringify(data)],
    );
  }
  if (rating !== undefined) {
    await db.sql("INSERT INTO visitors (ticket_id, project_id, score, comment, rated_at) VALUES ($1, $2, $3, $4, $5)", [
      ticketId,
      home,
      rating.score,
      rating.comment ?? null,
      rating.at,
    ]);
  }
  return ticketId;
}

/** The second week of November 2026, from Monday to Sunday. */
const WEEK: ReportSpan = {
  from: new Date("2026-11-09T00:00:00Z"),
  to: new Date("2026-11-16T00:00:00Z"),
  timeZone: "Europe/Berlin",
  business: null,
};
const read = (span: Partial<ReportSpan> = {}) => db.store.reports.read(project, { ...WEEK, ...span });

describe("a report", () => {
  test("counts what happened in the period and in the one before it, each once", async () => {
    await plant({
      begunAt: "2026-11-10T08:00:00Z",
      repliedAt: "2026-11-10T08:00:02Z",
      runs: [["2026-11-10T08:00:02Z", true]],
    });
    await plant({ begunAt: "2026-11-11T08:00:00Z", stage: "review", runs: [["2026-11-11T08:00:02Z", false]] });
    await plant({ begunAt: "2026-11-03T08:00:00Z", repliedAt: "2026-11-03T08:00:02Z" });
    // Started before, resolved in the period.
    await plant({
      begunAt: "2026-11-03T08:00:00Z",
      repliedAt: "2026-11-03T08:30:00Z",
      resolvedAt: "2026-11-09T08:00:00Z",
    });
    const { current, previous } = await read();
    expect(current.total).toMatchObject({ conversations: 2, messages: 2, automatic: 1, handoffs: 1, resolved: 1 });
    expect(previous.total).toMatchObject({ conversations: 2, messages: 0, resolved: 0 });
    expect(current.total).toMatchObject({ firstReplyP50Ms: 2_000, resolutionP50Ms: 6 * 86_400_000 });
    expect(previous.total).toMatchObject({ firstReplyP50Ms: 2_000, firstReplyP90Ms: 1_800_000, resolutionP50Ms: null });
    expect(await read({ channelId: "api" })).toMatchObject({ current: { total: { conversations: 0, messages: 0 } } });
  });

  test("counts as self-service only conversations in which an agent has replied and no person took part", async () => {
    const replied = { begunAt: "2026-11-10T08:00:00Z", repliedAt: "2026-11-10T08:00:02Z" };
    await plant(replied);
    await plant({
      ...replied,
      resolvedAt: "2026-11-10T09:00:00Z",
      decisions: [["2026-11-10T09:00:00Z", ANN, "resolve"]],
    });
    await plant({ ...replied, stage: "review" });
    for (const decision of ["reply", "approve", "edit", "reject"]) {
      await plant({ ...replied, decisions: [["2026-11-10T08:00:01Z", ANN, decision]] });
    }
    await plant({ begunAt: "2026-11-10T08:00:00Z" });
    expect((await read()).current.total).toMatchObject({ conversations: 8, selfService: 2 });
  });

  test("counts as rejections only decisions against a waiting draft", async () => {
    const begunAt = "2026-11-10T08:00:00Z";
    const reply: [string, string] = [ANN, "reply"];
    await plant({
      begunAt,
      runs: [["2026-11-10T08:00:02Z", false]],
      decisions: [
        ["2026-11-10T09:00:00Z", ...reply],
        ["2026-11-10T10:00:00Z", ...reply],
        ["2026-11-10T11:00:00Z", ANN, "resolve"],
      ],
    });
    expect((await read()).current.total).toMatchObject({ replies: 2, rejections: 1 });
  });

  test("counts a text in place of an empty draft as a reply, and not as an edit, as the other statistics do", async () => {
    const at = "2026-11-10T09:00:00Z";
    for (const draft of ["", "We open at nine."]) {
      await plant({ begunAt: "2026-11-10T08:00:00Z", decisions: [[at, ANN, "edit", undefined, draft]] });
    }
    expect((await read()).current.total).toMatchObject({ replies: 2, edits: 1 });
    expect((await db.store.stats.read(project, WEEK)).total).toMatchObject({ edits: 1 });
  });

  test("evaluates first replies as of the end of the period", async () => {
    await plant({ begunAt: "2026-11-06T08:00:00Z", repliedAt: "2026-11-06T08:00:02Z" });
    await plant({ begunAt: "2026-11-06T08:00:00Z", repliedAt: "2026-11-12T08:00:00Z" });
    expect((await read()).previous.total).toMatchObject({ firstReplyP50Ms: 2_000, firstReplyP90Ms: 2_000 });
  });

  test("attributes to each operator their replies, first replies, resolved tickets, and ratings", async () => {
    await plant({
      begunAt: "2026-11-10T08:00:00Z",
      agentId: AGENT,
      repliedAt: "2026-11-10T08:10:00Z",
      resolvedAt: "2026-11-10T10:00:00Z",
      decisions: [
        ["2026-11-10T08:10:00Z", ANN, "approve"],
        ["2026-11-10T09:00:00Z", BEN, "edit"],
        ["2026-11-10T10:00:00Z", ANN, "resolve"],
      ],
      rating: { at: "2026-11-10T09:30:00Z", score: 2, comment: "=1+1" },
    });
    // The agent replied first.
    await plant({
      begunAt: "2026-11-10T08:00:00Z",
      repliedAt: "2026-11-10T08:00:01Z",
      decisions: [["2026-11-10T08:20:00Z", ANN, "reply"]],
      rating: { at: "2026-11-10T09:30:00Z", score: 5 },
    });
    const { groups } = (await read()).current;
    expect(groups.operators.get(ANN)).toMatchObject({
      replies: 2,
      approvals: 1,
      edits: 0,
      resolved: 1,
      firstReplyP50Ms: 600_000,
      firstReplyP90Ms: 600_000,
      teamReplyP50Ms: 600_000,
      teamReplyP90Ms: 1_200_000,
      ratings: 1,
      goodRatings: 1,
    });
    expect(groups.operators.get(BEN)).toMatchObject({ replies: 1, edits: 1, resolved: 0, ratings: 1, badRatings: 1 });
    expect([...groups.operators.keys()]).toHaveLength(2);
    expect(groups.agents.get(AGENT)).toMatchObject({ conversations: 1, ratings: 1, badRatings: 1 });
    const page = { limit: 10, hasComment: true };
    expect(await db.store.reports.listRatings(project, WEEK, page)).toEqual([
      expect.objectContaining({ score: 2, comment: "=1+1", agentId: AGENT, operator: BEN, channelId: "widget" }),
    ]);
    expect(await db.store.reports.listRatings(project, WEEK, { ...page, hasComment: false })).toHaveLength(2);
  });

  test("counts breaches of SLA targets by kind", async () => {
    await plant({
      begunAt: "2026-11-10T08:00:00Z",
      decisions: [
        ["2026-11-10T09:00:00Z", "service", "sla_breached", "first_reply"],
        ["2026-11-10T10:00:00Z", "service", "sla_breached", "next_reply"],
        ["2026-11-10T11:00:00Z", "service", "sla_breached", "next_reply"],
        ["2026-11-16T11:00:00Z", "service", "sla_breached", "resolution"],
      ],
    });
    expect((await read()).current.total).toMatchObject({
      firstReplyBreaches: 1,
      nextReplyBreaches: 2,
      resolutionBreaches: 0,
      replies: 0,
    });
    await plant({ begunAt: "2026-11-10T08:00:00Z", rating: { at: "2026-11-11T08:00:00Z", score: 1 } });
    expect(await db.store.reports.readSignals(project, WEEK)).toEqual({
      ratings: 1,
      badRatings: 1,
      firstReplyBreaches: 1,
      nextReplyBreaches: 2,
      resolutionBreaches: 0,
    });
  });

  test("has days, hours and weekdays of its time zone", async () => {
    // A quarter past midnight on Tuesday in Berlin.
    await plant({ begunAt: "2026-11-09T23:15:00Z" });
    const { current } = await read();
    expect([...current.groups.hours].filter(([, { conversations }]) => conversations > 0)).toMatchObject([["0", {}]]);
    expect([...current.groups.weekdays.keys()]).toEqual(["2"]);
    expect([...current.groups.time.keys()]).toEqual([String(Date.parse("2026-11-09T23:00:00Z"))]);
    // From 01:00 on Monday to 01:00 on the next Monday.
    expect(current.points).toHaveLength(8);
    expect(current.points[1]).toEqual(new Date("2026-11-09T23:00:00Z"));
  });

  test("measures waits in business time", async () => {
    const period = (day: number) => ({ start: Date.UTC(2026, 10, day, 9), end: Date.UTC(2026, 10, day, 17) });
    const business = [period(9), period(10), period(12)];
    // Half an hour of the 10th, nothing of the 11th, a quarter of an hour of the 12th.
    await plant({ begunAt: "2026-11-10T16:30:00Z", repliedAt: "2026-11-12T09:15:00Z" });
    expect((await read({ business })).current.total.firstReplyP50Ms).toBe(45 * 60_000);
    // At night, outside business hours.
    await plant({ begunAt: "2026-11-13T01:00:00Z", repliedAt: "2026-11-13T02:00:00Z", channelId: "api" });
    expect((await read({ business, channelId: "api" })).current.total.firstReplyP50Ms).toBe(0);
    expect((await read({ channelId: "api" })).current.total.firstReplyP50Ms).toBe(3_600_000);
    // Of a wait that began before the business hours, only business time counts.
    await plant({ begunAt: "2026-11-09T08:00:00Z", repliedAt: "2026-11-09T10:00:00Z", channelId: "messenger" });
    expect((await read({ business, channelId: "messenger" })).current.total.firstReplyP50Ms).toBe(3_600_000);
  });

  test("counts tickets in the project that works on them", async () => {
    const home = await db.newProject();
    await plant({
      home,
      begunAt: "2026-11-10T08:00:00Z",
      repliedAt: "2026-11-10T08:00:02Z",
      runs: [["2026-11-10T08:00:02Z", true]],
      decisions: [["2026-11-10T09:00:00Z", ANN, "reply"]],
      rating: { at: "2026-11-10T09:30:00Z", score: 4, comment: "Fine" },
    });
    const expected = { conversations: 1, messages: 1, replies: 1, ratings: 1, goodRatings: 1 };
    expect((await read()).current.total).toMatchObject(expected);
    const elsewhere = await db.store.reports.read(home, WEEK);
    expect(elsewhere.current.total).toMatchObject({ conversations: 0, messages: 0, replies: 0, ratings: 0 });
    expect(await db.store.reports.listRatings(home, WEEK, { limit: 10, hasComment: true })).toEqual([]);
  });
});

test("the backlog has tickets that wait for an operator, by age", async () => {
  const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
  for (const hours of [0.5, 2, 30, 31, 400]) await plant({ begunAt: ago(hours), stage: "review" });
  await plant({ begunAt: ago(2), stage: "done" });
  await plant({ begunAt: ago(2), stage: "review", resolvedAt: ago(1) });
  const rows = await db.store.reports.readBacklog(project, {});
  expect(rows.map(({ upToHours, tickets }) => [upToHours, tickets])).toEqual([
    [1, 1],
    [4, 1],
    [24, 0],
    [72, 2],
    [168, 0],
    [null, 1],
  ]);
  expect(rows[0]).toMatchObject({ unassigned: 1, snoozed: 0 });
});

test("decisions of a period are found by their own index, without reading events of the pipeline", async () => {
  const begunAt = "2026-11-10T08:00:00Z";
  await plant({ begunAt, decisions: [[begunAt, ANN, "reply"]], runs: [[begunAt, true]] });
  await db.sql(
    `INSERT INTO ticket_events (ticket_id, project_id, at, actor)
     SELECT gen_random_uuid(), $1, '2026-11-10T08:00:00Z', 'pipeline' FROM generate_series(1, 5000)`,
    [project],
  );
  await db.sql("ANALYZE ticket_events");
  const plan = await db.sql<{ "QUERY PLAN": string }>(
    `EXPLAIN SELECT ticket_id, at, actor, data FROM ticket_events
     WHERE project_id = '${project}' AND at >= '2026-11-09' AND at < '2026-11-16' AND data ? 'decision'`,
  );
  expect(plan.map((row) => row["QUERY PLAN"]).join("\n")).toContain("project_id_at_idx");
});
