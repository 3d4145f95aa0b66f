export { errorCode, errorMessage, toError, isDeeperThan, isRecord, isUuid, withinMs } from "./primitives.ts";
