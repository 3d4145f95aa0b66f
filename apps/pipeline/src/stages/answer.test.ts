import { describe, expect, test } from "@jest/globals";
import { newId } from "@svc/store";
import { testLog, waitFor } from "@svc/testing";
import type { Run, StageContext } from "../run.ts";
import { createTextStream } from "./answer.ts";

/** Starts a run whose answer is sent without a review, and returns the written and announced texts. */
function begin(change: { run?: object; message?: object; ticket?: object; policy?: string } = {}) {
  const written: string[] = [];
  const announced: string[] = [];
  const answers: (boolean | Error)[] = [];
  const agent = { id: newId(), reviewPolicy: change.policy ?? "auto" };
  const stopping = new AbortController();
  const message = { project: newId(), ticketId: newId(), messageId: newId(), leaseId: newId(), mode: "sync" };
  const run = {
    message: { ...message, ...change.message },
    signal: stopping.signal,
    agents: [agent],
    triage: { agentId: agent.id },
    ticket: { status: "open", stage: "done", assignee: null, ...change.ticket },
    gate: null,
    ...change.run,
  } as unknown as Run;
  const context = {
    store: {
      unfinishedReplies: {
        write(_project: string, { text }: { text: string }) {
          written.push(text);
          const answer = answers.shift() ?? true;
          return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
        },
      },
    },
    queues: { wakeUps: { send: (_topic: string, ids: string[]) => announced.push(...ids) } },
    log: testLog(),
  } as unknown as StageContext;
  return { say: createTextStream(context, run), run, written, announced, answers, stop: () => stopping.abort() };
}

const until = (what: string, check: () => boolean) => waitFor(check, { what });

describe("an answer that is being made", () => {
  test("is written immediately and then in batches as it grows, and is replaced if it starts again", async () => {
    const { say, written, announced, run } = begin();
    say({ offset: 0, text: "He" });
    expect(written).toEqual(["He"]);
    say({ offset: 2, text: "ll" });
    say({ offset: 4, text: "o" });
    await until("the rest", () => written.length === 2);
    say({ offset: 0, text: "Good day" });
    await until("the new text", () => written.length === 3);
    expect(written).toEqual(["He", "Hello", "Good day"]);
    await until("the wake-ups", () => announced.length === 3);
    expect(new Set(announced)).toEqual(new Set([run.message.ticketId]));
  });

  test("is never written with half a surrogate pair", async () => {
    const { say, written } = begin();
    say({ offset: 0, text: "a🚚".slice(0, 2) });
    say({ offset: 2, text: "🚚".slice(1) });
    await until("the whole character", () => written.length === 2);
    expect(written).toEqual(["a", "a🚚"]);
  });

  test("is no longer written once the lease is lost, the store fails, the gate has decided, or the run has ended", async () => {
    for (const end of [false, new Error("service unavailable")]) {
      const { say, written, announced, answers } = begin();
      answers.push(end);
      say({ offset: 0, text: "a" });
      say({ offset: 1, text: "b" });
      const other = begin();
      other.say({ offset: 0, text: "a" });
      other.say({ offset: 1, text: "b" });
      await until("as much of another answer", () => other.written.length === 2);
      say({ offset: 2, text: "c" });
      expect([written, announced]).toEqual([["a"], []]);
    }
    const decided = begin();
    Object.assign(decided.run, { gate: { sends: true, why: "" } });
    decided.say({ offset: 0, text: "a" });
    const stopped = begin();
    stopped.stop();
    stopped.say({ offset: 0, text: "a" });
    expect([decided.written, stopped.written]).toEqual([[], []]);
  });

  test.each([
    ["may have to be reviewed", { policy: "auto_if" }],
    ["is always reviewed", { policy: "review" }],
    ["belongs to a person", { ticket: { assignee: "ann" } }],
    ["is in a review", { ticket: { stage: "review" } }],
    ["is spam", { ticket: { status: "spam" } }],
    ["goes by a callback", { message: { mode: "webhook" } }],
    ["is a draft for a person", { run: { review: {} } }],
    ["has no ticket yet", { run: { ticket: null } }],
  ])("is not shown where it %s", (_what, change) => {
    const { say, written } = begin(change);
    say({ offset: 0, text: "secret" });
    expect(written).toEqual([]);
  });
});
