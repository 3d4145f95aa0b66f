import type { Texts } from "../i18n/texts.ts";

/** Type and size of an image, read from its first bytes. */
interface ImageFacts {
  type: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
  /** In pixels. */
  width: number;
  height: number;
}

const startsWith = (view: DataView, at: number, text: string) =>
  view.byteLength >= at + text.length &&
  Array.from(text).every((char, index) => view.getUint8(at + index) === char.codePointAt(0));

/** Finds the JPEG segment with the size (ITU-T T.81, B.1.1 and B.2.2). */
function readJpeg(view: DataView): Omit<ImageFacts, "type"> | null {
  let at = 2;
  while (at + 9 <= view.byteLength && view.getUint8(at) === 0xff) {
    const marker = view.getUint8(at + 1);
    // SOF0 to SOF15, except DHT, JPG and DAC, whose codes are in the same range.
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2);
  }
  return null;
}

const size24 = (view: DataView, at: number) => 1 + view.getUint16(at, true) + (view.getUint8(at + 2) << 16);

/** Reads the size from the three forms of a WebP (RFC 9649): lossy, lossless and extended. */
function readWebp(view: DataView): Omit<ImageFacts, "type"> | null {
  if (view.byteLength < 30) return null;
  if (startsWith(view, 12, "VP8X")) return { width: size24(view, 24), height: size24(view, 27) };
  if (startsWith(view, 12, "VP8 ")) {
    return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
  }
  if (!startsWith(view, 12, "VP8L")) return null;
  const bits = view.getUint32(21, true);
  return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
}

/**
 * Returns the type and the size of a PNG, JPEG, GIF or WebP by its content, whatever its name and its declared type;
 * null for any other file. The size determines the memory that a browser needs, so that it can be checked before.
 */
export function readImage(bytes: ArrayBuffer): ImageFacts | null {
  const view = new DataView(bytes);
  if (startsWith(view, 0, "\u0089PNG\r\n\u001a\n") && view.byteLength >= 24) {
    return { type: "image/png", width: view.getUint32(16), height: view.getUint32(20) };
  }
  if (startsWith(view, 0, "GIF8") && view.byteLength >= 10) {
    return { type: "image/gif", width: view.getUint16(6, true), height: view.getUint16(8, true) };
  }
  if (startsWith(view, 0, "\u00ff\u00d8")) {
    const size = readJpeg(view);
    return size && { type: "image/jpeg", ...size };
  }
  if (startsWith(view, 0, "RIFF") && startsWith(view, 8, "WEBP")) {
    const size = readWebp(view);
    return size && { type: "image/webp", ...size };
  }
  return null;
}

/** Downloads a file. It has a generic type, so that no browser displays or runs it. */
export function saveFile(bytes: ArrayBuffer, name: string): void {
  const address = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  URL.revokeObjectURL(address);
}

const LONG_UNITS = ["kilobyte", "megabyte", "gigabyte"] as const;
const STEP = 1_000;

/** Formats a size, such as "9 bytes" and "1.4 MB". */
export function formatBytes(sizeBytes: number, { language }: Pick<Texts, "language">): string {
  const write = (value: number, unit: string, unitDisplay: "long" | "short") =>
    new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay, maximumSignificantDigits: 3 }).format(value);
  if (sizeBytes < STEP) return write(sizeBytes, "byte", "long");
  const position = Math.min(LONG_UNITS.length, Math.floor(Math.log10(sizeBytes) / 3));
  return write(sizeBytes / STEP ** position, LONG_UNITS[position - 1] ?? "kilobyte", "short");
}
