import type { Principal } from "@svc/auth";
import { withinMs } from "@svc/primitives";
import { ticketIdOf } from "@svc/store";
import type { Response } from "express";
import type { ApiContext } from "./api-context.ts";
import type { CallWriter } from "./call-writer.ts";
import { replay } from "./idempotency.ts";
import type { FoundPlace } from "./idempotency.ts";
import { finalSync, pendingSync } from "./modes.ts";
import { watchAnswer } from "./watch-answer.ts";

const PENDING = 202;

/** How long a repeat that found nothing better waits until the next one can look. */
const RELEASE_WAIT_MS = 1_000;

/** The conversation of a sync call that ended without an agent's reply; null for any other answer. */
function pendingChatOf({ status, body }: { status: number; body: string }): string | null {
  if (status !== PENDING) return null;
  // Written by pendingSync, or by another mode's respond.
  const { mode, chatId } = JSON.parse(body) as { mode: string; chatId: string };
  return mode === "sync" ? chatId : null;
}

/**
 * A repeat of a sync call that timed out or was held for review: when the reply has come since and nobody has taken it,
 * this call gets it, and so do later repeats; so it is with a person's decision that there will be none. False when
 * there is nothing better than the answer that was given.
 */
export async function repeatTimedOutCall(
  { store, persister, presence }: ApiContext,
  { project }: Principal,
  { answer, place, reclaim }: Extract<FoundPlace, { kind: "answered" }>,
  { response, writer }: { response: Response; writer: CallWriter },
): Promise<boolean> {
  const chatId = pendingChatOf(answer);
  if (chatId === null) return false;
  const others = await reclaim();
  if (others !== null) {
    await replay(response, writer, others);
    return true;
  }
  const ticketId = ticketIdOf(project, "api", chatId);
  const giveBack = async () => {
    await persister.persist("releasing replies", () => store.replies.release(project, ticketId, place.callId));
    await place.release();
  };
  const { messageId } = place;
  const taking = store.replies.takeForCall(project, messageId, presence.instance, place.callId);
  // The store may have carried it out all the same.
  taking.catch(() => void giveBack());
  const outcome = await taking;
  const replies = outcome?.replies ?? [];
  const ids = replies.map((reply) => reply.id);
  const names = { chatId, ticketId, messageId };
  const final = outcome === null ? null : finalSync(names, outcome);
  const better =
    final ?? (replies.length === 0 ? null : pendingSync(names, { status: "in_review", timedOut: false, replies }));
  // Others may count this process as dead, and have taken the same replies.
  if (better === null || !presence.isSure()) {
    await withinMs(giveBack(), RELEASE_WAIT_MS);
    return false;
  }
  void watchAnswer(response).then((isFlushed) => (isFlushed ? place.keep(better, ids) : giveBack()));
  await writer.send(better);
  return true;
}
