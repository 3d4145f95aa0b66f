/** Registries that Ollama may be sent to; any other host would let a caller choose whom this network calls. */
const HOSTS: ReadonlySet<string> = new Set(["registry.ollama.ai", "ollama.com", "hf.co", "huggingface.co"]);

const PART = String.raw`[A-Za-z0-9_](?:[A-Za-z0-9_-]|\.(?!\.))*`;
const NAME = new RegExp(`^${PART}(?:/${PART}){0,2}(?::${PART})?$`);
const MAX_CHARS = 250;

/** The tag that a name without one stands for. */
const DEFAULT_TAG = "latest";

/**
 * A model's name as Ollama has it, with its tag: `llama3.2` is `llama3.2:latest`, and `hf.co/user/model:Q4_K_M` stays as
 * it is. Null for what is no name, and for one of a registry that is none of those that are known.
 */
export function readOllamaName(text: string): string | null {
  if (text.length > MAX_CHARS || !NAME.test(text)) return null;
  const [path = "", tag = DEFAULT_TAG] = text.split(":");
  const parts = path.split("/");
  const [host = ""] = parts;
  if (parts.length === 3 && !HOSTS.has(host.toLowerCase())) return null;
  return `${path}:${tag}`;
}
