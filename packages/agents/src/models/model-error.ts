/** Why a model gave no usable answer. */
export type ModelFault =
  | "unreachable"
  | "timeout"
  | "cut"
  | "unauthorized"
  | "unknown_model"
  | "rate_limited"
  | "provider_fault"
  | "refused"
  | "empty"
  | "invalid_output"
  | "too_long"
  | "tool_loop"
  | "resting"
  | "busy"
  | "over_budget";

/** A model that gave no usable answer: `message` says why, in words for operators, never for customers, without keys. */
export class ModelError extends Error {
  readonly fault: ModelFault;

  constructor(fault: ModelFault, message: string, options: { cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = "ModelError";
    this.fault = fault;
  }
}
