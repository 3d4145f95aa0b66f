import type { PlacesAnswer, ServicePlace } from "@svc/contracts";
import type { Config } from "@svc/runtime";
import type { RequestHandler } from "express";

const ANSWER_MS = 1_000;
const WILDCARDS: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/** Whether something there says that it is alive. */
async function isAlive(host: string, port: number): Promise<boolean> {
  const shown = host.includes(":") ? `[${host}]` : host;
  try {
    const answer = await fetch(`http://${shown}:${port}/healthz`, {
      redirect: "error",
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    // Refused or too late: nobody is there, which is the answer.
    return false;
  }
}

/** `GET /session/places`: the ports of the parts of the service that others call, and whether they answer here. */
export function tellPlaces({ bindHost, ports }: Pick<Config, "bindHost" | "ports">): RequestHandler {
  const host = bindHost === undefined || WILDCARDS.has(bindHost) ? "127.0.0.1" : bindHost;
  const places: readonly Pick<ServicePlace, "id" | "port">[] = [
    { id: "api", port: ports.api },
    { id: "widget", port: ports.widget },
    { id: "tool-server", port: ports.tools },
  ];
  return async (_request, response) => {
    const items = await Promise.all(
      places.map(async ({ id, port }): Promise<ServicePlace> => ({ id, port, isReachable: await isAlive(host, port) })),
    );
    const answer: PlacesAnswer = { ok: true, items };
    response.set("Cache-Control", "no-store").json(answer);
  };
}
