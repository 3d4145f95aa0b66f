import type { ReplyItem } from "@svc/contracts";
import type { StoredReply } from "@svc/store";

/** A stored reply as the API shows it (service document, section 2.2, with what every item carries besides). */
export function replyJson(reply: StoredReply): ReplyItem {
  const place = {
    id: reply.id,
    seq: reply.seq,
    createdAt: reply.createdAt.toISOString(),
    inReplyTo: reply.inReplyTo,
    author: reply.author,
  };
  if (reply.type === "attachment") {
    return {
      type: "attachment",
      filename: reply.filename,
      mime: reply.mime,
      base64: reply.content.toString("base64"),
      ...place,
    };
  }
  return {
    type: "message",
    text: reply.text,
    markdown: reply.markdown,
    ...place,
    ...(reply.sources === null ? {} : { sources: reply.sources }),
  };
}

/** Path under which the replies of a chat are collected. */
export function drainUrlOf(chatId: string): string {
  return `/api/v1/messages/${encodeURIComponent(chatId)}`;
}
