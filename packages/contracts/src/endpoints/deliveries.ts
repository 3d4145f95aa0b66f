import { deliveryItemSchema, deliveryStateSchema } from "../callback.ts";
import { itemAnswer, listAnswer, listQuerySchema } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

const tag = "Deliveries";
const PATH = "/api/v1/admin/deliveries";

/** Callbacks: pending, delivered or failed. */
export const deliveryEndpoints = {
  listDeliveries: {
    method: "GET",
    path: PATH,
    tag,
    summary: "List callbacks with all attempts, newest first",
    scope: "webhooks:read",
    query: listQuerySchema.omit({ q: true }).extend({ state: deliveryStateSchema.optional() }),
    answers: [listAnswer(deliveryItemSchema)],
    example: { query: { state: "dead" } },
  },
  getDelivery: {
    method: "GET",
    path: `${PATH}/{id}`,
    tag,
    summary: "Get a callback",
    scope: "webhooks:read",
    answers: [itemAnswer(deliveryItemSchema)],
  },
  replayDelivery: {
    method: "POST",
    path: `${PATH}/{id}/replay`,
    tag,
    summary: "Replay a callback with the same ID",
    scope: "webhooks:write",
    answers: [itemAnswer(deliveryItemSchema)],
  },
} as const satisfies Record<string, Endpoint>;
