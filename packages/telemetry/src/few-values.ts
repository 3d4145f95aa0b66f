/** What stands for all values beyond the first ones. */
export const OTHER = "other";

/**
 * Makes a function that lets the first `max` values through and answers `other` for those that come later: for labels whose
 * values people choose, such as the names of models.
 */
export function fewValues(max: number): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.has(value)) return value;
    if (known.size >= max) return OTHER;
    known.add(value);
    return value;
  };
}
