/**
 * The exit codes of `svc`. 78 is EX_CONFIG of sysexits.h, the same that the apps end with; 130 is what shells use for
 * a program that Ctrl-C ended.
 */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notRunning: 3,
  notAllowed: 4,
  configuration: 78,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What each exit code means, for the help and the documentation. */
export const EXIT_MEANINGS: Readonly<Record<ExitCode, string>> = {
  0: "done; also when the product was stopped with Ctrl-C",
  1: "failed",
  2: "the command line is not right",
  3: "the product, PostgreSQL or Redis does not run or cannot be reached",
  4: "not allowed: no key, an unknown key, or a key that may not do this",
  78: "the configuration is not right",
  130: "interrupted before it was done",
};
