import type { ChannelId } from "./incoming-message.ts";
import type { MessageMode } from "./message-request.ts";

/** A message waits for the pipeline. Ids only: texts stay in Postgres, where they are the truth. */
export interface IncomingJob {
  /** Id of the project that the message came in to. */
  project: string;
  messageId: string;
  ticketId: string;
}

/** A chat has new replies, to one message and at these places, for its channel to hand over. */
export interface ReplyJob {
  project: string;
  ticketId: string;
  /** Null for a reply that answers no message. */
  messageId: string | null;
  /** How the sender of that message takes its replies; null on channels that push them. */
  mode: MessageMode | null;
  fromSeq: number;
  toSeq: number;
  /**
   * News of other chats that was announced in the same moment, on channels whose receivers collect. A process of a version
   * that does not know it reads the first news alone; whoever waits for the others looks by himself within a second,
   * and the sweeper makes callbacks within three.
   */
  others?: Omit<ReplyJob, "others">[];
}

/** A chat has callbacks to make. */
export interface DeliveryJob {
  project: string;
  ticketId: string;
}

/** A submitted issue waits for the pipeline. */
export type IssueJob = IncomingJob;

/** A person has decided about a ticket: something is to be sent, or the conversation to be gone on with. */
export interface ReviewJob {
  /** Id of the project that the ticket came in to. */
  project: string;
  ticketId: string;
}

/** Something waits to be read into a knowledge base. */
export interface IngestJob {
  project: string;
  ingestId: string;
}

/** A model waits to be pulled. */
export interface ModelPullJob {
  catalogId: string;
}

/** Every queue and the job that it carries. Names have no colon, which BullMQ forbids. */
export interface QueueJobs {
  "incoming-messages": IncomingJob;
  "submitted-issues": IssueJob;
  "review-decisions": ReviewJob;
  "replies-api": ReplyJob;
  "replies-widget": ReplyJob;
  "replies-messenger": ReplyJob;
  "webhook-deliveries": DeliveryJob;
  "ingest-documents": IngestJob;
  "model-pulls": ModelPullJob;
}
export type QueueName = keyof QueueJobs;

/** Channels that send their replies out; the receivers of the others collect theirs. */
export const PUSHING_CHANNELS = ["messenger"] as const satisfies ChannelId[];

/** The reply queue of each channel. */
export const REPLY_QUEUES = {
  api: "replies-api",
  widget: "replies-widget",
  messenger: "replies-messenger",
} as const satisfies Record<ChannelId, QueueName>;
