import type { RequestListener, ServerResponse } from "node:http";

/** What the health routes ask the process. */
export interface HealthSource {
  /** What keeps the process from its work right now, in words; null when it is ready. */
  findFault(): Promise<string | null>;
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
  source.findFault().then(
    (fault) =>
      answer(response, fault === null ? 200 : 503, fault === null ? { ok: true } : { ok: false, detail: fault }),
    () => answer(response, 503, { ok: false, detail: "the check itself failed; see the log" }),
  );
  return true;
}

/** A listener that serves the health routes alone, for processes without an HTTP surface of their own. */
export function healthListener(source: HealthSource): RequestListener {
  return (request, response) => {
    const [path = "/"] = (request.url ?? "/").split("?", 1);
    if (!answerHealth(path, response, source)) answer(response, 404, { ok: false });
  };
}
