-- The tour that test/demo shows.  psql variables english, german, french: the
-- word lists.  Every number is computed here; section 6 checks the claims.

\set ON_ERROR_STOP on
\pset footer off
\pset border 1
SET client_min_messages = warning;

CREATE EXTENSION bloomfilter;

-- Numbers as a person writes them.
CREATE FUNCTION digits(n numeric) RETURNS text LANGUAGE sql IMMUTABLE AS
	$$ SELECT to_char(n, 'FM999,999,999,999') $$;
CREATE FUNCTION percent(x float8, decimals int = 1) RETURNS text LANGUAGE sql IMMUTABLE AS
	$$ SELECT round((100 * x)::numeric, decimals) || ' %' $$;
CREATE FUNCTION duration(t interval) RETURNS text LANGUAGE sql IMMUTABLE AS
	$$ SELECT CASE WHEN t < '1 s' THEN round(extract(epoch FROM t) * 1000) || ' ms'
			ELSE round(extract(epoch FROM t)::numeric, 1) || ' s' END $$;

\echo
\echo 'bloomfilter: a tour on real words'
\echo '================================='
\echo
\echo '1. The words'
\echo '------------'

CREATE TABLE dictionary (word text COLLATE "C" NOT NULL);
COPY dictionary FROM :'english';
CREATE UNIQUE INDEX dictionary_word ON dictionary (word);

CREATE TABLE foreign_list (word text COLLATE "C" NOT NULL, language text DEFAULT 'German');
COPY foreign_list (word) FROM :'german';
ALTER TABLE foreign_list ALTER language SET DEFAULT 'French';
COPY foreign_list (word) FROM :'french';

-- Absent for certain: what is an English word too ("restaurant") is left out.
CREATE TABLE absent AS
	SELECT word, min(language) AS language
	FROM foreign_list f
	WHERE NOT EXISTS (SELECT FROM dictionary d WHERE d.word = f.word)
	GROUP BY word;
VACUUM (ANALYZE) dictionary;
VACUUM (ANALYZE) absent;

SELECT count(*) AS words, digits(count(*)) AS words_text FROM dictionary \gset
SELECT count(*) AS absent, digits(count(*)) AS absent_text FROM absent \gset
SELECT digits(count(DISTINCT word) - :absent) AS shared FROM foreign_list \gset

\echo :words_text English words are in a table: these are the keys.
\echo :absent_text German and French words are not among them: these are the absent keys.
\echo (:shared more are written the same in English, and were left out.)

\echo
\echo '2. One aggregate builds the filter'
\echo '----------------------------------'
\echo '   SELECT bloom_agg(word, ':words', 0.01) FROM dictionary;'
\echo

CREATE TABLE filter (asked float8 PRIMARY KEY, words bloom NOT NULL);
SELECT clock_timestamp() AS started \gset
INSERT INTO filter SELECT 0.01, bloom_agg(word, :words, 0.01) FROM dictionary;
SELECT duration(clock_timestamp() - :'started') AS build_time \gset
INSERT INTO filter SELECT 0.05, bloom_agg(word, :words, 0.05) FROM dictionary;
INSERT INTO filter SELECT 0.001, bloom_agg(word, :words, 0.001) FROM dictionary;

\echo Building and storing it took :build_time. This is what bloom_info tells about it:
\echo
SELECT what, value, meaning
FROM filter, bloom_info(words) AS i, LATERAL (VALUES
	('capacity', digits(i.capacity), 'keys that the filter was made for'),
	('target_fpr', percent(i.target_fpr), 'absent keys that may pass, as asked'),
	('bits', digits(i.bits), round(i.bits::numeric / :words, 1) || ' for each word, however long it is'),
	('hashes', i.hashes::text, 'bits that each word sets'),
	('hash', i.hash, 'the positions are those of RedisBloom'),
	('bits_set', digits(i.bits_set), percent(i.fill) || ' of all'),
	('estimated_count', digits(i.estimated_count::numeric), 'distinct keys, told from the bits alone: '
		|| percent(abs(i.estimated_count / :words - 1), 2) || ' off'),
	('estimated_fpr', percent(i.estimated_fpr, 2), 'absent keys to pass, told from the bits alone'),
	('size_bytes', digits(i.size_bytes), pg_size_pretty(i.size_bytes))
) AS line(what, value, meaning)
WHERE asked = 0.01;

