import type { OperatorRole } from "@svc/contracts";
import { newId } from "@svc/store";
import type { BrowserContextOptions, Page } from "playwright-core";
import { cookieOf } from "./create-console-client.ts";
import { callApi } from "./call-api.ts";
import { hashCheaply } from "./hash-cheaply.ts";
import { openBrowser } from "./open-browser.ts";
import type { TestBrowser, VisitorBrowser } from "./open-browser.ts";
import { startProduct } from "./start-product.ts";
import type { Product } from "./start-product.ts";
import { startWidgetLine } from "./start-widget-line.ts";
import type { WidgetLine } from "./start-widget-line.ts";

/** An operator who can sign in. */
export interface ConsolePerson {
  id: string;
  name: string;
  email: string;
  password: string;
}

/** A browser with a signed-in operator. */
export interface ConsoleVisitor extends VisitorBrowser {
  /** Opens a page of the console by its path, such as `/shop/inbox/review`. */
  openPath(path: string): Promise<Page>;
}

/** The environment of an operator: the product with its console, a connection to it that can drop, and a browser. */
export interface ConsoleGround {
  readonly product: Product;
  readonly line: WidgetLine;
  readonly browser: TestBrowser;
  /** Creates an operator with roles; a project by its name, `*` for all. */
  addPerson(name: string, roles: readonly { project: string; role: OperatorRole }[]): Promise<ConsolePerson>;
  /**
   * Opens a browser with a signed-in operator: with one session for all of their browsers, because sign-in attempts are
   * limited, or with a new one with `isAnotherSession`.
   */
  enter(
    open: (options?: BrowserContextOptions) => Promise<VisitorBrowser>,
    person: ConsolePerson,
    options?: BrowserContextOptions & { isAnotherSession?: boolean },
  ): Promise<ConsoleVisitor>;
  /** Stops everything. Must be called in `afterAll`. */
  stop(): Promise<void>;
}

export const CONSOLE_PASSWORD = "correct horse battery";

/** Starts the product with its console, with fake external servers if `env` configures them. */
export async function startConsoleGround(env: Record<string, string> = {}): Promise<ConsoleGround> {
  const ends: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  };
  try {
    const product = await startProduct({
      composition: "standalone",
      replicas: 1,
      env: { SVC_TRUST_PROXY: "127.0.0.1", ...env },
    });
    ends.push(() => product.stop());
    const { store } = product;
    const line = await startWidgetLine(() => product.composition.consoleUrls);
    ends.push(() => line.close());
    const browser = await openBrowser();
    ends.push(() => browser.close());
    const passwordHash = hashCheaply(CONSOLE_PASSWORD);
    const cookies = new Map<string, string>();

    async function signIn({ email, password }: ConsolePerson): Promise<string> {
      const answer = await callApi(`${line.url}/session`, { json: { email, password } });
      const cookie = cookieOf(answer);
      if (cookie === null) throw new Error(`nobody was signed in: ${answer.text}`);
      return cookie;
    }

    return {
      product,
      line,
      browser,
      async addPerson(name, roles) {
        const email = `${newId()}@example.com`;
        const found = await Promise.all(
          roles.map(async ({ project, role }) => ({
            project: project === "*" ? null : ((await store.projects.findByName(project))?.id ?? null),
            role,
          })),
        );
        const record = await store.operators.insert({ email, name, roles: found, passwordHash });
        if (record === null) throw new Error(`${email} is there already`);
        return { id: record.id, name, email, password: CONSOLE_PASSWORD };
      },
      async enter(open, person, { isAnotherSession = false, ...options } = {}) {
        const known = isAnotherSession ? undefined : cookies.get(person.email);
        const cookie = known ?? (await signIn(person));
        if (!isAnotherSession) cookies.set(person.email, cookie);
        const [name = "", value = ""] = cookie.split("=");
        const visitor = await open(options);
        await visitor.context.addCookies([{ name, value, url: line.url, httpOnly: true, sameSite: "Strict" }]);
        return { ...visitor, openPath: (path) => visitor.openPage(`${line.url}${path}`) };
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
