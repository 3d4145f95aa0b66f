import { readJsonBody } from "@svc/http";
import type { Request } from "express";

/** The JSON body of a request that need not have one: an empty object then. Throws as `readJsonBody`. */
export async function readOptionalBody(request: Request, maxBytes: number): Promise<unknown> {
  const { "content-length": length, "transfer-encoding": encoding } = request.headers;
  const isEmpty = encoding === undefined && (length === undefined || Number(length) === 0);
  return isEmpty ? {} : readJsonBody(request, maxBytes);
}
