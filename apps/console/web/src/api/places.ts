import { queryOptions } from "@tanstack/react-query";
import { ServiceFault } from "@svc/client";
import type { Connection } from "./connection.ts";

/** The parts of the service that others call. */
export type PlaceId = "api" | "widget" | "tool-server";

/** Where a part of the service is reached, and how it is doing. */
export interface Place {
  id: PlaceId;
  /** Without a slash at its end. */
  url: string;
  state: "running" | "stopped" | "failing" | null;
  since: string | null;
  error: string | null;
}

/** The ports that the parts have where nobody has chosen others. */
const USUAL_PORTS = { api: 31416, widget: 31415, "tool-server": 31417 } as const satisfies Record<PlaceId, number>;
const IDS = ["api", "widget", "tool-server"] as const satisfies readonly PlaceId[];

/** Where the parts most likely are, for a server that does not say so: beside the console, at their usual ports. */
export function usualPlaces(hostname: string): Place[] {
  const at = (id: PlaceId) => `http://${hostname}:${USUAL_PORTS[id]}`;
  return IDS.map((id) => ({ id, url: at(id), state: null, since: null, error: null }));
}

const FOLLOW_MS = 5_000;

/** Where the parts of the service are reached, and how they are doing, followed. */
export const placesQuery = (connection: Connection, project: string) =>
  queryOptions({
    queryKey: ["places", project],
    refetchInterval: FOLLOW_MS,
    queryFn: async ({ signal }): Promise<Place[]> => {
      try {
        const { items } = (await connection.send("GET", "/session/places", { project, signal })) as { items: Place[] };
        return items;
      } catch (fault) {
        if (fault instanceof ServiceFault && fault.status === 404) return usualPlaces(location.hostname);
        throw fault;
      }
    },
  });
