import { requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { principalOf } from "@svc/http";
import type { Request, RequestHandler, Response } from "express";

/** Makes a handler for keys with `admin:*` only; others are refused before anything of the request is read. */
export function forAdministrators(
  handle: (principal: Principal, request: Request, response: Response) => Promise<void>,
): RequestHandler {
  return (request, response) => {
    const principal = principalOf(response);
    requireScope(principal, "admin:*");
    return handle(principal, request, response);
  };
}
