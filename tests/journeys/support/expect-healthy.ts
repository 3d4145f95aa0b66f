import { expect } from "@jest/globals";
import { callApi } from "./call-api.ts";
import type { Product } from "./start-product.ts";

/**
 * Checks that no process of a product has ended, that every API is healthy, and that no process has logged an internal
 * error: invalid requests are not errors of the service.
 */
export async function expectHealthy({ composition }: Product): Promise<void> {
  for (const part of composition.processes) {
    // Signal 0 only checks whether the process exists, and throws otherwise.
    process.kill(part.pid, 0);
    if (part.apiUrl !== undefined) expect((await callApi(`${part.apiUrl}/api/v1/health`)).body.status).toBe("pass");
    const errors = part
      .output()
      .split("\n")
      .filter((line) => /"level":"(?:error|fatal)"/.test(line));
    expect({ name: part.name, errors }).toEqual({ name: part.name, errors: [] });
  }
}
