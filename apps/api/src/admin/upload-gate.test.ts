import { expect, test } from "@jest/globals";
import { createUploadGate } from "./upload-gate.ts";

const never = () => new Promise<never>(() => undefined);

test("lets in what has room, refuses the rest with a time to come back, and makes room again", async () => {
  const gate = createUploadGate(100);
  let end: () => void = () => undefined;
  const first = gate.admit(60, () => new Promise<void>((resolve) => (end = resolve)));
  await expect(gate.admit(41, never)).rejects.toMatchObject({
    code: "rate_limited",
    headers: { "Retry-After": expect.any(String) },
  });
  expect(await gate.admit(40, () => Promise.resolve("in"))).toBe("in");
  end();
  await first;
  expect(await gate.admit(100, () => Promise.resolve("in"))).toBe("in");
});

test("makes room again for what failed", async () => {
  const gate = createUploadGate(100);
  await expect(gate.admit(100, () => Promise.reject(new Error("cut")))).rejects.toThrow("cut");
  expect(await gate.admit(100, () => Promise.resolve("in"))).toBe("in");
});

test("lets in one that is larger than all the room, alone", async () => {
  expect(await createUploadGate(10).admit(11, () => Promise.resolve("in"))).toBe("in");
});
