// The embedded product with its widget, for what is measured of it.
import { join } from "node:path";
import { ROOT } from "../prepare.mjs";
import { freePort, start, stop, until } from "./processes.mjs";

const ADMIN_KEY = "bench-key-0123456789abcdef";
/** The widget's key. */
export const WIDGET_KEY = "bench-widget-key-0001";

/** Starts the embedded product in a folder of its own, with its widget switched on and so set. */
export async function startWidgetProduct(folder, config = {}) {
  const port = async () => String(await freePort());
  const env = {
    SVC_DATA_DIR: folder,
    SVC_ADMIN_KEY: ADMIN_KEY,
    SVC_LOG_LEVEL: "warn",
    SVC_API_PORT: await port(),
    SVC_WIDGET_PORT: await port(),
    SVC_TOOLS_PORT: await port(),
    SVC_CONSOLE_PORT: await port(),
    SVC_METRICS_PORT: await port(),
  };
  const child = start(process.execPath, [join(ROOT, "apps", "standalone", "dist", "main.js")], { env });
  const api = `http://127.0.0.1:${env.SVC_API_PORT}/api/v1`;
  await until("the product", async () => (await fetch(`${api}/health`)).ok);
  const answer = await fetch(`${api}/admin/channels/widget`, {
    method: "PUT",
    headers: { "content-type": "application/json", authorization: `Bearer ${ADMIN_KEY}` },
    body: JSON.stringify({ enabled: true, config: { apiKey: WIDGET_KEY, allowedOrigins: [], ...config } }),
  });
  if (!answer.ok) throw new Error(`the widget could not be switched on: ${await answer.text()}`);
  const url = `http://127.0.0.1:${env.SVC_WIDGET_PORT}`;
  await until("the widget", async () => (await fetch(`${url}/api/widget/config/${WIDGET_KEY}`)).ok);
  return { url, pid: child.pid, stop: () => stop(child) };
}
