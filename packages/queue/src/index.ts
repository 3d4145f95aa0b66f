export { QueueDownError } from "./backend.ts";
export type { WakeUps } from "./backend.ts";
export { publishIncoming } from "./incoming.ts";
export type { IncomingAnnouncement } from "./incoming.ts";
export { migrateQueues } from "./migrate-queues.ts";
export { openQueues } from "./open-queues.ts";
export type { Consumer, JobToPublish, Queues } from "./open-queues.ts";
export { publishReply } from "./replies.ts";
export type { ReplyQueueName } from "./replies.ts";
