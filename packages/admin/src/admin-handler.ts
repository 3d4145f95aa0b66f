import type { Principal } from "@svc/auth";
import type { Endpoint, ListInput, ListPage } from "@svc/contracts";
import type { ExecuteDeps, ExpectedVersions, IngestDeps, ModelDeps, TakeHookBody } from "@svc/operations";
import type { OpenLimit } from "@svc/http";
import type { AddressGuard } from "@svc/outbound";
import type { Request, Response } from "express";

/** What the handlers of administration work with. */
export interface AdminContext extends IngestDeps, ModelDeps, Required<ExecuteDeps> {
  /** Aborted when the process stops: what goes on for long ends then, and its client asks another replica. */
  closing: AbortSignal;
  /** Limits calls that follow the pull of a model. */
  limitPulls: OpenLimit;
  /** Decides which callback URLs may be named. */
  guard: AddressGuard;
  /** Makes a message of a hook's body. */
  takeHookBody: TakeHookBody;
}

/** One call of an endpoint, whose key has the scope. What it says is for the operation to check. */
export interface AdminCall {
  principal: Principal;
  /** What the path says, by the name in its braces; `id` where nothing is said. */
  param: (name?: string) => string;
  /** A parameter of the query; undefined where it is absent or empty. One that was given twice comes as a list. */
  query: (name: string) => unknown;
  /** What the query asks of a list. */
  listQuery: () => ListInput;
  /** The versions that `If-Match` names; null where it names none. Throws invalid_request. */
  ifMatch: () => ExpectedVersions;
  /** The body as the endpoint takes it. Throws what `readJsonBody` throws. */
  body: () => Promise<unknown>;
  request: Request;
  response: Response;
}

/** How a call is answered. */
export type AdminAnswer =
  /** 201 with a location, where any of it was made. */
  | { list: ListPage<object>; location?: string }
  /** 201 with a location, where something was made; the version becomes the `ETag`. */
  | { item: object; location?: string; version?: number }
  /** Any other JSON, with another status than 200 where one is named. */
  | { json: object; status?: number }
  /** The handler has answered itself. */
  | "answered";

/** Does what an endpoint is for, by one operation. */
export type AdminHandler = (context: AdminContext, call: AdminCall) => Promise<AdminAnswer>;

/** One handler for each of these endpoints. */
export type AdminHandlers<Endpoints extends Record<string, Endpoint>> = Record<keyof Endpoints, AdminHandler>;
