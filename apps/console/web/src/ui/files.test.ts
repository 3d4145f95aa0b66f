import { expect, test } from "@jest/globals";
import { formatBytes, readImage } from "./files.ts";

const bytesOf = (...parts: (string | number[])[]): ArrayBuffer =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === "string" ? [...Buffer.from(part, "latin1")] : part))).buffer;
const zeros = (count: number) => Array.from({ length: count }, () => 0);

const PNG = bytesOf("\u0089PNG\r\n\u001a\n", [0, 0, 0, 13], "IHDR", [0, 0, 2, 128, 0, 0, 1, 224], zeros(5));
const JPEG = bytesOf(
  [0xff, 0xd8, 0xff, 0xe0, 0, 6],
  "JFIF",
  [0xff, 0xff, 0xc4, 0, 3, 0],
  [0xff, 0xc2, 0, 17, 8, 1, 224, 2, 128, 3],
  zeros(9),
);

test.each([
  ["a PNG", PNG, "image/png"],
  ["a GIF", bytesOf("GIF89a", [128, 2, 224, 1], zeros(3)), "image/gif"],
  ["a JPEG, past other segments and fill bytes", JPEG, "image/jpeg"],
  ["a lossy WebP", bytesOf("RIFF....WEBPVP8 ", zeros(10), [128, 0x42, 224, 1]), "image/webp"],
  [
    "a lossless WebP",
    // 14 bits of width - 1, 14 bits of height - 1.
    bytesOf("RIFF....WEBPVP8L", zeros(4), [0x2f], [0x7f, 0xc2, 0x77, 0x00], zeros(5)),
    "image/webp",
  ],
  ["an extended WebP", bytesOf("RIFF....WEBPVP8X", zeros(8), [127, 2, 0, 223, 1, 0]), "image/webp"],
])("reads the type and the size of %s", (_what, bytes, type) => {
  expect(readImage(bytes)).toEqual({ type, width: 640, height: 480 });
});

test.each([
  ["nothing", bytesOf()],
  ["an SVG", bytesOf('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')],
  ["a page", bytesOf("<!doctype html><script>alert(1)</script>")],
  ["a PNG that is cut off", PNG.slice(0, 20)],
  ["a JPEG that is cut off", JPEG.slice(0, 20)],
  ["a JPEG without a size", bytesOf([0xff, 0xd8, 0xff, 0xd9], zeros(20))],
  ["a WebP that is cut off", bytesOf("RIFF....WEBPVP8X", zeros(4))],
])("returns null for %s", (_what, bytes) => {
  expect(readImage(bytes)).toBeNull();
});

test("terminates for a JPEG whose segments lead nowhere", () => {
  expect(readImage(bytesOf([0xff, 0xd8], ...Array.from({ length: 1_000 }, () => [0xff, 0xe0, 0, 0])))).toBeNull();
});

test.each([
  ["en", ["0 bytes", "1 byte", "999 bytes", "1 kB", "1.23 MB", "1 GB", "2,000 GB"]],
  ["de", ["0 Byte", "1 Byte", "999 Byte", "1 kB", "1,23 MB", "1 GB", "2.000 GB"]],
])("a size has the unit and the separators of the language: %s", (language, texts) => {
  const sizes = [0, 1, 999, 1_000, 1_234_567, 1_000_000_000, 2_000_000_000_000];
  // Languages put a space between number and unit that does not break lines.
  expect(sizes.map((size) => formatBytes(size, { language }).replace(/\s/u, " "))).toEqual(texts);
});
