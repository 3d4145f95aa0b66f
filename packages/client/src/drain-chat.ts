import type { DrainAnswer } from "@svc/contracts";
import { fillPath } from "./fill-path.ts";
import { isRecord } from "./is-record.ts";
import { MESSAGES_PATH } from "./fill-path.ts";
import { unexpected } from "./try-call.ts";
import type { CallAnswer, CallRequest } from "./try-call.ts";

export interface DrainOptions {
  /**
   * The cursor of an earlier response, or `0` to start. Acknowledges the replies up to it and returns the later ones,
   * until they are acknowledged too. If omitted, the returned replies are removed from the buffer, so the request is
   * not retried once the service may have processed it.
   */
  after?: string | undefined;
  /** Duration for which the service waits for a reply if there is none, from 0 to 60,000 milliseconds. Defaults to 0. */
  waitMs?: number | undefined;
  /** Returns the replies without removing or acknowledging them. */
  peek?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

function isDrainAnswer(body: unknown): body is DrainAnswer {
  return isRecord(body) && body["ok"] === true && Array.isArray(body["replies"]) && typeof body["cursor"] === "string";
}

/** Returns the request that collects the replies of a chat. */
export function drainCall(chatId: string, { after, waitMs, peek, signal }: DrainOptions): CallRequest {
  return {
    method: "GET",
    path: fillPath(`${MESSAGES_PATH}/{chatId}`, { chatId }),
    query: { wait: waitMs, after, peek: peek === true ? 1 : undefined },
    waitMs,
    signal,
  };
}

/** Returns the parsed response. Throws ServiceError if it has an unexpected format. */
export function drainAnswerOf({ status, body }: CallAnswer): DrainAnswer {
  if (!isDrainAnswer(body)) throw unexpected(status);
  return body;
}
