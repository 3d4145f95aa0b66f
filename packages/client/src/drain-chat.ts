import type { DrainAnswer } from "@svc/contracts";
import { fillPath } from "./fill-path.ts";
import { isRecord } from "./is-record.ts";
import { MESSAGES_PATH } from "./messages-path.ts";
import { unexpected } from "./try-call.ts";
import type { CallAnswer, CallRequest } from "./try-call.ts";

export interface DrainOptions {
  /**
   * The cursor of an earlier answer, or `0` to begin: acknowledges the replies up to it and returns the later ones, again
   * and again until they are acknowledged too. Where absent, the call takes what it returns, and is therefore not made again
   * once the service may have had it.
   */
  after?: string | undefined;
  /** How long the service waits for a reply when there is none, 0 to 60,000; 0 where absent. */
  waitMs?: number | undefined;
  /** Takes and acknowledges nothing. */
  peek?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

function isDrainAnswer(body: unknown): body is DrainAnswer {
  return isRecord(body) && body["ok"] === true && Array.isArray(body["replies"]) && typeof body["cursor"] === "string";
}

/** The call that looks into the drain of a chat. */
export function drainCall(chatId: string, { after, waitMs, peek, signal }: DrainOptions): CallRequest {
  return {
    method: "GET",
    path: fillPath(`${MESSAGES_PATH}/{chatId}`, { chatId }),
    query: { wait: waitMs, after, peek: peek === true ? 1 : undefined },
    waitMs,
    signal,
  };
}

/** What the drain answered. Throws ServiceFault where it is something else. */
export function drainAnswerOf({ status, body }: CallAnswer): DrainAnswer {
  if (!isDrainAnswer(body)) throw unexpected(status);
  return body;
}
