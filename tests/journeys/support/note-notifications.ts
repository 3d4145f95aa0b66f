import { waitFor } from "@svc/testing";
import type { BrowserContext, Page } from "playwright-core";

/** What a page has shown by the system's notifications. */
export interface NotedNotification {
  title: string;
  body: string;
  tag: string;
}

/** What somebody does with the window of a page: looks at it, has another one before it, or works in one beside it. */
export type Attention = "here" | "hidden" | "elsewhere";

/**
 * The browser's own notifications, each of which is noted; so is each time that the page asks whether it may, and each
 * ticket of which the page has heard that it came to review. They are always allowed: a browser without a window has
 * nobody to ask.
 */
const NOTING = `
  globalThis.noted = { asked: 0, shown: [], heard: [] };
  globalThis.EventSource = class extends EventSource {
    constructor(url) {
      super(url);
      this.addEventListener("ticket", ({ data }) => {
        const { ticketId, what } = JSON.parse(data);
        if (what.includes("review")) noted.heard.push(ticketId);
      });
    }
  };
  globalThis.Notification = class extends Notification {
    static permission = "granted";
    static async requestPermission() {
      noted.asked += 1;
      return "granted";
    }
    constructor(title, options) {
      super(title, options);
      noted.shown.push(this);
    }
  };
`;

/** A browser without a window has nothing that could be hidden, or have the focus. */
const ATTENTION = {
  here: ["visible", true],
  hidden: ["hidden", false],
  elsewhere: ["visible", false],
} as const satisfies Record<Attention, readonly [string, boolean]>;

/** Allows notifications to the pages of a browser, and notes what they do with them from their next load on. */
export const noteNotifications = (context: BrowserContext): Promise<unknown> =>
  context.addInitScript({ content: NOTING });

/** How often a page has asked since it was loaded whether it may show notifications. */
export const countAsked = (page: Page): Promise<number> => page.evaluate<number>("noted.asked");

/** What a page has shown since it was loaded, in its order. */
export const notificationsOf = (page: Page): Promise<NotedNotification[]> =>
  page.evaluate<NotedNotification[]>("noted.shown.map(({ title, body, tag }) => ({ title, body, tag }))");

/** Waits until a page has heard that a ticket came to review, and has done with that what it does. */
export const untilHeard = (page: Page, ticketId: string): Promise<boolean> =>
  waitFor(() => page.evaluate<boolean>(`noted.heard.includes("${ticketId}")`), {
    what: `the page to hear of the ticket ${ticketId}`,
  });

/** Presses the newest notification of a page. */
export const pressNotification = (page: Page): Promise<void> =>
  page.evaluate<void>("noted.shown.at(-1).dispatchEvent(new Event('click')) && undefined");

/** Lets somebody look at a page, or at something else. */
export async function turnTo(page: Page, attention: Attention): Promise<void> {
  const [visibility, hasFocus] = ATTENTION[attention];
  await page.evaluate(`
    Object.defineProperty(document, "visibilityState", { configurable: true, get: () => "${visibility}" });
    document.hasFocus = () => ${hasFocus};
    document.dispatchEvent(new Event("visibilitychange"));
  `);
}
