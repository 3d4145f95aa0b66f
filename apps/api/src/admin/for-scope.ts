import { requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import type { RequiredScope } from "@svc/contracts";
import { principalOf } from "@svc/http";
import type { Request, RequestHandler, Response } from "express";

/** Makes a handler for keys with this scope only; others are refused before anything of the request is read. */
export function forScope(
  scope: RequiredScope,
  handle: (principal: Principal, request: Request, response: Response) => Promise<void>,
): RequestHandler {
  return (request, response) => {
    const principal = principalOf(response);
    requireScope(principal, scope);
    return handle(principal, request, response);
  };
}
