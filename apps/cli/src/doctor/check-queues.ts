import { localAdministrator } from "@svc/auth";
import { REPLY_QUEUES } from "@svc/contracts";
import type { QueueName } from "@svc/contracts";
import { listDeadLetters } from "@svc/operations";
import { BACKEND_NAMES } from "@svc/queue";
import type { Resources } from "@svc/runtime";
import type { Store } from "@svc/store";
import type { Cli } from "../cli.ts";
import { waitForQueues } from "../wait-for-queues.ts";
import type { Check } from "./check.ts";

const QUEUES: QueueName[] = ["incoming-messages", ...Object.values(REPLY_QUEUES), "webhook-deliveries"];
/** A message that waits longer means that nobody works on the queue. */
const WAITING_TOO_LONG_MS = 30_000;

async function checkBacklog(store: Store, { self, startWith }: Cli): Promise<Check> {
  const name = "Backlog";
  const waitingMs = await store.messages.oldestWaitingMs();
  if (waitingMs < WAITING_TOO_LONG_MS) return { name, status: "ok", detail: "no message is overdue" };
  return {
    name,
    status: "warn",
    detail: `a message has been waiting for ${Math.round(waitingMs / 1_000)} s`,
    advice: `Check that the pipeline is running. Start it with: ${startWith} (or ${self} start pipeline)`,
  };
}

async function checkDeadLetters(store: Store, { self }: Cli): Promise<Check> {
  const name = "Dead letters";
  const counts: string[] = [];
  for (const project of await store.projects.list()) {
    const letters = await listDeadLetters({ store }, localAdministrator(project));
    if (letters.length > 0) counts.push(`${letters.length} in ${project.name}`);
  }
  if (counts.length === 0) return { name, status: "ok", detail: "none" };
  const advice = `Check and retry them: ${self} dead-letters list`;
  return { name, status: "warn", detail: counts.join(", "), advice };
}

/** From so many failed tries on a receiver is likely to be broken rather than busy. */
const FAILING_TRIES = 3;

async function checkFailingDeliveries(store: Store, { self }: Cli): Promise<Check> {
  const name = "Failing deliveries";
  const failing = await store.deliveries.countFailing(FAILING_TRIES);
  if (failing === 0) return { name, status: "ok", detail: "none" };
  const detail = `${failing} ${failing === 1 ? "callback keeps" : "callbacks keep"} failing and will be retried`;
  const advice = `Check the errors, fix the receiver, and deliver them now: ${self} deliveries list --state pending`;
  return { name, status: "warn", detail, advice };
}

async function checkDeadDeliveries(store: Store, { self }: Cli): Promise<Check> {
  const name = "Dead deliveries";
  const dead = await store.deliveries.countDead();
  if (dead === 0) return { name, status: "ok", detail: "none" };
  const detail = `${dead} ${dead === 1 ? "callback" : "callbacks"} could not be delivered`;
  const advice = `Check the errors and replay them: ${self} deliveries list --state dead`;
  return { name, status: "warn", detail, advice };
}

/** Checks the queues, what waits in them, and what has failed for good. */
export async function checkQueues(cli: Cli, { queues, store }: Resources): Promise<Check[]> {
  const others = [
    await checkBacklog(store, cli),
    await checkDeadLetters(store, cli),
    await checkFailingDeliveries(store, cli),
    await checkDeadDeliveries(store, cli),
  ];
  if (!(await waitForQueues(queues))) {
    const detail = `${BACKEND_NAMES[queues.backend]} is unreachable; messages are accepted and processed later`;
    return [{ name: "Queues", status: "warn", detail }, ...others];
  }
  const counts = await Promise.all(
    QUEUES.map(async (name) => {
      const { waiting, active, delayed } = await queues.countJobs(name);
      return { name, jobs: waiting + active + delayed };
    }),
  );
  const busy = counts.filter(({ jobs }) => jobs > 0).map(({ name, jobs }) => `${name} ${jobs}`);
  const detail = `on ${BACKEND_NAMES[queues.backend]}, ${busy.length === 0 ? "all empty" : `jobs: ${busy.join(", ")}`}`;
  return [{ name: "Queues", status: "ok", detail }, ...others];
}
