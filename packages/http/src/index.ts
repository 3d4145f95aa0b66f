export { authenticated, principalOf } from "./authenticated.ts";
export { createApp } from "./create-app.ts";
export { answerHealth, healthListener } from "./health-routes.ts";
export type { HealthSource } from "./health-routes.ts";
export { readJsonBody } from "./json-body.ts";
export { CannotListenError, PortTakenError, listen } from "./listen.ts";
export type { Listening } from "./listen.ts";
export { invalidRequest, methodNotAllowed, notFound, problemHandler, sendProblem } from "./problem.ts";
export { requestId } from "./request-id.ts";
