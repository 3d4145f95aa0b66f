import type { Principal } from "@svc/auth";
import { ticketIdOf } from "@svc/store";
import type { Response } from "express";
import type { ApiContext } from "./api-context.ts";
import { sendAnswer } from "./idempotency.ts";
import type { FoundPlace } from "./idempotency.ts";
import { answeredSync } from "./modes.ts";
import { watchAnswer } from "./watch-answer.ts";

const PENDING = 202;

/** The conversation of a sync call that ended without an agent's reply; null for any other answer. */
function pendingChatOf({ status, body }: { status: number; body: string }): string | null {
  if (status !== PENDING) return null;
  // Written by pendingSync, or by another mode's respond.
  const { mode, chatId } = JSON.parse(body) as { mode: string; chatId: string };
  return mode === "sync" ? chatId : null;
}

/**
 * A repeat of a sync call that timed out or was held for review: when the reply has come since and nobody has taken it,
 * this call gets it, and so do later repeats. False when there is nothing better than the answer that was given.
 */
export async function repeatTimedOutCall(
  { store, persister, presence }: ApiContext,
  { project }: Principal,
  { answer, place, reclaim }: Extract<FoundPlace, { kind: "answered" }>,
  response: Response,
): Promise<boolean> {
  const chatId = pendingChatOf(answer);
  if (chatId === null || !(await reclaim())) return false;
  const outcome = await store.replies.takeForCall(project, place.messageId, presence.instance);
  const replies = outcome?.replies ?? [];
  if (replies.length === 0) {
    await place.release();
    return false;
  }
  const better = answeredSync({ chatId, ticketId: ticketIdOf(project, "api", chatId) }, replies);
  const ids = replies.map((reply) => reply.id);
  const settle = async (isFlushed: boolean) => {
    if (isFlushed) {
      await place.keep(better);
      await persister.persist("ending a repeated call", () =>
        store.replies.endAnsweredCall(project, place.messageId, ids),
      );
      return;
    }
    await persister.persist("giving replies back", () => store.replies.release(project, ids, presence.instance));
    await place.release();
  };
  void watchAnswer(response).then(settle);
  sendAnswer(response, better);
  return true;
}
