import { waitFor } from "@svc/testing";
import type { BrowserContext, Page } from "playwright-core";

/** A system notification that a page has shown. */
export interface NotedNotification {
  title: string;
  body: string;
  tag: string;
}

/** Focus of a user: on the page, on another tab that hides it, or on another window beside it. */
export type Attention = "here" | "hidden" | "elsewhere";

/**
 * Replaces the browser's notifications with a recorder; also records permission requests, and tickets whose arrival in
 * review the page has received. Notifications are always allowed, because a headless browser cannot ask.
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

/** A headless browser has no window that could be hidden or focused. */
const ATTENTION = {
  here: ["visible", true],
  hidden: ["hidden", false],
  elsewhere: ["visible", false],
} as const satisfies Record<Attention, readonly [string, boolean]>;

/** Allows notifications to the pages of a browser, and records them from their next load on. */
export const noteNotifications = (context: BrowserContext): Promise<unknown> =>
  context.addInitScript({ content: NOTING });

/** Returns how often a page has requested the permission for notifications since it was loaded. */
export const countAsked = (page: Page): Promise<number> => page.evaluate<number>("noted.asked");

/** Returns the notifications of a page since it was loaded, in order. */
export const notificationsOf = (page: Page): Promise<NotedNotification[]> =>
  page.evaluate<NotedNotification[]>("noted.shown.map(({ title, body, tag }) => ({ title, body, tag }))");

/** Waits until a page has received that a ticket came to review, and has handled it. */
export const untilHeard = (page: Page, ticketId: string): Promise<boolean> =>
  waitFor(() => page.evaluate<boolean>(`noted.heard.includes("${ticketId}")`), {
    what: `the page to hear of the ticket ${ticketId}`,
  });

/** Clicks the newest notification of a page. */
export const pressNotification = (page: Page): Promise<void> =>
  page.evaluate<void>("noted.shown.at(-1).dispatchEvent(new Event('click')) && undefined");

/** Moves the user's focus to a page, or away from it. */
export async function turnTo(page: Page, attention: Attention): Promise<void> {
  const [visibility, hasFocus] = ATTENTION[attention];
  await page.evaluate(`
    Object.defineProperty(document, "visibilityState", { configurable: true, get: () => "${visibility}" });
    document.hasFocus = () => ${hasFocus};
    document.dispatchEvent(new Event("visibilitychange"));
  `);
}
