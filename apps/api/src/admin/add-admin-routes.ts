import type { AddressGuard } from "@svc/outbound";
import type { Resources } from "@svc/runtime";
import type { IRouter } from "express";
import { addAgentRoutes } from "./add-agent-routes.ts";
import { addDeliveryRoutes } from "./add-delivery-routes.ts";
import { addKbRoutes } from "./add-kb-routes.ts";
import { addKeyRoutes } from "./add-key-routes.ts";
import { addProjectRoutes } from "./add-project-routes.ts";

/** The administration endpoints (service document, section 4.4). They belong behind the check of keys. */
export function addAdminRoutes(
  routes: IRouter,
  context: Pick<Resources, "store" | "queues" | "embeddings" | "log"> & { fetchGuard: AddressGuard },
): void {
  addAgentRoutes(routes, context);
  addDeliveryRoutes(routes, context);
  addKbRoutes(routes, context);
  addKeyRoutes(routes, context);
  addProjectRoutes(routes, context);
}
