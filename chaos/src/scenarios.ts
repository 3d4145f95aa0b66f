// What there is to break, by name: what is promised, how much of it is done, and what does it.
import { breakLines } from "./broken-lines.ts";
import { crashDatabase } from "./database-crashes.ts";
import { killWorkers } from "./killed-workers.ts";
import { killReplica } from "./killed-replica.ts";
import { sendPoison } from "./poison.ts";
import { breakReceivers } from "./receivers.ts";
import { restartAll } from "./rolling-restarts.ts";
import { starve } from "./starved.ts";
import { leaveReplies } from "./undrained-replies.ts";

export const SCENARIOS = {
  "killed-workers": {
    promise: "pipelines are killed, Redis is killed and wiped: no message lost, answered twice or out of order",
    sizes: { full: { messages: 10_000, kills: 50, redisKills: 10 }, quick: { messages: 400, kills: 4, redisKills: 2 } },
    run: killWorkers,
  },
  "database-crashes": {
    promise: "PostgreSQL crashes under load: nothing acknowledged is lost, a 2xx within 2 s after it is up",
    sizes: { full: { kills: 10, messages: 3_000 }, quick: { kills: 2, messages: 300 } },
    run: crashDatabase,
  },
  "killed-replica": {
    promise: "one of two api replicas is killed while calls wait: every answer can be had, none is shown twice",
    sizes: { full: { messages: 1_000 }, quick: { messages: 100 } },
    run: killReplica,
  },
  "broken-lines": {
    promise: "the lines to Redis and PostgreSQL go silent for 30 s: working again within 10 s, without a restart",
    sizes: { full: { cuts: 20, silenceSeconds: 30 }, quick: { cuts: 2, silenceSeconds: 30 } },
    run: breakLines,
  },
  "rolling-restarts": {
    promise: "every app is restarted, one process after the other, under load: no request fails but for clean retries",
    sizes: { full: { rounds: 10, perSecond: 100 }, quick: { rounds: 1, perSecond: 50 } },
    run: restartAll,
  },
  poison: {
    promise: "one message in a hundred aborts its process: it becomes a dead letter, every other one is answered",
    sizes: { full: { messages: 2_000 }, quick: { messages: 200 } },
    run: sendPoison,
  },
  receivers: {
    promise: "receivers are down, slow, failing, flapping, or never answer: callbacks come, in the order of their chat",
    sizes: { full: { messages: 600 }, quick: { messages: 120 } },
    run: breakReceivers,
  },
  starved: {
    promise: "processes get a few percent of a processor and reads stall: nothing counts as a crash or an attempt",
    sizes: { full: { messages: 80, stalls: 12 }, quick: { messages: 40, stalls: 2 } },
    run: starve,
  },
  "undrained-replies": {
    promise: "a million replies that nobody collects: the memory of the api grows by at most 50 MB",
    sizes: { full: { replies: 1_000_000, messages: 20_000 }, quick: { replies: 50_000, messages: 1_000 } },
    run: leaveReplies,
  },
};
