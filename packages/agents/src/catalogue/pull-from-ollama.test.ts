import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { ModelPullProgress } from "@svc/contracts";
import {
  DISK_FULL,
  UNKNOWN_MODEL,
  freePort,
  linesOfPull,
  startFakeOllama,
  startWebhookReceiver,
  waitFor,
} from "@svc/testing";
import type { FakeOllama, PullScript, ReceiverAnswer } from "@svc/testing";
import { pullFromOllama } from "./pull-from-ollama.ts";

let ollama: FakeOllama;
beforeAll(async () => {
  ollama = await startFakeOllama();
});
afterAll(() => ollama.close());

async function pull(script: PullScript, options: { signal?: AbortSignal; silenceMs?: number } = {}) {
  ollama.pullWith(script);
  const said: ModelPullProgress[] = [];
  const signal = new AbortController().signal;
  await pullFromOllama({ rootUrl: ollama.url }, "tiny:1b", {
    onProgress: (line) => said.push(line),
    signal,
    ...options,
  });
  return said;
}

test("a pull tells how far it is and ends when the model is there", async () => {
  const said = await pull(() => linesOfPull(1_000, 2));
  expect(said).toEqual([
    { status: "pulling manifest", completedBytes: 0, totalBytes: null },
    { status: "pulling c6eb396dbd59", completedBytes: 0, totalBytes: 1_000 },
    { status: "pulling c6eb396dbd59", completedBytes: 500, totalBytes: 1_000 },
    { status: "pulling c6eb396dbd59", completedBytes: 1_000, totalBytes: 1_000 },
    { status: "verifying sha256 digest", completedBytes: 1_000, totalBytes: 1_000 },
    { status: "writing manifest", completedBytes: 1_000, totalBytes: 1_000 },
    { status: "success", completedBytes: 1_000, totalBytes: 1_000 },
  ]);
  expect(ollama.installed().map(({ name }) => name)).toContain("tiny:1b");
});

test("the layers of a model are added up", async () => {
  const said = await pull(() => [
    { status: "pulling aa", digest: "sha256:aa", total: 100, completed: 100 },
    { status: "pulling bb", digest: "sha256:bb", total: 50 },
    { status: "pulling bb", digest: "sha256:bb", total: 50, completed: 999 },
    { status: "success" },
  ]);
  expect(said.map(({ completedBytes, totalBytes }) => [completedBytes, totalBytes])).toEqual([
    [100, 100],
    [100, 150],
    [150, 150],
    [150, 150],
  ]);
});

test.each<[string, PullScript, object]>([
  [
    "a full disk",
    () => DISK_FULL,
    { code: "disk_full", isFinal: true, message: expect.stringContaining("Free disk space") },
  ],
  [
    "a model that nobody has",
    () => UNKNOWN_MODEL,
    { code: "not_found", isFinal: true, message: expect.stringContaining("ollama.com/library") },
  ],
  [
    "a fault that nobody knows",
    () => [{ error: "weird\u001b[2J\nthing" }],
    { code: "pull_failed", isFinal: false, message: expect.stringContaining(": weird[2J thing.") },
  ],
  [
    "an Ollama that is too old",
    () => [{ error: "pull model manifest: 412: this model requires a newer version of Ollama" }],
    { code: "pull_failed", isFinal: true, message: expect.stringContaining("Update Ollama") },
  ],
  ["a cut line", () => [...linesOfPull().slice(0, 3), "cut"], { code: "pull_failed", isFinal: false }],
  ["an end before the end", () => linesOfPull().slice(0, 3), { code: "pull_failed", isFinal: false }],
])("%s is told with what to do, and whether another try may help", async (_what, script, error) => {
  await expect(pull(script)).rejects.toMatchObject({ name: "PullError", ...error });
});

test.each<[string, ReceiverAnswer]>([
  ["no JSON", { status: 200, body: "<html>\n" }],
  ["a line without a line break", { status: 200, body: `{"status":"${"x".repeat(200_000)}` }],
  ["a status that is none of these", { status: 500, body: '{"error":"boom"}' }],
  ["nothing at all", { status: 200, body: "" }],
])("%s in place of a pull is a fault", async (_what, answer) => {
  const server = await startWebhookReceiver();
  server.answerWith(answer);
  const options = { onProgress: () => undefined, signal: new AbortController().signal };
  await expect(pullFromOllama({ rootUrl: server.url("/").slice(0, -1) }, "x:1", options)).rejects.toMatchObject({
    name: "PullError",
    code: "pull_failed",
  });
  await server.close();
});

test("a key is sent to a proxy in front of Ollama, and told to nobody when that repeats it", async () => {
  const proxy = await startWebhookReceiver();
  proxy.answerWith({ status: 400, body: '{"error":"sk-secret is not known"}' });
  const options = { onProgress: () => undefined, signal: new AbortController().signal };
  const target = { rootUrl: proxy.url("/").slice(0, -1), apiKey: "sk-secret" };
  await expect(pullFromOllama(target, "x:1", options)).rejects.toMatchObject({
    message: expect.stringContaining("[key] is not known"),
  });
  expect(proxy.requests[0]?.headers["authorization"]).toBe("Bearer sk-secret");
  await proxy.close();
});

test("an Ollama that is away is told", async () => {
  const options = { onProgress: () => undefined, signal: new AbortController().signal };
  await expect(
    pullFromOllama({ rootUrl: `http://127.0.0.1:${await freePort()}` }, "x:1", options),
  ).rejects.toMatchObject({
    code: "unavailable",
    isFinal: false,
    message: expect.stringContaining("ollama serve"),
  });
});

test("an Ollama that falls silent is given up, and so is one that nobody wants to hear any more", async () => {
  const never = new Promise(() => undefined);
  const silent = pull(() => [...linesOfPull().slice(0, 2), { wait: never }], { silenceMs: 50 });
  await expect(silent).rejects.toMatchObject({
    code: "pull_failed",
    message: expect.stringContaining("sent no progress"),
  });

  const gone = new AbortController();
  const asked = ollama.pulls.length;
  const broken = pull(() => [...linesOfPull().slice(0, 2), { wait: never }], { signal: gone.signal });
  broken.catch(() => undefined);
  await waitFor(() => ollama.pulls.length > asked, { what: "the pull to begin" });
  gone.abort(new Error("enough"));
  await expect(broken).rejects.toThrow("enough");
  await waitFor(() => ollama.pulls.every(({ isOpen }) => !isOpen), { what: "Ollama to be hung up on" });
});
