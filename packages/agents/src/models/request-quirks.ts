import { isRecord } from "@svc/primitives";

/** The body of a request as OpenAI's API has it. */
type RequestBody = Record<string, unknown>;

/** Something of the API that some servers and models do not know. */
interface Quirk {
  /** What a refusal says that means this. */
  told: RegExp;
  /** The body without it; the same body where it has nothing of it. */
  adapt(body: RequestBody): RequestBody;
}

/** What a provider was found not to know, by name; requests to it go without. */
export type LearnedQuirks = Set<string>;

/** How JSON in text is asked for: a model reads it, no server. */
const JSON_IN_TEXT =
  "Answer with one JSON value and nothing else: no words before or after it. It must conform to this JSON Schema:\n";

/** The rules of a call with the schema after them, where the server is not asked to see to it. */
function withSchemaInText({ response_format: format, ...body }: RequestBody): RequestBody {
  const described = isRecord(format) && isRecord(format["json_schema"]) ? format["json_schema"]["schema"] : undefined;
  if (described === undefined) return format === undefined ? body : { ...body, response_format: format };
  const messages: unknown[] = Array.isArray(body["messages"]) ? body["messages"] : [];
  const [first, ...rest] = messages;
  const rules = `${JSON_IN_TEXT}${JSON.stringify(described)}`;
  const isSystem = isRecord(first) && first["role"] === "system" && typeof first["content"] === "string";
  const system = { role: "system", content: isSystem ? `${String(first["content"])}\n\n${rules}` : rules };
  return { ...body, messages: isSystem ? [system, ...rest] : [system, ...messages] };
}

/** In the order in which they are looked for. */
const QUIRKS: Readonly<Record<string, Quirk>> = {
  // Newer models of OpenAI call the bound of an answer so, and refuse the name that all other servers know.
  maxCompletionTokens: {
    told: /max_completion_tokens/i,
    adapt: ({ max_tokens: bound, ...body }) => (bound === undefined ? body : { ...body, max_completion_tokens: bound }),
  },
  noUsage: {
    told: /stream_options|include_usage/i,
    adapt: (body) => Object.fromEntries(Object.entries(body).filter(([name]) => name !== "stream_options")),
  },
  // llama.cpp cannot bind an answer that may call tools instead; older servers know no schema at all.
  jsonInText: {
    told: /response_format|json_schema|json schema|structured output|grammar/i,
    adapt: withSchemaInText,
  },
};

/** A quirk counts for requests with tools, or for those without: some servers know a thing in one of them only. */
const keyOf = (name: string, body: RequestBody) => `${name}${"tools" in body ? " with tools" : ""}`;

/** The request as this provider takes it, as far as that is known. */
export function adaptRequest(text: string, learned: LearnedQuirks): string {
  if (learned.size === 0) return text;
  const body: unknown = JSON.parse(text);
  if (!isRecord(body)) return text;
  const names = Object.keys(QUIRKS).filter((name) => learned.has(keyOf(name, body)));
  return JSON.stringify(names.reduce((adapted, name) => QUIRKS[name]?.adapt(adapted) ?? adapted, body));
}

/** Learns from a refusal of a request what the provider does not know; true when there is something new to try. */
export function learnQuirk(text: string, said: string, learned: LearnedQuirks): boolean {
  const body: unknown = JSON.parse(text);
  if (!isRecord(body)) return false;
  const before = adaptRequest(text, learned);
  for (const [name, { told }] of Object.entries(QUIRKS)) {
    const key = keyOf(name, body);
    if (!told.test(said) || learned.has(key)) continue;
    learned.add(key);
    if (adaptRequest(text, learned) !== before) return true;
    learned.delete(key);
  }
  return false;
}
