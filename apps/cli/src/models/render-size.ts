const UNITS = ["B", "kB", "MB", "GB", "TB"] as const;

/** Bytes as models' sizes are told: 2.0 GB, 815 MB. */
export function renderSize(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), UNITS.length - 1);
  const amount = bytes / 1_000 ** power;
  return `${amount < 10 && power > 0 ? amount.toFixed(1) : Math.round(amount)} ${UNITS[power]}`;
}
