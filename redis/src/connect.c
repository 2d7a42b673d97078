/*-------------------------------------------------------------------------
 *
 * connect.c
 *	  How a connection to Redis is made: whose name and password, TCP, Unix
 *	  socket or TLS, and never longer than the timeout.
 *
 * hiredis verifies the certificate of a TLS server but not that it is the
 * server's own, so the session is set up here with OpenSSL's host check.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "connect.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include "access/htup_details.h"
#include "access/reloptions.h"
#include "catalog/pg_user_mapping.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

/*
 * More elements than any reply we ask for has, in all its arrays together, and
 * arrays deeper than any are.  The parser allocates for as many elements as an
 * array announces, before it has seen one, and a few bytes make an element of a
 * hundred; what it has parsed it frees by recursion.
 */
#define MAX_ELEMENTS	1000000
#define MAX_DEPTH		4

/* Bytes of a line without its end, and of one that is the length of a string. */
#define MAX_LINE		(64 * 1024)
#define MAX_LENGTH_LINE	32

static redisReplyObjectFunctions reply_functions;
static void *(*create_array) (const redisReadTask *, BfRedisCount);

/* As hiredis does it, for arrays of a sane size; NULL is "out of memory". */
static void *
create_sane_array(const redisReadTask *task, BfRedisCount elements)
{
	BfReplySize *size = (BfReplySize *) task->privdata;
	int			depth = 1;

	if (task->parent == NULL)
		size->elements = 0;
	for (const redisReadTask *above = task->parent; above != NULL; above = above->parent)
		depth++;
	/* maps, sets and pushes are of a protocol that nobody asked for */
	if (task->type != REDIS_REPLY_ARRAY || depth > MAX_DEPTH ||
		(size_t) elements > MAX_ELEMENTS - size->elements)
	{
		size->excessive = true;
		return NULL;
	}
	size->elements += (size_t) elements;
	return create_array(task, elements);
}

/*
 * Whether the reply that is being read has a line longer than any message.  The
 * parser looks for its end from the start each time that something comes.  Only
 * strings are long, and their length stands on a line before them.
 */
bool
bf_connect_line_is_excessive(const redisReader *reader)
{
	return reader->len - reader->pos > MAX_LINE &&
		memchr(reader->buf + reader->pos, '\n', MAX_LENGTH_LINE) == NULL;
}

/*
 * The options of the user's mapping, of the public one, or none: a server
 * without passwords needs no mapping.  *hash is the catalog hash of an own
 * mapping, or 0 when one may yet come first.
 */
List *
bf_connect_mapping(Oid server, Oid user, uint32 *hash)
{
	Oid			users[2] = {user, InvalidOid};

	*hash = 0;
	for (int i = 0; i < 2; i++)
	{
		HeapTuple	tuple = SearchSysCache2(USERMAPPINGUSERSERVER,
											ObjectIdGetDatum(users[i]),
											ObjectIdGetDatum(server));
		Datum		options;
		bool		is_null;
		List	   *list;

		if (!HeapTupleIsValid(tuple))
			continue;
		options = SysCacheGetAttr(USERMAPPINGUSERSERVER, tuple,
								  Anum_pg_user_mapping_umoptions, &is_null);
		list = is_null ? NIL : untransformRelOptions(options);
		if (OidIsValid(users[i]))
			*hash = GetSysCacheHashValue1(USERMAPPINGOID,
										  ObjectIdGetDatum(((Form_pg_user_mapping) GETSTRUCT(tuple))->oid));
		ReleaseSysCache(tuple);
		return list;
	}
	return NIL;
}

/* A server's name with its address, for messages. */
char *
bf_connect_describe(const char *name, const BfRedisServerOptions *options)
{
	if (options->socket != NULL)
		return psprintf("\"%s\" (%s)", name, options->socket);
	return psprintf("\"%s\" (%s:%d)", name, options->host, options->port);
}

/*
 * Wait until the socket can be read or written.  False when the deadline has
 * passed, or when an interrupt came that may not be processed here.
 */
bool
bf_connect_wait(int fd, int events, TimestampTz deadline, const char **problem)
{
	for (;;)
	{
		long		timeout = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), deadline);
		int			happened;

		if (timeout <= 0)
		{
			*problem = "The server did not answer in time.";
			return false;
		}
		happened = WaitLatchOrSocket(MyLatch,
									 WL_LATCH_SET | WL_EXIT_ON_PM_DEATH | WL_TIMEOUT | events,
									 fd, timeout, PG_WAIT_EXTENSION);
		if (happened & WL_LATCH_SET)
		{
			ResetLatch(MyLatch);
			CHECK_FOR_INTERRUPTS();
			if (InterruptHoldoffCount > 0 && (QueryCancelPending || ProcDiePending))
			{
				/* whoever holds interrupts off wants to see them later */
				SetLatch(MyLatch);
				*problem = "The wait was canceled.";
				return false;
			}
		}
		if (happened & events)
			return true;
	}
}

#ifdef BF_WITH_TLS

/* OpenSSL's account of the last failure of this session, or of none yet. */
const char *
bf_connect_tls_problem(const SSL *session)
{
	static char problem[256];
	long		verified = session != NULL ? SSL_get_verify_result(session) : X509_V_OK;
	unsigned long error = ERR_get_error();
	const char *reason = ERR_reason_error_string(error);

	/* version 3 has no text for errors of the system */
	if (reason == NULL)
		reason = strerror(ERR_GET_REASON(error));

	if (verified != X509_V_OK)
		snprintf(problem, sizeof(problem), "The certificate of the server was refused: %s.",
				 X509_verify_cert_error_string(verified));
	else if (error != 0)
		snprintf(problem, sizeof(problem), "TLS: %s.", reason);
	else
		strlcpy(problem, "The server ended the TLS session.", sizeof(problem));
	return problem;
}

