import { expect, test } from "@jest/globals";
import { readOllamaName } from "./ollama-name.ts";

test.each([
  ["llama3.2:3b", "llama3.2:3b"],
  ["llama3.2", "llama3.2:latest"],
  ["user/model", "user/model:latest"],
  ["hf.co/bartowski/Llama-3.2-1B-Instruct-GGUF:Q4_K_M", "hf.co/bartowski/Llama-3.2-1B-Instruct-GGUF:Q4_K_M"],
  ["registry.ollama.ai/library/qwen3", "registry.ollama.ai/library/qwen3:latest"],
])("%s is a model's name, in full %s", (given, name) => {
  expect(readOllamaName(given)).toBe(name);
});

test.each([
  "",
  ":3b",
  "llama3.2:",
  "../../etc/passwd",
  "a/../b",
  "a//b",
  "/model",
  "model/",
  "a..b",
  "http://evil.example/a/b",
  "evil.example/a/b:tag",
  "169.254.169.254/latest/meta-data",
  "localhost:8080/a/b",
  "a/b/c/d",
  "model tag",
  "model\n:tag",
  "m\u0000del",
  "модель",
  "a".repeat(251),
])("%j is no name of a model that can be pulled", (given) => {
  expect(readOllamaName(given)).toBeNull();
});
