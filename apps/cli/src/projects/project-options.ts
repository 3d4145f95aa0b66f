import type { ProjectChange, ProjectItem } from "@svc/contracts";
import { LIMITS } from "@svc/contracts";
import type { Cli } from "../cli.ts";
import { readInput } from "../read-input.ts";

/** What `projects create` and `projects change` are told of a project. */
export interface ProjectOptions {
  handoffText?: string;
  /** A file with the hand-off text. */
  handoffFile?: string;
  /** Hand-off texts by language; an empty one removes that of its language. */
  handoffIn?: Readonly<Record<string, string>>;
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

const withoutEmpty = (texts: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ""));

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

/** What the options say of a project, but for its name. `before` are the hand-off texts that it has by language. */
export async function settingsOf(
  cli: Cli,
  options: ProjectOptions,
  before: ProjectItem["handoffTexts"] = {},
): Promise<ProjectChange> {
  const { handoffText, handoffFile, handoffIn, greeting, tables, retention, fileRetention } = options;
  const input = { what: "the hand-off text", maxBytes: LIMITS.bodyMaxBytes };
  const text =
    handoffFile === undefined
      ? handoffText
      : new TextDecoder().decode(await readInput(cli, handoffFile, input)).trimEnd();
  return {
    ...(text === undefined ? {} : { handoffText: text }),
    ...(handoffIn === undefined ? {} : { handoffTexts: withoutEmpty({ ...before, ...handoffIn }) }),
    ...(greeting === undefined ? {} : { greeting }),
    ...(tables === undefined ? {} : { tablesAsXlsx: tables === "on" }),
    ...(retention === undefined ? {} : { retentionDays: retention === "forever" ? null : retention }),
    ...(fileRetention === undefined ? {} : { fileRetentionDays: fileRetention === "forever" ? null : fileRetention }),
    ...modelLimitsOf(options),
  };
}
