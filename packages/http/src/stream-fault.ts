import { ServiceError } from "@svc/contracts";
import type { Request, Response } from "express";
import { problemAnswer } from "./problem.ts";

/** The data of an event `error`: the problem that would have been the answer. What is no error of ours says nothing. */
export function streamFault(request: Request, response: Response, error: unknown): unknown {
  const known =
    error instanceof ServiceError
      ? error
      : new ServiceError("internal", "Internal error. Quote the request ID when you report it.");
  return JSON.parse(problemAnswer(request, response, known).body);
}
