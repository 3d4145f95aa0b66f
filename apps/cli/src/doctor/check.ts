/** What one look has found. */
export interface Check {
  /** What was looked at, in a word or three. */
  name: string;
  /** `warn`: it works, but not for ever or not for everybody. `fail`: it does not work. */
  status: "ok" | "warn" | "fail";
  detail: string;
  /** What to do; beside `ok`, a hint. */
  advice?: string;
}
