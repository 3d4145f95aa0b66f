/** A caller's share of a call. */
export interface Share<Result> {
  result: Result;
  /** Number of callers that share the call. */
  size: number;
  /** The caller's position among them, in the order of arrival, from 1. */
  position: number;
}

/**
 * Lets callers share calls: callers that arrive during a call of the same name share the next one. A single caller does
 * not wait. `run` gets the number of callers; all of them get its error.
 */
export function singleFlight<Result>(): (
  name: string,
  run: (size: number) => Promise<Result>,
) => Promise<Share<Result>> {
  interface Caller {
    run: (size: number) => Promise<Result>;
    resolve: (share: Share<Result>) => void;
    reject: (error: unknown) => void;
  }
  // Names with a call in progress, each with the callers that wait for the next one.
  const waiting = new Map<string, Caller[]>();

  async function work(name: string): Promise<void> {
    for (let callers = waiting.get(name); callers?.[0] !== undefined; callers = waiting.get(name)) {
      waiting.set(name, []);
      const size = callers.length;
      try {
        const result = await callers[0].run(size);
        for (const [index, { resolve }] of callers.entries()) resolve({ result, size, position: index + 1 });
      } catch (error) {
        for (const { reject } of callers) reject(error);
      }
    }
    waiting.delete(name);
  }

  return (name, run) =>
    new Promise((resolve, reject) => {
      const caller = { run, resolve, reject };
      const others = waiting.get(name);
      if (others !== undefined) {
        others.push(caller);
        return;
      }
      waiting.set(name, [caller]);
      void work(name);
    });
}
