import { openQueues, publishIncoming } from "@svc/queue";
import { startRedis, testLog } from "@svc/testing";
const r = await startRedis();
const q = openQueues({ databaseUrl: "x", redisUrl: r.url, log: testLog() });
let n = 0;
const withConsumer = process.argv[2] !== "noconsumer";
const c = withConsumer ? q.consume("incoming-messages", async () => { n++; }) : null;
while (!q.isUp()) await new Promise((s) => setTimeout(s, 50));
await publishIncoming(q, [{ project: "p", messageId: "m", ticketId: "t", attempts: 0 }]);
await new Promise((s) => setTimeout(s, 300));
console.log("taken", n);
await r.kill();
await new Promise((s) => setTimeout(s, 300));
console.time("consumer.close"); await c?.close(1000); console.timeEnd("consumer.close");
console.time("queues.close"); await q.close(); console.timeEnd("queues.close");
if (process.argv[3] === "restart") await r.start();
await r.stop();
for (let i = 0; i < 4; i++) { await new Promise((s) => setTimeout(s, 1000)); console.log(process.getActiveResourcesInfo().join(",")); }
console.log(process._getActiveHandles().map((h) => h.constructor.name + " " + (h.remotePort ?? h.spawnfile ?? "")));
