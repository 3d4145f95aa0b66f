/** A model of Ollama's library that can be installed. */
export interface InstallableModel {
  /** As in `llama3.2:3b`. */
  name: string;
  /** What it takes on the disk, about: the library says it rounded, and a name may stand for another file by now. */
  sizeBytes: number;
  /** In tokens. */
  contextWindow: number;
}

const MB = 1_000_000;

/**
 * Well-known models of Ollama's library (https://ollama.com/library) that answer in sensible time on an ordinary machine,
 * by their families. Any other one can be pulled by its name.
 */
export const INSTALLABLE_MODELS: readonly InstallableModel[] = [
  { name: "gemma3:1b", sizeBytes: 815 * MB, contextWindow: 32_768 },
  { name: "gemma3:4b", sizeBytes: 3_300 * MB, contextWindow: 131_072 },
  { name: "llama3.2:1b", sizeBytes: 1_300 * MB, contextWindow: 131_072 },
  { name: "llama3.2:3b", sizeBytes: 2_000 * MB, contextWindow: 131_072 },
  { name: "mistral:7b", sizeBytes: 4_400 * MB, contextWindow: 32_768 },
  { name: "qwen2.5:0.5b", sizeBytes: 398 * MB, contextWindow: 32_768 },
  { name: "qwen2.5:1.5b", sizeBytes: 986 * MB, contextWindow: 32_768 },
  { name: "qwen2.5:3b", sizeBytes: 1_900 * MB, contextWindow: 32_768 },
  { name: "qwen2.5:7b", sizeBytes: 4_700 * MB, contextWindow: 32_768 },
  { name: "qwen3:1.7b", sizeBytes: 1_400 * MB, contextWindow: 40_960 },
  { name: "qwen3:8b", sizeBytes: 5_200 * MB, contextWindow: 40_960 },
];
