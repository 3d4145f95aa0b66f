import type { ErrorCode } from "@svc/contracts";
import { PullError } from "./pull-error.ts";

interface KnownFault {
  /** What Ollama says. */
  said: RegExp;
  code: ErrorCode;
  explain: (name: string) => string;
}

/** What Ollama says of pulls that another try would not help. */
const KNOWN_FAULTS: readonly KnownFault[] = [
  {
    said: /no space left|not enough (?:disk )?space|disk (?:is )?full|enospc/i,
    code: "disk_full",
    explain: (name) =>
      `The disk of the Ollama machine is full. Free disk space there (for example with ollama rm <model>), then pull ${name} again to resume.`,
  },
  {
    said: /file does not exist|manifest unknown|model .*not found|repository not found|not a valid model|invalid model name/i,
    code: "not_found",
    explain: (name) => `The model ${name} does not exist. Check its name and tag at https://ollama.com/library.`,
  },
  {
    said: /newer version of ollama|requires a newer|upgrade ollama/i,
    code: "pull_failed",
    explain: (name) => `${name} needs a newer Ollama than the one that is running. Update Ollama, then pull it again.`,
  },
  {
    said: /unauthorized|access denied|authentication required|forbidden/i,
    code: "pull_failed",
    explain: (name) =>
      `The registry allows only the owner of ${name} to download it. Sign in on the Ollama machine (ollama signin).`,
  },
];

const EXCERPT_CHARS = 200;

/** The beginning of what a server says, in one line without controls. */
export function excerptOf(text: string): string {
  return text.slice(0, 2_000).replaceAll(/\s+/g, " ").replaceAll(/\p{C}/gu, "").trim().slice(0, EXCERPT_CHARS);
}

/** The error that Ollama means by what it says of a pull. What is not known may pass by itself. */
export function explainPullFault(name: string, said: string): PullError {
  const known = KNOWN_FAULTS.find((fault) => fault.said.test(said));
  if (known !== undefined) return new PullError(known.code, known.explain(name), { isFinal: true });
  const words = excerptOf(said);
  return new PullError(
    "pull_failed",
    `Ollama could not pull ${name}${words === "" ? "" : `: ${words}`}. Check its log, then pull it again.`,
    { isFinal: false },
  );
}
