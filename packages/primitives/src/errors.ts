/**
 * Returns the code of a thrown value, such as "ENOENT" of Node.js or "23505" of PostgreSQL, or undefined if it has none.
 * Errors of other realms (`node:vm`) have codes as well.
 */
export function errorCode(error: unknown): string | undefined {
  const code: unknown = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}

/** Returns the message of a thrown value, or the value as text if it is not an error. */
export function errorMessage(error: unknown): string {
  const isError = typeof error === "object" && error !== null && "message" in error;
  return String(isError ? error.message : error);
}

/** Returns a thrown value itself if it is an error, else an error with the value as its message. */
export function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
