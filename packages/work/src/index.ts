export { defineWork } from "./define-work.ts";
export type { ClaimContext, Failure, FailurePolicy, Retry, Work, WorkDefinition } from "./define-work.ts";
export { createLeaseManager } from "./lease-manager.ts";
export type { Claim, HeldLease, LeaseManager } from "./lease-manager.ts";
export { limitPerProject } from "./limit-per-project.ts";
export { msUntilTick, retryUntilStored, startSweeps } from "./start-sweeps.ts";
export type { DueStep, RareStep, SweepStep, Sweeps } from "./start-sweeps.ts";
