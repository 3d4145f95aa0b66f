import { isUtf8 } from "node:buffer";
import { analyse } from "chardet";
import iconv from "iconv-lite";

/** Bytes that are looked at to guess an encoding. */
const SAMPLE_BYTES = 64 * 1024;

/** The guess of a detector counts from this confidence (of 100) on; below, Windows-1252 is the likeliest. */
const MIN_CONFIDENCE = 40;

/**
 * Encodings that show in the bytes themselves. Those of one byte a character are too similar to be distinguished by a
 * detector, but for Cyrillic, Greek, Hebrew, Arabic and Thai, whose letters fill the upper half.
 */
const DETECTABLE = new Set(
  "Shift_JIS EUC-JP ISO-2022-JP ISO-2022-KR ISO-2022-CN EUC-KR Big5 GB18030 KOI8-R windows-1251 ISO-8859-5 ISO-8859-6 ISO-8859-7 ISO-8859-8 windows-1253 windows-1255 windows-1256".split(
    " ",
  ),
);

/**
 * Decodes text in the encoding that its byte order mark, its bytes or else `declared` (a charset as in a Content-Type)
 * name: UTF-8, UTF-16 with and without a mark, whatever iconv-lite knows by name; Windows-1252 when nothing else fits.
 * Line ends become `\n`, a byte order mark is dropped.
 */
export function decodeText(bytes: Uint8Array, declared?: string): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return iconv.decode(buffer, encodingOf(buffer, declared)).replace(/\r\n?/g, "\n");
}

function encodingOf(buffer: Buffer, declared: string | undefined): string {
  const marked = readMark(buffer) ?? guessUtf16(buffer);
  if (marked !== null) return marked;
  if (isUtf8(buffer)) return "utf-8";
  if (declared !== undefined && !/^utf/i.test(declared) && iconv.encodingExists(declared)) {
    return declared;
  }
  const [best] = analyse(buffer.subarray(0, SAMPLE_BYTES));
  return best !== undefined && best.confidence >= MIN_CONFIDENCE && DETECTABLE.has(best.name) ? best.name : "win1252";
}

/** The Unicode encoding that a byte order mark states, or null. */
function readMark(buffer: Buffer): string | null {
  const [first, second, third, fourth] = buffer;
  if (first === 0xff && second === 0xfe) return third === 0 && fourth === 0 ? "utf-32le" : "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  if (first === 0 && second === 0 && third === 0xfe && fourth === 0xff) return "utf-32be";
  return null;
}

/**
 * UTF-16 without a mark: nearly every second byte of Western text is zero, always on the same side, and text in other
 * scripts still has spaces and line ends. Text in one byte a character has no zero at all.
 */
function guessUtf16(buffer: Buffer): "utf-16le" | "utf-16be" | null {
  const length = Math.min(buffer.length, SAMPLE_BYTES) & ~1;
  let even = 0;
  let odd = 0;
  let pairs = 0;
  for (let index = 0; index < length; index += 2) {
    const high = buffer[index];
    const low = buffer[index + 1];
    if (high === 0 && low === 0) pairs += 1;
    else if (high === 0) even += 1;
    else if (low === 0) odd += 1;
  }
  const units = length / 2;
  // Data with runs of zeros is binary, whichever side the other zeros are on.
  if (units === 0 || pairs > units * 0.01) return null;
  if (odd >= 1 && odd > units * 0.03 && even <= odd * 0.05) return "utf-16le";
  if (even >= 1 && even > units * 0.03 && odd <= even * 0.05) return "utf-16be";
  return null;
}
