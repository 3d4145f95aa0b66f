/** Returns a random UUID (version 4). `crypto.randomUUID` is missing on pages without HTTPS; random bytes are not. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(36));
  // Each x is a random digit; y is one of 8, 9, a and b, as the version requires.
  return "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx".replace(/[xy]/g, (position, at: number) => {
    const digit = (bytes[at] ?? 0) & 15;
    return (position === "x" ? digit : (digit & 3) | 8).toString(16);
  });
}
