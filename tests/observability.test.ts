import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "@jest/globals";
import { METRICS } from "@svc/telemetry";
import type { MetricDeclaration } from "@svc/telemetry";
import { parse } from "yaml";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const FOLDER = join(ROOT, "infra/observability");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

interface Alert {
  alert: string;
  expr: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}
interface Panel {
  title: string;
  type: string;
  description?: string;
  datasource?: { uid: string };
  targets?: { expr: string }[];
}

const rules = parse(readFileSync(join(FOLDER, "alerts.yml"), "utf8")) as { groups: { rules: Alert[] }[] };
const alerts = rules.groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(readFileSync(join(FOLDER, "grafana/dashboards/svc.json"), "utf8")) as {
  panels: Panel[];
};
const panels = dashboard.panels.filter(({ type }) => type !== "row");
const operate = read("docs/operate.md");

/** Metrics added by prom-client and Prometheus. */
const FOREIGN = /^(?:nodejs|process)_[a-z0-9_]+$|^up$/;
const declared: Record<string, MetricDeclaration> = METRICS;

/** Returns the declaration of a metric in a query; a histogram is queried by its parts. */
function declarationOf(name: string): MetricDeclaration | undefined {
  const whole = declared[name];
  if (whole !== undefined) return whole.kind === "histogram" ? undefined : whole;
  const histogram = declared[name.replace(/_(?:bucket|sum|count)$/, "")];
  return histogram?.kind === "histogram" ? histogram : undefined;
}

/** Returns the errors of the metrics in a query. */
function errorsOf(query: string): string[] {
  const texts = query.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
  const selectors = [...texts.matchAll(/\b((?:svc|nodejs|process)_[a-z0-9_]+|up)\b(?:\{([^}]*)\})?/g)];
  if (selectors.length === 0) return [`no figure in: ${query}`];
  return selectors.flatMap(([, name = "", matchers = ""]) => {
    if (FOREIGN.test(name)) return [];
    const found = declarationOf(name);
    if (found === undefined) return [`${name} is not declared`];
    const known = [...found.labels, "job", "instance", ...(found.kind === "histogram" ? ["le"] : [])];
    const asked = [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map((match) => match[1] ?? "");
    return asked.filter((label) => !known.includes(label)).map((label) => `${name} has no label ${label}`);
  });
}

describe("the alert rules", () => {
  test("have unique names", () => {
    expect(alerts.length).toBeGreaterThan(10);
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
  });

  test.each(alerts)("use existing metrics in $alert, and link to a runbook", (alert) => {
    expect(errorsOf(alert.expr)).toEqual([]);
    expect(["critical", "warning"]).toContain(alert.labels["severity"]);
    expect(alert.annotations["summary"]).toMatch(/\.$/);
    expect(alert.annotations["runbook"]).toBe(`docs/operate.md#${alert.alert.toLowerCase()}`);
    expect(operate).toContain(`\n### ${alert.alert}\n`);
  });

  test("have no unused runbook", () => {
    const runbooks = [...operate.matchAll(/^### (Svc\w+)$/gm)].map((match) => match[1]);
    expect(runbooks.toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted());
  });
});

describe("the dashboard", () => {
  test.each(panels)("uses existing metrics in $title", ({ targets = [], description, datasource }) => {
    expect(targets.flatMap(({ expr }) => errorsOf(expr))).toEqual([]);
    expect(targets.length).toBeGreaterThan(0);
    expect(description).toMatch(/\.$/);
    expect(datasource?.uid).toBe("prometheus");
  });

  test("shows every metric except the running version", () => {
    const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join("\n");
    const missing = Object.keys(METRICS).filter((name) => !queries.includes(name));
    expect(missing).toEqual(["svc_build_info"]);
  });

  test("is in Grafana's configured folder, and uses the configured Prometheus", () => {
    const sources = parse(read("infra/observability/grafana/provisioning/datasources/prometheus.yml")) as {
      datasources: { uid: string; url: string }[];
    };
    expect(sources.datasources).toMatchObject([{ uid: "prometheus", url: "http://prometheus:9090" }]);
    const providers = parse(read("infra/observability/grafana/provisioning/dashboards/svc.yml")) as {
      providers: { options: { path: string } }[];
    };
    expect(providers.providers[0]?.options.path).toBe("/var/lib/grafana/dashboards");
  });
});

test("docs/operate.md names only existing metrics", () => {
  const named = [...operate.matchAll(/\b(svc_[a-z_]+)\b/g)].map((match) => match[1] ?? "");
  expect(named.filter((name) => declared[name] === undefined)).toEqual([]);
});
