const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** True when a text is a UUID. The store takes nothing else for an id, and no row has another one. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
