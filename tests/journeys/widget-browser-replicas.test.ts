import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { addProject } from "./support/add-project.ts";
import { describeInBrowser } from "./support/open-browser.ts";
import { textsOf, widgetOn } from "./support/open-widget.ts";
import { readLedger } from "./support/read-ledger.ts";
import { startWidgetGround } from "./support/start-widget-ground.ts";
import type { WidgetGround } from "./support/start-widget-ground.ts";
import { startWidgetLine } from "./support/start-widget-line.ts";

const FIXED = "Noted.";

describeInBrowser("a visitor of several replicas", () => {
  let ground: WidgetGround;

  beforeAll(async () => {
    ground = await startWidgetGround({
      composition: "separate",
      project: "fixed",
      prepare: async ({ store }) => void (await addProject(store, "fixed", { fixedReply: FIXED })),
    });
  });

  afterAll(() => ground.stop());

  const processes = (app: string) => ground.product.composition.processes.filter(({ name }) => name.startsWith(app));

  test("sees one conversation in two tabs whose sockets are on two of them", () =>
    ground.browser.visit(async (open) => {
      const other = await startWidgetLine(() => ground.product.composition.widgetUrls.toReversed());
      try {
        const visitor = await open();
        const first = widgetOn(await visitor.openPage(ground.site.addPage()));
        const second = widgetOn(
          await visitor.openPage(ground.site.addPage({ attributes: { src: `${other.url}/widget.js` } })),
        );
        await first.open();
        await second.open();
        await first.write("replicas: from the first");
        await second.untilShown((entries) => textsOf(entries, "reply").length === 1, "the answer on the other replica");
        await second.write("replicas: from the second");
        const shown = await first.untilShown((entries) => textsOf(entries, "reply").length === 2, "the second answer");
        expect(textsOf(shown, "visitor")).toEqual(["replicas: from the first", "replicas: from the second"]);
        expect(other.sockets).toBeGreaterThan(0);
        expect(visitor.errors()).toEqual([]);
      } finally {
        await other.close();
      }
    }));

  test("gets the answer from another one if its own is killed while the message is processed", () =>
    ground.browser.visit(async (open) => {
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.open();
      await widget.write("killed: before");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      // The pipelines are stopped, so that the message is pending when the replica dies.
      const pipelines = processes("pipeline");
      await Promise.all(pipelines.map((pipeline) => pipeline.kill("SIGKILL")));
      await widget.write("killed: pending");
      await widget.untilShown(([, , entry]) => entry?.state === "sent", "the message to be stored");
      const [replica] = processes("widget");
      await replica?.kill("SIGKILL");
      await widget.write("killed: without the replica");
      await Promise.all(pipelines.map((pipeline) => pipeline.start()));
      const texts = ["killed: before", "killed: pending", "killed: without the replica"];
      const shown = await widget.untilShown(
        (entries) =>
          textsOf(entries, "reply").length === 3 && entries.every(({ state }) => ["", "sent"].includes(state)),
        "all answers",
      );
      expect(textsOf(shown, "visitor")).toEqual(texts);
      const ledger = await readLedger(ground.product.databaseUrl, "killed: before");
      expect(ledger.messages).toEqual(texts);
      expect(ledger.replies).toEqual([FIXED, FIXED, FIXED]);
      expect(visitor.errors()).toEqual([]);
      await replica?.start();
    }));

  test("continues after every replica was unavailable", () =>
    ground.browser.visit(async (open) => {
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(ground.site.addPage()));
      await widget.open();
      await widget.write("away: before");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 1, "an answer");
      const replicas = processes("widget");
      await Promise.all(replicas.map((replica) => replica.kill("SIGTERM")));
      await widget.write("away: meanwhile");
      await widget.untilShown(([, , entry]) => entry?.state === "waiting", "the message to wait");
      await Promise.all(replicas.map((replica) => replica.start()));
      const shown = await widget.untilShown((entries) => textsOf(entries, "reply").length === 2, "the answer");
      expect(textsOf(shown, "visitor")).toEqual(["away: before", "away: meanwhile"]);
      expect((await readLedger(ground.product.databaseUrl, "away: before")).messages).toHaveLength(2);
      expect(visitor.errors()).toEqual([]);
    }));
});
