export { addAdminRoutes } from "./add-admin-routes.ts";
export type { AdminContext } from "./admin-handler.ts";
export { createHookIntake } from "./hooks/take-hook-body.ts";
export type { HookIntakeContext, TakenBody } from "./hooks/take-hook-body.ts";
