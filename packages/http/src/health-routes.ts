import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { METRICS_TYPE, metricsText } from "@svc/telemetry";
import { isLocalRequest } from "./client-address.ts";

const METRICS_PATH = "/metrics";
const MONITOR_PATHS: ReadonlySet<string> = new Set(["/healthz", "/readyz", METRICS_PATH]);

/** Returns true for paths of monitoring, which are not counted as requests. */
export const isMonitorPath = (path: string): boolean => MONITOR_PATHS.has(path);

/** State of the process for the health routes. */
export interface HealthSource {
  /** Returns the reason why the process is not ready, or null. */
  findProblem(): Promise<string | null>;
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "Content-Type": "application/json", "Cache-Control": "no-store" });
  response.end(JSON.stringify(body));
}

/** Serves `/healthz` (the process is running) and `/readyz` (it is ready); returns false for any other path. */
export function sendHealth(path: string, response: ServerResponse, source: HealthSource): boolean {
  if (path === "/healthz") {
    answer(response, 200, { ok: true });
    return true;
  }
  if (path !== "/readyz") return false;
  source.findProblem().then(
    (error) =>
      answer(response, error === null ? 200 : 503, error === null ? { ok: true } : { ok: false, detail: error }),
    () => answer(response, 503, { ok: false, detail: "health check failed unexpectedly; see the log" }),
  );
  return true;
}

function answerMetrics(response: ServerResponse): void {
  metricsText().then(
    (text) => {
      response.writeHead(200, { "Content-Type": METRICS_TYPE, "Cache-Control": "no-store" });
      response.end(text);
    },
    () => answer(response, 500, { ok: false, detail: "failed to render metrics" }),
  );
}

/**
 * Serves `/metrics` on a public port, only to clients on this machine without a proxy. Returns false for all others,
 * who get 404, and for other paths.
 */
export function sendLocalMetrics(path: string, request: IncomingMessage, response: ServerResponse): boolean {
  if (path !== METRICS_PATH || request.method !== "GET" || !isLocalRequest(request)) return false;
  answerMetrics(response);
  return true;
}

/**
 * Returns a listener for monitoring only: the health routes and `/metrics`, on a port that only monitoring can reach.
 */
export function monitorListener(source: HealthSource): RequestListener {
  return (request, response) => {
    const [path = "/"] = (request.url ?? "/").split("?", 1);
    if (path === METRICS_PATH && request.method === "GET") answerMetrics(response);
    else if (!sendHealth(path, response, source)) answer(response, 404, { ok: false });
  };
}
