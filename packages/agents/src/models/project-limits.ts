import type { ModelAllowance, ProjectId, Store } from "@svc/store";
import { ModelError } from "./model-error.ts";

/** What the limits of projects are read from. */
export type AllowanceStore = { modelCalls: Pick<Store["modelCalls"], "findAllowance"> };

/** How long what a project may use is remembered. */
const REMEMBERED_MS = 2_000;
const MAX_REMEMBERED = 2_000;

/** Keeps projects to their limits: calls at once in this process, and tokens a day. */
export interface ProjectLimits {
  /**
   * Does the work in its turn. `tokens` is what it may use at most, about: so much is held until it has ended, so that
   * many calls at once do not pass the limit together. Rejects with a `ModelError`: `over_budget` when the tokens of
   * the day are used up or held by others, `busy` when its turn does not come in time; and with the reason of the
   * signal when that is aborted before.
   */
  run<Result>(
    project: ProjectId,
    call: { signal: AbortSignal; tokens: number },
    work: () => Promise<Result>,
  ): Promise<Result>;
  /** Counts tokens that were just used, until they are read from the store. */
  use(project: ProjectId, tokens: number): void;
}

/** A project's calls that are on their way, and those that wait for their turn, the first one first. */
interface Lane {
  active: number;
  waiting: (() => void)[];
}

/** What a call that may be made gets. */
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

/** Makes the keeper of the limits; a call waits for its turn `turnMs` at most. */
export function keepProjectLimits(store: AllowanceStore, { turnMs }: { turnMs: number }): ProjectLimits {
  const takeTurn = createTurns(turnMs);
  const remembered = new Map<ProjectId, Remembered>();
  /** Tokens that calls on their way may use. */
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
   * Reserves tokens of a project if it has enough left: of two concurrent calls one sees
   * what the other holds. Throws `over_budget`.
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
      // Nothing is held by those that wait: they look again when it is their turn.
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

/** Makes the function that resolves when it is a call's turn, with what ends it; it waits `turnMs` at most. */
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

/** For a project that is just being deleted: its work ends otherwise. */
const NO_LIMITS: ModelAllowance = { concurrency: null, tokensPerDay: null, tokensToday: 0 };
