# TLS, for t/004_connections.pl when the build has it.

package TlsTests;

use strict;
use warnings FATAL => 'all';

use File::Temp;
use Test::More;

use RedisServer;
use ScriptedPeer;

# A certificate for another host than the one that answers.
sub make_other
{
	my $folder = File::Temp->newdir;

	RedisServer::make_certificates($folder);
	RedisServer::write_file("$folder/other.ext", 'subjectAltName=DNS:elsewhere.example');
	system("cd '$folder' && openssl x509 -req -sha256 -days 3650 -in server.csr -CA ca.crt -CAkey ca.key "
		  . '-CAcreateserial -extfile other.ext -out other.crt 2>openssl.log') == 0
	  or die "openssl\n";
	return $folder;
}

sub run
{
	my ($node, $make, $sql, $error_of) = @_;
	my $module = RedisServer::bloom_module();
	my $server = RedisServer->new(tls => 1, port => 1, module => $module);
	my $strict = RedisServer->new(tls => 1, tls_auth => 'yes', module => $module);
	my $folder = make_other();
	my $other = RedisServer->new(
		tls => 1,
		module => $module,
		args => [ '--tls-cert-file' => "$folder/other.crt", '--tls-key-file' => "$folder/server.key" ]);
	my %tls = (host => 'localhost', port => $server->tls_port, tls => 'true', tls_ca => $server->tls_file('ca.crt'));
	my $search = sub { return "SELECT count(*) FROM $_[0] WHERE id = 1"; };
	my $refused = sub {
		my ($name, $reason, $test, %options) = @_;

		$make->($name, %options);
		like($error_of->($search->($name)), qr/ERROR:  could not connect to Redis server "$name" \(\S+\)\nDETAIL:  $reason/, $test);
	};

	$make->('tls', %tls);
	is($sql->('INSERT INTO tls VALUES (1); ' . $search->('tls')), 1, 'TLS');
	$make->('tls_address', %tls, host => '127.0.0.1');
	is($sql->($search->('tls_address')), 1, 'TLS to an address that the certificate names');

	# records and writes that do not come at once
	is($sql->("INSERT INTO tls SELECT generate_series(1, 100000); SELECT count(*) FROM tls WHERE id = ANY (ARRAY(SELECT generate_series(1, 100000)))"),
		100000, 'many keys');
	is($sql->("CREATE TABLE big AS SELECT bloom_add_all(bloom_create(20000000), ARRAY(SELECT generate_series(1, 1000))) AS f; SELECT bloom_redis_push('tls', 'big', f) FROM big; SELECT bloom_redis_pull('tls', 'big') = f FROM big"),
		"\nt", 'a filter in chunks');

	$refused->('tls_untrusted', 'The certificate of the server was refused: .*', 'an authority that is not trusted', %tls, tls_ca => "$folder/ca.crt");
	my %system = %tls;
	delete $system{tls_ca};
	$refused->('tls_system', 'The certificate of the server was refused: .*', "nor is it one of the system's", %system);
	$refused->('tls_other', 'The certificate of the server was refused: .*host', 'the certificate of another host',
		%tls, port => $other->tls_port, tls_ca => "$folder/ca.crt");
	$refused->('tls_other_address', 'The certificate of the server was refused: .*address', 'or of another address',
		%tls, host => '127.0.0.1', port => $other->tls_port, tls_ca => "$folder/ca.crt");
	$refused->('tls_nofile', 'Cannot use tls_ca\. TLS: .*No such file', 'no such file', %tls, tls_ca => "$folder/nothing.crt");
	$refused->('tls_nocert', 'Cannot use tls_cert\. TLS: ', 'no certificate in the file', %tls,
		tls_cert => "$folder/server.key", tls_key => "$folder/server.key");
	$refused->('tls_nokey', 'Cannot use tls_key\. TLS: .*mismatch', 'the key of another certificate', %tls,
		tls_cert => $server->tls_file('client.crt'), tls_key => $server->tls_file('server.key'));
	$refused->('tls_plain', '(TLS: |The server ended|The server did not answer in time)', 'a port that does not speak TLS',
		%tls, port => $server->port, connect_timeout => 500);

	my $peer = ScriptedPeer->new([ ['stall'] ]);
	$refused->('tls_stalled', 'The server did not answer in time', 'a handshake that does not end', %tls, port => $peer->port, connect_timeout => 300);
	$sql->("ALTER SERVER tls_stalled OPTIONS (SET connect_timeout '300000')");
	like($error_of->("SET statement_timeout = 300; " . $search->('tls_stalled')), qr/canceling statement due to statement timeout/, 'and is canceled');

	my %strict = (%tls, port => $strict->tls_port, tls_ca => $strict->tls_file('ca.crt'));
	$make->('tls_anonymous', %strict);
	like($error_of->($search->('tls_anonymous')),
		qr/ERROR:  (could not connect to|lost connection to) Redis server "tls_anonymous".*\nDETAIL:  (TLS: |The server (closed|ended))/, 'a server that wants a certificate');
	$make->('tls_client', %strict, tls_cert => $strict->tls_file('client.crt'), tls_key => $strict->tls_file('client.key'));
	is($sql->($search->('tls_client')), 0, 'and gets one');

	$make->('tls_missing', host => 'localhost', port => $server->tls_port);
	like($error_of->($search->('tls_missing')), qr/ERROR:  lost connection to Redis server "tls_missing"/, 'TLS is not guessed');
	return;
}

1;
