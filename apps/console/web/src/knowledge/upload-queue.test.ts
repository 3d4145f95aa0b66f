import { describe, expect, test } from "@jest/globals";
import { createUploadQueue } from "./upload-queue.ts";

const file = (name: string) => new File([name], name);
const settled = () => new Promise((resolve) => setImmediate(resolve));

function makeQueue(
  send: (name: string) => Promise<void>,
  read: (name: string) => Promise<void> = () => Promise.resolve(),
) {
  let sent = 0;
  const queue = createUploadQueue({
    send: async ({ name }) => {
      await send(name);
      return name;
    },
    read,
    describe: String,
    onSent: () => (sent += 1),
    refuse: ({ name }) => (name.startsWith("large") ? "too large" : null),
  });
  return { queue, states: () => queue.uploads.get().map(({ name, state }) => `${name} ${state}`), sent: () => sent };
}

describe("files uploaded to a knowledge base", () => {
  test("are sent two at a time, in order", async () => {
    const open: (() => void)[] = [];
    const { queue, states, sent } = makeQueue(() => new Promise((resolve) => open.push(resolve)));
    queue.add([file("one"), file("two"), file("three")]);
    expect(states()).toEqual(["one sending", "two sending", "three waiting"]);
    open[0]?.();
    await settled();
    expect(states()).toEqual(["one sent", "two sending", "three sending"]);
    open[1]?.();
    open[2]?.();
    await settled();
    expect(sent()).toBe(3);
  });

  test("fail separately, with the reason, and can be sent again", async () => {
    let isAway = true;
    const { queue, states } = makeQueue((name) =>
      name === "bad" && isAway ? Promise.reject(new Error("away")) : Promise.resolve(),
    );
    queue.add([file("bad"), file("good")]);
    await settled();
    expect(states()).toEqual(["bad failed", "good sent"]);
    expect(queue.uploads.get()[0]?.error).toBe("Error: away");
    isAway = false;
    queue.retry(1);
    await settled();
    expect(states()).toEqual(["bad sent", "good sent"]);
    queue.clear();
    expect(states()).toEqual([]);
  });

  test("fail with the reason if the server cannot read them, while the next ones are sent", async () => {
    const { queue, states } = makeQueue(
      () => Promise.resolve(),
      (name) => (name === "slow" ? new Promise(() => undefined) : Promise.reject(new Error("no text"))),
    );
    queue.add([file("slow"), file("scan"), file("slow")]);
    await settled();
    expect(states()).toEqual(["slow reading", "scan failed", "slow reading"]);
    expect(queue.uploads.get()[1]?.error).toBe("Error: no text");
  });

  test("are not sent if they would be rejected anyway", async () => {
    const { queue, states, sent } = makeQueue(() => Promise.resolve());
    queue.add([file("large.pdf"), file("small.pdf")]);
    await settled();
    expect(states()).toEqual(["large.pdf failed", "small.pdf sent"]);
    expect(sent()).toBe(1);
  });
});
