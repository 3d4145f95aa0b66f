// Pipelines and Redis are killed while messages come in by the API and by the widget.
import { runRedisScript } from "@svc/testing";
import { collect, sendUntilTaken } from "./customer.ts";
import { pause, processesOf, randomOf, startGround, waitFor } from "./ground.ts";
import { createLedger, judge } from "./ledger.ts";
import { readAnswers } from "./read-answers.ts";
import { startVisitor } from "./visitor.ts";

const CHATS = 50;
const VISITORS = 50;
const GATE_MS = 20;

export async function killWorkers({ messages, kills, redisKills, seed, say, ledgerFile }) {
  const random = await randomOf(seed);
  const ground = await startGround({ apps: ["widget"] });
  const ledger = createLedger();
  const visitors = Array.from({ length: VISITORS }, (_, index) => startVisitor({ ledger, ground, replica: index }));
  try {
    const acts = [
      ...Array.from({ length: kills }, () => "pipeline"),
      ...Array.from({ length: redisKills }, () => "redis"),
      "wipe",
    ]
      .map((act) => ({ act, order: random() }))
      .sort((one, other) => one.order - other.order);
    // Messages come in while something is away, and none runs ahead of what is still to be killed.
    let begun = 0;
    const mayBeSent = () => Math.ceil((messages * (begun + 1)) / (acts.length + 1));
    const sent = () => ledger.entries.length;
    const gate = async () => {
      while (sent() >= mayBeSent()) await pause(GATE_MS);
    };

    const share = Math.floor(messages / (CHATS + VISITORS));
    const countOf = (index) => share + (index < messages % (CHATS + VISITORS) ? 1 : 0);
    const modesOfChat = await Promise.all(Array.from({ length: CHATS }, (_, index) => randomOf(seed + index + 1)));
    const talk = async (chat, index) => {
      for (let place = 0; place < countOf(index); place++) {
        await gate();
        const mode = modesOfChat[index]() < 0.5 ? "sync" : "async";
        await sendUntilTaken({ ledger, ground, chat, place, mode, fields: { timeoutMs: 2_000 }, replica: place });
      }
    };
    const visit = async (visitor, index) => {
      for (let place = 0; place < countOf(CHATS + index); place++) {
        await gate();
        await visitor.send(place);
      }
    };
    const havoc = async () => {
      for (const { act } of acts) {
        const enough = mayBeSent();
        await waitFor(() => sent() >= enough, `${enough} messages to be sent`);
        begun++;
        if (act === "wipe") await wipeRedis(ground);
        if (act === "redis") {
          await ground.redis.kill();
          await pause(500);
          await ground.redis.start();
        }
        if (act === "pipeline") {
          const workers = processesOf(ground, "pipeline");
          const victim = workers[Math.floor(random() * workers.length)];
          await victim.kill("SIGKILL");
          await victim.start();
        }
        if (begun % 5 === 0) say(`${begun} of ${acts.length} breaks, ${sent()} messages, ${ledger.open().length} open`);
      }
    };

    let isOver = false;
    const chats = Array.from({ length: CHATS }, (_, index) => `chat-${index}`);
    const drains = chats.map((chat, replica) => collect({ ledger, ground, chat, isOver: () => isOver, replica }));
    await Promise.all([havoc(), ...chats.map(talk), ...visitors.map(visit)]);
    say(`${sent()} messages are sent, ${ledger.open().length} are open`);
    await waitFor(() => ledger.open().length === 0, "every message to be answered", 180_000).catch((error) =>
      say(error.message),
    );
    isOver = true;
    await Promise.all(drains);
    const breaches = [
      ...visitors.flatMap(({ failures }) => failures),
      ...judge(ledger),
      ...(await readAnswers(ground, ledger)),
    ];
    const answered = ledger.entries.filter(({ answers }) => answers.length > 0).length;
    return {
      figures: { messages: sent(), answered, "pipelines killed": kills, "Redis killed": redisKills, "Redis wiped": 1 },
      breaches,
    };
  } finally {
    ledger.write(ledgerFile);
    for (const visitor of visitors) visitor.close();
    await ground.stop();
  }
}

/** Takes everything away that Redis has, while it runs. */
async function wipeRedis({ redis }) {
  await runRedisScript(redis.url, "redis.call('FLUSHALL') return 1", []);
}
