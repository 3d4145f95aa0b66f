import { waitFor } from "@svc/testing";
import type { Locator, Page } from "playwright-core";
import { chooseFiles } from "./choose-files.ts";

/** A message or a reply item as the panel shows it. */
export interface SeenEntry {
  kind: string;
  /** What became of a visitor's message; empty for a reply. */
  state: string;
  /** Without what is said to screen readers alone. Empty for a file. */
  text: string;
}

/** The widget of a page, found by its roles and parts. */
export interface WidgetOnPage {
  readonly page: Page;
  readonly launcher: Locator;
  readonly panel: Locator;
  readonly composer: Locator;
  part(name: string): Locator;
  /** Opens the panel by a click where it is closed, and waits until it can be written in. */
  open(): Promise<void>;
  /** Loads the page again and opens the panel. */
  reload(): Promise<void>;
  /** Writes a message and sends it with Enter. */
  write(text: string): Promise<void>;
  /** Chooses files for the next message, and waits until the server has each of them: `count` in all. */
  attach(files: { name: string; mimeType: string; buffer: Buffer }[], count?: number): Promise<void>;
  /** All that the list shows, in its order. */
  entries(): Promise<SeenEntry[]>;
  /** Waits until the list is as asked for, and answers it. */
  untilShown(isReached: (entries: SeenEntry[]) => boolean, what: string, timeoutMs?: number): Promise<SeenEntry[]>;
}

const WAIT_MS = 30_000;

/** What visitors have written or what they were told; files are left out. */
export const textsOf = (entries: readonly SeenEntry[], kind: "visitor" | "reply") =>
  entries.filter((entry) => entry.kind === kind && entry.text !== "").map(({ text }) => text);

/** The widget on a page, whether it is open yet or not. */
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
