import { afterEach, expect, test } from "@jest/globals";
import { testLog, waitFor } from "@svc/testing";
import { BotApiError } from "../telegram/bot-api-error.ts";
import type { BotApiErrorKind } from "../telegram/bot-api-error.ts";
import type { BotApi } from "../telegram/bot-api.ts";
import { createTyping } from "./create-typing.ts";
import type { Typing } from "./create-typing.ts";

let typing: Typing;

afterEach(() => typing.stop());

let clock = 0;

function start({ failure }: { failure?: BotApiErrorKind } = {}) {
  const shown: string[] = [];
  const call: BotApi["call"] = <Result>(_: string, payload: object) => {
    shown.push(String(Reflect.get(payload, "chat_id")));
    if (failure !== undefined) return Promise.reject(new BotApiError({ kind: failure, code: 0, description: "x" }));
    return Promise.resolve(true as Result);
  };
  const api: BotApi = { call, download: () => Promise.reject(new Error("not asked for")) };
  const throttle = { isPaused: () => false, pause: () => {} };
  typing = createTyping({ api, throttle, log: testLog(), times: { againMs: 10, longestMs: 60_000 }, now: () => clock });
  return shown;
}

/** Waits until another chat's typing was shown several times, to see that the ended one was not. */
async function expectEnded(shown: string[], chatId: string): Promise<void> {
  typing.begin("witness", null);
  const before = shown.filter((id) => id === chatId).length;
  await waitFor(() => shown.filter((id) => id === "witness").length > 3, { what: "typing elsewhere" });
  typing.end("witness", null);
  expect(shown.filter((id) => id === chatId)).toHaveLength(before);
}

test("typing is repeated until the reply is sent", async () => {
  const shown = start();
  typing.begin("1", null);
  await waitFor(() => shown.length > 2, { what: "typing" });
  typing.end("1", "m1");
  await expectEnded(shown, "1");
});

test("continues while another message waits, and counts several replies to one message once", async () => {
  const shown = start();
  typing.begin("1", null);
  typing.begin("1", null);
  typing.end("1", "m1");
  typing.end("1", "m1");
  const before = shown.length;
  await waitFor(() => shown.length > before + 1, { what: "typing goes on" });
  typing.end("1", "m2");
  await expectEnded(shown, "1");
});

test("a person's reply ends it", async () => {
  const shown = start();
  typing.begin("1", null);
  typing.begin("1", null);
  typing.end("1", null);
  await expectEnded(shown, "1");
});

test("ends after a minute", async () => {
  const shown = start();
  typing.begin("1", null);
  await waitFor(() => shown.length > 1, { what: "typing" });
  clock += 60_001;
  await expectEnded(shown, "1");
});

test.each<BotApiErrorKind>(["forbidden", "unauthorized", "bad_request"])(
  "it ends when Telegram says %s",
  async (failure) => {
    const shown = start({ failure });
    typing.begin("1", null);
    await waitFor(() => shown.length === 1, { what: "the call" });
    typing.begin("2", null);
    await waitFor(() => shown.includes("2"), { what: "the other call" });
    expect(shown.filter((id) => id === "1")).toHaveLength(1);
  },
);

test("continues after an error of the Bot API", async () => {
  const shown = start({ failure: "unreachable" });
  typing.begin("1", null);
  await waitFor(() => shown.length > 2, { what: "typing" });
});
