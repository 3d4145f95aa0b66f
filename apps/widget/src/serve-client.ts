import { readFile, stat } from "node:fs/promises";
import { ServiceError } from "@svc/contracts";
import { makeFixedResponse, sendFixedResponse } from "@svc/http";
import type { FixedResponse } from "@svc/http";
import type { Express, Request, RequestHandler, Response } from "express";
import { errorCode } from "@svc/primitives";

/** The build's folder for the script, its chunks and their manifest. */
const CLIENT_DIR = new URL("../dist/client/", import.meta.url);

const SCRIPT_CACHE = "public, max-age=86400, stale-while-revalidate=604800";
const CHUNK_CACHE = "public, max-age=31536000, immutable";
/** A substitute for a chunk of another version is cached only briefly. */
const STAND_IN_CACHE = "public, max-age=60";

/** File name of a chunk: its name, then a hash of its content. */
const CHUNK = /^([A-Za-z0-9_.-]+)-([A-Za-z0-9]{6,16})\.js$/;

interface ClientFile extends FixedResponse {
  changedAt: number;
}

/** Reads files of the build, each once until it changes. */
function createClientFiles() {
  const known = new Map<string, ClientFile>();

  async function read(name: string): Promise<ClientFile> {
    const url = new URL(name, CLIENT_DIR);
    const { mtimeMs: changedAt } = await stat(url);
    const before = known.get(name);
    if (before?.changedAt === changedAt) return before;
    const file = { changedAt, ...(await makeFixedResponse(await readFile(url))) };
    known.set(name, file);
    return file;
  }

  return {
    /** Returns a file of the build; null if there is none with this name. */
    async find(name: string): Promise<ClientFile | null> {
      try {
        return await read(name);
      } catch (error) {
        if (errorCode(error) === "ENOENT") return null;
        throw error;
      }
    },
  };
}

type ClientFiles = ReturnType<typeof createClientFiles>;

const send = (request: Request, response: Response, file: ClientFile, cacheControl: string) =>
  sendFixedResponse(request, response, file, {
    "Content-Type": "text/javascript; charset=utf-8",
    "Cache-Control": cacheControl,
    // Scripts are loaded by pages of any site; access is checked by the endpoints that they call.
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
  });

const notBuilt = () =>
  new ServiceError("not_found", "The widget's script is not built here. Run: npm run build.", {
    headers: { "Cache-Control": "no-store" },
  });

const noSuchChunk = () => new ServiceError("not_found", "The widget has no chunk with this name.");

/** Returns the chunk with this name in the current build; null if it has none. */
async function findCurrent(files: ClientFiles, name: string): Promise<ClientFile | null> {
  const manifest = await files.find("manifest.json");
  if (manifest === null) return null;
  const chunks = JSON.parse(manifest.plain.toString("utf8")) as Record<string, unknown>;
  const current = Object.hasOwn(chunks, name) ? chunks[name] : undefined;
  return typeof current === "string" ? files.find(current) : null;
}

/** `GET /widget.js`. */
function getScript(files: ClientFiles): RequestHandler {
  return async (request, response) => {
    const file = await files.find("widget.js");
    if (file === null) throw notBuilt();
    send(request, response, file, SCRIPT_CACHE);
  };
}

/** `GET /chunks/:chunk`. */
function getChunk(files: ClientFiles): RequestHandler {
  return async (request, response) => {
    const { chunk } = request.params;
    // Only names of this form are looked up.
    const [path, name] = CHUNK.exec(typeof chunk === "string" ? chunk : "") ?? [];
    if (name === undefined) throw noSuchChunk();
    const exact = await files.find(`chunks/${path}`);
    if (exact !== null) {
      send(request, response, exact, CHUNK_CACHE);
      return;
    }
    const current = await findCurrent(files, name);
    if (current === null) throw noSuchChunk();
    send(request, response, current, STAND_IN_CACHE);
  };
}

/**
 * Serves `GET /widget.js`, cached for a day, and the chunks that it loads, cached permanently because their names
 * contain a hash. A page with an older script gets the current chunk.
 */
export function addClientRoutes(routes: Express, refuse: RequestHandler): void {
  const files = createClientFiles();
  routes.route("/widget.js").get(getScript(files)).all(refuse);
  routes.route("/chunks/:chunk").get(getChunk(files)).all(refuse);
}
