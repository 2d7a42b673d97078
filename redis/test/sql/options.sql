-- What servers, user mappings and foreign tables may say.  No Redis is needed.
CREATE EXTENSION bloomfilter;
CREATE EXTENSION bloomfilter_redis;

-- the list of valid options is in the hint
CREATE SERVER bad FOREIGN DATA WRAPPER bloomfilter_redis OPTIONS (hostname 'x');
CREATE SERVER bad FOREIGN DATA WRAPPER bloomfilter_redis OPTIONS (port '0');
CREATE SERVER bad FOREIGN DATA WRAPPER bloomfilter_redis OPTIONS (port '65536');
CREATE SERVER bad FOREIGN DATA WRAPPER bloomfilter_redis OPTIONS (port '63x');
CREATE SERVER bad FOREIGN DATA WRAPPER bloomfilter_redis OPTIONS (host '');
CREATE SERVER bad FOREIGN DATA WRAPPER bloomfilter_redis OPTIONS (dbname '-1');
CREATE SERVER bad FOREIGN DATA WRAPPER bloomfilter_redis OPTIONS (connect_timeout '0');
CREATE SERVER bad FOREIGN DATA WRAPPER bloomfilter_redis OPTIONS (command_timeout '99999999999');
CREATE SERVER bad FOREIGN DATA WRAPPER bloomfilter_redis OPTIONS (tls 'perhaps');
CREATE SERVER bad FOREIGN DATA WRAPPER bloomfilter_redis OPTIONS (socket '/tmp/s', host 'x');
CREATE SERVER bad FOREIGN DATA WRAPPER bloomfilter_redis OPTIONS (socket '/tmp/s', port '1');
CREATE SERVER bad FOREIGN DATA WRAPPER bloomfilter_redis OPTIONS (socket '/tmp/s', tls 'true');
CREATE SERVER bad FOREIGN DATA WRAPPER bloomfilter_redis OPTIONS (tls_ca '/tmp/ca.pem');
CREATE FOREIGN DATA WRAPPER other HANDLER bloom_redis_handler VALIDATOR bloom_redis_validator OPTIONS (host 'x');

CREATE SERVER redis FOREIGN DATA WRAPPER bloomfilter_redis
	OPTIONS (host '127.0.0.1', port '1', dbname '0', connect_timeout '1000', command_timeout '2000');
ALTER SERVER redis OPTIONS (SET port 'x');

CREATE USER MAPPING FOR CURRENT_USER SERVER redis OPTIONS (user 'x');
CREATE USER MAPPING FOR CURRENT_USER SERVER redis OPTIONS (username 'x');
CREATE USER MAPPING FOR CURRENT_USER SERVER redis OPTIONS (username 'app', password 'secret');
DROP USER MAPPING FOR CURRENT_USER SERVER redis;

-- tables: every table needs a key
CREATE FOREIGN TABLE bad (id bigint) SERVER redis;
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key '');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', capaciti '1');
CREATE FOREIGN TABLE bad (id bigint OPTIONS (key 'k')) SERVER redis OPTIONS (key 'k');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', format 'hash');

-- numbers out of range
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', capacity '0');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', capacity '1073741825');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', error_rate '0');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', error_rate '0.26');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', error_rate 'NaN');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', error_rate '1');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', expansion '0');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', expansion '32769');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', nonscaling 'maybe');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', ttl '0');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', ttl '-1 hour');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', ttl 'soon');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', ttl '2000 years');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', missing 'ignore');

-- what contradicts itself
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', nonscaling 'true', expansion '2');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', create 'false', capacity '1000');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', create 'false', nonscaling 'true');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', format 'bitmap');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', format 'bitmap', bits '9586');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', format 'bitmap', hashes '7');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', format 'bitmap', bits '9586', capacity '1000');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', format 'bitmap', hashes '7', capacity '1000');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', format 'bitmap', bits '9586', hashes '7', error_rate '0.01');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', format 'bitmap', bits '4294967297', hashes '7');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', format 'bitmap', capacity '1000000000');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', format 'bitmap', bits '9586', hashes '7', hash 'md5');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', format 'bitmap', capacity '1000', nonscaling 'true');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', hash 'fnv1a');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', bits '9586', hashes '7');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', format 'cuckoo', error_rate '0.01');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', format 'cuckoo', bucket_size '0');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', format 'cuckoo', capacity '4', bucket_size '4');
CREATE FOREIGN TABLE bad (id bigint) SERVER redis OPTIONS (key 'k', bucket_size '2');

