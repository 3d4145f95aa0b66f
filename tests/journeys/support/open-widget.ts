import { waitFor } from "@svc/testing";
import type { Locator, Page } from "playwright-core";
import { chooseFiles } from "./choose-files.ts";

/** A message or a reply item as the panel shows it. */
export interface SeenEntry {
  kind: string;
  /** Delivery state of a visitor's message; empty for a reply. */
  state: string;
  /** Without text for screen readers only. Empty for a file. */
  text: string;
}

/** The widget of a page, with locators by roles and parts. */
export interface WidgetOnPage {
  readonly page: Page;
  readonly launcher: Locator;
  readonly panel: Locator;
  readonly composer: Locator;
  part(name: string): Locator;
  /** Opens the panel with a click if it is closed, and waits until the composer is ready. */
  open(): Promise<void>;
  /** Reloads the page and opens the panel. */
  reload(): Promise<void>;
  /** Types a message and sends it with Enter. */
  write(text: string): Promise<void>;
  /** Chooses files for the next message, and waits until the server has each of them: `count` in total. */
  attach(files: { name: string; mimeType: string; buffer: Buffer }[], count?: number): Promise<void>;
  /** Returns all entries of the list, in order. */
  entries(): Promise<SeenEntry[]>;
  /** Waits until the list meets the condition, and returns it. */
  untilShown(isReached: (entries: SeenEntry[]) => boolean, what: string, timeoutMs?: number): Promise<SeenEntry[]>;
}

const WAIT_MS = 30_000;

/** Returns the texts of visitors or of replies; without files. */
export const textsOf = (entries: readonly SeenEntry[], kind: "visitor" | "reply") =>
  entries.filter((entry) => entry.kind === kind && entry.text !== "").map(({ text }) => text);

/** Returns the widget on a page, open or closed. */
export function widgetOn(page: Page): WidgetOnPage {
  const part = (name: string) => page.locator(`svc-widget [data-part="${name}"]`);
  const launcher = part("launcher");
  const composer = part("composer");
  const entries = () =>
    part("entry").evaluateAll((found) =>
      found.map((entry) => ({
        kind: entry.dataset["kind"] ?? "",
        state: entry.dataset["state"] ?? "",
        text: (entry.querySelector(`[data-part="text"]`)?.innerText ?? "").replaceAll(
          /\s*\(opens in a new tab\)\s*/g,
          "",
        ),
      })),
    );
  const widget: WidgetOnPage = {
    page,
    launcher,
    panel: part("panel"),
    composer,
    part,
    async open() {
      if (!(await part("panel").isVisible())) await launcher.click();
      await composer.waitFor();
    },
    async reload() {
      await page.reload();
      await launcher.waitFor();
      await widget.open();
    },
    async write(text) {
      await composer.fill(text);
      await composer.press("Enter");
    },
    async attach(files, count = files.length) {
      await chooseFiles(page, () => part("panel").getByRole("button", { name: "Attach a file" }).click(), files);
      const drafts = part("panel").locator(".draft");
      await waitFor(async () => (await drafts.count()) === count && (await drafts.locator("progress").count()) === 0, {
        what: "the files to be with the server",
        timeoutMs: WAIT_MS,
      });
    },
    entries,
    async untilShown(isReached, what, timeoutMs = WAIT_MS) {
      let seen: SeenEntry[] = [];
      await waitFor(
        async () => {
          seen = await entries();
          return isReached(seen);
        },
        { what: () => `${what}; the panel shows ${JSON.stringify(seen).slice(0, 4_000)}`, timeoutMs },
      );
      return seen;
    },
  };
  return widget;
}
