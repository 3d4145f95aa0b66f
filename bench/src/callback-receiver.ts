// A receiver of callbacks, as a process of its own: it notes when each delivery came and answers 204.
//   node callback-receiver.js PORT
// GET /count returns how many came; GET /callbacks/ID waits for that delivery and returns when it came, null for never.
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";

const PATIENCE_MS = 15_000;

/** Milliseconds on the clock that all processes of this machine share. */
const now = () => Number(process.hrtime.bigint()) / 1e6;

const cameAt = new Map<string, number>();
const waiting = new Map<string, () => void>();
let repeated = 0;
let lastAt = 0;

function answer(response: ServerResponse, body: unknown) {
  const text = JSON.stringify(body);
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) }).end(text);
}

function note(id: string) {
  lastAt = now();
  if (cameAt.has(id)) {
    repeated++;
    return;
  }
  cameAt.set(id, lastAt);
  waiting.get(id)?.();
  waiting.delete(id);
}

const server = createServer((request, response) => {
  if (request.method === "POST") {
    request.resume().once("end", () => {
      note(String(request.headers["x-svc-delivery"]));
      response.writeHead(204).end();
    });
    return;
  }
  if (request.url === "/count") {
    answer(response, { received: cameAt.size, repeated, lastAt });
    return;
  }
  const id = (request.url ?? "").slice("/callbacks/".length);
  const tell = () => {
    clearTimeout(timer);
    waiting.delete(id);
    answer(response, { at: cameAt.get(id) ?? null });
  };
  const timer = setTimeout(tell, cameAt.has(id) ? 0 : PATIENCE_MS);
  if (!cameAt.has(id)) waiting.set(id, tell);
});
server.listen(Number(process.argv[2]), "127.0.0.1");
