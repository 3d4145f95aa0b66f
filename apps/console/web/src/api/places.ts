import { queryOptions } from "@tanstack/react-query";
import type { PlacesAnswer, ServicePlace } from "@svc/contracts";
import type { Connection } from "./connection.ts";

/** The parts of the service that others call. */
export type PlaceId = ServicePlace["id"];

const FOLLOW_MS = 5_000;

/** Where the parts of the service are, and whether they answer, followed. */
export const placesQuery = (connection: Connection) =>
  queryOptions({
    queryKey: ["places"],
    queryFn: async ({ signal }): Promise<ServicePlace[]> =>
      ((await connection.send("GET", "/session/places", { signal })) as PlacesAnswer).items,
    refetchInterval: FOLLOW_MS,
  });
