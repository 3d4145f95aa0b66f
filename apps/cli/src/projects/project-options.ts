import type { ProjectChange } from "@svc/contracts";
import { LIMITS } from "@svc/contracts";
import type { Cli } from "../cli.ts";
import { readInput } from "../read-input.ts";

/** What `projects create` and `projects change` are told of a project. */
export interface ProjectOptions {
  handoffText?: string;
  /** A file with the hand-off text. */
  handoffFile?: string;
  /** Hand-off texts by language; an empty one removes that of its language. */
  handoffIn?: HandoffTexts;
  greeting?: string;
  tables?: "on" | "off";
  /** Days. */
  retention?: number | "forever";
  /** Days that files of customers are kept. */
  fileRetention?: number | "forever";
  /** Calls of language models at once. */
  modelCalls?: number | "any";
  /** Tokens of language models a day. */
  modelTokens?: number | "any";
}

type HandoffTexts = Readonly<Record<string, string>>;

/** The hand-off texts by language with those that are given; an empty one removes that of its language. */
export function mergeHandoffTexts(before: HandoffTexts, given: HandoffTexts): Record<string, string> {
  return Object.fromEntries(Object.entries({ ...before, ...given }).filter(([, text]) => text !== ""));
}

const limitOf = (given: number | "any") => (given === "any" ? null : given);

/** What the options say of the limits for language models. */
function modelLimitsOf({ modelCalls, modelTokens }: ProjectOptions): Pick<ProjectChange, "modelLimits"> {
  if (modelCalls === undefined && modelTokens === undefined) return {};
  return {
    modelLimits: {
      ...(modelCalls === undefined ? {} : { concurrency: limitOf(modelCalls) }),
      ...(modelTokens === undefined ? {} : { tokensPerDay: limitOf(modelTokens) }),
    },
  };
}

/** What the options say of a project, but for its name. */
export async function settingsOf(cli: Cli, options: ProjectOptions): Promise<ProjectChange> {
  const { handoffText, handoffFile, handoffIn, greeting, tables, retention, fileRetention } = options;
  const input = { what: "the handoff text", maxBytes: LIMITS.bodyMaxBytes };
  const text =
    handoffFile === undefined
      ? handoffText
      : new TextDecoder().decode(await readInput(cli, handoffFile, input)).trimEnd();
  return {
    ...(text === undefined ? {} : { handoffText: text }),
    ...(handoffIn === undefined ? {} : { handoffTexts: mergeHandoffTexts({}, handoffIn) }),
    ...(greeting === undefined ? {} : { greeting }),
    ...(tables === undefined ? {} : { tablesAsXlsx: tables === "on" }),
    ...(retention === undefined ? {} : { retentionDays: retention === "forever" ? null : retention }),
    ...(fileRetention === undefined ? {} : { fileRetentionDays: fileRetention === "forever" ? null : fileRetention }),
    ...modelLimitsOf(options),
  };
}
