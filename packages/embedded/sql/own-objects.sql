-- Makes the role `svc` the owner of this database and of everything in it that the superuser owns. Safe to repeat.
-- REASSIGN OWNED would do it in one statement, but not for the bootstrap superuser. Extensions stay with the superuser,
-- as do sequences that belong to a column, which follow their table.
DO $$
DECLARE
  statement text;
BEGIN
  SET LOCAL lock_timeout = '10s';
  EXECUTE format('ALTER DATABASE %I OWNER TO svc', current_database());
  FOR statement IN
    SELECT format('ALTER SCHEMA %I OWNER TO svc', nspname)
    FROM pg_namespace
    WHERE nspowner = 10 AND oid >= 16384 AND nspname !~ '^pg_'
    UNION ALL
    SELECT format('ALTER %s %I.%I OWNER TO svc',
      CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'S' THEN 'SEQUENCE' WHEN 'c' THEN 'TYPE' ELSE 'TABLE' END,
      nspname, relname)
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relowner = 10 AND c.oid >= 16384 AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'c') AND nspname !~ '^pg_'
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
        AND (d.deptype = 'e' OR (d.deptype IN ('a', 'i') AND c.relkind = 'S')))
    UNION ALL
    SELECT format('ALTER ROUTINE %s OWNER TO svc', p.oid::regprocedure)
    FROM pg_proc p
    WHERE p.proowner = 10 AND p.oid >= 16384
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
    UNION ALL
    SELECT format('ALTER TYPE %s OWNER TO svc', t.oid::regtype)
    FROM pg_type t
    WHERE t.typowner = 10 AND t.oid >= 16384 AND t.typtype IN ('d', 'e', 'r')
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_type'::regclass AND d.objid = t.oid AND d.deptype = 'e')
  LOOP
    EXECUTE statement;
  END LOOP;
END
$$;
