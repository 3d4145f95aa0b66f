// `npm run screenshots`: pictures of every page of the console, with a small made-up shop in it.
//   npm run screenshots -- --out FOLDER [--widths 390,1280,1920] [--themes light,dark] [--languages en,de] [--only inbox]
// Plants the shop in a new database, signs in with Chromium and writes <page>-<width>-<theme>-<language>.png for each page;
// says which pages are wider than their window. Needs a Chromium in the PATH, or in SVC_CHROMIUM.
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { startEmbeddedProduct } from "@svc/testing";
import type { EmbeddedProduct } from "@svc/testing";
import type { Browser, Page } from "playwright-core";
import { launchChromium, signIn } from "./product.ts";
import { plantShop } from "./plant-shop.ts";
import type { Shop } from "./plant-shop.ts";

const { values } = parseArgs({
  options: {
    out: { type: "string" },
    widths: { type: "string", default: "390,1280,1920" },
    themes: { type: "string", default: "light,dark" },
    languages: { type: "string", default: "en" },
    only: { type: "string", default: "" },
  },
});
if (values.out === undefined) throw new Error("Say where the pictures go: --out FOLDER.");
const out = resolve(values.out);
const HEIGHTS: Record<number, number> = { 390: 844, 1280: 800, 1920: 1080 };
const SETTLE_MS = 400;
/** Placeholders of content that is still loading. */
const WAITING = "[aria-busy=true]:visible, .animate-shimmer:visible";

/** What is pressed and looked for, in each language. */
const WORDS = {
  en: {
    locale: "en-US",
    password: "Password",
    draft: "Draft",
    use: "Use draft",
    details: "Details",
    trace: "Trace",
    question: "Ask as a customer would",
    found: "Passages",
    threshold: "Confidence threshold",
    message: "Message",
    wrong: "No",
  },
  de: {
    locale: "de-DE",
    password: "Passwort",
    draft: "Entwurf",
    use: "Entwurf übernehmen",
    details: "Details",
    trace: "Ablauf",
    question: "Stellen Sie eine Frage wie ein Kunde",
    found: "Passagen",
    threshold: "Konfidenz-Schwellenwert",
    message: "Nachricht",
    wrong: "Nein",
  },
};

type Language = keyof typeof WORDS;
type Words = Record<keyof (typeof WORDS)["en"], string>;

/** A page of the console; `act` does what has to be done on it before its picture is taken. */
interface Shown {
  path: string;
  act?(page: Page): Promise<void>;
}

