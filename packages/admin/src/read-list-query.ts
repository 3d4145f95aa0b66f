import type { ListInput } from "@svc/contracts";
import type { Request } from "express";

const WHOLE_NUMBER = /^\d{1,6}$/;

/**
 * What a query string asks of a list. `?cursor=` and `?q=` ask for nothing; whatever else is there is for the operation
 * to check, which tells all faults at once. Other parameters are ignored.
 */
export function readListQuery(request: Request): ListInput {
  const { limit, cursor, q } = request.query;
  const asked = {
    limit: typeof limit === "string" && WHOLE_NUMBER.test(limit) ? Number(limit) : limit,
    cursor: cursor === "" ? undefined : cursor,
    q: q === "" ? undefined : q,
  };
  return asked as ListInput;
}
