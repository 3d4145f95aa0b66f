// The embedded product with its widget, for what is measured of it.
import { startEmbeddedProduct, waitFor } from "@svc/testing";

/** The widget's key. */
export const WIDGET_KEY = "bench-widget-key-0001";

/** Starts the embedded product with its widget enabled and `config` as its settings. */
export async function startWidgetProduct(config: Record<string, unknown> = {}) {
  const product = await startEmbeddedProduct();
  const json = { enabled: true, config: { apiKey: WIDGET_KEY, allowedOrigins: [], ...config } };
  await product.call("PUT", "/admin/channels/widget", { json });
  const configUrl = `${product.widgetUrl}/api/widget/config/${WIDGET_KEY}`;
  await waitFor(async () => (await fetch(configUrl)).ok, { what: "the widget" });
  return product;
}
