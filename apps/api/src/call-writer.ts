import type { KeptAnswer, ProjectId } from "@svc/store";
import type { Response } from "express";
import { sendAnswer } from "./idempotency.ts";

/** What an answer says of its message. */
export interface CallNames {
  chatId: string;
  ticketId: string;
  messageId: string;
}

/** How a call is answered: with one body when there is an answer, or with events until there is one. */
export interface CallWriter {
  /** True when it shows the reply while it is being made. */
  readonly showsTexts: boolean;
  /** The message of a call that waits is stored. */
  begin(names: CallNames): void;
  /** The reply may have grown. Never rejects. */
  show(call: CallNames & { project: ProjectId }): Promise<void>;
  /** Gives an answer that is ready, now or from an earlier call. Never rejects. */
  send(answer: KeptAnswer): Promise<void>;
  /** Tells of a fault where the answer has begun; false where it has not, and the fault can be answered as any other. */
  fail(error: unknown): boolean;
}

/** Answers with one body. */
export function jsonWriter(response: Response): CallWriter {
  return {
    showsTexts: false,
    begin: () => undefined,
    show: () => Promise.resolve(),
    send(answer) {
      sendAnswer(response, answer);
      return Promise.resolve();
    },
    fail: () => false,
  };
}
