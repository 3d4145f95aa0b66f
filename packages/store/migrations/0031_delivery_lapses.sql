-- Up Migration

-- Leases in a row that expired without a result. The previous version does not count them.
ALTER TABLE deliveries ADD COLUMN lapses integer NOT NULL DEFAULT 0;

-- `tries` counted every claim; from now on it counts failed attempts, which decide about the next wait and the end.
-- Pending callbacks get the number of their attempts that have a result.
UPDATE deliveries d SET tries = counted.failures
FROM (
  SELECT p.id, count(a.number) FILTER (WHERE a.duration_ms IS NOT NULL) AS failures
  FROM deliveries p LEFT JOIN delivery_attempts a ON a.delivery_id = p.id WHERE p.state = 'pending' GROUP BY p.id
) counted
WHERE d.id = counted.id AND d.tries > counted.failures;
