import type { Principal } from "@svc/auth";
import { principalOf } from "@svc/http";
import type { Request, RequestHandler, Response } from "express";

/** Makes a handler that is told who asks; the operation that it calls asks for the scope. */
export function withPrincipal(
  handle: (principal: Principal, request: Request, response: Response) => Promise<void>,
): RequestHandler {
  return (request, response) => handle(principalOf(response), request, response);
}
