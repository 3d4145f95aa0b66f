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
  0: "success, or stopped with Ctrl-C",
  1: "failed",
  2: "invalid command line",
  3: "the service, PostgreSQL or Redis is not running, or is unreachable",
  4: "not allowed: missing or unknown key, or missing scope",
  78: "invalid configuration",
  130: "interrupted before completion",
};
