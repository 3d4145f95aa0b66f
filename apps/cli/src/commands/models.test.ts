import { expect, test } from "@jest/globals";
import { percentOf, renderProgress, renderSize } from "./models.ts";

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1_000, "1.0 kB"],
  [815_000_000, "815 MB"],
  [2_019_393_189, "2.0 GB"],
  [43_000_000_000, "43 GB"],
  [5e15, "5000 TB"],
])("%d bytes are %s", (bytes, text) => {
  expect(renderSize(bytes)).toBe(text);
});

test("shows 100 % only when the pull is complete", () => {
  const at = (completedBytes: number, totalBytes: number | null) =>
    percentOf({ status: "", completedBytes, totalBytes });
  expect([at(0, null), at(0, 10), at(999, 1_000), at(1_000, 1_000), at(2_000, 1_000), at(0, 0)]).toEqual([
    null,
    0,
    99,
    100,
    100,
    100,
  ]);
});

test("shows progress as a bar, or as text if it is unknown, without cursor controls", () => {
  const status = "pulling\u001b[2J manifest\n";
  expect(renderProgress({ status, completedBytes: 0, totalBytes: null })).toBe("pulling manifest");
  expect(renderProgress({ status, completedBytes: 250_000_000, totalBytes: 1_000_000_000 })).toBe(
    "[######..................]  25 %  250 MB of 1.0 GB  pulling manifest",
  );
});
