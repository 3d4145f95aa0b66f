import { expect, test } from "@jest/globals";
import { createUploadGate } from "./upload-gate.ts";

/** A body of which pieces come until it ends. */
function openBody(gate: ReturnType<typeof createUploadGate>, caller: string) {
  let receive: (sizeBytes: number) => void = () => undefined;
  let end: () => void = () => undefined;
  const ended = gate.admit(caller, (meter) => {
    receive = meter;
    return new Promise<void>((resolve) => (end = resolve));
  });
  return {
    receive: (sizeBytes: number) => receive(sizeBytes),
    async end() {
      end();
      await ended;
    },
  };
}

const REFUSED = expect.objectContaining({
  code: "rate_limited",
  headers: { "Retry-After": expect.any(String) },
});

const newGate = () => createUploadGate({ maxBytes: 100, callerMaxBytes: 60, freeBytes: 10 });

test("counts what came, so that bodies of which nothing comes take no room", () => {
  const gate = newGate();
  for (let index = 0; index < 50; index += 1) openBody(gate, "slow").receive(1);
  expect(() => openBody(gate, "slow").receive(60)).not.toThrow();
  expect(() => openBody(gate, "other").receive(40)).not.toThrow();
});

test("refuses what has no room with a time to come back, and makes room again", async () => {
  const gate = newGate();
  const first = openBody(gate, "a");
  first.receive(30);
  first.receive(30);
  const second = openBody(gate, "b");
  second.receive(40);
  expect(() => second.receive(1)).toThrow(REFUSED);
  await first.end();
  expect(() => second.receive(19)).not.toThrow();
  await second.end();
  expect(() => openBody(gate, "a").receive(60)).not.toThrow();
});

test("leaves room for others however much one caller sends", () => {
  const gate = newGate();
  openBody(gate, "greedy").receive(60);
  const more = openBody(gate, "greedy");
  more.receive(10);
  expect(() => more.receive(1)).toThrow(REFUSED);
  expect(() => openBody(gate, "other").receive(40)).not.toThrow();
});

test("always lets small bodies in", () => {
  const gate = newGate();
  openBody(gate, "a").receive(60);
  openBody(gate, "b").receive(40);
  for (const caller of ["a", "b", "c"]) expect(() => openBody(gate, caller).receive(10)).not.toThrow();
  expect(() => openBody(gate, "c").receive(11)).toThrow(REFUSED);
});

test("makes room again for what failed", async () => {
  const gate = newGate();
  const failing = gate.admit("a", (meter) => {
    meter(60);
    return Promise.reject(new Error("cut"));
  });
  await expect(failing).rejects.toThrow("cut");
  expect(() => openBody(gate, "a").receive(60)).not.toThrow();
});
