// `npm run bench:console`: how quick the console is for operators who have very many tickets.
//   npm run bench:console -- [--tickets 100000] [--openings 100] [--rows 20000] [--slowdown 1] [--save-data] [--data FOLDER] [--profile FILE]
// Plants tickets in a new database, signs in with Chromium, and prints the paints, layout shift and blocking time of the
// first load and of a ticket (first contentful paint, largest contentful paint, total blocking time, cumulative layout
// shift; medians of five loads without a cache), and what it takes to open tickets from the list, to
// scroll that list, and to type an answer. --profile writes what the page's scripts did while tickets were opened, for
// the performance panel of a browser. With --save-data the browser asks to save data, so that no ticket in sight is fetched
// ahead. With --data the tickets stay in that folder, and the next run has them. Needs a
// Chromium in the PATH, or in SVC_CHROMIUM.
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import pg from "pg";
import { startEmbeddedProduct } from "@svc/testing";
import type { Browser, Cookie } from "playwright-core";
import { launchChromium, addOperator, signIn } from "./product.ts";
import { seedTickets, untilFollowed } from "./lists.ts";

const { values } = parseArgs({
  options: {
    tickets: { type: "string", default: "100000" },
    openings: { type: "string", default: "100" },
    rows: { type: "string", default: "20000" },
    slowdown: { type: "string", default: "1" },
    data: { type: "string" },
    "save-data": { type: "boolean", default: false },
    profile: { type: "string" },
  },
});
const ROW_PX = 78;
/** Longer frames are visible as a pause. */
const LONG_FRAME_MS = 50;
const SCROLLER = 'section[aria-label="Tickets"] .overflow-y-auto';
const COMPOSER = "textarea";

const share = (numbers: readonly number[], part: number) =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length * part)] ?? 0;
const times = (numbers: readonly number[]) =>
  `p50 ${share(numbers, 0.5).toFixed(0)} ms, p95 ${share(numbers, 0.95).toFixed(0)} ms`;

/** In the page: returns the time from a press on a row until its conversation is painted, in milliseconds. */
const OPEN = `async (row) => {
  const link = document.querySelectorAll('section[aria-label="Tickets"] li a')[row];
  const subject = link.querySelector("span[dir=auto].text-sm").textContent;
  const ticket = document.querySelector('section[aria-label="Ticket"]');
  const isShown = () => ticket.querySelector("h2")?.textContent === subject && ticket.querySelector("article") !== null;
  const startedAt = performance.now();
  link.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, button: 0 }));
  while (!isShown()) {
    if (performance.now() - startedAt > 5_000) throw new Error("the ticket does not open: " + subject);
    await new Promise((resolve) => { requestAnimationFrame(resolve); });
  }
  // Painted: the first task after its frame.
  await new Promise((resolve) => {
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = resolve;
      port2.postMessage(0);
    });
  });
  return performance.now() - startedAt;
}`;

/** In the page: scrolls the list by this many rows, a third of a screen per frame; returns long frames. */
const SCROLL = `async ({ selector, rows, rowPx, longMs }) => {
  const list = document.querySelector(selector);
  const step = Math.round(list.clientHeight / 3);
  const frames = [];
  let before = performance.now();
  let waits = 0;
  while (list.scrollTop < rows * rowPx && waits < 3000) {
    const top = list.scrollTop;
    list.scrollTop += step;
    await new Promise((resolve) => { requestAnimationFrame(resolve); });
    const now = performance.now();
    frames.push(now - before);
    before = now;
    waits = list.scrollTop === top ? waits + 1 : 0;
  }
  return { frames, rows: Math.floor(list.scrollTop / rowPx), long: frames.filter((ms) => ms > longMs).length };
}`;

/** In each page from the start: notes paints, shifts of the layout and long tasks. */
const VITALS = `window.vitals = { fcp: 0, lcp: 0, cls: 0, tbt: 0 };
  const observe = (type, note) => new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({ type, buffered: true });
  observe("paint", ({ name, startTime }) => { if (name === "first-contentful-paint") vitals.fcp = startTime; });
  observe("largest-contentful-paint", ({ startTime }) => { vitals.lcp = startTime; });
  observe("layout-shift", ({ hadRecentInput, value }) => { if (!hadRecentInput) vitals.cls += value; });
  observe("longtask", ({ duration }) => { vitals.tbt += duration - 50; });`;
const LOADS = 5;
const SETTLE_MS = 500;

/** Prints the medians of the paints, the layout shift and the blocking time of loads of a page, at two widths. */
async function measureLoads(browser: Browser, cookies: Cookie[], pages: Record<string, readonly [string, string]>) {
  for (const [width, height] of [
    [1280, 800],
    [390, 844],
  ] as const) {
    for (const rate of [1, 4]) {
      for (const [name, [url, shown]] of Object.entries(pages)) {
        const found: Record<string, number>[] = [];
        for (let load = 0; load < LOADS; load++) {
          // A new context has an empty cache.
          const context = await browser.newContext({ viewport: { width, height }, locale: "en-US" });
          await context.addCookies(cookies);
          await context.addInitScript(VITALS);
          const page = await context.newPage();
          await (await context.newCDPSession(page)).send("Emulation.setCPUThrottlingRate", { rate });
          await page.goto(url);
          await page.locator(shown).first().waitFor();
          await page.waitForTimeout(SETTLE_MS * rate);
          found.push(await page.evaluate<Record<string, number>>("vitals"));
          await context.close();
        }
        const median = (figure: string) =>
          share(
            found.map((one) => one[figure] ?? 0),
            0.5,
          );
        const paints = ["fcp", "lcp", "tbt"].map((one) => `${one.toUpperCase()} ${median(one).toFixed(0)} ms`);
        console.log(
          `${name.padEnd(10)} ${String(width).padStart(4)} px, CPU ÷ ${rate}  ${paints.join(", ")}, CLS ${median("cls").toFixed(3)}`,
        );
      }
    }
  }
}

