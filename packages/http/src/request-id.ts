import { randomUUID } from "node:crypto";
import type { RequestHandler } from "express";

const SANE = /^[A-Za-z0-9._:-]{1,128}$/;

/** Gives every answer an `X-Request-Id`: the request's own when it is a sane token, else a new one. */
export const requestId: RequestHandler = (request, response, next) => {
  const given = request.headers["x-request-id"];
  response.setHeader("X-Request-Id", typeof given === "string" && SANE.test(given) ? given : randomUUID());
  next();
};
