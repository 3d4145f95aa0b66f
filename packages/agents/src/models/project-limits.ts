import type { ModelAllowance, ProjectId, Store } from "@svc/store";
import { ModelError } from "./model-error.ts";

/** Source of the limits of projects. */
type AllowanceStore = { modelCalls: Pick<Store["modelCalls"], "findAllowance"> };

/** Cache time of a project's limits, in milliseconds. */
const REMEMBERED_MS = 2_000;
const MAX_REMEMBERED = 2_000;

/** Enforces the limits of projects: concurrent calls in this process, and tokens per day. */
export interface ProjectLimits {
  /**
   * Runs a call in its turn. `tokens` is its estimated maximum, reserved until it has ended, so that concurrent calls
   * do not exceed the limit together. Rejects with a `ModelError`: `over_budget` when the tokens of the day are used up
   * or reserved, `busy` when its turn does not come in time; and with the signal's reason when it is aborted first.
   */
  run<Result>(
    project: ProjectId,
    call: { signal: AbortSignal; tokens: number },
    work: () => Promise<Result>,
  ): Promise<Result>;
  /** Counts used tokens until they are read from the store. */
  use(project: ProjectId, tokens: number): void;
}

/** A project's running calls, and the waiting ones in order of arrival. */
interface Lane {
  active: number;
  waiting: (() => void)[];
}

/** Result of admitting a call. */
interface Admission {
  concurrency: number | null;
  giveBack: () => void;
}

interface Remembered {
  until: number;
  allowance: Promise<ModelAllowance | null>;
  /** Tokens used since it was read. */
  used: number;
}

/** Creates the limits; a call waits for its turn for at most `turnMs`. */
export function createProjectLimits(store: AllowanceStore, { turnMs }: { turnMs: number }): ProjectLimits {
  const takeTurn = createTurns(turnMs);
  const remembered = new Map<ProjectId, Remembered>();
  /** Tokens reserved by running calls. */
  const held = new Map<ProjectId, number>();

  /** Reserves the tokens of a call, and returns a function that releases them. */
  function hold(project: ProjectId, tokens: number): () => void {
    if (tokens === 0) return () => undefined;
    held.set(project, (held.get(project) ?? 0) + tokens);
    return () => {
      const left = (held.get(project) ?? 0) - tokens;
      if (left > 0) held.set(project, left);
      else held.delete(project);
    };
  }

  /**
   * Reserves tokens of a project if it has enough left: of two concurrent calls, one sees the reservation of the other.
   * Throws `over_budget`.
   */
  async function admit(project: ProjectId, tokens: number): Promise<Admission> {
    const known = recall(project);
    const { concurrency, tokensPerDay, tokensToday } = (await known.allowance) ?? NO_LIMITS;
    if (tokensPerDay === null) return { concurrency, giveBack: () => undefined };
    const left = tokensPerDay - tokensToday - known.used;
    if (left <= 0) {
      throw new ModelError("over_budget", `the project has used its daily limit of ${tokensPerDay} tokens`);
    }
    if (left <= (held.get(project) ?? 0)) {
      const text = `the project has ${left} of ${tokensPerDay} tokens left today, which concurrent calls may use`;
      throw new ModelError("over_budget", text);
    }
    return { concurrency, giveBack: hold(project, tokens) };
  }

  function recall(project: ProjectId): Remembered {
    const known = remembered.get(project);
    if (known !== undefined && known.until > performance.now()) return known;
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    const allowance = store.modelCalls.findAllowance(project);
    const read: Remembered = { until: performance.now() + REMEMBERED_MS, allowance, used: 0 };
    remembered.set(project, read);
    allowance.catch(() => remembered.get(project) === read && remembered.delete(project));
    return read;
  }

  return {
    async run(project, { signal, tokens }, work) {
      // Waiting calls reserve nothing: they check again in their turn.
      const { concurrency } = await admit(project, 0);
      signal.throwIfAborted();
      const end = concurrency === null ? () => undefined : await takeTurn(project, concurrency, signal);
      try {
        const { giveBack } = await admit(project, tokens);
        try {
          signal.throwIfAborted();
          return await work();
        } finally {
          giveBack();
        }
      } finally {
        end();
      }
    },

    use(project, tokens) {
      const known = remembered.get(project);
      if (known !== undefined) known.used += tokens;
    },
  };
}

/** Creates the function that waits for a call's turn for at most `turnMs` and resolves with a function that ends it. */
function createTurns(turnMs: number) {
  const lanes = new Map<ProjectId, Lane>();
  return async (project: ProjectId, concurrency: number, signal: AbortSignal): Promise<() => void> => {
    const lane = lanes.get(project) ?? { active: 0, waiting: [] };
    lanes.set(project, lane);
    const end = () => {
      lane.active -= 1;
      const next = lane.waiting.shift();
      if (next !== undefined) next();
      else if (lane.active === 0) lanes.delete(project);
    };
    if (lane.active < concurrency) {
      lane.active += 1;
      return end;
    }
    return new Promise((resolve, reject) => {
      const busy = new ModelError("busy", `the project has reached its limit of ${concurrency} concurrent calls`);
      const leave = (reason: unknown) => {
        settle();
        const index = lane.waiting.indexOf(begin);
        if (index !== -1) lane.waiting.splice(index, 1);
        reject(reason);
      };
      const abort = () => leave(signal.reason);
      const timer = setTimeout(() => leave(busy), turnMs);
      const settle = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", abort);
      };
      const begin = () => {
        settle();
        lane.active += 1;
        resolve(end);
      };
      lane.waiting.push(begin);
      signal.addEventListener("abort", abort, { once: true });
    });
  };
}

/** For a project that is being deleted: its work ends by other means. */
const NO_LIMITS: ModelAllowance = { concurrency: null, tokensPerDay: null, tokensToday: 0 };
