import axe from "axe-core";
import type { Page } from "playwright-core";
import { keepPicture } from "./open-browser.ts";

/** A rule that a page breaks, and where. */
export interface Barrier {
  theme: string;
  rule: string;
  where: string;
}

/** What visitors may have asked their system for. */
const THEMES = {
  light: { media: { colorScheme: "light", forcedColors: "none" }, rules: {} },
  dark: { media: { colorScheme: "dark", forcedColors: "none" }, rules: {} },
  // The system chooses these colours, and Chromium goes on telling pages those that it has replaced.
  "forced colours": {
    media: { colorScheme: "dark", forcedColors: "active" },
    rules: { "color-contrast": { enabled: false } },
  },
} as const;
type Theme = keyof typeof THEMES;

/**
 * Checks a page as it is now, in light, dark and forced colours where `looks` names no fewer, by every rule of axe-core
 * for WCAG 2.2 up to AA and its best practices. Empty where nothing stands in anybody's way. `what` says what it shows,
 * for pictures of it.
 */
export async function findBarriers(
  page: Page,
  what: string,
  themes: readonly Theme[] = Object.keys(THEMES) as Theme[],
): Promise<Barrier[]> {
  if ((await page.evaluate("typeof axe")) === "undefined") await page.evaluate(axe.source);
  const barriers: Barrier[] = [];
  for (const theme of themes) {
    const { media, rules } = THEMES[theme];
    // Colours that are on their way from one theme to the next have no contrast yet.
    await page.emulateMedia({ ...media, reducedMotion: "reduce" });
    await keepPicture(page, `${what}, ${theme}`);
    const results = await page.evaluate<axe.AxeResults>(
      `axe.run({ resultTypes: ["violations"], rules: ${JSON.stringify(rules)} })`,
    );
    for (const { id, nodes } of results.violations) {
      for (const { target, failureSummary = "" } of nodes) {
        barriers.push({ theme, rule: id, where: `${target.flat().join(" ")}: ${failureSummary}` });
      }
    }
  }
  await page.emulateMedia({ colorScheme: "light", forcedColors: "none" });
  return barriers;
}
