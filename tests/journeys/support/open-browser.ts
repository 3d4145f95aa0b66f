import { mkdir, writeFile } from "node:fs/promises";
import { describe, expect } from "@jest/globals";
import { findChromium, holdResource, readTestSettings, repositoryPath } from "@svc/testing";
import { chromium } from "playwright-core";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";

/** Tests in a browser: skipped without Chromium, which `npm test` reports at its end. */
export const describeInBrowser = findChromium() === null ? describe.skip : describe;

/** Timeout of page actions. CI is slow; a passing test never waits that long. */
const PAGE_TIMEOUT_MS = 20_000;
const RESULTS_FOLDER = repositoryPath(".test-results");

/** A visitor's separate browser: pages that share its storage, and their logs. */
export interface VisitorBrowser {
  readonly context: BrowserContext;
  /** Opens a tab on a URL and waits until the page is loaded. */
  openPage(url: string): Promise<Page>;
  /** Returns the console lines of all tabs, and uncaught errors. */
  log(): string[];
  /** Returns uncaught errors of all tabs. */
  errors(): string[];
}

/** A Chromium that runs for a test file. */
export interface TestBrowser {
  readonly version: string;
  /**
   * Creates a test of visitors' actions: `run` opens any number of browsers, and all are closed afterwards. On failure,
   * a screenshot of each tab and the console log are written to `.test-results`.
   */
  visit(run: (open: (options?: BrowserContextOptions) => Promise<VisitorBrowser>) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts the Chromium of this machine without a window: with `showsNotifications`, one that can show notifications. A test
 * file that does not close it fails.
 */
export async function openBrowser(options: { showsNotifications?: boolean } = {}): Promise<TestBrowser> {
  const executablePath = findChromium(options);
  if (executablePath === null) throw new Error("There is no Chromium in the PATH; install it or set SVC_CHROMIUM.");
  const browser = await chromium.launch({
    executablePath,
    // Chromium's sandbox does not run as root, which CI uses.
    chromiumSandbox: process.getuid?.() !== 0,
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
  const release = holdResource("a Chromium", () => browser.close());
  return {
    version: browser.version(),
    async visit(run) {
      const visitors: VisitorBrowser[] = [];
      try {
        await run(async (options) => {
          const visitor = await openVisitor(browser, options);
          visitors.push(visitor);
          return visitor;
        });
      } catch (error) {
        await keepTraces(visitors);
        throw error;
      } finally {
        await Promise.all(visitors.map(({ context }) => context.close()));
      }
    },
    async close() {
      await browser.close();
      release();
    },
  };
}

async function openVisitor(browser: Browser, options: BrowserContextOptions = {}): Promise<VisitorBrowser> {
  const context = await browser.newContext({ locale: "en-US", ...options });
  context.setDefaultTimeout(PAGE_TIMEOUT_MS);
  const lines: string[] = [];
  const errors: string[] = [];
  context.on("console", (message) => {
    lines.push(`${message.type()}: ${message.text()}`);
  });
  context.on("weberror", (error) => {
    const text = error.error().stack ?? error.error().message;
    lines.push(`uncaught: ${text}`);
    errors.push(text);
  });
  return {
    context,
    async openPage(url) {
      const page = await context.newPage();
      await page.goto(url);
      return page;
    },
    log: () => [...lines],
    errors: () => [...errors],
  };
}

/**
 * Takes a screenshot of a page, named after what it shows, if the run was started with `TEST_SCREENSHOTS`: the
 * appearance of the widget is reviewed by people.
 */
export async function keepPicture(page: Page, name: string): Promise<void> {
  const { screenshotDir } = readTestSettings();
  if (screenshotDir === undefined) return;
  await page.screenshot({ path: `${screenshotDir}/${name.replaceAll(/[^a-zA-Z0-9]+/g, "-")}.png` });
}

/** Writes diagnostics of a failed test. Unavailable ones are omitted: the failure itself must be reported. */
async function keepTraces(visitors: readonly VisitorBrowser[]): Promise<void> {
  const { currentTestName = "a test", testPath = "" } = expect.getState();
  const file = testPath.replace(/^.*\//, "").replace(/\.test\.ts$/, "");
  const name = `${file} ${currentTestName}`.replaceAll(/[^a-zA-Z0-9]+/g, "-").slice(0, 120);
  await mkdir(RESULTS_FOLDER, { recursive: true });
  const pages = visitors.flatMap(({ context }) => context.pages());
  await Promise.allSettled([
    ...pages.map((page, index) =>
      page.screenshot({ path: `${RESULTS_FOLDER}/${name}-${index + 1}.png`, timeout: 5_000 }),
    ),
    writeFile(`${RESULTS_FOLDER}/${name}.log`, visitors.map((visitor) => visitor.log().join("\n")).join("\n\n")),
  ]);
}
