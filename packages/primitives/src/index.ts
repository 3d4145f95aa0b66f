export {
  createGate,
  errorCode,
  errorMessage,
  isDeeperThan,
  isRecord,
  isUuid,
  toError,
  withinMs,
} from "./primitives.ts";
export type { Gate } from "./primitives.ts";
