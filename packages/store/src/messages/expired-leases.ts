/**
 * Number of leases that may expire in running processes before the work is given up. With the waits of `LAPSE_WAIT` this
 * takes at least a quarter of an hour, so that a host that is overloaded for minutes gives nothing up.
 */
export const MAX_LAPSES = 15;

/** Number of lapses after which work waits before it is claimed again, twice as long after each further one. */
const QUICK_LAPSES = 5;
const LAPSE_WAIT_MAX_S = 300;

/** Number of crashed processes after which a message no longer runs next to messages that are not suspects (ADR 0026). */
export const SUSPECT_AFTER_CRASHES = 2;

/** What the expired leases of some work say about it. */
export interface LeaseHistory {
  /** Number of processes that crashed, or vanished without a stop, while they held the lease. */
  crashes: number;
  /** Number of leases that expired although their process was running or was stopped in order. */
  lapses: number;
}

/** SQL: the expired lease of a row, as a JSON array to append to `expired_leases`; NULL if the lease was released. */
export function expiredLease(row: string, group = "NULL::integer"): string {
  return `CASE WHEN ${row}.lease_id IS NOT NULL THEN jsonb_build_array(jsonb_build_object(
    'process', ${row}.lease_holder, 'group', ${group}, 'until', ${row}.lease_until)) END`;
}

/**
 * SQL of a subquery with one row about a JSON array of expired leases: `crashes`, `lapses`, and `last_group`, the group
 * size of the last lease that a crash ended (NULL if it was claimed like any other). A lease counts as ended by a crash if
 * `processes` records its process as vanished or crashed, and the process was not heard after the lease expired. A process
 * that has stopped in order, or is heard again, has crashed with nothing.
 */
export function leaseHistory(leases: string): string {
  return `SELECT count(DISTINCT p.id)::integer AS crashes,
      count(*) FILTER (WHERE p.id IS NULL)::integer AS lapses,
      (array_agg(l."group" ORDER BY l.until DESC) FILTER (WHERE p.id IS NOT NULL))[1] AS last_group
    FROM jsonb_to_recordset(${leases}) AS l (process uuid, "group" integer, until timestamptz)
    LEFT JOIN processes p ON p.id = l.process AND p.heard_at <= l.until
      AND (p.told_at IS NOT NULL OR p.crashed_at IS NOT NULL)`;
}

/** SQL: how long work waits after its lease has expired, given the number of lapses including this one. */
export function lapseWait(lapses: string): string {
  return `CASE WHEN ${lapses} <= ${QUICK_LAPSES} THEN interval '0'
    ELSE least(${LAPSE_WAIT_MAX_S}, 2 ^ (${lapses} - ${QUICK_LAPSES})) * interval '1 second' END`;
}
