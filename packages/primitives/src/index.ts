export { errorCode, errorMessage, toError } from "./errors.ts";
export { isRecord, isUuid } from "./values.ts";
export { withinMs } from "./within-ms.ts";
