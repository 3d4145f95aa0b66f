export { addAdminRoutes } from "./admin/add-admin-routes.ts";
export { createHookIntake } from "./admin/hook-intake.ts";
export type { HookIntakeContext, ReceivedBody } from "./admin/hook-intake.ts";
export * from "./authenticated.ts";
export * from "./fixed-response.ts";
export { sendHealth, monitorListener } from "./health-routes.ts";
export type { HealthSource } from "./health-routes.ts";
export * from "./json-body.ts";
export * from "./cross-origin.ts";
export { CannotListenError, PortTakenError, checkPortsFree, listen, writeProblem } from "./listen.ts";
export type { Listening } from "./listen.ts";
export * from "./open-event-stream.ts";
export {
  invalidRequest,
  methodNotAllowed,
  notFound,
  problemHandler,
  problemResponse,
  sendProblem,
  traceOf,
} from "./problem.ts";
export { clientAddress, clientNetwork, upgradeAddress } from "./client-address.ts";
export * from "./create-app.ts";