/** The pages by their names. */
// oxlint-disable-next-line max-lines-per-function -- A table with an entry for each page.
const pagesOf = ({ project, ticketId, taskId, kbId, agentId }: Shop, words: Words): Record<string, Shown> => ({
  start: { path: `/${project}/start` },
  teach: {
    path: `/${project}/start`,
    async act(page) {
      await page.getByRole("textbox", { name: words.message }).fill("How long can I fly?");
      await page.keyboard.press("Control+Enter");
      await page.getByRole("button", { name: words.wrong, exact: true }).click();
      await page.locator("form button[type=submit]").last().scrollIntoViewIfNeeded();
    },
  },
  inbox: { path: `/${project}/inbox/review` },
  ticket: { path: `/${project}/inbox/review/${ticketId}` },
  draft: {
    path: `/${project}/inbox/review/${ticketId}`,
    act: (page) => page.getByRole("region", { name: words.draft }).getByRole("button", { name: words.use }).click(),
  },
  task: { path: `/${project}/inbox/shared/${taskId}` },
  details: {
    path: `/${project}/inbox/review/${ticketId}`,
    async act(page) {
      await page.getByRole("region", { name: words.draft }).waitFor();
      const tab = page.getByRole("tab", { name: words.details });
      if (!(await tab.isVisible())) await page.getByRole("button", { name: words.details }).click();
    },
  },
  bulk: {
    path: `/${project}/inbox/review`,
    async act(page) {
      for (const box of (await page.getByRole("checkbox").all()).slice(0, 2)) await box.check({ force: true });
    },
  },
  trace: {
    path: `/${project}/inbox/review/${ticketId}`,
    async act(page) {
      await page.getByRole("region", { name: words.draft }).waitFor();
      const tab = page.getByRole("tab", { name: words.trace });
      if (!(await tab.isVisible())) await page.getByRole("button", { name: words.details }).click();
      await tab.click();
    },
  },
  all: { path: `/${project}/inbox/all` },
  keys: {
    path: `/${project}/inbox/review`,
    act: (page) => page.keyboard.press("?"),
  },
  palette: {
    path: `/${project}/inbox/review`,
    act: (page) => page.keyboard.press("Control+k"),
  },
  customers: { path: `/${project}/customers` },
  customer: {
    path: `/${project}/customers`,
    async act(page) {
      await page.locator("main ul a").first().click();
      await page.locator("main h1 [data-initials]").waitFor();
    },
  },
  knowledge: { path: `/${project}/knowledge` },
  documents: { path: `/${project}/knowledge/${kbId}` },
  search: {
    path: `/${project}/knowledge/${kbId}?tab=search`,
    async act(page) {
      await page.getByLabel(words.question).fill("How long do I have to return something?");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: words.found }).waitFor();
    },
  },
  articles: { path: `/${project}/knowledge/articles` },
  gaps: { path: `/${project}/knowledge/gaps` },
  proposals: { path: `/${project}/knowledge/proposals` },
  agents: { path: `/${project}/agents` },
  agent: { path: `/${project}/agents/${agentId}` },
  integrations: { path: `/${project}/integrations` },
  api: { path: `/${project}/integrations/api` },
  widget: { path: `/${project}/integrations/widget` },
  telegram: { path: `/${project}/integrations/messenger` },
  tools: { path: `/${project}/integrations/tool-server` },
  overview: { path: `/${project}/overview` },
  reports: { path: `/${project}/overview/reports` },
  answers: {
    path: `/${project}/overview`,
    async act(page) {
      const slider = page.getByRole("slider", { name: words.threshold });
      await slider.fill("75");
      await slider.evaluate((input) => input.scrollIntoView({ block: "center" }));
    },
  },
  "admin-keys": { path: `/${project}/administration/keys` },
  "admin-operators": { path: `/${project}/administration/operators` },
  "admin-projects": { path: `/${project}/administration/projects` },
  "admin-models": { path: `/${project}/administration/models` },
  "admin-tags": { path: `/${project}/administration/tags` },
  "admin-canned": { path: `/${project}/administration/canned-replies` },
  "admin-webhooks": { path: `/${project}/administration/webhooks` },
  notifications: { path: `/${project}/notifications` },
  "admin-deliveries": { path: `/${project}/administration/deliveries` },
  "admin-audit": { path: `/${project}/administration/audit` },
});

interface Style {
  width: number;
  colorScheme: "light" | "dark";
  language: Language;
}

/** Takes the pictures of one width, theme and language. */
async function takePictures(browser: Browser, product: EmbeddedProduct, shop: Shop, style: Style) {
  const { width, colorScheme, language } = style;
  const words = WORDS[language];
  const context = await browser.newContext({
    viewport: { width, height: HEIGHTS[width] ?? 900 },
    colorScheme,
    locale: words.locale,
    reducedMotion: "reduce",
    hasTouch: width < 600,
  });
  const wanted = values.only.split(",").filter((name) => name !== "");
  const page = await context.newPage();
  await page.goto(`${product.consoleUrl}/sign-in`);
  await page.getByLabel(words.password).waitFor();
  const take = async (name: string) => {
    await page.locator(WAITING).first().waitFor({ state: "hidden" });
    await page.waitForTimeout(SETTLE_MS);
    const picture = `${name}-${width}-${colorScheme}-${language}`;
    await page.screenshot({ path: join(out, `${picture}.png`) });
    const surplus = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
    if (surplus > 0) console.warn(`${picture} is ${surplus} px wider than its window.`);
  };
  if (wanted.length === 0) await take("sign-in");
  await signIn(context, product, shop.email);
  for (const [name, shown] of Object.entries(pagesOf(shop, words))) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    await page.goto(`${product.consoleUrl}${shown.path}`);
    await page.locator("main h1").first().waitFor({ state: "attached" });
    await page.locator(WAITING).first().waitFor({ state: "hidden" });
    await shown.act?.(page);
    await take(name);
  }
  await context.close();
}

const endings: (() => unknown)[] = [];
try {
  mkdirSync(out, { recursive: true });
  const product = await startEmbeddedProduct();
  endings.push(product.stop);
  const shop = await plantShop(product);
  const browser = await launchChromium();
  endings.push(() => browser.close());
  for (const width of values.widths.split(",").map(Number))
    for (const colorScheme of values.themes.split(",") as Style["colorScheme"][])
      for (const language of values.languages.split(",") as Language[]) {
        await takePictures(browser, product, shop, { width, colorScheme, language });
        console.log(`${width} px, ${colorScheme}, ${language}: done`);
      }
  console.log(`The pictures are in ${out}`);
} finally {
  for (const end of endings.toReversed()) await end();
}
