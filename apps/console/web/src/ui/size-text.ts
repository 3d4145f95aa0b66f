const UNITS = ["B", "kB", "MB", "GB"];

/** Formats a size with its unit: 12 kB. */
export function sizeText(bytes: number, number: (value: number) => string): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), UNITS.length - 1);
  return `${number(bytes / 1000 ** power)} ${UNITS[power] ?? "B"}`;
}
