import { errorCode } from "@svc/primitives";

/** Resolves as the given file operation does, or to null when the file or folder is not there. Other errors pass. */
export async function nullIfMissing<T>(operation: Promise<T>): Promise<T | null> {
  try {
    return await operation;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
}
