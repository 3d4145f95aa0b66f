import type { Problem, ReplyItem } from "@svc/contracts";

/** Every field that a body of the HTTP API can have. */
export interface ApiBody extends Partial<Omit<Problem, "ok" | "status">> {
  ok?: boolean;
  mode?: string;
  /** A word in responses, a number in problems. */
  status?: string | number;
  timedOut?: boolean;
  chatId?: string;
  ticketId?: string;
  messageId?: string;
  replies?: ReplyItem[];
  drainUrl?: string;
  cursor?: string;
  more?: boolean;
  version?: string;
  time?: string;
  checks?: Record<string, { status?: string; detail?: string; [channel: string]: unknown }>;
}

/** A response of the HTTP API, read completely. */
export interface ApiAnswer {
  status: number;
  headers: Headers;
  text: string;
  body: ApiBody;
  /** The reply items; empty if the body has none. */
  replies: ReplyItem[];
  /** The texts of the replies of type `message`. */
  texts: string[];
}

/** Returns a response with its body parsed if it is JSON. */
export function apiAnswer(status: number, headers: Headers, text: string): ApiAnswer {
  const isJson = /json/.test(headers.get("content-type") ?? "") && text !== "";
  const body = (isJson ? JSON.parse(text) : {}) as ApiBody;
  const replies = body.replies ?? [];
  const texts = replies.flatMap((reply) => (reply.type === "message" ? [reply.text] : []));
  return { status, headers, text, body, replies, texts };
}
