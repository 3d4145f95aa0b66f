import { afterEach, describe, expect, test } from "@jest/globals";
import { waitFor } from "./wait-for.ts";
import { startWebhookReceiver } from "./start-webhook-receiver.ts";
import type { WebhookReceiver } from "./start-webhook-receiver.ts";

const receivers: WebhookReceiver[] = [];

afterEach(async () => {
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
});

async function start(options?: Parameters<typeof startWebhookReceiver>[0]): Promise<WebhookReceiver> {
  const receiver = await startWebhookReceiver(options);
  receivers.push(receiver);
  return receiver;
}

const post = (url: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  fetch(url, { method: "POST", body, headers });

describe("a request that reaches a receiver", () => {
  test("is noted with method, path, headers, the bytes of its body, its JSON and its time", async () => {
    const receiver = await start();
    const before = Date.now();
    await post(receiver.url("/hook?a=1"), '{ "text": "é" }', { "X-Svc-Signature": "sha256=00" });
    expect(receiver.requests).toEqual([
      {
        method: "POST",
        path: "/hook?a=1",
        headers: expect.objectContaining({ "x-svc-signature": "sha256=00", host: `127.0.0.1:${receiver.port}` }),
        body: Buffer.from('{ "text": "é" }'),
        json: { text: "é" },
        receivedAtMs: expect.any(Number),
      },
    ]);
    expect(receiver.requests[0]?.receivedAtMs).toBeGreaterThanOrEqual(before);
  });

  test("keeps bytes that are no text, and has no JSON then", async () => {
    const receiver = await start();
    const bytes = Uint8Array.from([0, 255, 10, 128]);
    await post(receiver.url(), bytes);
    await fetch(receiver.url());
    expect(receiver.requests.map(({ body, json }) => ({ body: [...body], json }))).toEqual([
      { body: [...bytes], json: undefined },
      { body: [], json: undefined },
    ]);
  });

  test("is noted only when it has arrived whole", async () => {
    const receiver = await start();
    const cut = new AbortController();
    const endless = new ReadableStream({
      pull(controller) {
        controller.enqueue(new TextEncoder().encode("more"));
        cut.abort();
      },
    });
    const sending = fetch(receiver.url(), { method: "POST", body: endless, duplex: "half", signal: cut.signal });
    await expect(sending).rejects.toThrow();
    await post(receiver.url(), "whole");
    expect(receiver.requests.map(({ body }) => body.toString())).toEqual(["whole"]);
  });
});

describe("a receiver answers", () => {
  test("204 until it is told otherwise", async () => {
    const receiver = await start();
    expect((await fetch(receiver.url())).status).toBe(204);
  });

  test("by a script that sees the request and its number", async () => {
    const receiver = await start();
    receiver.answerWith((request, index) => ({
      status: index === 0 ? 503 : 200,
      headers: { "Retry-After": "7" },
      body: `answer to ${request.path}`,
    }));
    const first = await fetch(receiver.url("/one"));
    expect([first.status, first.headers.get("retry-after")]).toEqual([503, "7"]);
    const second = await fetch(receiver.url("/two"));
    expect([second.status, await second.text()]).toEqual([200, "answer to /two"]);
  });

  test("late when it is told so, and keeps the order of arrival", async () => {
    const receiver = await start();
    receiver.answerWith(({ path }) => ({ status: 200, ...(path === "/slow" ? { delayMs: 1_500 } : {}) }));
    const answered: string[] = [];
    const slow = fetch(receiver.url("/slow")).then(() => answered.push("slow"));
    await receiver.next(({ path }) => path === "/slow");
    await fetch(receiver.url("/fast")).then(() => answered.push("fast"));
    await slow;
    expect(answered).toEqual(["fast", "slow"]);
    expect(receiver.requests.map(({ path }) => path)).toEqual(["/slow", "/fast"]);
  });

  test("not at all when it is to cut, and in part when it is to cut midway", async () => {
    const receiver = await start({ answer: "cut" });
    await expect(fetch(receiver.url())).rejects.toThrow();
    receiver.answerWith("cut-midway");
    const response = await fetch(receiver.url());
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
    expect(receiver.requests.length).toBe(2);
  });

  test("never when it is to hang, until it is closed", async () => {
    const receiver = await start({ answer: "hang" });
    const waiting = fetch(receiver.url());
    await receiver.next();
    await receiver.close();
    await expect(waiting).rejects.toThrow();
  });
});

describe("waiting for the next request", () => {
  test("returns each request once, in the order of arrival, whether it came before or after", async () => {
    const receiver = await start();
    await post(receiver.url("/a"), "1");
    const [first, second] = [receiver.next(), receiver.next()];
    await post(receiver.url("/b"), "2");
    expect((await first).path).toBe("/a");
    expect((await second).path).toBe("/b");
  });

  test("passes over what does not match, and leaves it for others", async () => {
    const receiver = await start();
    await post(receiver.url("/a"), "1");
    await post(receiver.url("/b"), "2");
    expect((await receiver.next(({ path }) => path === "/b")).path).toBe("/b");
    expect((await receiver.next()).path).toBe("/a");
  });

  test("fails with what did arrive", async () => {
    const receiver = await start();
    await post(receiver.url("/other"), "1");
    await expect(
      receiver.next(({ path }) => path === "/never", { what: "the callback", timeoutMs: 1 }),
    ).rejects.toThrow(/the callback to reach .*there were POST \/other/);
  });
});

test("a receiver that was closed can come back on its port", async () => {
  const receiver = await start();
  await receiver.close();
  await expect(fetch(receiver.url())).rejects.toThrow();
  const back = await start({ port: receiver.port });
  expect(back.url("/hook")).toBe(receiver.url("/hook"));
  expect((await fetch(back.url())).status).toBe(204);
});

test("a receiver closes with answers that are still to come", async () => {
  const receiver = await start({ answer: { status: 200, delayMs: 60_000 } });
  const waiting = fetch(receiver.url()).catch(() => "cut");
  await waitFor(() => receiver.requests.length === 1, { what: "the request" });
  await receiver.close();
  expect(await waiting).toBe("cut");
});