/* A session that accepts only a certificate issued for the host; NULL if none. */
static SSL *
create_session(const BfRedisServerOptions *options, const char **problem)
{
	SSL_CTX    *settings;
	SSL		   *session = NULL;
	const char *failed;			/* what cannot be used, while there is one */
	unsigned char address[16];
	bool		is_address = inet_pton(AF_INET, options->host, address) == 1 ||
		inet_pton(AF_INET6, options->host, address) == 1;

	ERR_clear_error();
	settings = SSL_CTX_new(TLS_client_method());
	if (settings == NULL ||
		SSL_CTX_set_min_proto_version(settings, TLS1_2_VERSION) != 1)
		failed = "TLS 1.2";
	else if ((options->tls_ca != NULL ?
			  SSL_CTX_load_verify_locations(settings, options->tls_ca, NULL) :
			  SSL_CTX_set_default_verify_paths(settings)) != 1)
		failed = options->tls_ca != NULL ? "tls_ca" : "the system's certificates";
	else if (options->tls_cert != NULL &&
			 SSL_CTX_use_certificate_chain_file(settings, options->tls_cert) != 1)
		failed = "tls_cert";
	else if (options->tls_key != NULL &&
			 SSL_CTX_use_PrivateKey_file(settings, options->tls_key, SSL_FILETYPE_PEM) != 1)
		failed = "tls_key";
	else
	{
		failed = NULL;
		session = SSL_new(settings);
	}
	if (session != NULL &&
		(is_address ?
		 X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), options->host) == 1 :
		 SSL_set1_host(session, options->host) == 1 &&
		 SSL_set_tlsext_host_name(session, options->host) == 1))
		SSL_set_verify(session, SSL_VERIFY_PEER, NULL);
	else
	{
		*problem = bf_connect_tls_problem(NULL);
		if (failed != NULL)
			*problem = psprintf("Cannot use %s. %s", failed, *problem);
		SSL_free(session);
		session = NULL;
	}
	SSL_CTX_free(settings);		/* the session holds on to it */
	return session;
}

/* Shake hands on an open connection. */
static bool
start_tls(redisContext *context, const BfRedisServerOptions *options,
		  TimestampTz deadline, const char **problem)
{
	SSL		   *session = create_session(options, problem);

	if (session == NULL)
		return false;
	/* hiredis makes the first step and frees the session with its context */
	if (redisInitiateSSL(context, session) != REDIS_OK)
	{
		*problem = bf_connect_tls_problem(session);
		SSL_free(session);
		return false;
	}
	while (!SSL_is_init_finished(session))
	{
		int			result;
		int			reason;

		ERR_clear_error();
		result = SSL_do_handshake(session);
		if (result == 1)
			break;
		reason = SSL_get_error(session, result);
		if (reason != SSL_ERROR_WANT_READ && reason != SSL_ERROR_WANT_WRITE)
		{
			*problem = bf_connect_tls_problem(session);
			return false;
		}
		if (!bf_connect_wait(context->fd, reason == SSL_ERROR_WANT_READ ?
							 WL_SOCKET_READABLE : WL_SOCKET_WRITEABLE, deadline, problem))
			return false;
	}
	return true;
}

#endif							/* BF_WITH_TLS */

/* Wait for a socket that is being connected. */
static bool
finish_connect(redisContext *context, TimestampTz deadline, const char **problem)
{
	int			error = 0;
	socklen_t	length = sizeof(error);

	if (!bf_connect_wait(context->fd, WL_SOCKET_CONNECTED, deadline, problem))
		return false;
	if (getsockopt(context->fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
		error = errno;
	if (error != 0)
	{
		static char message[128];

		errno = error;
		snprintf(message, sizeof(message), "%m");
		*problem = message;
		return false;
	}
	return true;
}

/*
 * A context that is connected, or NULL with the problem.  Interrupts are
 * obeyed while waiting.  size must live as long as the context.
 */
redisContext *
bf_connect_open(const BfRedisServerOptions *options, BfReplySize *size,
				const char **problem)
{
	TimestampTz deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
													   options->connect_timeout);
	redisContext *context = options->socket != NULL ?
		redisConnectUnixNonBlock(options->socket) :
		redisConnectNonBlock(options->host, options->port);
	bool		connected;

	if (context == NULL)
	{
		*problem = "Out of memory.";
		return NULL;
	}
	if (context->err != 0)
	{
		static char message[sizeof(context->errstr)];

		strlcpy(message, context->errstr, sizeof(message));
		*problem = message;
		redisFree(context);
		return NULL;
	}

	reply_functions = *context->reader->fn;
	create_array = reply_functions.createArray;
	reply_functions.createArray = create_sane_array;
	context->reader->fn = &reply_functions;
	memset(size, 0, sizeof(*size));
	context->reader->privdata = size;

	PG_TRY();
	{
		connected = finish_connect(context, deadline, problem);
#ifdef BF_WITH_TLS
		if (connected && options->tls)
			connected = start_tls(context, options, deadline, problem);
#endif
	}
	PG_CATCH();
	{
		redisFree(context);
		PG_RE_THROW();
	}
	PG_END_TRY();
	if (!connected)
	{
		redisFree(context);
		return NULL;
	}
	if (options->socket == NULL)
		(void) redisEnableKeepAlive(context);
	return context;
}
