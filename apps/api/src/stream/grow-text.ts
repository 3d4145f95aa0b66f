import type { DeltaEvent } from "@svc/contracts";

/**
 * What has to be sent so that a reader who was shown `before` has `text`; null where that is the same. It goes on where
 * the text before ended, or else begins anew, so that no reader has to count characters. What a reader was shown whose
 * connection was cut is not known: null.
 */
export function growText(messageId: string, before: string | null, text: string): DeltaEvent | null {
  if (text === before) return null;
  const offset = before !== null && text.startsWith(before) ? before.length : 0;
  return { messageId, offset, text: text.slice(offset) };
}

/**
 * What the deltas of a message have to say in the end: the text of the first reply to it that has one. Attachments have
 * none, and what an operator adds later is a reply of its own.
 */
export function textOf(replies: readonly { type: string; text?: string }[]): string {
  return replies.find(({ text }) => text !== undefined)?.text ?? "";
}