SELECT thing AS "what holds the words", pg_size_pretty(size) AS "size",
	to_char(size * 8.0 / :words, '9,999.9') AS "bits per word"
FROM (
	SELECT 'the table' AS thing, pg_relation_size('dictionary') AS size
	UNION ALL SELECT 'its B-tree index', pg_relation_size('dictionary_word')
	UNION ALL SELECT 'the filter', (bloom_info(words)).size_bytes FROM filter WHERE asked = 0.01
) AS sizes;

\echo '3. Asking it'
\echo '------------'
\echo 'Four words of each kind, picked by their MD5:'
\echo

WITH picked AS (
	(SELECT word, 'English' AS language FROM dictionary
		WHERE word ~ '^[a-z]{5,12}$' ORDER BY md5(word) LIMIT 4)
	UNION ALL
	(SELECT word, language FROM absent WHERE language = 'German' AND length(word) < 13 ORDER BY md5(word) LIMIT 2)
	UNION ALL
	(SELECT word, language FROM absent WHERE language = 'French' AND length(word) < 13 ORDER BY md5(word) LIMIT 2)
)
SELECT word, language,
	CASE WHEN EXISTS (SELECT FROM dictionary d WHERE d.word = p.word) THEN 'yes' ELSE 'no' END AS "in the table",
	CASE WHEN words @> word THEN 'may be there' ELSE 'certainly not' END AS "filter @> word"
FROM picked p, filter WHERE asked = 0.01;

\echo '4. How often is it wrong?'
\echo '-------------------------'

-- All keys and all absent keys, at three rates.
CREATE TABLE measured (asked float8, missed bigint, passed bigint);
SELECT clock_timestamp() AS started \gset
INSERT INTO measured
	SELECT asked,
		(SELECT count(*) FROM dictionary WHERE NOT words @> word),
		(SELECT count(*) FROM absent WHERE words @> word)
	FROM filter;
SELECT duration(clock_timestamp() - :'started') AS probe_time,
	digits(3 * (:words + :absent)) AS probes \gset

\echo :probes probes in :probe_time: all keys and all absent keys, of filters made for three rates.
\echo
SELECT percent(asked) AS "asked",
	percent(passed / :absent::float8, 3) AS "measured",
	round((passed / :absent::numeric / asked::numeric), 2) AS "ratio",
	to_char(passed, '999,999') || ' of ' || :'absent_text' AS "absent words that passed",
	missed AS "keys missed",
	round(bloom_bits(words)::numeric / :words, 1) AS "bits per word",
	pg_size_pretty((bloom_info(words)).size_bytes) AS "size"
FROM measured JOIN filter USING (asked) ORDER BY asked DESC;

SELECT sum(missed) AS missed, digits(3 * :words) AS key_probes FROM measured \gset
\echo Of :key_probes probes for words that are in the table, :missed were answered "certainly not".

\echo
\echo '5. A guard in front of an expensive lookup'
\echo '------------------------------------------'
\echo 'A cache helps with keys that exist. Who asks for keys that do not exist gets past it,'
\echo 'and each such request reaches the slow store behind. A filter stops it in front:'
\echo
\echo '   IF NOT (SELECT words @> wanted FROM filter WHERE asked = 0.01) THEN'
\echo '       RETURN NULL;              -- certainly not there: no need to look'
\echo '   END IF;'
\echo '   RETURN slow_lookup(wanted);   -- counted, and takes a millisecond'
\echo

CREATE SEQUENCE slow_calls MINVALUE 0 START 0;

