-- As the README's example, larger: a crawl that fetches each URL once, and forgets
-- the pages of a host that asked for it.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
RESET client_min_messages;
CREATE SCHEMA test_cuckoo_crawl;
SET search_path = test_cuckoo_crawl, public;

-- 50,000 links to 12,500 pages of 50 hosts: most links lead to a page seen before.
CREATE TABLE links AS
SELECT n, 'https://host' || n * 7919 % 12500 % 50 || '.example/page/' || n * 7919 % 12500 AS url FROM generate_series(1, 50000) AS n;
SELECT count(*) AS links, count(DISTINCT url) AS pages FROM links;

-- Each batch of 5,000 links is probed as a whole; what is new is fetched and added.
CREATE TABLE seen (filter cuckoo_filter);
INSERT INTO seen VALUES (cuckoo_create(20000, 4, 16));
CREATE TABLE fetched (url text);
CREATE PROCEDURE crawl(batch integer) LANGUAGE plpgsql AS $$
DECLARE
	new_urls text[];
BEGIN
	SELECT array_agg(DISTINCT url) INTO new_urls FROM links, seen WHERE n > batch * 5000 AND n <= (batch + 1) * 5000 AND NOT filter @> url;
	INSERT INTO fetched SELECT unnest(new_urls);
	UPDATE seen SET filter = cuckoo_add_all(filter, new_urls);
END $$;
DO $$
BEGIN
	FOR batch IN 0 .. 9 LOOP
		CALL crawl(batch);
	END LOOP;
END $$;

-- No page is fetched twice, and hardly one is missed: of 12,500 the rate of
-- 8 / 65,535 lets at most 12500 * 0.00012 = 1.5 pass by mistake, so 8 at the very most.
SELECT count(*) = count(DISTINCT url) AS once_each, 12500 - count(*) BETWEEN 0 AND 8 AS hardly_one_missed FROM fetched;
SELECT keys = (SELECT count(*) FROM fetched) AS keys, sub_filters, size_bytes, pg_column_size(filter) > 60000 AS stored_whole, fpr_bound < 0.00013 AS rate FROM seen, cuckoo_info(filter);
SELECT count(*) FILTER (WHERE NOT filter @> url) AS lost FROM fetched, seen;

-- A host asks to be forgotten: its pages go, one copy each, and all others stay.
WITH gone AS (DELETE FROM fetched WHERE url LIKE 'https://host7.example/%' RETURNING url)
UPDATE seen SET filter = cuckoo_remove_all(filter, (SELECT array_agg(url) FROM gone));
SELECT count(*) FILTER (WHERE NOT filter @> url) AS lost FROM fetched, seen;
SELECT count(*) AS pages, count(*) FILTER (WHERE filter @> url) <= 2 AS forgotten FROM (SELECT DISTINCT url FROM links WHERE url LIKE 'https://host7.example/%') AS u, seen;
-- then they are fetched again
CALL crawl(0);
SELECT count(*) = count(DISTINCT url) AS once_each FROM fetched;

-- Two crawlers: each has its own filter, and the union knows the pages of both.
SELECT cuckoo_count(u) BETWEEN 12490 AND 12500 AS keys, (SELECT count(*) FROM links WHERE NOT u @> url) AS lost
FROM (SELECT cuckoo_union_agg(f) AS u FROM (SELECT cuckoo_agg(url, 20000, 4, 16) AS f FROM links GROUP BY n % 2) AS c) AS s;

SET client_min_messages = warning;
DROP SCHEMA test_cuckoo_crawl CASCADE;
