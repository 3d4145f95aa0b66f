import { appendFileSync } from "node:fs";
import { test } from "@jest/globals";
import { addProject } from "./support/add-project.ts";
import { textsOf, widgetOn } from "./support/open-widget.ts";
import { queryDatabase } from "./support/query-database.ts";
import { randomFrom } from "./support/random-from.ts";
import { startWidgetGround } from "./support/start-widget-ground.ts";

const out = (text: string) => appendFileSync("/tmp/d-trace.log", `${text}\n`);

test("trace", async () => {
  const ground = await startWidgetGround({
    project: "fixed",
    prepare: async ({ store }) => void (await addProject(store, "fixed", { fixedReply: "Noted." })),
    config: { messagesPerMinute: 100_000 },
  });
  try {
    for (const seed of Array.from({ length: 60 }, (_, index) => 20 + index)) {
      out(`=== ${seed}`);
      await ground.browser.visit(async (open) => {
        const random = randomFrom(seed);
        const visitor = await open();
        const page = await visitor.context.newPage();
        const trace: string[] = [];
        page.on("websocket", (ws) => {
          const id = trace.length;
          trace.push(`${id} open ${ws.url().slice(0, 20)}`);
          ws.on("framereceived", ({ payload }) => trace.push(`${id} < ${String(payload).slice(0, 400)}`));
          ws.on("framesent", ({ payload }) => trace.push(`${id} > ${String(payload).slice(0, 300)}`));
          ws.on("close", () => trace.push(`${id} closed`));
        });
        page.on("request", (r) => r.url().includes("polling") && trace.push(`req ${r.method()} ${r.url().slice(-60)}`));
        page.on("requestfailed", (r) => trace.push(`failed ${r.method()} ${r.url().slice(-60)}`));
        page.on("response", async (r) => {
          if (!r.url().includes("transport=polling")) return;
          trace.push(`res ${r.url().slice(-40)} ${(await r.text().catch(String)).slice(0, 600)}`);
        });
        await page.goto(ground.site.addPage());
        const widget = widgetOn(page);
        await widget.open();
        const texts: string[] = [];
        const before = ground.line.cuts;
        while (ground.line.cuts - before < 20) {
          const text = `cut ${seed}: ${texts.length + 1}`;
          texts.push(text);
          const { cuts } = ground.line;
          ground.line.cutAfter(1 + Math.floor(random() * 2_500));
          await widget.write(text);
          if (random() < 0.5) await widget.page.evaluate(`dispatchEvent(new Event("online"))`);
          await widget.untilShown(
            (entries) => ground.line.cuts > cuts || entries.findLast(({ text: shown }) => shown === text)?.state === "sent",
            text,
            60_000,
          );
        }
        ground.line.comeBack();
        trace.push("--- comeBack");
        try {
          await widget.untilShown((e) => textsOf(e, "reply").length >= texts.length, "all", 40_000);
          out("fine");
        } catch {
          out("LOST");
          out(trace.join("\n"));
          out(await page.evaluate(`JSON.stringify(localStorage)`));
          out(JSON.stringify(await queryDatabase(ground.product.databaseUrl, "SELECT seq, text, state, 'm' AS k FROM messages WHERE ticket_id IN (SELECT ticket_id FROM messages WHERE text = $1) UNION ALL SELECT seq, text, in_reply_to::text, 'r' FROM replies WHERE ticket_id IN (SELECT ticket_id FROM messages WHERE text = $1) ORDER BY seq", [texts[0]])));
          out(visitor.faults().join("\n"));
        }
      });
    }
  } finally {
    await ground.stop();
  }
}, 900_000);
