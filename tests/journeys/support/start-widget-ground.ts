import type { CompositionName } from "@svc/testing";
import { waitFor } from "@svc/testing";
import { callApi } from "./call-api.ts";
import { createApiClient } from "./create-api-client.ts";
import { openBrowser } from "./open-browser.ts";
import type { TestBrowser } from "./open-browser.ts";
import { startHostSite } from "./start-host-site.ts";
import type { HostSite } from "./start-host-site.ts";
import { startProduct } from "./start-product.ts";
import type { Product } from "./start-product.ts";
import { startWidgetLine } from "./start-widget-line.ts";
import type { WidgetLine } from "./start-widget-line.ts";

export const WIDGET_KEY = "journey-widget-key-0001";

/** The environment of a visitor: the product with its widget, a connection to it, a site, a browser. */
export interface WidgetGround {
  readonly product: Product;
  readonly line: WidgetLine;
  readonly site: HostSite;
  readonly browser: TestBrowser;
  /** Changes settings of the widget channel and waits until visitors receive them. */
  configure(config: Record<string, unknown>): Promise<void>;
  /** Makes the first agent of the widget's project always reply with this text, and waits until it does. */
  answerWith(fixedReply: string): Promise<void>;
  /** Stops everything. Must be called in `afterAll`. */
  stop(): Promise<void>;
}

/**
 * Starts the product with the widget of a project enabled, and everything else for tests in a browser. `prepare` may
 * add projects before the widget is enabled.
 */
export async function startWidgetGround(
  options: {
    project?: string;
    config?: Record<string, unknown>;
    env?: Record<string, string>;
    composition?: CompositionName;
    replicas?: number;
    prepare?: (product: Product) => Promise<void>;
  } = {},
): Promise<WidgetGround> {
  const { project = "default", config = {}, prepare = async () => undefined, env } = options;
  const { composition = "standalone", replicas = 2 } = options;
  const ends: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  };
  try {
    const product = await startProduct({
      composition,
      replicas,
      apps: ["widget"],
      env: { SVC_TRUST_PROXY: "127.0.0.1", ...env },
    });
    ends.push(() => product.stop());
    await prepare(product);
    const line = await startWidgetLine(() => product.composition.widgetUrls);
    ends.push(() => line.close());
    const site = await startHostSite(() => ({
      src: `${line.url}/widget.js`,
      "data-svc-widget": true,
      "data-api-key": WIDGET_KEY,
    }));
    ends.push(() => site.close());

    const readConfig = () =>
      callApi(`${line.url}/api/widget/config/${WIDGET_KEY}`, { headers: { Origin: site.origin } });
    const configure = async (change: Record<string, unknown>) => {
      const [apiUrl = ""] = product.composition.apiUrls;
      const before = await readConfig();
      const answer = await callApi(`${apiUrl}/api/v1/admin/channels/widget`, {
        method: "PUT",
        key: product.adminKey,
        json: { enabled: true, config: change },
      });
      if (answer.status !== 200) throw new Error(`The widget was not configured: ${JSON.stringify(answer.body)}`);
      if (before.status !== 200) return;
      // Every replica reloads the settings once a second.
      await waitFor(async () => JSON.stringify((await readConfig()).body) !== JSON.stringify(before.body), {
        what: "the widget to have its new settings",
      });
    };
    await configure({ apiKey: WIDGET_KEY, project, allowedOrigins: [site.origin], ...config });
    await waitFor(async () => (await readConfig()).status === 200, { what: "the widget to be switched on" });
    const answerWith = async (fixedReply: string) => {
      const { store } = product;
      const home = await store.projects.findByName(project);
      if (home === null) throw new Error(`no project is named ${project}`);
      const [agent] = await store.agents.list(home.id);
      await store.agents.update(home.id, { id: agent?.id ?? "" }, { fixedReply });
      const api = createApiClient(product);
      // The pipeline reloads agents once a second; the same process answers visitors.
      await waitFor(async () => (await api.send(project, { text: "hello" })).texts[0] === fixedReply, {
        what: "the agent to say something else",
      });
    };
    const browser = await openBrowser();
    ends.push(() => browser.close());
    return { product, line, site, browser, configure, answerWith, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
