import { z } from "zod";
import { safeLine } from "../safe-text.ts";

const LINE_CHARS = 300;
const NAME_CHARS = 80;
/** Maximum number of passages whose scores are shown. */
const SHOWN_PASSAGES = 5;

/** A fact of a trace, with its name. */
type TraceFact = readonly [name: string, value: string];

type Reader = (value: unknown) => TraceFact[] | null;

/** Reads a part that has this shape; null for one that has another, which is then shown as it is. */
function reader<Part>(schema: z.ZodType<Part>, facts: (part: Part) => TraceFact[]): Reader {
  return (value) => {
    const read = schema.safeParse(value);
    return read.success ? facts(read.data) : null;
  };
}

const triageSchema = z.object({ why: z.string() }).nullable();
const gateSchema = z
  .object({ sends: z.boolean(), rejects: z.boolean().optional(), needsPerson: z.boolean().optional(), why: z.string() })
  .nullable();
const usageSchema = z.object({
  model: z.string(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  costUsd: z.number().nullable(),
});
const answerSchema = z.object({
  model: z.object({
    usage: usageSchema.nullable(),
    fallback: z.string().nullable(),
    mustReview: z.boolean().optional(),
  }),
});
const passagesSchema = z.array(z.object({ score: z.number() }));

function describeUsage({ model, inputTokens, outputTokens, costUsd }: z.infer<typeof usageSchema>): string {
  const cost = costUsd === null ? "" : `, $${costUsd.toFixed(4)}`;
  return `${safeLine(model, NAME_CHARS)}, ${inputTokens} + ${outputTokens} tokens${cost}`;
}

function describeGate({ sends, rejects, needsPerson, why }: NonNullable<z.infer<typeof gateSchema>>): string {
  const fate =
    rejects === true
      ? "no answer"
      : !sends
        ? "held"
        : needsPerson === true
          ? "sent, and an operator follows up"
          : "sent";
  return `${fate}: ${safeLine(why, LINE_CHARS)}`;
}

/** Returns the reason without the error code before it, which is for machines. */
const reasonOf = (fallback: string) => safeLine(fallback.replace(/^[a-z_]+: /, ""), LINE_CHARS);

function describePassages(passages: z.infer<typeof passagesSchema>): string {
  if (passages.length === 0) return "none";
  const scores = passages.slice(0, SHOWN_PASSAGES).map(({ score }) => score.toFixed(2));
  return `${passages.length}, best scores ${scores.join(", ")}`;
}

/** The parts of the trace of a run, in the order in which a person reads them. */
const READERS: Readonly<Record<string, Reader>> = {
  triage: reader(triageSchema, (triage) => (triage === null ? [] : [["triage", safeLine(triage.why, LINE_CHARS)]])),
  passages: reader(passagesSchema, (passages) => [["passages", describePassages(passages)]]),
  answer: reader(answerSchema, ({ model: { usage, fallback, mustReview } }) => [
    ...(usage === null ? [] : [["model", describeUsage(usage)] as const]),
    ...(fallback === null
      ? []
      : [["quotes", `instead of the model: ${reasonOf(fallback)} (see docs/models.md)`] as const]),
    ...(mustReview === true ? [["review", "requires an operator, regardless of the policy"] as const] : []),
  ]),
  gate: reader(gateSchema, (gate) => (gate === null ? [] : [["decision", describeGate(gate)]])),
  stageMs: reader(z.record(z.string(), z.number()), (stageMs) => {
    const times = Object.entries(stageMs).map(([stage, ms]) => `${safeLine(stage, NAME_CHARS)} ${ms} ms`);
    return times.length === 0 ? [] : [["times", times.join(", ")]];
  }),
  attempts: reader(z.number(), (attempts) => (attempts <= 1 ? [] : [["attempts", String(attempts)]])),
};

/** What a run of the pipeline found, as facts for a person; `rest` has what else the event tells. */
export function readTrace(data: Record<string, unknown>): { facts: TraceFact[]; rest: Record<string, unknown> } {
  const facts: TraceFact[] = [];
  const rest = { ...data };
  for (const [name, read] of Object.entries(READERS)) {
    if (!(name in data)) continue;
    const found = read(data[name]);
    if (found === null) continue;
    facts.push(...found);
    delete rest[name];
  }
  return { facts, rest };
}
