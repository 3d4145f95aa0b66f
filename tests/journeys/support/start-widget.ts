import { waitFor } from "@svc/testing";
import { startProduct } from "./start-product.ts";
import type { Product } from "./start-product.ts";

/** The widget's key in journeys. */
export const WIDGET_KEY = "wk_journey-0123456789";

/** More than any test needs: tests make more calls than visitors do. */
const ANY_NUMBER = 100_000;

/** A product with an enabled widget. */
export interface WidgetProduct extends Product {
  /** Base URLs of every replica of the widget. */
  readonly urls: string[];
  /** Changes settings of the widget and waits until every replica uses them. */
  configure(config: object): Promise<void>;
  /** Calls a replica over HTTP, as a visitor. */
  call(path: string, options?: CallOptions): Promise<Response>;
}

/** A call of a visitor's browser. */
export interface CallOptions {
  visitorId?: string;
  /** With null, no key is sent. */
  key?: string | null;
  origin?: string;
  method?: string;
  json?: unknown;
  form?: FormData;
  headers?: Record<string, string>;
  /** Index of the replica. Default: the first one. */
  replica?: number;
}

/** Settings are reloaded twice a second, so they are current after this time. */
const SETTLED_MS = 600;

/** Starts the product with the widget enabled, without limits that tests would reach. */
export async function startWidget(options: Parameters<typeof startProduct>[0] = {}): Promise<WidgetProduct> {
  const product = await startProduct({ apps: ["widget"], ...options });
  const urls = product.composition.widgetUrls;

  async function call(path: string, call: CallOptions = {}): Promise<Response> {
    const { visitorId, key = WIDGET_KEY, origin, json, form, headers = {}, replica = 0 } = call;
    const body = json === undefined ? form : JSON.stringify(json);
    return fetch(`${urls[replica] ?? urls[0]}${path}`, {
      method: call.method ?? (body === undefined ? "GET" : "POST"),
      headers: {
        ...(key === null ? {} : { "X-Api-Key": key }),
        ...(visitorId === undefined ? {} : { "X-Visitor-Id": visitorId }),
        ...(origin === undefined ? {} : { Origin: origin }),
        ...(json === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    });
  }

  async function configure(config: object): Promise<void> {
    await product.store.channelsConfig.update("widget", config, { enabled: true });
    const changedAt = performance.now();
    await waitFor(() => performance.now() - changedAt > SETTLED_MS, {
      what: "every replica to read the settings anew",
    });
  }

  try {
    await product.store.channelsConfig.update(
      "widget",
      {
        apiKey: WIDGET_KEY,
        messagesPerMinute: ANY_NUMBER,
        configReadsPerMinute: ANY_NUMBER,
        filesPerMinute: ANY_NUMBER,
        socketsPerMinute: ANY_NUMBER,
      },
      { enabled: true },
    );
    for (const url of urls) {
      await waitFor(async () => (await fetch(`${url}/widget.js`)).ok, { what: `the widget at ${url}` });
    }
  } catch (error) {
    await product.stop();
    throw error;
  }
  return { ...product, stop: () => product.stop(), urls, configure, call };
}
