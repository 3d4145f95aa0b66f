export { errorCode, errorMessage, toError } from "./errors.ts";
export { isDeeperThan, isRecord, isUuid } from "./values.ts";
export { withinMs } from "./within-ms.ts";
