import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { findDataParent, freePort, startProcess } from "@svc/testing";
import type { ChildProcess } from "@svc/testing";
import { SVC_MAIN } from "./run-svc.ts";

/** A data folder and ports, for `svc up` and for the commands that use it. */
export interface SvcInstance {
  env: {
    SVC_DATA_DIR: string;
    SVC_API_PORT: string;
    SVC_WIDGET_PORT: string;
    SVC_TOOLS_PORT: string;
    SVC_CONSOLE_PORT: string;
  };
  url: string;
  /** The program that `svcUp` runs. Default: that of the other commands. */
  program?: string;
}

/** Output of `svc up` when it is ready. */
export const READY = /Press Ctrl-C to stop/;

const folders: string[] = [];

/** Creates a folder that `removeFolders` removes. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(await findDataParent(), "svc-journey-"));
  folders.push(folder);
  return folder;
}

/** Removes every folder of this test file. Must be called in `afterAll`, when no process uses them any more. */
export async function removeFolders(): Promise<void> {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
}

/** Returns a free port for each app that listens, as environment variables. */
export async function freePorts(): Promise<Omit<SvcInstance["env"], "SVC_DATA_DIR">> {
  const [api, widget, tools, console] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  return {
    SVC_API_PORT: String(api),
    SVC_WIDGET_PORT: String(widget),
    SVC_TOOLS_PORT: String(tools),
    SVC_CONSOLE_PORT: String(console),
  };
}

/** Returns a new data folder and free ports. */
export async function newInstance(): Promise<SvcInstance> {
  const ports = await freePorts();
  const env = { SVC_DATA_DIR: join(await makeFolder(), "data"), ...ports };
  const port = ports.SVC_API_PORT;
  return { env, url: `http://127.0.0.1:${port}` };
}

/** Starts `svc up` and waits until its output matches. */
export async function svcUp(
  { env, program = SVC_MAIN }: SvcInstance,
  condition: RegExp = READY,
  ...args: string[]
): Promise<ChildProcess> {
  const child = await startProcess({ file: program, args: ["up", ...args], env, name: "svc up" });
  await child.ready(condition);
  return child;
}
