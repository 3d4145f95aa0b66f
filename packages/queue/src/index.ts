export * from "./announce-work.ts";
export { BACKEND_NAMES, QueueDownError } from "./backend.ts";
export type { WakeUps } from "./backend.ts";
export type { CountLimit, CountResult, CounterState, Counters } from "./counters.ts";
export { migrateQueues } from "./postgres-backend.ts";
export { openQueues } from "./open-queues.ts";
export {
  announcePresence,
  announceRemoval,
  announceReply,
  announceText,
  announceVisitorTyping,
  followPresence,
  followRemovals,
  followTexts,
  followVisitorTyping,
  jobsOf,
} from "./queues.ts";
export type { Consumer, JobToPublish, Queues } from "./queues.ts";
export { askRedis, parseRedisUrl } from "./redis-servers.ts";