CREATE FUNCTION slow_lookup(wanted text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM nextval('slow_calls');
	PERFORM pg_sleep(0.001);
	RETURN (SELECT word FROM dictionary WHERE word = wanted);
END $$;

CREATE FUNCTION guarded_lookup(wanted text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	IF NOT (SELECT words @> wanted FROM filter WHERE asked = 0.01) THEN
		RETURN NULL;
	END IF;
	RETURN slow_lookup(wanted);
END $$;

-- One request in ten is for a word that exists.
CREATE TABLE request AS
	(SELECT word, true AS exists FROM dictionary ORDER BY md5(word || '?') LIMIT 300)
	UNION ALL
	(SELECT word, false FROM absent ORDER BY md5(word || '?') LIMIT 2700);
ANALYZE request;

CREATE TABLE served (guarded boolean, requests int, valid int, found int, wrong int, lookups bigint, took interval);

CREATE PROCEDURE serve(guarded boolean) LANGUAGE plpgsql AS $$
DECLARE
	started timestamptz := clock_timestamp();
	total int := 0;
	valid int := 0;
	found_words int := 0;
	wrong int := 0;
	calls bigint;
	asked_for record;
	answer text;
BEGIN
	PERFORM setval('slow_calls', 0);
	FOR asked_for IN SELECT word, exists FROM request ORDER BY md5(word) LOOP
		IF guarded THEN
			answer := guarded_lookup(asked_for.word);
		ELSE
			answer := slow_lookup(asked_for.word);
		END IF;
		total := total + 1;
		valid := valid + asked_for.exists::int;
		found_words := found_words + (answer IS NOT NULL)::int;
		wrong := wrong + ((answer IS NOT NULL) <> asked_for.exists)::int;
	END LOOP;
	SELECT last_value INTO calls FROM slow_calls;
	INSERT INTO served VALUES (guarded, total, valid, found_words, wrong, calls, clock_timestamp() - started);
END $$;

CALL serve(false);
CALL serve(true);

SELECT CASE WHEN guarded THEN 'with the guard' ELSE 'without' END AS "the procedure runs",
	to_char(requests, '99,999') AS "requests", to_char(lookups, '99,999') AS "slow lookups",
	found AS "words found", wrong AS "wrong answers", duration(took) AS "time"
FROM served ORDER BY guarded;

SELECT digits(bare.lookups - safe.lookups) AS spared,
	percent((bare.lookups - safe.lookups) / bare.lookups::float8) AS spared_share,
	digits(safe.requests - safe.valid) AS invalid,
	digits(safe.lookups - safe.valid) AS slipped,
	percent((safe.lookups - safe.valid) / (safe.requests - safe.valid)::float8) AS slipped_share,
	bare.wrong + safe.wrong AS wrong,
	round((extract(epoch FROM bare.took) / extract(epoch FROM safe.took))::numeric, 1) AS faster
FROM served bare, served safe WHERE NOT bare.guarded AND safe.guarded \gset

\echo The guard spared :spared slow lookups, :spared_share of them; :wrong answers were wrong.
\echo Of :invalid requests for absent words :slipped slipped through (:slipped_share): each only cost a lookup.
\echo The whole run was :faster times as fast.

\echo
\echo '6. The claims'
\echo '-------------'

CREATE TABLE claim AS
	SELECT 'more than 100,000 real keys' AS claim, (SELECT count(*) FROM dictionary) > 100000 AS holds
	UNION ALL SELECT 'no key was missed, at any rate', bool_and(missed = 0) AND count(*) = 3 FROM measured
	UNION ALL (SELECT 'at ' || percent(asked) || ' asked, 0.8 to 1.2 times as many absent words passed',
			passed BETWEEN 0.8 * asked * n AND 1.2 * asked * n
		FROM measured, (SELECT count(*) AS n FROM absent) AS a ORDER BY asked DESC)
	UNION ALL SELECT 'the estimated count is within 1 % of the true one',
			abs(bloom_count(words) / (SELECT count(*) FROM dictionary) - 1) < 0.01 FROM filter WHERE asked = 0.01
	UNION ALL SELECT 'with and without the guard, every answer was right', bool_and(wrong = 0 AND found = valid) FROM served
	UNION ALL SELECT 'the guard spared more than 95 % of the lookups for absent words',
			lookups - valid < 0.05 * (requests - valid) FROM served WHERE guarded;

SELECT claim, CASE WHEN holds THEN 'holds' ELSE 'DOES NOT HOLD' END AS "verdict" FROM claim;

DO $$
DECLARE
	broken text := (SELECT string_agg(claim, '; ') FROM claim WHERE holds IS NOT TRUE);
BEGIN
	IF broken IS NOT NULL THEN
		RAISE EXCEPTION 'does not hold: %', broken;
	END IF;
END $$;

\echo 'All of them hold.'
