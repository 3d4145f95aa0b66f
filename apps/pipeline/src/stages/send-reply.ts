import { routeReply } from "@svc/channel-manager";
import { QueueDownError } from "@svc/queue";
import type { RunOutcome } from "@svc/store";
import { move } from "../run.ts";
import type { Run } from "../run.ts";
import type { StageContext } from "../stage-context.ts";

/** The outcome of a run whose stages are all done. */
function outcomeOf(run: Run): RunOutcome {
  const { gate, answer, triage, message } = run;
  const sends = gate?.sends === true;
  if (sends) move(run, "done", "the reply is committed");
  return {
    message,
    state: sends ? "answered" : "held",
    failure: null,
    stage: run.stage,
    status: sends ? "pending" : "open",
    agentId: triage?.agentId ?? null,
    confidence: answer?.confidence ?? triage?.confidence ?? null,
    language: run.language,
    moves: run.moves,
    trace: {
      triage,
      gate,
      stageMs: run.stageMs,
      attempts: message.attempts,
      passages: run.passages?.hits.map(({ chunkId, score }) => ({ chunkId, score })) ?? [],
    },
    replies: run.replies.map((item) => ({ item, author: sends ? "agent" : "system" })),
    draft: sends
      ? null
      : {
          text: answer?.text ?? "",
          markdown: answer?.markdown ?? false,
          sources: answer?.sources ?? [],
          confidence: answer?.confidence ?? 0,
          why: gate?.why ?? "",
        },
  };
}

/** Makes what the other stages found real, and announces the replies. */
export async function sendReply(context: StageContext, run: Run): Promise<void> {
  run.hasMore = await commitOutcome(context, outcomeOf(run), run.message);
}

/**
 * Makes an outcome real in one transaction, fenced by the lease, so that replies exist exactly once; then announces
 * them. An announcement that is lost costs a second: everyone who waits looks again by himself. True when something
 * came into the conversation meanwhile; false also when another worker has the message: then nothing of this run exists.
 */
export async function commitOutcome(
  { store, queues, log }: StageContext,
  outcome: RunOutcome,
  { channelId, mode }: Pick<Run["message"], "channelId" | "mode">,
): Promise<boolean> {
  const { project, ticketId, messageId } = outcome.message;
  const finished = await store.tickets.finish(project, outcome);
  if (finished === null) {
    log.debug({ messageId, ticketId }, "another worker has taken this message over; its run counts");
    return false;
  }
  const places = finished.replies ?? { fromSeq: 0, toSeq: 0 };
  if (finished.replies !== null || outcome.state !== "answered") {
    // Without replies there is still news: whoever waits learns that a person has to look.
    routeReply(queues, channelId, { project, ticketId, messageId, mode, ...places }).catch((error: unknown) => {
      const text = "replies are committed but not announced; whoever waits finds them";
      if (error instanceof QueueDownError) log.debug({ ticketId }, text);
      else log.warn({ error, ticketId }, text);
    });
  }
  return finished.hasMore;
}
