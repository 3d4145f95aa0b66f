import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { waitFor } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { describeInBrowser } from "./support/open-browser.ts";
import { textsOf, widgetOn } from "./support/open-widget.ts";
import { startWidgetGround } from "./support/start-widget-ground.ts";
import type { WidgetGround } from "./support/start-widget-ground.ts";

const REPLY = "Look at [the shop](https://shop.example):\n\n| Drone | Price |\n|---|---|\n| Kestrel | 90 |";

describeInBrowser("on a page with a strict policy", () => {
  let ground: WidgetGround;

  beforeAll(async () => {
    ground = await startWidgetGround({
      project: "fixed",
      prepare: async ({ store }) => void (await addProject(store, "fixed", { fixedReply: REPLY })),
    });
  });

  afterAll(() => ground.stop());

  test("a whole conversation violates nothing, without inline styles, inline scripts and eval", () =>
    ground.browser.visit(async (open) => {
      const { origin, host } = new URL(ground.line.url);
      const policy = [
        "default-src 'none'",
        `script-src ${origin}`,
        `connect-src ${origin} ws://${host}`,
        `img-src ${origin}`,
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
        "report-uri /reports",
      ].join("; ");
      const url = ground.site.addPage({ headers: { "Content-Security-Policy": policy } });
      const visitor = await open();
      const widget = widgetOn(await visitor.openPage(url));
      await widget.open();
      await widget.write("What does it cost?");
      await widget.part("text").locator("table").waitFor();
      const coming = widget.page.waitForEvent("download");
      await widget.part("file").first().click();
      await (await coming).path();
      await widget.attach([{ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("words") }]);
      await widget.write("Here is a file");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 2, "the second answer");
      ground.line.cut();
      await widget.write("And again after a cut");
      await widget.untilShown((entries) => textsOf(entries, "reply").length === 3, "the third answer");
      await widget.page.keyboard.press("Escape");
      await widget.page.reload();
      await widget.launcher.waitFor();

      // A violation that is made on purpose comes last, and shows that violations are reported.
      await widget.page.evaluate(`new Image().src = "https://elsewhere.example/x.png"`);
      await waitFor(() => ground.site.reports().some((report) => report.includes("elsewhere.example")), {
        what: "the report of a violation",
      });
      expect(ground.site.reports().filter((report) => !report.includes("elsewhere.example"))).toEqual([]);
      expect(
        visitor.log().filter((line) => line.includes("Content Security Policy") && !line.includes("elsewhere")),
      ).toEqual([]);
      expect(visitor.faults()).toEqual([]);
    }));
});
