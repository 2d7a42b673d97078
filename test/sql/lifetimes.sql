-- Temporary files of bloom_agg(key) and errors.  A cursor of the outer
-- transaction that fails in a subtransaction loses its file with that, but its
-- memory only when it is closed: nothing may then touch the file, whose
-- descriptor can be another file's by now.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
RESET client_min_messages;
CREATE SCHEMA test_lifetimes;
SET search_path = test_lifetimes, public;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '64kB';

-- fails after 200,000 keys, far more than 64 kB hold
CREATE VIEW failing AS
	SELECT bloom_agg(CASE WHEN g < 200000 THEN g ELSE 1 / (g - 200000) END) AS f FROM generate_series(1, 300000) g;
CREATE VIEW working AS
	SELECT bloom_agg(g) AS f FROM generate_series(1, 100000) g;
CREATE TABLE victim AS SELECT n FROM generate_series(1, 100000) n;

BEGIN;
DECLARE lost CURSOR FOR SELECT f FROM failing;
SAVEPOINT before;
FETCH lost;
ROLLBACK TO before;
-- opens files, so that descriptors are used again
SELECT count(*) FROM victim;
CLOSE lost;
COMMIT;
SELECT count(*), sum(n) FROM victim;

-- the same in PL/pgSQL
CREATE FUNCTION lose_and_close() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	lost CURSOR FOR SELECT f FROM failing;
	f bloom;
BEGIN
	OPEN lost;
	BEGIN
		FETCH lost INTO f;
	EXCEPTION WHEN division_by_zero THEN
		PERFORM count(*) FROM victim;
	END;
	CLOSE lost;
	RETURN (SELECT count(*) FROM victim);
END $$;
SELECT lose_and_close(), lose_and_close();

-- a cursor left open, and one that never came to its end
BEGIN;
DECLARE lost CURSOR FOR SELECT f FROM failing;
SAVEPOINT before;
FETCH lost;
ROLLBACK TO before;
COMMIT;
BEGIN;
DECLARE fine CURSOR FOR SELECT f @> 7 AS present, f @> 100007 AS absent, bloom_count(f) BETWEEN 98000 AND 102000 AS count FROM working;
SAVEPOINT before;
FETCH fine;
ROLLBACK TO before;
CLOSE fine;
ROLLBACK;
-- held over the transaction, over an error in another statement too
BEGIN;
DECLARE held CURSOR WITH HOLD FOR SELECT f @> 7 AS present, f @> 100007 AS absent FROM working;
COMMIT;
SELECT 1 / 0;
FETCH held;
CLOSE held;

-- as a window, whose states have no end of their own either; with LIMIT, so
-- that the plan is left half-way
SELECT g, bloom_count(f) > 0 AS counted FROM (
	SELECT g, bloom_agg(g) OVER (ORDER BY g / 2000 ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS f
	FROM generate_series(1, 4000) g) w
WHERE g IN (1, 3000) LIMIT 2;
-- groups one after the other, each with a file
SET enable_hashagg = off;
SELECT g % 3 AS part, bloom_count(bloom_agg(g)) BETWEEN 29400 AND 30600 AS count FROM generate_series(1, 90000) g GROUP BY 1 ORDER BY 1;
RESET enable_hashagg;

-- equality and hashes of stored filters: in hash indexes, joins and sorts
CREATE TABLE stored (i int, f bloom);
INSERT INTO stored SELECT i, bloom_add(bloom_create(20000), i) FROM generate_series(1, 50) i;
CREATE INDEX ON stored USING hash (f);
SET enable_seqscan = off;
SELECT count(*) FROM stored WHERE f = bloom_add(bloom_create(20000), 7);
SELECT count(*) FROM stored a JOIN stored b ON a.f = b.f;
SELECT count(*) FROM (SELECT f FROM stored UNION SELECT f FROM stored) s;

SET client_min_messages = warning;
DROP SCHEMA test_lifetimes CASCADE;
