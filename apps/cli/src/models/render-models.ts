import type { Model, UnreachableProvider } from "@svc/contracts";
import { renderTable } from "../render-table.ts";
import { safeLine } from "../safe-text.ts";
import type { Terminal } from "../terminal.ts";
import { percentOf } from "./render-progress.ts";
import { renderSize } from "./render-size.ts";

function stateOf({ local, installed, pull }: Model): string {
  if (pull !== null) {
    const percent = percentOf(pull);
    return percent === null ? "being pulled" : `being pulled: ${percent} %`;
  }
  if (installed) return local ? "installed" : "hosted";
  return "not installed";
}

/** The table of models, for a person. */
export function renderModels(models: readonly Model[], { paint, width }: Terminal): string {
  const rows = models.map((model) => {
    const { catalogId, sizeBytes, contextWindow } = model;
    const state = stateOf(model);
    return [
      safeLine(catalogId),
      sizeBytes === null ? "" : renderSize(sizeBytes),
      contextWindow === null ? "" : String(contextWindow),
      model.installed ? paint.green(state) : state,
    ];
  });
  return renderTable(["MODEL", "SIZE", "CONTEXT", "STATE"], rows, width);
}

/** The providers whose models are missing, a line each. */
export const renderUnreachable = (providers: readonly UnreachableProvider[]): string[] =>
  providers.map(({ detail }) => `Missing: ${safeLine(detail)}`);
