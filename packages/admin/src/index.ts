export { addAdminRoutes } from "./add-admin-routes.ts";
export type { AdminContext } from "./handlers.ts";
export { createHookIntake } from "./hook-intake.ts";
export type { HookIntakeContext, TakenBody } from "./hook-intake.ts";
