/** JSON in which the fields of each object stand in the order of their names: the same text for the same value. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    const fields = Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(fields);
  });
}