-- and what does not
CREATE FOREIGN TABLE good (id bigint) SERVER redis
	OPTIONS (key 'k', capacity '1073741824', error_rate '0.25', expansion '32768', ttl '1 day 30 minutes', missing 'empty');
ALTER FOREIGN TABLE good OPTIONS (ADD format 'bitmap');
ALTER FOREIGN TABLE good OPTIONS (SET ttl '3600', DROP capacity, DROP expansion, DROP error_rate, ADD format 'bitmap', ADD bits '4294967296', ADD hashes '255', ADD hash 'fnv1a');
SELECT ftoptions FROM pg_foreign_table WHERE ftrelid = 'good'::regclass;
DROP FOREIGN TABLE good;

-- files of the server's machine are not for everybody to name
CREATE ROLE regress_redis_user;
GRANT USAGE ON FOREIGN DATA WRAPPER bloomfilter_redis TO regress_redis_user;
GRANT CREATE ON DATABASE :DBNAME TO regress_redis_user;
SET ROLE regress_redis_user;
CREATE SERVER bad FOREIGN DATA WRAPPER bloomfilter_redis OPTIONS (tls 'true', tls_ca '/etc/passwd');
RESET ROLE;
REVOKE CREATE ON DATABASE :DBNAME FROM regress_redis_user;

-- functions: arguments that cannot be right, before any connection
SELECT bloom_redis_push('nowhere', 'k', bloom_create(100));
SELECT bloom_redis_push('redis', '', bloom_create(100));
SELECT bloom_redis_push('redis', 'k', bloom_create(100), 'string');
SELECT bloom_redis_push('redis', 'k', bloom_create(100), NULL);
SELECT bloom_redis_push('redis', 'k', NULL::bloom);
SELECT bloom_redis_push('redis', 'k', bloom_create(100), ttl => '0 s');
SELECT bloom_redis_push('redis', 'k', bloom_create(100), ttl => '-1 day');
SELECT bloom_redis_push('redis', 'k', bloom_create(100), 'cuckoo');
SELECT bloom_redis_pull_bitmap('redis', 'k', 0, 7);
SELECT bloom_redis_pull_bitmap('redis', 'k', 100, 0);
SELECT bloom_redis_pull_bitmap('redis', 'k', 100, 7, 'md5');
-- what RedisBloom cannot hold, with the reason
SELECT bloom_redis_push('redis', 'k', bloom_create(100, 0.01, 'fnv1a'));
SELECT bloom_redis_push('redis', 'k', bloom_create_with_params(9586, 7));
SELECT bloom_redis_push('redis', 'k', bloom_create(100, 0.3));
SELECT bloom_redis_push('redis', 'k', scalable_bloom_create(100, 0.01, 2, 0.9));
SELECT bloom_redis_push('redis', 'k', scalable_bloom_create(100, 0.01), 'bitmap');
SELECT bloom_redis_push('redis', 'k', cuckoo_create(100, fingerprint_bits => 16));
SELECT bloom_redis_push('redis', 'k', cuckoo_create(100), 'redisbloom');
-- nobody listens there
SELECT bloom_redis_push('redis', 'k', bloom_create(100));
SELECT bloom_redis_pull('redis', 'k');
SELECT bloom_redis_unlink('redis', 'k');
SELECT bloom_redis_disconnect();

-- rights: those of the server
SET ROLE regress_redis_user;
SELECT bloom_redis_push('redis', 'k', bloom_create(100));
SELECT bloom_redis_pull('redis', 'k');
SELECT scalable_bloom_redis_pull('redis', 'k');
SELECT bloom_redis_pull_bitmap('redis', 'k', 100, 7);
SELECT bloom_redis_unlink('redis', 'k');
RESET ROLE;
GRANT USAGE ON FOREIGN SERVER redis TO regress_redis_user;
SET ROLE regress_redis_user;
SELECT bloom_redis_pull('redis', 'k');
SELECT bloom_redis_unlink('redis', 'k');
RESET ROLE;
REVOKE USAGE ON FOREIGN SERVER redis FROM regress_redis_user;
REVOKE USAGE ON FOREIGN DATA WRAPPER bloomfilter_redis FROM regress_redis_user;
DROP ROLE regress_redis_user;

-- a server of another kind
CREATE FOREIGN DATA WRAPPER plain;
CREATE SERVER plain FOREIGN DATA WRAPPER plain;
SELECT bloom_redis_pull('plain', 'k');
DROP FOREIGN DATA WRAPPER plain CASCADE;

-- every object is described
SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid
WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_extension'::regclass
	AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'bloomfilter_redis')
	AND obj_description(p.oid, 'pg_proc') IS NULL;
DROP SERVER redis;
