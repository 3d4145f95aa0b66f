import type { MessageState, ReplyAuthor, Source } from "@svc/contracts";
import type { Queues } from "@svc/queue";
import type { CallOutcome, StoredReply } from "@svc/store";

/** Topic of the wake-ups that name tickets with new replies. */
const TOPIC = "replies";
/** Separates a ticket from the data announced with it; an older version considers the whole another ticket. */
const SEPARATOR = "=";

/** A message that the pipeline has finished, with its replies, as a waiting call would read it. */
export interface FinishedMessage extends CallOutcome {
  messageId: string;
}

/** A reply that is sent to a waiting call: dates and bytes as text. */
interface CarriedReply {
  id: string;
  seq: number;
  author: ReplyAuthor;
  createdAt: string;
  text?: string;
  markdown?: boolean;
  sources?: Source[] | null;
  filename?: string;
  mime?: string;
  content?: string;
}

interface CarriedMessage {
  messageId: string;
  state: MessageState;
  replies: CarriedReply[];
}

function carry(reply: StoredReply): CarriedReply {
  const { id, seq, author, createdAt } = reply;
  const common = { id, seq, author, createdAt: createdAt.toISOString() };
  if (reply.type === "message") {
    return { ...common, text: reply.text, markdown: reply.markdown, sources: reply.sources };
  }
  return { ...common, filename: reply.filename, mime: reply.mime, content: reply.content.toString("base64") };
}

function restore(ticketId: string, inReplyTo: string, carried: CarriedReply): StoredReply {
  const { id, seq, author, createdAt, text, markdown = false, sources = null } = carried;
  const { filename = "", mime = "", content = "" } = carried;
  const position = { id, ticketId, seq, inReplyTo, author, createdAt: new Date(createdAt) };
  return text === undefined
    ? { ...position, type: "attachment", filename, mime, content: Buffer.from(content, "base64") }
    : { ...position, type: "message", text, markdown, sources };
}

function encode({ messageId, state, replies }: FinishedMessage): string {
  const carried: CarriedMessage = { messageId, state, replies: replies.map(carry) };
  return Buffer.from(JSON.stringify(carried)).toString("base64url");
}

/** Decodes the text of `encode`, or returns nothing for another version's format: it can be read from the store. */
function decode(ticketId: string, encoded: string): FinishedMessage[] {
  try {
    const { messageId, state, replies } = JSON.parse(Buffer.from(encoded, "base64url").toString()) as CarriedMessage;
    const restored = replies.map((reply) => restore(ticketId, messageId, reply));
    return [{ messageId, state, coveredBy: null, replies: restored }];
  } catch {
    return [];
  }
}

/**
 * Wakes up the callers that wait for replies of a chat, on every replica of the api. With `finished`, the call that
 * waits for this message gets the replies themselves and reads nothing; one that is too large for a wake-up is read
 * from the store. Wake-ups are not stored and may be lost: every waiting caller polls.
 */
export function announceReplies(queues: Pick<Queues, "wakeUps">, ticketId: string, finished?: FinishedMessage): void {
  const { wakeUps } = queues;
  const carried = finished === undefined ? ticketId : `${ticketId}${SEPARATOR}${encode(finished)}`;
  // The ticket alone wakes up replicas of an older version, which does not know carried replies.
  if (carried !== ticketId && carried.length < wakeUps.maxIdChars) wakeUps.send(TOPIC, [carried]);
  wakeUps.send(TOPIC, [ticketId]);
}

/**
 * Calls `onReplies` with each chat that has new replies, and the finished messages that were carried with it, until the
 * returned function is called.
 */
export function followReplies(
  queues: Pick<Queues, "wakeUps">,
  onReplies: (ticketId: string, finished: readonly FinishedMessage[]) => void,
  isAwaited: (ticketId: string) => boolean,
): () => void {
  return queues.wakeUps.listen(TOPIC, (ids) => {
    const byTicket = new Map<string, FinishedMessage[]>();
    for (const id of ids) {
      const [ticketId = "", encoded] = id.split(SEPARATOR, 2);
      // Most replicas wait for other chats.
      if (!isAwaited(ticketId)) continue;
      const finished = byTicket.get(ticketId) ?? [];
      if (encoded !== undefined) finished.push(...decode(ticketId, encoded));
      byTicket.set(ticketId, finished);
    }
    for (const [ticketId, finished] of byTicket) onReplies(ticketId, finished);
  });
}
