/** The same filters have the same name, in whatever order they were put together. */
export function nameOfQuery(query: object): string {
  const entries = Object.entries(query) as [string, unknown][];
  return JSON.stringify(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}
