// `npm run bench:widget`: what the widget costs the page that it is on, on a processor four times slower than this one.
//   npm run bench:widget -- [--runs 5] [--slowdown 4]
// Loads a page without and with the widget in Chromium, opens it, and prints the longest task of the page, all tasks
// that were longer than 50 ms, the time its scripts took, and what was transferred. Needs a Chromium in the PATH, or
// in SVC_CHROMIUM.
import { createServer } from "node:http";
import { parseArgs } from "node:util";
import type { Browser, Page } from "playwright-core";
import { WIDGET_KEY, launchChromium, startWidgetProduct } from "./product.ts";
import { freePort } from "@svc/testing";

const { values } = parseArgs({
  options: { runs: { type: "string", default: "5" }, slowdown: { type: "string", default: "4" } },
});
const runs = Number(values.runs);
const rate = Number(values.slowdown);

const median = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

/** A site with a page without the widget, and one with it. */
async function startSite(widgetUrl: string) {
  const script = `<script async src="${widgetUrl}/widget.js" data-svc-widget data-api-key="${WIDGET_KEY}"></script>`;
  const server = createServer((request, response) => {
    response.writeHead(request.url === "/favicon.ico" ? 204 : 200, { "content-type": "text/html; charset=utf-8" });
    response.end(
      `<!doctype html><html lang="en"><title>Site</title><h1>Site</h1>${request.url === "/with" ? script : ""}</html>`,
    );
  });
  const port = await freePort();
  await new Promise<void>((resolve) => {
    server.listen(port, "127.0.0.1", resolve);
  });
  return { url: `http://127.0.0.1:${port}`, stop: () => new Promise((resolve) => server.close(resolve)) };
}

const OBSERVE = `window.tasks = [];
  new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) window.tasks.push(duration); })
    .observe({ type: "longtask", buffered: true });`;

/** Loads a page once in a new browser; `use` continues with it. Returns its cost. */
async function measure(browser: Browser, url: string, use: (page: Page) => Promise<void>) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate });
  await session.send("Performance.enable");
  await session.send("Network.enable");
  let bytes = 0;
  session.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));
  await page.addInitScript(OBSERVE);
  await page.goto(url);
  await use(page);
  // Tasks are reported after they have ended: an idle second collects the last ones.
  await page.waitForTimeout(1_000);
  const tasks = await page.evaluate<number[]>("window.tasks");
  const { metrics } = await session.send("Performance.getMetrics");
  const seconds = (wanted: string) => metrics.find(({ name }) => name === wanted)?.value ?? 0;
  await context.close();
  return { longest: Math.max(0, ...tasks), long: tasks.length, script: seconds("ScriptDuration") * 1_000, bytes };
}

const CASES: Record<string, { path: string; use: (page: Page) => Promise<void> }> = {
  "a page without it": { path: "/without", use: async () => undefined },
  "with it, closed": {
    path: "/with",
    use: (page) => page.locator('svc-widget [data-part="launcher"]').waitFor(),
  },
  "with it, opened": {
    path: "/with",
    use: async (page) => {
      await page.locator('svc-widget [data-part="launcher"]').click();
      await page.locator('svc-widget [data-part="composer"]').waitFor();
    },
  },
};

const endings: (() => unknown)[] = [];
try {
  const product = await startWidgetProduct();
  endings.push(product.stop);
  const site = await startSite(product.widgetUrl);
  endings.push(site.stop);
  const browser = await launchChromium();
  endings.push(() => browser.close());
  console.log(`Chromium ${browser.version()}, processor slowed down ${rate} times, medians of ${runs} runs`);
  console.log("case               longest task   tasks over 50 ms   scripts   transferred");
  for (const [name, { path, use }] of Object.entries(CASES)) {
    const found: Awaited<ReturnType<typeof measure>>[] = [];
    for (let run = 0; run < runs; run++) found.push(await measure(browser, `${site.url}${path}`, use));
    const of = (field: "longest" | "long" | "script" | "bytes") => Math.round(median(found.map((one) => one[field])));
    const longest = of("longest") === 0 ? "under 50 ms" : `${of("longest")} ms`;
    console.log(
      `${name.padEnd(18)} ${longest.padStart(12)} ${String(of("long")).padStart(18)} ${`${of("script")} ms`.padStart(9)} ${`${of("bytes")} B`.padStart(13)}`,
    );
  }
} finally {
  for (const end of endings.toReversed()) await end();
}
