/** A caller's part in a call that several share. */
export interface Share<Result> {
  result: Result;
  /** How many share the call. */
  size: number;
  /** The caller's place among them, in the order in which they came, from 1. */
  position: number;
}

/**
 * Lets callers share calls: whoever comes while a call of the same name is under way waits for the next one, which is
 * for all who came meanwhile. A caller alone does not wait. `run` gets how many it is for; its error is everyone's.
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
  // A name stands here while a call of it is under way, with those who wait for the next one.
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
