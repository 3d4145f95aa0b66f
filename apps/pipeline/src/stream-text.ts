import { setTimeout } from "node:timers/promises";
import type { OnText } from "@svc/agents";
import { announceText } from "@svc/queue";
import { chosenAgent } from "./run.ts";
import type { Run, StageContext } from "./run.ts";

/** What comes within this time is written together. */
const COLLECT_MS = 100;
/** No answer is so long that people want to watch it grow further. */
const MAX_TEXT_CHARS = 100_000;

const ignore: OnText = () => undefined;

/**
 * Whether the answer goes out as soon as it is there, and somebody may want to see it grow: no person has the
 * conversation or has to look first, and it goes by no callback. A run that makes a draft for a person sends nothing.
 */
function isShown(run: Run): boolean {
  const { ticket, message } = run;
  const isOwned = ticket === null || ticket.assignee !== null || ticket.stage === "review" || "review" in run;
  return !isOwned && message.mode !== "webhook" && chosenAgent(run)?.reviewPolicy === "auto";
}

/** The text without half a character at its end: the other half is still to come. */
const wholeCharacters = (text: string) => text.replace(/[\uD800-\uDBFF]$/, "");

/**
 * Shows an answer while it is being made to those who wait for it: what it says so far is written several times a
 * second, under the lease of the run, so that a worker that has lost it writes nothing. What cannot be written is left
 * out, and no harm is done: the reply comes as ever. Of an answer that may be held for a person nothing is shown.
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
      // What the gate has decided on is on its way to the customer, or held.
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
