import { setTimeout as delay } from "node:timers/promises";
import type { Principal } from "@svc/auth";
import type * as operations from "@svc/operations";
import type { Queues } from "@svc/queue";
import type { Resources } from "@svc/runtime";
import type { Cli } from "./cli.ts";

type OperationsModule = typeof operations;

/** Operations by name, without their dependencies and their principal: those of a command. */
export type BoundOperations = {
  [
    Name in keyof OperationsModule as OperationsModule[Name] extends (
      deps: never,
      principal: Principal,
      ...args: never[]
    ) => unknown
      ? Name
      : never
  ]: OperationsModule[Name] extends (deps: never, principal: Principal, ...args: infer Args) => infer Result
    ? (...args: Args) => Result
    : never;
};

/** The principal of a command, and the resources that its operations use. */
export interface OperationContext {
  principal: Principal;
  resources: Resources;
}

/** Returns the operations of a principal on these resources. */
export async function bindOperations({ principal, resources }: OperationContext): Promise<BoundOperations> {
  const exported: Readonly<Record<string, unknown>> = await import("@svc/operations");
  const bound = Object.entries(exported).flatMap(([name, operation]) =>
    typeof operation === "function"
      ? [[name, (...args: unknown[]): unknown => Reflect.apply(operation, undefined, [resources, principal, ...args])]]
      : [],
  );
  return Object.fromEntries(bound) as BoundOperations;
}

/**
 * Works as the person at this machine: on a project; without a name, on what belongs to the installation as a whole. The
 * product is loaded here, so that the help of a command does not wait for it.
 */
export async function asAdministrator<Result>(
  cli: Cli,
  projectName: string | undefined,
  work: (bound: BoundOperations, context: OperationContext) => Promise<Result>,
): Promise<Result> {
  const { localPrincipal, withResources } = await import("./with-resources.ts");
  return withResources(cli, {}, async (resources) => {
    const context = { principal: await localPrincipal(resources.store, projectName), resources };
    return work(await bindOperations(context), context);
  });
}

const QUEUES_TIMEOUT_MS = 3_000;
const POLL_MS = 20;

/** Waits up to three seconds until the queues, which connect in the background, can be reached; returns false if they cannot. */
export async function waitForQueues(queues: Queues): Promise<boolean> {
  const deadline = performance.now() + QUEUES_TIMEOUT_MS;
  while (performance.now() < deadline) {
    try {
      // The first call connects.
      await queues.countJobs("incoming-messages");
      return true;
    } catch (error) {
      if (!(error instanceof Error) || error.name !== "QueueDownError") throw error;
      await delay(POLL_MS);
    }
  }
  return false;
}
