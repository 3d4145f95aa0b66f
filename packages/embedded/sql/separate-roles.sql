-- Separates the product's role from the superuser of the cluster. Safe to repeat. Clusters of earlier versions were
-- made with `svc` as their bootstrap superuser, which PostgreSQL neither demotes nor drops: it is renamed to
-- `postgres`. A role cannot rename itself, so a temporary superuser does it.
DO $$
BEGIN
  IF (SELECT rolname FROM pg_roles WHERE oid = 10) = 'svc' THEN
    CREATE ROLE svc_rename SUPERUSER;
    SET LOCAL SESSION AUTHORIZATION svc_rename;
    ALTER ROLE svc RENAME TO postgres;
    SET LOCAL SESSION AUTHORIZATION postgres;
    DROP ROLE svc_rename;
    ALTER ROLE postgres PASSWORD NULL;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'svc') THEN
    CREATE ROLE svc LOGIN;
  END IF;
END
$$;
