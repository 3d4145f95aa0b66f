import type { Ground, GroundOptions } from "./ground.ts";
import type { Ledger } from "./ledger.ts";

/** What a scenario works with. */
export interface Chaos {
  ground: Ground;
  ledger: Ledger;
  /** Chooses victims and texts. */
  seed: number;
  /** Prints a line about the progress. */
  say: (line: string) => void;
}

/** What came of a scenario. */
export interface Outcome {
  figures: Record<string, number | string>;
  /** Broken promises, in words. */
  breaches: string[];
}

/** How much of something a scenario does, by name. */
export type Size<Name extends string = string> = Record<Name, number>;

/** What is promised, how much of it is done in full and in a quick run, on which product, and what does it. */
export interface Scenario<Name extends string = string> {
  promise: string;
  sizes: { full: Size<Name>; quick: Size<Name> };
  ground?: GroundOptions;
  run(chaos: Chaos, size: Size<Name>): Promise<Outcome>;
}
