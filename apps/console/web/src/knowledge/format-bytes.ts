import type { Texts } from "../i18n/create-texts.ts";

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;
const STEP = 1_000;

/** A size in words, as in "1.4 MB". */
export function formatBytes(sizeBytes: number, { language }: Pick<Texts, "language">): string {
  const place = Math.min(UNITS.length - 1, Math.floor(Math.log(Math.max(1, sizeBytes)) / Math.log(STEP)));
  return new Intl.NumberFormat(language, {
    style: "unit",
    unit: UNITS[place] ?? "byte",
    unitDisplay: "short",
    maximumFractionDigits: place < 2 ? 0 : 1,
  }).format(sizeBytes / STEP ** place);
}
