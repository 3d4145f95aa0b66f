import axe from "axe-core";
import type { Page } from "playwright-core";
import { keepPicture } from "./open-browser.ts";

/** A violated accessibility rule, and its location. */
export interface Barrier {
  theme: string;
  rule: string;
  where: string;
}

/** Color preferences of a visitor's system. */
const THEMES = {
  light: { media: { colorScheme: "light", forcedColors: "none" }, rules: {} },
  dark: { media: { colorScheme: "dark", forcedColors: "none" }, rules: {} },
  // The system chooses these colors, while Chromium reports the replaced ones to pages.
  "forced colours": {
    media: { colorScheme: "dark", forcedColors: "active" },
    rules: { "color-contrast": { enabled: false } },
  },
} as const;
type Theme = keyof typeof THEMES;

/**
 * Checks a page in its current state, in light, dark and forced colors unless `looks` names fewer, against every rule
 * of axe-core for WCAG 2.2 up to AA and its best practices. Returns an empty array if there are no violations. `what`
 * names the state, for screenshots.
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
    // During a color transition the contrast cannot be measured.
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
