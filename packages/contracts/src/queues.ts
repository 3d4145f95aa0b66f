import { CHANNELS, CHANNEL_IDS, mapChannels } from "./channels.ts";
import type { ChannelId } from "./channels.ts";
import type { MessageMode } from "./message-request.ts";

/** A message waiting for the pipeline. Only IDs: the texts are in Postgres, the source of truth. */
export interface IncomingJob {
  /** ID of the project that received the message. */
  project: string;
  messageId: string;
  ticketId: string;
  /**
   * Priority of the message behind the backlog of its project; higher values are processed later. Absent or 0 without a
   * backlog. Its job may have the lower one of another message.
   */
  priority?: number;
  /**
   * Messages that were accepted together with it, of other chats or of the same one. A process of an older version ignores
   * this field; the sweeper announces them again after two seconds, or up to 6.5 behind a backlog.
   */
  others?: Omit<IncomingJob, "others">[];
}

/** New replies in a chat, to one message and at these positions, for its channel to deliver. */
export interface ReplyJob {
  project: string;
  ticketId: string;
  /** Null for a reply that answers no message. */
  messageId: string | null;
  /** How the sender of the message receives replies. Null on channels that push them. */
  mode: MessageMode | null;
  fromSeq: number;
  toSeq: number;
  /**
   * New replies in other chats, announced together, on channels whose receivers collect replies. A process of an older
   * version ignores this field; its waiting callers then poll within a second, and the sweeper creates callbacks within
   * three seconds.
   */
  others?: Omit<ReplyJob, "others">[];
}

/** A chat with callbacks to deliver. */
export interface DeliveryJob {
  project: string;
  ticketId: string;
}

/** A submitted issue waiting for the pipeline. */
export type IssueJob = IncomingJob;

/** A decision about a ticket that requires sending a reply or continuing the conversation. */
export interface ReviewJob {
  /** ID of the project that received the ticket. */
  project: string;
  ticketId: string;
}

/** A document waiting to be processed. */
export interface IngestJob {
  project: string;
  ingestId: string;
}

/** A model waiting to be pulled. */
export interface ModelPullJob {
  catalogId: string;
}

/** An operator with an email to send. */
export interface EmailJob {
  /** ID of the operator. */
  recipientId: string;
}

type ReplyQueues = { [Id in ChannelId]: `replies-${Id}` };

/** All queues and their jobs. Names contain no colon, which BullMQ forbids. */
export interface QueueJobs extends Record<ReplyQueues[ChannelId], ReplyJob> {
  "incoming-messages": IncomingJob;
  "submitted-issues": IssueJob;
  "review-decisions": ReviewJob;
  "webhook-deliveries": DeliveryJob;
  "ingest-documents": IngestJob;
  "model-pulls": ModelPullJob;
  emails: EmailJob;
}
export type QueueName = keyof QueueJobs;

/** Channels that push replies. Receivers of the other channels collect them. */
export const PUSHING_CHANNELS: readonly ChannelId[] = CHANNEL_IDS.filter((id) => CHANNELS[id].pushes);

/** The reply queue of each channel. */
export const REPLY_QUEUES = mapChannels<ReplyQueues>((id) => `replies-${id}`);
