import type { RequestHandler } from "express";

/** Cuts connections whose request is not there as a whole after `ms`. For how long it is answered does not matter. */
export function limitBodyTime(ms: number): RequestHandler {
  return (request, response, next) => {
    const timer = setTimeout(() => {
      if (!request.complete) request.destroy();
    }, ms);
    timer.unref();
    response.once("close", () => clearTimeout(timer));
    next();
  };
}
