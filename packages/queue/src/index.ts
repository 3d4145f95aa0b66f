export { announceWork } from "./announce-work.ts";
export type { AnnouncedQueue, Announcements } from "./announce-work.ts";
export { BACKEND_NAMES, QueueDownError } from "./backend.ts";
export type { WakeUps } from "./backend.ts";
export type { CountLimit, Counted, CounterState, Counters } from "./counters.ts";
export { migrateQueues } from "./migrate-queues.ts";
export { openQueues } from "./open-queues.ts";
export type { Consumer, JobToPublish, Queues } from "./queues.ts";
export { askRedis, parseRedisUrl } from "./redis-servers.ts";
export { announceReply, jobsOf } from "./replies.ts";
export {
  announceRemoval,
  announceText,
  announcePresence,
  announceVisitorTyping,
  followPresence,
  followRemovals,
  followTexts,
  followVisitorTyping,
} from "./topics.ts";
