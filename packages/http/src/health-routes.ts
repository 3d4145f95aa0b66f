import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { METRICS_TYPE, metricsText } from "@svc/telemetry";
import { isLocalRequest } from "./is-local-request.ts";

const METRICS_PATH = "/metrics";
const MONITOR_PATHS: ReadonlySet<string> = new Set(["/healthz", "/readyz", METRICS_PATH]);

/** True for what monitoring asks for, which is not counted as a request. */
export const isMonitorPath = (path: string): boolean => MONITOR_PATHS.has(path);

/** What the health routes ask the process. */
export interface HealthSource {
  /** What keeps the process from its work right now, in words; null when it is ready. */
  findProblem(): Promise<string | null>;
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "Content-Type": "application/json", "Cache-Control": "no-store" });
  response.end(JSON.stringify(body));
}

/** `/healthz` (the process is alive) and `/readyz` (it can work) for one path; false when the path is another one. */
export function answerHealth(path: string, response: ServerResponse, source: HealthSource): boolean {
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
 * `/metrics` on a port that others reach as well: only for a caller on this machine whom no proxy has forwarded. False
 * for all others, who find nothing at this path, and for all other paths.
 */
export function answerLocalMetrics(path: string, request: IncomingMessage, response: ServerResponse): boolean {
  if (path !== METRICS_PATH || request.method !== "GET" || !isLocalRequest(request)) return false;
  answerMetrics(response);
  return true;
}

/** A listener for monitoring alone: the health routes and `/metrics`, on a port that only monitoring reaches. */
export function monitorListener(source: HealthSource): RequestListener {
  return (request, response) => {
    const [path = "/"] = (request.url ?? "/").split("?", 1);
    if (path === METRICS_PATH && request.method === "GET") answerMetrics(response);
    else if (!answerHealth(path, response, source)) answer(response, 404, { ok: false });
  };
}
