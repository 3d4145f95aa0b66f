import type { Response } from "express";

/**
 * Resolves when the connection is done with an answer, also when it was so before: true when all of the answer was
 * handed to a live connection, false when the caller was gone before. Node says "finish" also of an answer that a
 * broken connection swallowed, so that the socket has to be asked in that moment.
 */
export function watchAnswer(response: Response): Promise<boolean> {
  if (response.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    let isFlushed = false;
    // Before Node's own listener, which takes the socket off the response.
    response.prependOnceListener("finish", () => {
      const { socket } = response;
      isFlushed = socket !== null && !socket.destroyed && socket.errored === null;
    });
    response.once("close", () => resolve(isFlushed));
  });
}
