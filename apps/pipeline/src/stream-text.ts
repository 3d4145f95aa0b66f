import { setTimeout } from "node:timers/promises";
import type { OnText } from "@svc/agents";
import { announceText } from "@svc/queue";
import { chosenAgent } from "./run.ts";
import type { Run, StageContext } from "./run.ts";

/** Text that arrives within this time is written together. */
const COLLECT_MS = 100;
/** Longer answers are no longer updated while they grow. */
const MAX_TEXT_CHARS = 100_000;

const ignore: OnText = () => undefined;

/**
 * Returns true if the answer is sent without a review to a caller who may watch it grow: no person has the
 * conversation or must look first, it is not sent by callback, and the run makes no draft.
 */
function isShown(run: Run): boolean {
  const { ticket, message } = run;
  const isOwned = ticket === null || ticket.assignee !== null || ticket.stage === "review" || "review" in run;
  return !isOwned && message.mode !== "webhook" && chosenAgent(run)?.reviewPolicy === "auto";
}

/** Returns the text without half a surrogate pair at its end. */
const wholeCharacters = (text: string) => text.replace(/[\uD800-\uDBFF]$/, "");

/**
 * Shows an answer to waiting callers while it is being made: writes the text so far several times a second, under the
 * lease of the run, so that a worker that has lost it writes nothing. Errors are ignored, since the reply is sent in
 * any case. An answer that may be held for a person is not shown.
 */
export function createTextStream({ store, queues, log }: StageContext, run: Run): OnText {
  if (!isShown(run)) return ignore;
  const { project, ticketId, messageId, leaseId } = run.message;
  let text = "";
  let written = "";
  let isWriting = false;
  let isOver = false;

  async function write(): Promise<void> {
    isWriting = true;
    try {
      // After the decision of the gate, the answer is being sent or held.
      while (!isOver && run.gate === null && !run.signal.aborted && text !== written) {
        written = text;
        const isMine = await store.unfinishedReplies.write(project, {
          ticketId,
          messageId,
          leaseId,
          text: wholeCharacters(written),
        });
        if (!isMine) isOver = true;
        else announceText(queues, ticketId);
        await setTimeout(COLLECT_MS, undefined, { ref: false });
      }
    } catch (error) {
      isOver = true;
      log.debug({ error, messageId }, "partial answer cannot be shown; the reply is not affected");
    } finally {
      isWriting = false;
    }
  }

  return (piece) => {
    text = text.slice(0, piece.offset) + piece.text;
    if (text.length > MAX_TEXT_CHARS) isOver = true;
    if (!isWriting && !isOver) void write();
  };
}
