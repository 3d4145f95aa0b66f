import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createClient } from "@svc/client";
import type { PullProgress } from "@svc/client";
import { startWebhookReceiver } from "@svc/testing";
import type { FullAnswer, WebhookReceiver } from "@svc/testing";

let service: WebhookReceiver;
beforeAll(async () => {
  service = await startWebhookReceiver();
});
afterAll(() => service.close());

const PROGRESS = { status: "pulling", completedBytes: 5, totalBytes: 10 };
const DONE = { ok: true, catalogId: "ollama:tiny:1b", status: "success", completedBytes: 10, totalBytes: 10 };
const event = (type: string, id: string, data: object) =>
  `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
const stream = (...events: string[]): FullAnswer => ({
  status: 200,
  headers: { "Content-Type": "text/event-stream" },
  body: ["retry: 1000\n\n", ":\n\n", ...events].join(""),
});
const problem = (status: number, code: string): FullAnswer => ({
  status,
  headers: { "Content-Type": "application/problem+json" },
  body: JSON.stringify({ ok: false, status, code, title: "", detail: "what to do" }),
});

/** Pulls a model from a service with these responses, one per call; returns the reported progress. */
async function pull(
  ...answers: (FullAnswer | "cut")[]
): Promise<{ progress: PullProgress[]; lastIds: (string | undefined)[] }> {
  const before = service.requests.length;
  service.answerWith((_request, index) => answers[index - before] ?? { status: 500 });
  const client = createClient({ url: service.url("").replace(/\/$/, ""), key: "a-key-of-a-test", maxRetries: 2 });
  const progress: PullProgress[] = [];
  for await (const one of client.pullModel("ollama:tiny:1b")) progress.push(one);
  const asked = service.requests.slice(before);
  expect(new Set(asked.map(({ method, path }) => `${method} ${path}`))).toEqual(
    new Set(["POST /api/v1/admin/models/ollama%3Atiny%3A1b/pull"]),
  );
  return { progress, lastIds: asked.map(({ headers }) => headers["last-event-id"]) };
}

test("the progress of a pull is reported as it arrives, and at its end the id of the model", async () => {
  const { progress } = await pull(stream(event("progress", "p.1", PROGRESS), event("done", "p.2", DONE)));
  const { ok: _ok, ...last } = DONE;
  expect(progress).toEqual([PROGRESS, last]);
});

test("a stream that is interrupted continues after the last event", async () => {
  const { progress, lastIds } = await pull(
    "cut",
    stream(event("progress", "p.1", PROGRESS)),
    { status: 503, headers: { "Retry-After": "0" } },
    stream(event("done", "p.7", DONE)),
  );
  expect(progress.map(({ status }) => status)).toEqual(["pulling", "success"]);
  expect(lastIds).toEqual([undefined, undefined, "p.1", "p.1"]);
});

test("a pull whose end was already reported has ended", async () => {
  const { progress } = await pull(stream(event("progress", "p.1", PROGRESS)), { status: 204 });
  expect(progress).toEqual([PROGRESS]);
});

test.each([
  ["before the stream", problem(404, "not_found"), "not_found"],
  [
    "in the stream",
    stream(event("error", "p.2", { status: 507, code: "disk_full", detail: "what to do" })),
    "disk_full",
  ],
])("a pull that fails %s throws an error and is not restarted", async (_when, answer, code) => {
  const before = service.requests.length;
  await expect(pull(answer)).rejects.toMatchObject({ name: "ServiceError", code, detail: "what to do" });
  expect(service.requests.length - before).toBe(1);
});

test("a service that stays unavailable is an error after the maximum number of attempts", async () => {
  await expect(pull("cut", "cut", "cut")).rejects.toMatchObject({ code: "unreachable" });
});