const endings: (() => unknown)[] = [];
try {
  const product = await startEmbeddedProduct(values.data === undefined ? {} : { folder: resolve(values.data) });
  endings.push(product.stop);
  const store = product.openStore();
  const operator = { name: "Ann Able", email: "ann@example.com" };
  await addOperator(store, operator);
  const project = await store.projects.findByName("default");
  await store.close();
  if (project === null) throw new Error("there is no default project");
  const client = new pg.Client({ connectionString: product.databaseUrl });
  await client.connect();
  const { rows: found } = await client.query<{ count: number }>("SELECT count(*)::integer AS count FROM tickets");
  if ((found[0]?.count ?? 0) < Number(values.tickets)) await seedTickets(client, project.id, Number(values.tickets));
  const followedS = await untilFollowed(client);
  await client.query("VACUUM ANALYZE");
  const newestTicket = await client.query<{ id: string }>("SELECT id FROM tickets ORDER BY id DESC LIMIT 1");
  await client.end();
  console.log(`${values.tickets} tickets; followed and indexed in ${followedS.toFixed(0)} s`);

  const browser = await launchChromium();
  endings.push(() => browser.close());
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: "en-US" });
  await signIn(context, product, operator.email);
  const inbox = `${product.consoleUrl}/default/inbox/all`;
  await measureLoads(browser, await context.cookies(), {
    "first load": [inbox, 'section[aria-label="Tickets"] li a'],
    "a ticket": [`${inbox}/${newestTicket.rows[0]?.id ?? ""}`, "article"],
  });
  if (values["save-data"]) {
    await context.addInitScript("Object.defineProperty(navigator, 'connection', { value: { saveData: true } });");
  }
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: Number(values.slowdown) });
  console.log(`Chromium ${browser.version()}, processor slowed down ${values.slowdown} times`);

  const firstAt = performance.now();
  await page.goto(`${product.consoleUrl}/default/inbox/all`);
  await page.locator('section[aria-label="Tickets"] li a').first().waitFor();
  console.log(
    `the inbox, first visit           ${(performance.now() - firstAt).toFixed(0)} ms until its tickets are there`,
  );

  // Each ticket and its neighbour were not open before. Rows have been visible for 150 ms, so that some are prefetched
  // and others are not yet; with --save-data only hovered ones are.
  const opened: Record<"pointer first" | "at once", number[]> = { "pointer first": [], "at once": [] };
  if (values.profile !== undefined) {
    await session.send("Profiler.enable");
    await session.send("Profiler.start");
  }
  const rowCount = await page.locator('section[aria-label="Tickets"] li a').count();
  for (let number = 0; number < Number(values.openings); number++) {
    const isPointed = number % 2 === 1;
    const row = 2 + ((number * 2) % Math.max(2, rowCount - 6));
    const list = page.locator(SCROLLER);
    if (number % 4 === 0) await list.evaluate((element, by) => element.scrollBy(0, by), ROW_PX * 7);
    await page.waitForTimeout(150);
    if (isPointed) {
      // Typical delay between pointing at something and pressing it.
      await page.locator('section[aria-label="Tickets"] li a').nth(row).dispatchEvent("pointerover");
      await page.waitForTimeout(100);
    }
    opened[isPointed ? "pointer first" : "at once"].push(await page.evaluate<number>(`(${OPEN})(${row})`));
  }
  if (values.profile !== undefined) {
    const { profile } = await session.send("Profiler.stop");
    writeFileSync(values.profile, JSON.stringify(profile));
  }
  const all = Object.values(opened).flat();
  console.log(`opening a ticket (${String(all.length).padStart(4)})          ${times(all)}`);
  for (const [how, found] of Object.entries(opened)) console.log(`  ${how.padEnd(31)}${times(found)}`);

  const composer = page.locator(COMPOSER).first();
  await composer.click();
  await page.evaluate(`window.typed = [];
    new PerformanceObserver((list) => { for (const { name, duration } of list.getEntries()) if (name === "keydown") typed.push(duration); })
      .observe({ type: "event", durationThreshold: 16 });
    window.frames_ = []; document.querySelector("textarea").addEventListener("keydown", () => { const at = performance.now();
      requestAnimationFrame(() => { const { port1, port2 } = new MessageChannel(); port1.onmessage = () => frames_.push(performance.now() - at); port2.postMessage(0); }); });`);
  await composer.pressSequentially(
    "Thank you for your message. Your parcel has left us this morning and comes tomorrow. ".repeat(2),
    { delay: 30 },
  );
  const typed = await page.evaluate<number[]>("window.frames_");
  console.log(`typing (${typed.length} keys)                ${times(typed)} from the key to the painted letter`);
  await composer.fill("");

  await page.goto(`${product.consoleUrl}/default/inbox/all`);
  await page.locator('section[aria-label="Tickets"] li a').first().waitFor();
  const startedAt = performance.now();
  const { frames, rows, long } = await page.evaluate<{ frames: number[]; rows: number; long: number }>(
    `(${SCROLL})(${JSON.stringify({ selector: SCROLLER, rows: Number(values.rows), rowPx: ROW_PX, longMs: LONG_FRAME_MS })})`,
  );
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
  console.log(
    `scrolling ${rows} rows in ${seconds} s    ${long} of ${frames.length} frames over ${LONG_FRAME_MS} ms, ${times(frames)}`,
  );
} finally {
  for (const end of endings.toReversed()) await end();
}
