import type { Texts } from "../i18n/texts.ts";

const UNITS = ["kilobyte", "megabyte", "gigabyte"] as const;
const STEP = 1_000;

/** Formats a size, such as "9 bytes" and "1.4 MB". */
export function formatBytes(sizeBytes: number, { language }: Pick<Texts, "language">): string {
  const write = (value: number, unit: string, unitDisplay: "long" | "short") =>
    new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay, maximumSignificantDigits: 3 }).format(value);
  if (sizeBytes < STEP) return write(sizeBytes, "byte", "long");
  const position = Math.min(UNITS.length, Math.floor(Math.log(sizeBytes) / Math.log(STEP)));
  return write(sizeBytes / STEP ** position, UNITS[position - 1] ?? "kilobyte", "short");
}
