/** Runs a piece of work once there is a place for it; those that wait get theirs in their order. */
export type Gate = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Makes a gate that lets so many pieces of work run at once. */
export function createGate(places: number): Gate {
  const waiting: (() => void)[] = [];
  let free = places;
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => void waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The place goes on to whoever is next; nobody can come between.
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
